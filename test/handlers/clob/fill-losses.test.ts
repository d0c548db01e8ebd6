import { expect } from 'chai'
import type { BookMarket } from '../../../core/contracts/index.ts'
import { createFillLosses } from '../../../core/handlers/clob/fill-losses.ts'
import type { Market } from '../../../core/market/market.ts'
import { poolMarket, poolNetwork } from '../../market/pool-market.ts'

const minuteMs = 60_000
const market = { id: 'weth', base: 'WETH', quote: 'USDC', baseToken: 'weth', quoteToken: 'usdc' } as unknown as BookMarket
const about = { side: 'BUY', orderType: 'LIMIT', timeInForce: 'GTC', price: '3000', amount: '2' }

describe('what fills of orders lost', () => {
  let opened: Market | undefined
  afterEach(() => opened?.stop())

  /** A market whose pools have these prices, and fills of a BUY of one WETH at 3000. */
  function marketOf() {
    const now = { ms: 0, areAgesRead: true }
    const network = poolNetwork()
    const ages = { leftMs: () => (now.areAgesRead ? 0 : 1), isRead: () => now.areAgesRead, note: async () => {} }
    opened = poolMarket(network, ages, now)
    const read = async (price: number | undefined, ms: number) => {
      Object.assign(now, { price, ms })
      await opened?.read()
    }
    /** In dollars. */
    const lost = (timestamp: number) => {
      const valueOf = createFillLosses(opened!, () => now.ms)({ market, network, address: '0x1' })
      const value = valueOf(about, [{ tradeId: 't', price: '3000', amount: '1', fee: '0', feeToken: 'USDC', timestamp }])
      return typeof value === 'object' ? Math.floor(Number(value.lostMicros) / 1e6) : value
    }
    return { now, read, lost }
  }

  it('is not known until the market was read, for a day', async () => {
    const { now, read, lost } = marketOf()
    expect(lost(0)).to.equal('not yet')
    now.areAgesRead = false
    await read(2900, 10_000)
    expect(lost(0)).to.equal('not yet')
    now.areAgesRead = true
    expect(lost(0)).to.equal(100)
    now.ms = 5 * minuteMs
    expect(lost(0)).to.equal('not yet')
    now.ms = 25 * 3_600_000
    expect(lost(0)).to.equal(0)
  })

  it('is not counted of a token that has no market', async () => {
    const { read, lost } = marketOf()
    expect(lost(0)).to.equal('not yet')
    await read(undefined, 10_000)
    expect(lost(0)).to.equal(0)
  })

  it('is that of the reading after it, and of what was before all that is known the most', async () => {
    const { read, lost } = marketOf()
    expect(lost(0)).to.equal('not yet')
    for (const [index, price] of [3000, 2800, 3000, 2950, 2950].entries()) await read(price, 10 * minuteMs + index * 10_000)
    expect(lost(10 * minuteMs - 5_000)).to.equal(0)
    expect(lost(10 * minuteMs + 5_000)).to.equal(200)
    expect(lost(minuteMs)).to.equal(200)
  })
})
