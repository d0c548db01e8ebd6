import { expect } from 'chai'
import type { QueryInfo } from '../../../plugins/hyperliquid/api.ts'
import { readPayments } from '../../../plugins/hyperliquid/accounts.ts'
import type { Listing } from '../../../plugins/hyperliquid/markets.ts'
import { at } from './venue.ts'

const hourMs = 3_600_000
const now = Date.UTC(2026, 0, 1)
const user = '0x1'
const marketOf = (coin: string) => ({ id: coin, base: coin, quote: 'USD' })

/** An exchange that has paid one hour after the other, in each of its coins: it answers with the 500 oldest of what is asked for. */
function payingExchange(coins: readonly string[], hours: number) {
  const times = Array.from({ length: hours }, (_, index) => now - (hours - index) * hourMs)
  const payments = times.flatMap((time) => coins.map((coin) => ({ time, delta: { coin, usdc: '-0.01', fundingRate: '0.00001' } })))
  let queries = 0
  const queryInfo = (async (request: { startTime: number; endTime: number }, shape: (answer: unknown, query: string) => unknown) => {
    queries += 1
    const { startTime, endTime } = request
    return shape(payments.filter(({ time }) => time >= startTime && time <= endTime).slice(0, 500), 'userFunding')
  }) as unknown as QueryInfo
  const byId = new Map(coins.map((coin) => [coin, { market: marketOf(coin) }]))
  return {
    queries: () => queries,
    read: (query: { coin: string; limit: number; from?: number }) =>
      readPayments(
        queryInfo,
        { byId } as unknown as Listing,
        {
          user,
          market: { ...marketOf(query.coin) } as never,
          limit: query.limit,
          before: now,
          ...(query.from !== undefined && { from: query.from }),
        },
        at,
      ),
  }
}

const manyCoins = Array.from({ length: 40 }, (_, index) => `C${index}`)

describe('funding payments at Hyperliquid', () => {
  it('has each payment of the time, and asks for none before it', async () => {
    const exchange = payingExchange(['BTC'], 3_000)
    const found = await exchange.read({ coin: 'BTC', limit: 2_000, from: now - 600 * hourMs })
    expect(found.map(({ timestamp }) => (now - timestamp) / hourMs)).to.deep.equal(Array.from({ length: 600 }, (_, index) => index + 1))
    expect(exchange.queries()).to.be.below(6)
  })

  it('has as many as are asked for, where pages overlap', async () => {
    for (const limit of [499, 500, 501, 740, 1_000, 1_009, 1_010])
      expect(await payingExchange(['BTC'], 3_000).read({ coin: 'BTC', limit }), String(limit)).to.have.length(limit)
  })

  it('finds what was paid years ago', async () => {
    const exchange = payingExchange(['BTC'], 12_000)
    expect(await exchange.read({ coin: 'BTC', limit: 11_900 })).to.have.length(11_900)
  })

  it('refuses what takes too many pages, instead of a list with a gap', async () => {
    const exchange = payingExchange(manyCoins, 1_500)
    expect(await exchange.read({ coin: 'C1', limit: 200 })).to.have.length(200)
    const error = await exchange.read({ coin: 'C1', limit: 500 }).catch((thrown: unknown) => thrown)
    expect(error).to.include({ name: 'UNSUPPORTED' }).and.to.have.property('message').that.includes('a shorter time')
    expect(await exchange.read({ coin: 'C1', limit: 500, from: now - 300 * hourMs })).to.have.length(300)
  })
})
