import { checkHead, checkPlan, isAmount, object, wrong, type Check } from './check.ts'

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
    if (object('position', position).tokenId !== tokenId) throw wrong('position', 'tokenId', 'the one that was asked for')
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
      if (!Number.isSafeInteger(holdsSeconds)) throw wrong('history', 'holdsSeconds', 'a whole number')
      return
    }
    if (is !== 'prices') throw wrong('history', 'is', "'prices' or 'beyond'")
    checkEach('history', 'prices', prices, (each) => checkPrice('history.prices', each))
    if (Array.isArray(prices) && Array.isArray(secondsAgo) && prices.length !== secondsAgo.length - 1)
      throw wrong('history', 'prices', 'one for each span between two given times')
  },
  rangeFill: (answer) => {
    if (answer !== undefined) checkAmounts('rangeFill', answer, ['tokenId', 'liquidity', 'amount0Raw', 'amount1Raw'])
  },
}

function checkEach(of: string, key: string, values: unknown, check: (value: unknown) => void): void {
  if (!Array.isArray(values)) throw wrong(of, key, 'an array')
  for (const each of values) check(each)
}

function checkAmounts(what: string, value: unknown, keys: readonly string[]): void {
  const amounts = object(what, value)
  for (const key of keys) if (!isAmount(amounts[key])) throw wrong(what, key, 'a bigint of 0 or more')
}

/** It is divided by, either way round. */
function checkPrice(what: string, value: unknown): void {
  const { numerator, denominator } = object(what, value)
  for (const each of [numerator, denominator])
    if (!isAmount(each) || each === 0n) throw new Error(`${what} must be { numerator, denominator }, each a bigint above 0`)
}

function checkPool(value: unknown): void {
  const pool = object('pool', value)
  for (const key of ['address', 'version', 'token0', 'token1']) if (typeof pool[key] !== 'string') throw wrong('pool', key, 'text')
  for (const key of ['fee', 'tick']) if (!Number.isSafeInteger(pool[key])) throw wrong('pool', key, 'a whole number')
  checkAmounts('pool', pool, ['sqrtPriceX96', 'liquidity'])
  checkPrice('pool.price', pool.price)
}

function checkRange(what: string, value: unknown): void {
  const range = object(what, value)
  for (const key of ['tickLower', 'tickUpper']) if (!Number.isSafeInteger(range[key])) throw wrong(what, key, 'a whole number')
  for (const key of ['lowerPrice', 'upperPrice']) checkPrice(`${what}.${key}`, range[key])
}

function checkPosition(value: unknown): void {
  const position = object('position', value)
  checkAmounts('position', position, ['tokenId', 'liquidity'])
  if (typeof position.owner !== 'string') throw wrong('position', 'owner', 'an address')
  if (typeof position.inRange !== 'boolean') throw wrong('position', 'inRange', 'true or false')
  checkPool(position.pool)
  checkRange('position', position)
  for (const key of ['amounts', 'unclaimed']) checkAmounts(`position.${key}`, position[key], ['amount0Raw', 'amount1Raw'])
}
