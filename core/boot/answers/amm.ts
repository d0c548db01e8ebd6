import { checkHead, checkPlan, isAmount, object, wrong, type Check } from './check.ts'

/** A quote of less than nothing would be a trade at any price. */
const checkQuote: Check = (answer, [swap]) => {
  const quote = object('quote', answer)
  for (const key of ['amountRaw', 'gasUnits']) if (!isAmount(quote[key]) || quote[key] === 0n) throw wrong('quote', key, 'a bigint above 0')
  if (!isAmount(quote.spotAmountRaw)) throw wrong('quote', 'spotAmountRaw', 'a bigint of 0 or more')
  if (typeof quote.spender !== 'string') throw wrong('quote', 'spender', 'an address')
  checkHead('quote', quote.head)
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
}

/** By verb of AMM. */
export const ammChecks: Readonly<Record<string, Check>> = {
  quote: checkQuote,
  swap: checkPlan,
  fill: (answer) => {
    if (answer === undefined) return
    const fill = object('fill', answer)
    for (const key of ['amountInRaw', 'amountOutRaw'])
      if (!isAmount(fill[key]) || fill[key] === 0n) throw wrong('fill', key, 'a bigint above 0')
  },
}

/** By verb of AMM.followed. */
export const followedPricingChecks: Readonly<Record<string, Check>> = {
  quote: (answer, args) => {
    const { wanting } = object('quote', answer)
    if (wanting === undefined) return checkQuote(answer, args)
    if (!Array.isArray(wanting) || wanting.length === 0) throw wrong('quote', 'wanting', 'an array of at least one')
    const [, , states] = args
    const count = Array.isArray(states) ? states.length : 0
    for (const each of wanting) {
      const { index } = object('quote.wanting', each)
      if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count)
        throw wrong('quote', 'wanting', 'of indexes of the states that were given')
    }
  },
}
