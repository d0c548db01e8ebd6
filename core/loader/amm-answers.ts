import type { AMM, AMMRange, FollowedPricing, Swap } from '../contracts/index.ts'
import {
  checkHead,
  checkPlan,
  checkPrice,
  invalid,
  isAmount,
  list,
  object,
  present,
  requireAmounts,
  requireIntegers,
  requireTexts,
  unchecked,
  type Rules,
} from './answer-checks.ts'

export const ammRules: Rules<AMM> = {
  quote: (answer, [swap]) => checkQuote(answer, swap),
  swap: checkPlan,
  fill: (answer) => {
    if (answer !== undefined) requireAmounts('fill', object('fill', answer), ['amountInRaw', 'amountOutRaw'], 'above 0')
  },
}

export const followedPricingRules: Rules<FollowedPricing> = {
  basis: unchecked,
  quote: (answer, [swap, , states]) => {
    const { wanting } = object('quote', answer)
    if (wanting === undefined) return checkQuote(answer, swap)
    if (list('quote.wanting', wanting).length === 0) throw invalid('quote', 'wanting', 'an array of at least one')
    for (const each of list('quote.wanting', wanting)) {
      const { index } = object('quote.wanting', each)
      if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= states.length)
        throw invalid('quote', 'wanting', 'indexes of the states that were given')
    }
  },
  conditions: unchecked,
  vet: { atOnce: unchecked },
}

/** A quote of less than nothing would be a trade at any price. */
function checkQuote(answer: unknown, swap: Swap): void {
  const quote = object('quote', answer)
  requireAmounts('quote', quote, ['amountRaw', 'gasUnits'], 'above 0')
  requireAmounts('quote', quote, ['spotAmountRaw', ...present(quote, ['firstWriteUnits'])])
  if (typeof quote.spender !== 'string') throw invalid('quote', 'spender', 'an address')
  checkHead('quote', quote.head)
  for (const each of list('quote.route', quote.route)) {
    const hop = object('quote.route', each)
    requireTexts('quote.route', hop, ['pool', 'version', 'tokenIn', 'tokenOut', ...present(hop, ['fee', 'share'])])
  }
  checkParts(quote)
  const { exact, amountRaw } = object('quote.swap', quote.swap)
  if (exact !== swap.exact || amountRaw !== swap.amountRaw) throw invalid('quote', 'swap', 'the swap that was requested')
}

/** The parts cover the whole swap and the whole route: bounds and fills are computed from them. */
function checkParts({ parts, route, swap, amountRaw }: Readonly<Record<string, unknown>>): void {
  if (parts === undefined) return
  if (!Array.isArray(parts) || parts.length === 0) throw invalid('quote', 'parts', 'an array of at least one')
  let [hops, exactRaw, otherRaw] = [0, 0n, 0n]
  for (const each of parts) {
    const part = object('quote.parts', each)
    if (typeof part.hops !== 'number' || !Number.isInteger(part.hops) || part.hops < 1)
      throw invalid('quote', 'parts', 'of at least one hop each')
    if (!isAmount(part.exactRaw) || !isAmount(part.otherRaw) || part.exactRaw === 0n || part.otherRaw === 0n)
      throw invalid('quote', 'parts', 'of bigints above 0')
    hops += part.hops
    exactRaw += part.exactRaw
    otherRaw += part.otherRaw
  }
  const isWhole =
    Array.isArray(route) && hops === route.length && otherRaw === amountRaw && exactRaw === object('quote.swap', swap).amountRaw
  if (!isWhole) throw invalid('quote', 'parts', 'all of its route and of both its amounts')
}

export const ammRangeRules: Rules<AMMRange> = {
  rangePools: (answer) => {
    const { head, pools } = object('rangePools', answer)
    checkHead('rangePools', head)
    list('rangePools.pools', pools).forEach(checkPool)
  },
  rangeAround: (answer) => {
    if (answer !== undefined) checkRange('rangeAround', answer)
  },
  deposit: (answer) => requireAmounts('deposit', object('deposit', answer), ['amount0Raw', 'amount1Raw', 'liquidity']),
  add: checkPlan,
  position: (answer, [tokenId]) => {
    if (answer === undefined) return
    const { head, position } = object('position', answer)
    checkHead('position', head)
    checkPosition(position)
    if (object('position', position).tokenId !== tokenId) throw invalid('position', 'tokenId', 'the requested one')
  },
  positions: (answer) => {
    const { head, positions } = object('positions', answer)
    checkHead('positions', head)
    list('positions.positions', positions).forEach(checkPosition)
  },
  remove: checkPlan,
  collect: checkPlan,
  history: (answer, [, secondsAgo]) => {
    const history = object('history', answer)
    if (history.is === 'beyond') return requireIntegers('history', history, ['holdsSeconds'])
    if (history.is !== 'prices') throw invalid('history', 'is', "'prices' or 'beyond'")
    const prices = list('history.prices', history.prices)
    for (const each of prices) checkPrice('history.prices', each)
    if (prices.length !== secondsAgo.length - 1) throw invalid('history', 'prices', 'one for each span between two given times')
  },
  rangeFill: (answer) => {
    if (answer !== undefined) requireAmounts('rangeFill', object('rangeFill', answer), ['tokenId', 'liquidity', 'amount0Raw', 'amount1Raw'])
  },
}

function checkPool(value: unknown): void {
  const pool = object('pool', value)
  requireTexts('pool', pool, ['address', 'version', 'token0', 'token1'])
  requireIntegers('pool', pool, ['fee', 'tick'])
  requireAmounts('pool', pool, ['sqrtPriceX96', 'liquidity'])
  checkPrice('pool.price', pool.price)
}

function checkRange(what: string, value: unknown): void {
  const range = object(what, value)
  requireIntegers(what, range, ['tickLower', 'tickUpper'])
  for (const key of ['lowerPrice', 'upperPrice']) checkPrice(`${what}.${key}`, range[key])
}

function checkPosition(value: unknown): void {
  const position = object('position', value)
  requireAmounts('position', position, ['tokenId', 'liquidity'])
  if (typeof position.owner !== 'string') throw invalid('position', 'owner', 'an address')
  if (typeof position.inRange !== 'boolean') throw invalid('position', 'inRange', 'true or false')
  checkPool(position.pool)
  checkRange('position', position)
  for (const key of ['amounts', 'unclaimed'])
    requireAmounts(`position.${key}`, object(`position.${key}`, position[key]), ['amount0Raw', 'amount1Raw'])
}
