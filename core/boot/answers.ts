/** Throws where what a verb gave is not what the contract says. `args` is what it was called with. */
type Check = (answer: unknown, args: readonly unknown[]) => void

/**
 * By group and verb. Types are gone when a plugin runs, and what it gives goes into the bound of a trade: a quote of
 * less than nothing would be a trade at any price.
 */
export const answerChecks: Readonly<Record<string, Check>> = {
  'AMM.quote': (answer, [swap]) => {
    const quote = object('quote', answer)
    for (const key of ['amountRaw', 'gasUnits'])
      if (!isAmount(quote[key]) || quote[key] === 0n) throw wrong('quote', key, 'a bigint above 0')
    if (!isAmount(quote.spotAmountRaw)) throw wrong('quote', 'spotAmountRaw', 'a bigint of 0 or more')
    if (typeof quote.spender !== 'string') throw wrong('quote', 'spender', 'an address')
    const head = object('quote.head', quote.head)
    if (typeof head.number !== 'bigint' || !Number.isSafeInteger(head.timestamp)) {
      throw wrong('quote', 'head', 'the head of what was read: { number: bigint, timestamp: seconds }')
    }
    if (!Array.isArray(quote.route)) throw wrong('quote', 'route', 'an array')
    for (const hop of quote.route) {
      const { pool, version, tokenIn, tokenOut } = object('quote.route', hop)
      if (![pool, version, tokenIn, tokenOut].every((text) => typeof text === 'string')) {
        throw wrong('quote', 'route', 'hops of { pool, version, tokenIn, tokenOut }, all of them text')
      }
    }
    const { exact, amountRaw } = object('quote.swap', quote.swap)
    const asked = object('swap', swap)
    if (exact !== asked.exact || amountRaw !== asked.amountRaw) throw wrong('quote', 'swap', 'the swap that was asked for')
  },
  'AMM.swap': (answer) => {
    const plan = object('plan', answer)
    for (const key of ['steps', 'needs']) if (!Array.isArray(plan[key])) throw wrong('plan', key, 'an array')
    if (plan.deadline !== undefined && !Number.isSafeInteger(plan.deadline)) throw wrong('plan', 'deadline', 'seconds since the Unix epoch')
    if (plan.memo === undefined) throw wrong('plan', 'memo', 'JSON; null where there is nothing to keep')
  },
  'AMM.fill': (answer) => {
    if (answer === undefined) return
    const fill = object('fill', answer)
    for (const key of ['amountInRaw', 'amountOutRaw'])
      if (!isAmount(fill[key]) || fill[key] === 0n) throw wrong('fill', key, 'a bigint above 0')
  },
}

function object(what: string, value: unknown): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value
  throw new Error(`${what} is no object`)
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

const isAmount = (value: unknown): value is bigint => typeof value === 'bigint' && value >= 0n

const wrong = (what: string, key: string, right: string) => new Error(`${what}.${key} must be ${right}`)
