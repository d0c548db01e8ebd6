import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { BookTrade } from '../../../core/contracts/index.ts'
import { createOrderFills, toldFills, type OrderFills } from '../../../core/handlers/clob/order-fills.ts'
import { lacksFills, type ToldFill } from '../../../core/transactions/order-fills.ts'
import { until } from '../../transactions/site.ts'

type Parts = Parameters<typeof createOrderFills>[0]

const of = { chain: 'ethereum', network: 'local', connector: 'exchange', address: '0x1', type: 'CLOB', market: 'WETH-USDC' }
const market = { id: 'weth', base: 'WETH', quote: 'USDC' } as BookTrade['market']
const trade = {
  tradeId: 't',
  orderId: '7',
  market,
  side: 'BUY',
  price: '2000.0',
  amount: '1.50',
  fee: '0.10',
  feeToken: 'USDC',
  timestamp: 5,
} as const

describe('learning the fills of orders', () => {
  let fills: OrderFills | undefined
  afterEach(() => fills?.stop())

  /** @param changed what each answer of the exchange brings */
  function learn(
    changed: (asked: number) => number,
    times: Partial<NonNullable<Parts['times']>> = {},
    answer: (asked: number) => readonly Partial<BookTrade>[] = () => [trade],
    value: (asked: number) => unknown = () => undefined,
    open: readonly object[] = [of, { ...of, market: 'WBTC-USDC' }],
  ) {
    const asked: object[] = []
    const chain = { head: 100n }
    const askedAt: number[] = []
    const noted: string[][] = []
    const states: string[] = []
    const trades = async (query: object) => {
      asked.push(query)
      askedAt.push(performance.now())
      return answer(asked.length)
    }
    const venue = { connector: 'exchange', builtIn: true, impl: { CLOB: { markets: async () => [market], trades } } }
    fills = createOrderFills({
      registry: {
        venue: () => venue,
        networkOf: () => ({ impl: { address: (text: string) => text, confirmations: 3, head: async () => ({ number: chain.head }) } }),
      },
      orders: {
        async noteFills(_of: object, told: readonly ToldFill[], _idOf: object, valueOf?: (about: object, fills: object) => unknown) {
          valueOf?.({}, [])
          noted.push(told.map(({ orderId, fill }) => `${orderId}/${fill.tradeId}`))
          return changed(asked.length)
        },
        openMarkets: async () => open,
      },
      idsOf: async () => new Map(),
      storeStates: async (each: typeof of) => void states.push(each.market),
      lossOf: () => () => value(asked.length),
      log: { warn() {} },
      times: {
        soonMs: 1,
        minPauseMs: 30,
        maxPauseMs: 60_000,
        firstSweepMs: 600_000,
        sweepMs: 600_000,
        statesMs: 600_000,
        lookMs: 60_000,
        ...times,
      },
    } as unknown as Parts)
    return { asked, askedAt, noted, states, fills, chain }
  }

  it('asks once, however many orders have new ones', async () => {
    const { asked, noted, fills: own } = learn(() => 1, { minPauseMs: 60_000 })
    for (let count = 0; count < 5; count += 1) own.want(of)
    await until('it is noted', async () => noted.length > 0)
    own.want(of)
    await wait(20)
    expect(asked).to.deep.equal([{ market, owner: '0x1', limit: 500 }])
    expect(noted).to.deep.equal([['7/t']])
  })

  it('asks for the states of open orders where fills came, and from time to time, of one market after the other', async () => {
    const told = learn(() => 1, { statesMs: 10, minPauseMs: 60_000 })
    told.fills.want(of)
    await until('it has asked', async () => told.states.length > 0)
    await wait(40)
    expect(told.states).to.deep.equal(['WETH-USDC'])
    told.fills.stop()
    const swept = learn(() => 0, { statesMs: 10, sweepMs: 50, minPauseMs: 60_000 })
    await until('it has asked about both', async () => swept.states.length >= 4)
    expect(swept.states.slice(0, 4)).to.deep.equal(['WETH-USDC', 'WBTC-USDC', 'WETH-USDC', 'WBTC-USDC'])
  })

  it('asks about open orders soon after the start, once', async () => {
    const { asked, states } = learn(() => 0, { firstSweepMs: 5, statesMs: 10, minPauseMs: 60_000 })
    await until('it has asked about both', async () => states.length === 2)
    await wait(60)
    expect(states).to.deep.equal(['WETH-USDC', 'WBTC-USDC'])
    // The exchange has no other market.
    expect(asked).to.have.length(1)
  })

  it('asks again after a pause, which grows while the exchange tells nothing new', async () => {
    const { askedAt, noted, fills: own } = learn(() => 0)
    for (let count = 1; count <= 3; count += 1) {
      own.want(of)
      await until('it is noted', async () => noted.length >= count)
    }
    const [first = 0, second = 0, third = 0] = askedAt
    expect(second - first).to.be.at.least(40)
    expect(third - second).to.be.at.least(80)
  })

  it('asks again by itself after an error and an answer without new ones, and not for ever', async () => {
    const times = { minPauseMs: 1, maxPauseMs: 1 }
    const { asked, fills: own } = learn(
      (count) => Number(count === 3),
      times,
      (count) => (count === 1 ? expect.fail('the exchange is down') : [trade]),
    )
    own.want(of)
    await until('it has asked', async () => asked.length >= 5)
    await wait(60)
    expect(asked).to.have.length(5)
    const silent = learn(() => 0, times)
    silent.fills.want(of)
    await until('it has asked', async () => silent.asked.length >= 13)
    await wait(30)
    silent.fills.stop()
    expect(silent.asked).to.have.length(13)
  })

  it('asks soon where more of an order is filled, however long nothing came', async () => {
    const { asked, fills: own } = learn(() => 0, { minPauseMs: 15, maxPauseMs: 600_000 })
    own.want(of, { clientOrderId: 'a', filledAmount: '1' })
    // It waits twice as long each time.
    await until('it has asked five times', async () => asked.length >= 5)
    const count = asked.length
    own.want(of, { clientOrderId: 'a', filledAmount: '1' })
    await wait(40)
    expect(asked).to.have.length(count)
    own.want(of, { clientOrderId: 'a', filledAmount: '1.5' })
    await until('it asks again', async () => asked.length > count)
  })

  it('asks also where orders are placed more often than it waits for the exchange', async () => {
    const { asked, fills: own } = learn(() => 0, { soonMs: 20 })
    for (let count = 0; count < 60 && asked.length === 0; count += 1) {
      own.look(of)
      own.want(of, { clientOrderId: 'a', filledAmount: String(count) })
      await wait(5)
    }
    expect(asked).to.have.length(1)
  })

  it('asks also of other wallets and markets with open orders, where one is placed', async () => {
    const open = [of, { ...of, address: '0x2' }]
    const { asked, fills: own } = learn(() => 0, { minPauseMs: 1, maxPauseMs: 600_000, lookMs: 15 }, undefined, undefined, open)
    const owners = () => asked.map((each) => Object(each).owner)
    own.look(of)
    await until('all are asked', async () => owners().includes('0x1') && owners().includes('0x2'))
    const count = asked.length
    // Those pauses would be ever longer.
    for (let rounds = 0; rounds < 40; rounds += 1) {
      own.look(of)
      await wait(5)
    }
    expect(owners().slice(count)).to.include('0x2')
  })

  it('reads on where losses count and each page has new ones, and else ten pages', async () => {
    const page = (newest: number) =>
      Array.from({ length: 500 }, (_, index) => ({ ...trade, tradeId: `${newest - index}`, timestamp: newest - index }))
    const pages = async (changed: (count: number) => number) => {
      const { asked, fills: own } = learn(changed, { minPauseMs: 60_000 }, (count) => (count > 11 ? [trade] : page(10_000 - count * 499)))
      own.want(of)
      await until('all are asked', async () => asked.length >= 10)
      await wait(30)
      own.stop()
      return asked.length
    }
    expect(await pages(() => 1)).to.equal(12)
    expect(await pages((count) => (count < 10 ? 1 : 0))).to.equal(10)
  })

  it('reads older pages until one is not full', async () => {
    const page = (newest: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...trade, tradeId: `${newest - index}`, timestamp: newest - index }))
    const {
      asked,
      noted,
      fills: own,
    } = learn(
      () => 1,
      { minPauseMs: 60_000 },
      (count) => (count === 1 ? page(1_000, 500) : page(501, 3)),
    )
    own.want(of)
    await until('both are noted', async () => noted.length === 2)
    expect(asked).to.deep.equal([
      { market, owner: '0x1', limit: 500 },
      { market, owner: '0x1', limit: 500, before: 502 },
    ])
  })

  it('notes those of a block when it is final', async () => {
    const of99 = { ...trade, tradeId: 'u', blockNumber: 99 }
    const {
      noted,
      chain,
      fills: own,
    } = learn(
      () => 0,
      { minPauseMs: 1, maxPauseMs: 5 },
      () => [of99, { ...trade, blockNumber: 98 }],
    )
    own.want(of)
    await until('it is noted', async () => noted.length > 1)
    expect(noted.slice(0, 2)).to.deep.equal([['7/t'], ['7/t']])
    chain.head = 101n
    await until('the other is noted', async () => noted.at(-1)?.length === 2)
  })

  it('asks again by itself until it is known what they lost', async () => {
    const times = { minPauseMs: 1, maxPauseMs: 1 }
    const { asked, fills: own } = learn(
      () => 0,
      times,
      () => [trade],
      (count) => (count < 20 ? 'not yet' : undefined),
    )
    own.look(of)
    await until('it has asked', async () => asked.length >= 20)
  })

  it('asks by itself where orders are open', async () => {
    const { asked } = learn(() => 1, { sweepMs: 5 })
    await until('it has asked', async () => asked.length > 0)
  })

  it('asks nothing after its end', async () => {
    const { asked, fills: own } = learn(() => 1)
    own.want(of)
    own.stop()
    own.want(of)
    await wait(15)
    expect(asked).to.deep.equal([])
  })

  it('takes amounts in one form, with what names the order', async () => {
    const { orderId: _orderId, ...unnamed } = trade
    const fill = { tradeId: 't', price: '2000', amount: '1.5', fee: '0.1', feeToken: 'USDC', timestamp: 5 }
    expect(toldFills([trade, { ...unnamed, tradeId: 'u', txHash: '0xaa' }])).to.deep.equal([
      { fill, orderId: '7', side: 'BUY' },
      { fill: { ...fill, tradeId: 'u', txHash: '0xaa' }, side: 'BUY' },
    ])
    expect([lacksFills('1.5', [fill]), lacksFills('1.6', [fill]), lacksFills('0', [])]).to.deep.equal([false, true, false])
  })
})
