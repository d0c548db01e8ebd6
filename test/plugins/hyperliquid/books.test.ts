import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { WebSocket } from 'undici'
import type { BookMarket, BookStream, BookUpdate } from '../../../core/contracts/index.ts'
import { createFeed, createMessageAllowance } from '../../../plugins/hyperliquid/feed.ts'
import { until } from '../../../tools/hyperliquid-simulator/client.ts'
import { at, startVenue, type TestVenue } from './venue.ts'

const stranger = '0x00000000000000000000000000000000000000ee'

describe("Hyperliquid's books", function () {
  this.timeout(120_000)
  let venue: TestVenue
  let markets: Record<'HYPE' | 'UBTC', BookMarket>
  let stopped: AbortController
  beforeEach(async () => {
    venue = await startVenue()
    stopped = new AbortController()
    const list = await venue.CLOB.markets(at)
    const of = (name: string) => list.find(({ base }) => base === name) ?? expect.fail(`no market of ${name}`)
    markets = { HYPE: of('HYPE'), UBTC: of('UBTC') }
  })
  afterEach(async () => {
    stopped.abort()
    await venue.stop()
  })

  const stream = (): BookStream => {
    const { books } = venue.CLOB
    return 'watch' in books ? books : expect.fail('no stream')
  }

  /** The updates of a market, and the book that they lead to. */
  function watch(market: BookMarket) {
    const told: BookUpdate[] = []
    const over = stream().watch(market, (update) => told.push(update), stopped.signal)
    const last = () => told.findLast((each) => each.is === 'snapshot')
    const buys = () => (last()?.is === 'snapshot' ? last()?.book.buys : undefined)
    return { told, over, bestBuy: () => buys()?.[0]?.price, buys }
  }
  const buy = (price: string, coin = '@107') => venue.exchange.place(stranger, { coin, side: 'BUY', price, size: '1' })

  it("begin with a snapshot and follow the exchange's changes", async () => {
    buy('39')
    const hype = watch(markets.HYPE)
    await until(() => hype.bestBuy() === '39')
    expect(hype.told[0]?.is).to.equal('snapshot')
    const { oid } = buy('39.5')
    await until(() => hype.bestBuy() === '39.5')
    venue.exchange.cancel(stranger, oid)
    await until(() => hype.bestBuy() === '39')
    const snapshots = hype.told.flatMap((each) => (each.is === 'snapshot' ? [each.sequence] : []))
    expect(snapshots).to.deep.equal([...new Set(snapshots)].toSorted((a, b) => a - b))
    expect(await stream().snapshot(markets.HYPE, at))
      .to.have.nested.property('book.buys')
      .deep.equal(hype.buys())
  })

  it('include the last trade and the volume of a day', async () => {
    const hype = watch(markets.HYPE)
    await until(() => hype.told.length > 0)
    buy('39')
    venue.exchange.place('0x00000000000000000000000000000000000000ff', { coin: '@107', side: 'SELL', price: '39', size: '0.5' })
    await until(() => hype.told.some((each) => each.is === 'traded' && each.lastPrice === '39'))
    await until(() => hype.told.some((each) => each.is === 'traded' && each.volume24h === '0.5'))
  })

  it('count as lost at once when the connection is cut, and become complete again when the exchange is back', async () => {
    buy('39')
    const [hype, ubtc] = [watch(markets.HYPE), watch(markets.UBTC)]
    await until(() => hype.bestBuy() === '39' && ubtc.told.length > 0)
    venue.exchange.feed.welcome(false)
    venue.exchange.feed.cut()
    await until(() => [hype, ubtc].every(({ told }) => told.some((each) => each.is === 'lost')))
    const before = hype.told.length
    buy('39.7')
    venue.exchange.feed.welcome(true)
    await until(() => hype.bestBuy() === '39.7')
    expect(hype.told.slice(before).find((each) => each.is !== 'lost' && each.is !== 'traded')?.is).to.equal('snapshot')
  })

  it('renew their subscriptions after a cut no more often than the message limit allows', async () => {
    let now = 0
    const allowance = createMessageAllowance(6, () => now)
    const lost: string[] = []
    const begun = performance.now()
    const feed = createFeed(venue.exchange.wsUrl, { info() {}, warn() {} }, allowance)
    const heard: string[] = []
    feed.follow('@107', { onMessage: (channel) => heard.push(channel), onLost: (reason) => lost.push(reason), onAlive() {} })
    await until(() => heard.includes('l2Book'))
    venue.exchange.feed.cut()
    await until(() => lost.length === 1)
    await until(() => heard.filter((channel) => channel === 'l2Book').length === 2)
    // Six in a minute, and three for each interval; one more for each interval that lasted long enough for a ping.
    const waitMs = allowance.waitMs(3)
    expect(waitMs).to.be.within(30_000, 30_000 + 10_000 * Math.floor((performance.now() - begun) / 2_500))
    now += waitMs
    expect(allowance.waitMs(3)).to.equal(0)
    allowance.spend(3)
    venue.exchange.feed.cut()
    await until(() => lost.length === 2)
    await sleep(1_000)
    expect(venue.exchange.feed.connections()).to.equal(0)
    feed.stop()
  })

  it('count as lost where the websocket library could not be loaded, and become complete when it can be', async () => {
    const [heard, lost]: [string[], string[]] = [[], []]
    let loads = 0
    const load = async () => {
      loads += 1
      if (loads === 1) throw new Error('EMFILE: too many open files')
      return WebSocket
    }
    const feed = createFeed(venue.exchange.wsUrl, { info() {}, warn() {} }, createMessageAllowance(), load)
    feed.follow('@107', { onMessage: (channel) => heard.push(channel), onLost: (reason) => lost.push(reason), onAlive() {} })
    await until(() => heard.includes('l2Book'))
    expect(loads).to.equal(2)
    expect(lost).to.deep.equal(['the websocket library could not be loaded (EMFILE: too many open files)'])
    feed.stop()
  })

  it('count as alive while nothing changes', async () => {
    const hype = watch(markets.HYPE)
    await until(() => hype.told.some((each) => each.is === 'alive'))
  })

  it('do not count as alive while the exchange has not confirmed that it sends them, and ask again', async () => {
    const isOfBook = ({ channel, data }: { channel: string; data: unknown }) =>
      (channel === 'l2Book' && Object(data).coin === '@107') ||
      (channel === 'subscriptionResponse' && Object(Object(data).subscription).coin === '@107')
    venue.exchange.feed.tamper((message) => (isOfBook(message) ? [] : [message]))
    const [hype, ubtc] = [watch(markets.HYPE), watch(markets.UBTC)]
    await until(() => ubtc.told.some((each) => each.is === 'alive'))
    expect(hype.told.some((each) => each.is === 'alive')).to.equal(false)
    venue.exchange.feed.tamper()
    await until(() => hype.told.some((each) => each.is === 'snapshot'))
    await until(() => hype.told.some((each) => each.is === 'alive'))
  })

  it('ignore messages of an unknown format', async () => {
    const hype = watch(markets.HYPE)
    await until(() => hype.told.length > 0)
    venue.exchange.feed.tamper((message) => [
      { channel: 'l2Book', data: { coin: '@107', levels: 'none' } },
      { channel: '', data: null },
      message,
    ])
    buy('39.2')
    await until(() => hype.bestBuy() === '39.2')
  })

  it('have no level with a quantity of zero', async () => {
    const hype = watch(markets.HYPE)
    await until(() => hype.told.length > 0)
    const levels = (...sizes: string[]) => sizes.map((sz, place) => ({ px: `${(39 - place).toString()}.0`, sz, n: 1 }))
    venue.exchange.feed.tamper(() => [
      { channel: 'l2Book', data: { coin: '@107', time: Date.now() + 10, levels: [levels('1.50', '0.0', '-1', '0', '2'), []] } },
    ])
    buy('39.2')
    await until(() => hype.bestBuy() === '39')
    expect(hype.buys()).to.deep.equal([
      { price: '39', quantity: '1.5' },
      { price: '35', quantity: '2' },
    ])
  })

  it('share one connection, which is closed when nobody follows a book any more', async () => {
    const [hype, ubtc] = [watch(markets.HYPE), watch(markets.UBTC)]
    await until(() => hype.told.length > 0 && ubtc.told.length > 0)
    expect(venue.exchange.feed.connections()).to.equal(1)
    stopped.abort()
    await Promise.all([hype.over, ubtc.over])
    await until(() => venue.exchange.feed.connections() === 0)
  })
})
