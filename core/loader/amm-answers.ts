import { checkHead, checkPlan, isAmount, object, wrong, type Check } from '../boot/answers/check.ts'

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
  checkParts(quote)
  const { exact, amountRaw } = object('quote.swap', quote.swap)
  const asked = object('swap', swap)
  if (exact !== asked.exact || amountRaw !== asked.amountRaw) throw wrong('quote', 'swap', 'the swap that was asked for')
}

/** They are the whole of the swap, and all of the route: bounds and fills go by them. */
function checkParts({ parts, route, swap, amountRaw }: Readonly<Record<string, unknown>>): void {
  if (parts === undefined) return
  if (!Array.isArray(parts) || parts.length === 0) throw wrong('quote', 'parts', 'an array of at least one')
  let [hops, exactRaw, otherRaw] = [0, 0n, 0n]
  for (const each of parts) {
    const part = object('quote.parts', each)
    if (typeof part.hops !== 'number' || !Number.isInteger(part.hops) || part.hops < 1)
      throw wrong('quote', 'parts', 'of at least one hop each')
    if (!isAmount(part.exactRaw) || !isAmount(part.otherRaw) || part.exactRaw === 0n || part.otherRaw === 0n)
      throw wrong('quote', 'parts', 'of bigints above 0')
    hops += part.hops
    exactRaw += part.exactRaw
    otherRaw += part.otherRaw
  }
  const isWhole =
    Array.isArray(route) && hops === route.length && otherRaw === amountRaw && exactRaw === object('quote.swap', swap).amountRaw
  if (!isWhole) throw wrong('quote', 'parts', 'all of its route and of both its amounts')
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
