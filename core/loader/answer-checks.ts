import { isObject } from '../json.ts'

// Types are gone when a plugin runs, and what it returns goes into the bounds of transactions: each method of the plugin interface has a
// check of its answer, or `unchecked`. A check throws what is wrong, for the log; the caller gets UNKNOWN_ERROR.

/** Throws where a method's answer is not what the interface says. `args` are those of the call. */
export type Check<Args extends readonly unknown[] = readonly unknown[]> = CheckMethod<Args>['check']
/** As a method, so that the checks of all methods fit one type: TypeScript compares the parameters of methods in both directions. */
interface CheckMethod<Args> {
  check(answer: unknown, args: Args): void
}

export type Rule<Args extends readonly unknown[] = readonly unknown[]> = Check<Args> | AtOnce<Args>

/** A method that returns what it knows at once, or a promise: its deadline counts only for the promise. */
interface AtOnce<Args extends readonly unknown[]> {
  readonly atOnce: Check<Args>
}

/** How the methods of an interface are checked. It does not compile without a rule for each of them. */
export type Rules<T> = {
  readonly [K in keyof T as NonNullable<T[K]> extends (...args: never[]) => unknown ? K : never]-?: NonNullable<T[K]> extends (
    ...args: infer Args
  ) => unknown
    ? Rule<Args>
    : never
}

/** For answers that go no further than into another call of the same plugin, or that the caller checks. */
export const unchecked = (): void => {}

type Fields = Readonly<Record<string, unknown>>

export const invalid = (what: string, key: string, expected: string) => new Error(`${what}.${key} must be ${expected}`)

export function object(what: string, value: unknown): Fields {
  if (isObject(value)) return value
  throw new Error(`${what} must be an object`)
}

export function list(what: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new Error(`${what} must be an array`)
}

export const isAmount = (value: unknown): value is bigint => typeof value === 'bigint' && value >= 0n

/** The optional keys that are there. */
export const present = (fields: Fields, keys: readonly string[]): readonly string[] => keys.filter((key) => fields[key] !== undefined)

/** Bigints of 0 or more, or above 0, or of any sign. */
export function requireAmounts(what: string, fields: Fields, keys: readonly string[], kind: '0 or more' | 'above 0' | 'any' = '0 or more') {
  for (const key of keys) {
    const value = fields[key]
    if (kind === 'any' ? typeof value !== 'bigint' : !isAmount(value) || (kind === 'above 0' && value === 0n))
      throw invalid(what, key, kind === 'any' ? 'a bigint' : kind === 'above 0' ? 'a bigint above 0' : 'a bigint of 0 or more')
  }
}

export function requireTexts(what: string, fields: Fields, keys: readonly string[], { empty = true }: { empty?: boolean } = {}): void {
  for (const key of keys) if (typeof fields[key] !== 'string' || (!empty && fields[key] === '')) throw invalid(what, key, 'text')
}

export function requireIntegers(what: string, fields: Fields, keys: readonly string[]): void {
  for (const key of keys) if (!Number.isSafeInteger(fields[key])) throw invalid(what, key, 'a whole number')
}

export function requireOneOf(what: string, key: string, value: unknown, known: readonly string[]): void {
  if (typeof value !== 'string' || !known.includes(value)) throw invalid(what, key, known.map((each) => `'${each}'`).join(' or '))
}

export function checkHead(of: string, head: unknown): void {
  const { number, timestamp } = object(`${of}.head`, head)
  if (typeof number !== 'bigint' || !Number.isSafeInteger(timestamp))
    throw invalid(of, 'head', 'the head that was read: { number: bigint, timestamp: seconds }')
}

/** A plan of any trading type. */
export function checkPlan(answer: unknown): void {
  const plan = object('plan', answer)
  for (const key of ['steps', 'needs']) if (!Array.isArray(plan[key])) throw invalid('plan', key, 'an array')
  if (plan.deadline !== undefined && !Number.isSafeInteger(plan.deadline)) throw invalid('plan', 'deadline', 'seconds since the Unix epoch')
  if (plan.memo === undefined) throw invalid('plan', 'memo', 'JSON; null where there is nothing to keep')
}

/** A fraction: it is divided by, so its denominator is above 0. */
export function checkRatio(what: string, value: unknown): { numerator: bigint; denominator: bigint } {
  const { numerator, denominator } = object(what, value)
  if (typeof numerator !== 'bigint' || !isAmount(denominator) || denominator === 0n)
    throw new Error(`${what} must be { numerator, denominator }: bigints, the denominator above 0`)
  return { numerator, denominator }
}

/** A fraction above 0: prices are divided by, either way round. */
export function checkPrice(what: string, value: unknown): { numerator: bigint; denominator: bigint } {
  const price = checkRatio(what, value)
  if (price.numerator <= 0n) throw new Error(`${what} must be above 0`)
  return price
}
