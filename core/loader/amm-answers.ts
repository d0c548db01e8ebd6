import { isObject } from '../json.ts'

/** Throws where what a verb gave is not what the contract says. `args` is what it was called with. */
export type Check = (answer: unknown, args: readonly unknown[]) => void

export function object(what: string, value: unknown): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value
  throw new Error(`${what} is no object`)
}

export const isAmount = (value: unknown): value is bigint => typeof value === 'bigint' && value >= 0n

export const invalid = (what: string, key: string, right: string) => new Error(`${what}.${key} must be ${right}`)

export function checkHead(of: string, head: unknown): void {
  const { number, timestamp } = object(`${of}.head`, head)
  if (typeof number !== 'bigint' || !Number.isSafeInteger(timestamp)) {
    throw invalid(of, 'head', 'the head of what was read: { number: bigint, timestamp: seconds }')
  }
}

/** A plan of any trading type. */
export function checkPlan(answer: unknown): void {
  const plan = object('plan', answer)
  for (const key of ['steps', 'needs']) if (!Array.isArray(plan[key])) throw invalid('plan', key, 'an array')
  if (plan.deadline !== undefined && !Number.isSafeInteger(plan.deadline)) throw invalid('plan', 'deadline', 'seconds since the Unix epoch')
  if (plan.memo === undefined) throw invalid('plan', 'memo', 'JSON; null where there is nothing to keep')
}

/** A quote of less than nothing would be a trade at any price. */
const checkQuote: Check = (answer, [swap]) => {
  const quote = object('quote', answer)
  for (const key of ['amountRaw', 'gasUnits'])
    if (!isAmount(quote[key]) || quote[key] === 0n) throw invalid('quote', key, 'a bigint above 0')
  if (!isAmount(quote.spotAmountRaw)) throw invalid('quote', 'spotAmountRaw', 'a bigint of 0 or more')
  if (typeof quote.spender !== 'string') throw invalid('quote', 'spender', 'an address')
  checkHead('quote', quote.head)
  if (!Array.isArray(quote.route)) throw invalid('quote', 'route', 'an array')
  for (const hop of quote.route) {
    const { pool, version, tokenIn, tokenOut } = object('quote.route', hop)
    if (![pool, version, tokenIn, tokenOut].every((text) => typeof text === 'string')) {
      throw invalid('quote', 'route', 'hops of { pool, version, tokenIn, tokenOut }, all of them text')
    }
  }
  checkParts(quote)
  const { exact, amountRaw } = object('quote.swap', quote.swap)
  const asked = object('swap', swap)
  if (exact !== asked.exact || amountRaw !== asked.amountRaw) throw invalid('quote', 'swap', 'the swap that was asked for')
}

/** They are the whole of the swap, and all of the route: bounds and fills go by them. */
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

/** By verb of AMM. */
export const ammChecks: Readonly<Record<string, Check>> = {
  quote: checkQuote,
  swap: checkPlan,
  fill: (answer) => {
    if (answer === undefined) return
    const fill = object('fill', answer)
    for (const key of ['amountInRaw', 'amountOutRaw'])
      if (!isAmount(fill[key]) || fill[key] === 0n) throw invalid('fill', key, 'a bigint above 0')
  },
}

/** By verb of AMM.followed. */
export const followedPricingChecks: Readonly<Record<string, Check>> = {
  quote: (answer, args) => {
    const { wanting } = object('quote', answer)
    if (wanting === undefined) return checkQuote(answer, args)
    if (!Array.isArray(wanting) || wanting.length === 0) throw invalid('quote', 'wanting', 'an array of at least one')
    const [, , states] = args
    const count = Array.isArray(states) ? states.length : 0
    for (const each of wanting) {
      const { index } = object('quote.wanting', each)
      if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count)
        throw invalid('quote', 'wanting', 'of indexes of the states that were given')
    }
  },
}

/** By verb of AMM_RANGE. */
export const ammRangeChecks: Readonly<Record<string, Check>> = {
  rangePools: (answer) => {
    const { head, pools } = object('rangePools', answer)
    checkHead('rangePools', head)
    checkEach('rangePools', 'pools', pools, checkPool)
  },
  rangeAround: (answer) => {
    if (answer !== undefined) checkRange('rangeAround', answer)
  },
  deposit: (answer) => checkAmounts('deposit', answer, ['amount0Raw', 'amount1Raw', 'liquidity']),
  add: checkPlan,
  position: (answer, [tokenId]) => {
    if (answer === undefined) return
    const { head, position } = object('position', answer)
    checkHead('position', head)
    checkPosition(position)
    if (object('position', position).tokenId !== tokenId) throw invalid('position', 'tokenId', 'the one that was asked for')
  },
  positions: (answer) => {
    const { head, positions } = object('positions', answer)
    checkHead('positions', head)
    checkEach('positions', 'positions', positions, checkPosition)
  },
  remove: checkPlan,
  collect: checkPlan,
  history: (answer, [, secondsAgo]) => {
    const { is, prices, holdsSeconds } = object('history', answer)
    if (is === 'beyond') {
      if (!Number.isSafeInteger(holdsSeconds)) throw invalid('history', 'holdsSeconds', 'a whole number')
      return
    }
    if (is !== 'prices') throw invalid('history', 'is', "'prices' or 'beyond'")
    checkEach('history', 'prices', prices, (each) => checkPrice('history.prices', each))
    if (Array.isArray(prices) && Array.isArray(secondsAgo) && prices.length !== secondsAgo.length - 1)
      throw invalid('history', 'prices', 'one for each span between two given times')
  },
  rangeFill: (answer) => {
    if (answer !== undefined) checkAmounts('rangeFill', answer, ['tokenId', 'liquidity', 'amount0Raw', 'amount1Raw'])
  },
}

function checkEach(of: string, key: string, values: unknown, check: (value: unknown) => void): void {
  if (!Array.isArray(values)) throw invalid(of, key, 'an array')
  for (const each of values) check(each)
}

function checkAmounts(what: string, value: unknown, keys: readonly string[]): void {
  const amounts = object(what, value)
  for (const key of keys) if (!isAmount(amounts[key])) throw invalid(what, key, 'a bigint of 0 or more')
}

/** It is divided by, either way round. */
function checkPrice(what: string, value: unknown): void {
  const { numerator, denominator } = object(what, value)
  for (const each of [numerator, denominator])
    if (!isAmount(each) || each === 0n) throw new Error(`${what} must be { numerator, denominator }, each a bigint above 0`)
}

function checkPool(value: unknown): void {
  const pool = object('pool', value)
  for (const key of ['address', 'version', 'token0', 'token1']) if (typeof pool[key] !== 'string') throw invalid('pool', key, 'text')
  for (const key of ['fee', 'tick']) if (!Number.isSafeInteger(pool[key])) throw invalid('pool', key, 'a whole number')
  checkAmounts('pool', pool, ['sqrtPriceX96', 'liquidity'])
  checkPrice('pool.price', pool.price)
}

function checkRange(what: string, value: unknown): void {
  const range = object(what, value)
  for (const key of ['tickLower', 'tickUpper']) if (!Number.isSafeInteger(range[key])) throw invalid(what, key, 'a whole number')
  for (const key of ['lowerPrice', 'upperPrice']) checkPrice(`${what}.${key}`, range[key])
}

function checkPosition(value: unknown): void {
  const position = object('position', value)
  checkAmounts('position', position, ['tokenId', 'liquidity'])
  if (typeof position.owner !== 'string') throw invalid('position', 'owner', 'an address')
  if (typeof position.inRange !== 'boolean') throw invalid('position', 'inRange', 'true or false')
  checkPool(position.pool)
  checkRange('position', position)
  for (const key of ['amounts', 'unclaimed']) checkAmounts(`position.${key}`, position[key], ['amount0Raw', 'amount1Raw'])
}
