import { expect } from 'chai'
import type { QueryInfo } from '../../../plugins/hyperliquid/api.ts'
import { readLiquidations } from '../../../plugins/hyperliquid/liquidations.ts'
import type { Listing } from '../../../plugins/hyperliquid/markets.ts'
import { at } from './venue.ts'

const start = Date.UTC(2026, 0, 1)
const user = '0x00000000000000000000000000000000000000a1'
const other = '0x00000000000000000000000000000000000000a2'

const fillAt = (index: number, more: object = {}) => ({
  coin: 'BTC',
  side: 'A',
  px: '96100.0',
  sz: '2.0',
  time: start + index,
  hash: `0x${'0'.repeat(64)}`,
  tid: index,
  oid: index,
  fee: '86.49',
  feeToken: 'USDC',
  ...more,
})
const by = (liquidatedUser: string) => ({ liquidation: { liquidatedUser, markPx: '96248.0', method: 'market' } })

/** It answers with the 2,000 oldest of what is asked for. */
function exchangeWith(fills: readonly { readonly time: number }[]) {
  const asked: object[] = []
  const queryInfo = (async (
    request: { startTime: number; endTime?: number },
    shape: (answer: unknown, query: string) => unknown,
  ): Promise<unknown> => {
    asked.push(request)
    const { startTime, endTime = Infinity } = request
    return shape(fills.filter(({ time }) => time >= startTime && time <= endTime).slice(0, 2_000), 'userFillsByTime')
  }) as unknown as QueryInfo
  const listed = (coin: string, kind: string) => [coin, { kind, market: { id: coin, base: coin, quote: 'USD' } }] as const
  const listing = { byId: new Map([listed('BTC', 'perp'), listed('@107', 'spot')]) } as unknown as Listing
  const read = (from = start, before?: number) => readLiquidations(queryInfo, listing, { user, from, before }, at)
  return { asked, read }
}

describe('liquidations at Hyperliquid', () => {
  it('has those of the wallet alone, and none that it took the other side of', async () => {
    const { read } = exchangeWith([
      fillAt(1),
      fillAt(2, by(user.toUpperCase().replace('0X', '0x'))),
      fillAt(3, by(other)),
      fillAt(4, { ...by(user), coin: '@107' }),
      fillAt(5, by(user)),
    ])
    const found = await read()
    expect(found.map(({ tradeId }) => tradeId)).to.deep.equal(['5', '2'])
    expect(found[1]).to.include({ side: 'SELL', price: '96100', amount: '2', fee: '86.49', timestamp: start + 2 })
  })

  it('finds each once in all pages of the time that is asked for', async () => {
    const fills = Array.from({ length: 4_500 }, (_, index) => fillAt(index, index % 1_000 === 999 ? by(user) : {}))
    const { asked, read } = exchangeWith(fills)
    expect((await read(start + 1_500, start + 4_000)).map(({ tradeId }) => tradeId)).to.deep.equal(['3999', '2999', '1999'])
    expect(asked).to.have.length(2)
  })

  it('refuses to tell them where the exchange may have forgotten older fills', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => fillAt(index))
    expect(await exchangeWith(many).read().catch(String)).to.include('the 10000 newest fills')
    const atOnce = Array.from({ length: 2_001 }, (_, index) => fillAt(index, { time: start }))
    expect(await exchangeWith(atOnce).read().catch(String)).to.include('read a shorter time')
    expect(await exchangeWith(many.slice(1)).read()).to.deep.equal([])
  })

  it('says which it cannot read', async () => {
    const odd = [fillAt(2, { ...by(user), px: 'much' }), fillAt(3, { liquidation: 'yes' }), fillAt(4, { ...by(user), coin: 'GONE' })]
    const found = await exchangeWith([fillAt(1, by(user)), fillAt(5, { px: null }), ...odd]).read()
    expect(found.map(({ tradeId }) => tradeId)).to.deep.equal(['1', '2', '3', '4'])
    expect(found.filter(({ price }) => price === undefined)).to.have.length(3)
  })
})
