import { badFields, SluiceError, type AMMLiquidityPriceRequest } from '../../../api/index.ts'
import type { Verb } from '../../../handlers/context.ts'
import { readAddress } from '../../../handlers/wallets.ts'
import { findPool } from '../../../handlers/amm/range-pools.ts'
import { orderIn, readPair } from './pair.ts'
import { showPrice } from './prices.ts'
import { rangeOf } from './range-of.ts'

export const ammLiquidityPrice: Verb<'AMMLiquidityPrice'> = async (request, { network, venue, services, signal }) => {
  const at = { signal }
  const range = rangeOf(venue)
  if (request.address !== undefined) readAddress(network, request.address)
  const series = readSeries(request, services.settings.limits.pageSize)
  const pair = await readPair(request, network, at)
  const { head, pool } = await findPool(pair, request.fee, venue, at)
  const order = orderIn(pool, pair)
  const price = showPrice(pool.price, order, 'down')

  const history = series && (await range.history(pool, series.secondsAgo, at))
  if (history?.is === 'beyond') {
    throw new SluiceError(
      'PRICE_FAILED',
      `The oracle of the pool ${pool.address} holds ${history.holdsSeconds} s, and the period is ${series?.period} s: ask for a shorter one, or for the price alone (without period and interval).`,
      { details: { field: 'period', holdsSeconds: history.holdsSeconds, price } },
    )
  }
  const [token0, token1] = pair
  return {
    token0: token0.address,
    token1: token1.address,
    fee: pool.fee,
    ...(series && { period: series.period, interval: series.interval }),
    price,
    prices: history?.prices.map((each) => showPrice(each, order, 'down')) ?? [],
    pool: pool.address,
    tick: pool.tick,
    sqrtPriceX96: pool.sqrtPriceX96.toString(),
    liquidity: pool.liquidity.toString(),
    blockNumber: Number(head.number),
  }
}

/** The ends of the spans, oldest first. */
function readSeries({ period, interval }: AMMLiquidityPriceRequest, most: number) {
  if (period === undefined && interval === undefined) return undefined
  if (period === undefined) throw badFields([{ field: 'period', problem: 'is required with interval' }])
  if (interval === undefined) throw badFields([{ field: 'interval', problem: 'is required with period' }])
  const count = Math.floor(period / interval)
  if (count === 0) throw badFields([{ field: 'interval', problem: 'is longer than the period' }])
  if (count > most) {
    throw badFields([
      { field: 'interval', problem: `makes ${count} prices of the period: ${most} at most, so ${Math.ceil(period / most)} s or more` },
    ])
  }
  return { period, interval, secondsAgo: Array.from({ length: count + 1 }, (_, i) => (count - i) * interval) }
}
