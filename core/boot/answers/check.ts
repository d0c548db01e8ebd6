/** Throws where what a verb gave is not what the contract says. `args` is what it was called with. */
export type Check = (answer: unknown, args: readonly unknown[]) => void

export function object(what: string, value: unknown): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value
  throw new Error(`${what} is no object`)
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

export const isAmount = (value: unknown): value is bigint => typeof value === 'bigint' && value >= 0n

export const wrong = (what: string, key: string, right: string) => new Error(`${what}.${key} must be ${right}`)

export function checkHead(of: string, head: unknown): void {
  const { number, timestamp } = object(`${of}.head`, head)
  if (typeof number !== 'bigint' || !Number.isSafeInteger(timestamp)) {
    throw wrong(of, 'head', 'the head of what was read: { number: bigint, timestamp: seconds }')
  }
}

/** A plan of any trading type. */
export function checkPlan(answer: unknown): void {
  const plan = object('plan', answer)
  for (const key of ['steps', 'needs']) if (!Array.isArray(plan[key])) throw wrong('plan', key, 'an array')
  if (plan.deadline !== undefined && !Number.isSafeInteger(plan.deadline)) throw wrong('plan', 'deadline', 'seconds since the Unix epoch')
  if (plan.memo === undefined) throw wrong('plan', 'memo', 'JSON; null where there is nothing to keep')
}
