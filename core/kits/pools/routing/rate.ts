import type { Passage, Pool, PoolProtocol } from '../../../../kits/amm/protocol.ts'

const oneX18 = 10n ** 18n

/** Of pools as they are, which few blocks change: by the tokens that go in and out. */
const rates = new WeakMap<Pool, Map<string, bigint>>()

/** A pool's price, fee included: out per in, in smallest units, rounded up. */
export function rateX128Of(protocol: PoolProtocol, pool: Pool, passage: Passage): bigint {
  const ofPool = rates.get(pool) ?? new Map<string, bigint>()
  rates.set(pool, ofPool)
  const key = `${passage.tokenIn} ${passage.tokenOut}`
  const rateX128 = ofPool.get(key) ?? reckonRate(protocol, pool, passage)
  ofPool.set(key, rateX128)
  return rateX128
}

function reckonRate(protocol: PoolProtocol, pool: Pool, passage: Passage): bigint {
  const { numerator, denominator } = protocol.spot(pool, passage)
  const [whole = '0', fraction = ''] = protocol.fee(pool).split('.')
  const feeX18 = BigInt(whole + fraction.padEnd(18, '0').slice(0, 18))
  return ((numerator * (oneX18 - feeX18)) << 128n) / (denominator * oneX18) + 1n
}
