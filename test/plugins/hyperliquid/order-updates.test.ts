import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import type { BookMarket, Head } from '../../../core/contracts/index.ts'
import { createExchange, type Exchange } from '../../../plugins/hyperliquid/exchange.ts'
import { arrivesLate } from '../../../tools/hyperliquid-simulator/exchange/faults.ts'
import { until } from '../../../tools/hyperliquid-simulator/client.ts'
import { at, only, startVenue, type SentStep, type TestVenue } from './venue.ts'

/** The interval of polls by the clock. An earlier poll follows an update. */
const hourMs = 3_600_000

/** An order whose answer was lost and that the exchange has not received yet. */
interface LostOrder extends SentStep {
  readonly from: string
  arrive(): void
}

describe('orders at Hyperliquid whose answers were lost', function () {
  this.timeout(120_000)
  let venue: TestVenue
  let market: BookMarket
  let exchange: Exchange
  let heads: AsyncIterator<Head>
  let stopped: AbortController
  let count = 0
  beforeEach(async () => {
    venue = await startVenue()
    market = (await venue.CLOB.markets(at)).find(({ base }) => base === 'HYPE') ?? expect.fail('no market')
    stopped = new AbortController()
    watchEvery(hourMs)
  })
  afterEach(async () => {
    stopped.abort()
    await exchange.stop()
    await venue.stop()
  })

  function watchEvery(pauseMs: number, log = venue.venue.log): void {
    exchange = createExchange({ ...venue.venue, log }, pauseMs)
    heads = exchange.actions.heads(stopped.signal)[Symbol.asyncIterator]()
  }

  function newWallet() {
    const wallet = Wallet.createRandom()
    venue.exchange.credit(wallet.address.toLowerCase(), 'USDC', '1000')
    return wallet
  }

  async function lose(wallet = newWallet()): Promise<LostOrder> {
    count += 1
    const order = { clientOrderId: `lost-${count}`, side: 'BUY', orderType: 'LIMIT', timeInForce: 'GTC', price: '39', amount: '1' } as const
    const { plan } = only(await venue.CLOB.act(wallet.address, [{ do: 'create', market, order }], at))
    if (!('via' in plan)) throw new Error('it goes by the chain')
    let arrive = () => {}
    const late = new Promise<void>((resolve) => (arrive = resolve))
    venue.exchange.faults.add(arrivesLate(late), ({ endpoint }) => endpoint === 'exchange', 1)
    const sent = only(await venue.carryOut(plan, wallet))
    expect(sent.reception.is).to.equal('unclear')
    return { ...sent, from: wallet.address, arrive }
  }

  async function look(...lost: readonly LostOrder[]): Promise<readonly string[]> {
    const head = { number: 0n, timestamp: 0 }
    const open = lost.map(({ sealed: { id }, sequence, step, from }) => ({ id, from, sequence, step, fees: null }))
    const { statuses } = await exchange.actions.rail.poll(open, head, at)
    return statuses.map((each) => each.is)
  }

  /** Polls at once, and again when the subscription begins. */
  async function follow(...lost: readonly LostOrder[]): Promise<void> {
    for (let looks = 0; looks < 2; looks += 1) {
      await heads.next()
      expect(new Set(await look(...lost))).to.deep.equal(new Set(['unseen']))
    }
  }

  it('get a poll after an update', async () => {
    const lost = await lose()
    await follow(lost)
    lost.arrive()
    await heads.next()
    expect(await look(lost)).to.deep.equal(['landed'])
    expect(venue.exchange.feed.connections()).to.equal(1)
    stopped.abort()
    await heads.next()
    await until(() => venue.exchange.feed.connections() === 0)
  })

  it('get a poll when the connection is back after a cut', async () => {
    const lost = await lose()
    await follow(lost)
    venue.exchange.feed.welcome(false)
    venue.exchange.feed.cut()
    lost.arrive()
    await until(async () => (await venue.CLOB.orders(lost.from, {}, at)).length === 1)
    venue.exchange.feed.welcome(true)
    await heads.next()
    expect(await look(lost)).to.deep.equal(['landed'])
  })

  it('get only a few polls, whatever the number of updates', async () => {
    const wallet = newWallet()
    const lost = [await lose(wallet), await lose(wallet), await lose(wallet), await lose(wallet)]
    let looks = 0
    void (async () => {
      for (; !(await heads.next()).done; looks += 1) await look(...lost)
    })()
    await until(() => looks === 2)
    venue.exchange.feed.tamper((message) => Array.from({ length: 100 }, () => message))
    lost[0]?.arrive()
    await until(() => looks === 3)
    // A part of it, so that the order stays open.
    venue.exchange.place('0x00000000000000000000000000000000000000ee', { coin: '@107', side: 'SELL', price: '39', size: '0.4' })
    await sleep(200)
    expect(looks, 'what is said again').to.equal(3)
    for (const each of lost.slice(1)) {
      each.arrive()
      await sleep(200)
    }
    await until(() => looks >= 4)
    expect(looks, 'what more is said').to.equal(4)
  })

  it('get polls by the clock if their wallet exceeds the number of subscriptions', async () => {
    const refused: unknown[] = []
    await exchange.stop()
    watchEvery(100, { info() {}, warn: (...words) => void refused.push(words) })
    const lost: LostOrder[] = []
    for (let wallets = 0; wallets < 10; wallets += 1) lost.push(await lose())
    const last = await lose()
    lost.push(last)
    await heads.next()
    await look(...lost)
    last.arrive()
    await until(async () => {
      await heads.next()
      return (await look(...lost)).includes('landed')
    })
    expect(refused).to.deep.equal([])
  })
})
