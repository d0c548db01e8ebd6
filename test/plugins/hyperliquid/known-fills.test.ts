import { expect } from 'chai'
import { chargeAlike, createFairTurns } from '../../../core/base/fair-turns.ts'
import type { BookMarket, BookTrade } from '../../../core/contracts/index.ts'
import { createRateLimiter } from '../../../plugins/hyperliquid/api.ts'
import { createKnownFills } from '../../../plugins/hyperliquid/known-fills.ts'
import { at, startVenue, type TestVenue } from './venue.ts'

const stranger = '0x00000000000000000000000000000000000000ee'
const owner = '0x5b38da6a701c568545dcfcb03fcb875f56beddc4'

describe("a wallet's fills that the server reads by itself at Hyperliquid", function () {
  this.timeout(120_000)
  let venue: TestVenue
  let markets: readonly BookMarket[]
  before(async () => {
    venue = await startVenue({ requestWeightPerMinute: 1_200 })
    const { exchange } = venue
    for (const user of [owner, stranger]) exchange.credit(user, 'USDC', '10000000')
    for (const token of ['HYPE', 'UBTC']) exchange.credit(stranger, token, '10000')
    const list = await venue.CLOB.markets(at)
    markets = ['HYPE', 'UBTC'].map((base) => list.find((each) => each.base === base) ?? expect.fail(base))
  })
  after(() => venue.stop())

  const trade = ({ id }: BookMarket, price: string, size = '1') => {
    venue.exchange.place(stranger, { coin: id, side: 'SELL', price, size })
    venue.exchange.place(owner, { coin: id, side: 'BUY', price, size })
  }
  /** All of them, a page at a time, as the book reads them. */
  async function pages(market: BookMarket, by = at): Promise<readonly BookTrade[]> {
    const all = new Map<string, BookTrade>()
    for (let before: number | undefined, isFull = true; isFull;) {
      const trades = await venue.CLOB.trades({ market, owner, limit: 500, ...(before !== undefined && { before }) }, by)
      const size = all.size
      for (const each of trades) all.set(each.tradeId, each)
      before = Math.min(...trades.map(({ timestamp }) => timestamp)) + 1
      isFull = trades.length === 500 && all.size > size
      venue.exchange.clock.advance(1)
    }
    return [...all.values()]
  }

  it('take one answer for all markets and pages, while requests get those of now', async () => {
    const [hype, ubtc] = markets
    if (!hype || !ubtc) throw new Error('no markets')
    for (let count = 0; count < 1_500; count += 1) {
      if (count % 2 === 0) trade(hype, '40')
      else trade(ubtc, '100000', '0.001')
      venue.exchange.clock.advance(1)
    }
    const asked: string[] = []
    const isInfo = venue.exchange.faults.add(
      () => {},
      ({ endpoint, type }) => {
        if (endpoint === 'info' && type.startsWith('userFills')) asked.push(type)
        return false
      },
    )
    expect(await pages(hype)).to.have.length(750)
    expect(await pages(ubtc)).to.have.length(750)
    expect(asked).to.deep.equal(['userFills'])
    trade(hype, '40')
    const payer = new AbortController()
    createFairTurns().chargeTo(payer.signal, {})
    const request = new AbortController()
    chargeAlike(request.signal, payer.signal)
    expect(await pages(hype, { signal: request.signal })).to.have.length(751)
    isInfo()
  })

  it('take a fifth of the rate limit at most, ask for what is new alone, and leave the rest to callers', async () => {
    let now = 0
    const fill = (tid: number) => ({ coin: '@107', side: 'B', px: '40', sz: '1', time: 1_000_000 + tid * 100, hash: '0x1', tid, oid: tid })
    const all = Array.from({ length: 2_000 }, (_, tid) => fill(tid))
    const limiter = createRateLimiter(1_200, () => now)
    let spent = 0
    const asked: string[] = []
    const queryInfo: Parameters<typeof createKnownFills>[0] = async (request, read) => {
      asked.push(request.type)
      const from = Number(request['startTime'] ?? 0)
      const told = request.type === 'userFills' ? all.slice(-2_000).toReversed() : all.filter(({ time }) => time >= from).slice(0, 2_000)
      const weight = 20 + Math.floor(told.length / 20)
      limiter.take(20, 'query')
      limiter.charge(weight - 20)
      spent += weight
      return read(told, request.type)
    }
    const known = createKnownFills(queryInfo, 1_200, () => now)
    for (let seconds = 0; seconds < 600; seconds += 1) {
      now += 1_000
      if (seconds % 10 === 0) all.push(fill(all.length + seconds * 10))
      const read = await known(owner, at).catch((error: unknown) => expect(error).to.have.property('name', 'RATE_LIMIT'))
      if (Array.isArray(read) && seconds % 10 === 0 && seconds > 0) expect(read).to.have.length(2_000)
    }
    expect(asked.filter((each) => each === 'userFills')).to.have.length(1)
    // Ten minutes' worth, and what there was at first.
    expect(spent).to.be.at.most(11 * 240)
    now += 30_000
    expect((await known(owner, at))[0]).to.deep.equal(all.at(-1))
    limiter.take(20, 'query')
  })

  it('are read however much callers ask', async () => {
    const own = await startVenue({ requestWeightPerMinute: 1_200 })
    try {
      const list = await own.CLOB.markets(at)
      const market = list.find(({ base }) => base === 'HYPE') ?? expect.fail('HYPE')
      const payer = new AbortController()
      createFairTurns().chargeTo(payer.signal, {})
      const askAll = async (): Promise<unknown> => {
        for (let count = 0; count < 100; count += 1) await own.CLOB.trades({ market, owner: stranger, limit: 1 }, payer)
        return undefined
      }
      expect(await askAll().catch((error: unknown) => error)).to.have.property('name', 'RATE_LIMIT')
      expect(await own.CLOB.trades({ market, owner, limit: 500 }, at)).to.deep.equal([])
    } finally {
      await own.stop()
    }
  })
})
