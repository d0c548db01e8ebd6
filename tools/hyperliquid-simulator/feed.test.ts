import { ExchangeClient, InfoClient, SubscriptionClient, WebSocketTransport } from '@nktkas/hyperliquid'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { WebSocket } from 'undici'
import { newTrader, until } from './client.ts'
import { opcodes, readFrame, writeFrame } from './exchange/sockets.ts'
import { startExchange, type HyperliquidExchange } from './exchange/start-exchange.ts'

const other = '0x00000000000000000000000000000000000000aa'

describe('the feed of the simulator of Hyperliquid, by its own client', () => {
  let exchange: HyperliquidExchange
  let transport: WebSocketTransport
  let feed: SubscriptionClient

  before(async () => {
    exchange = await startExchange()
    // A class with the shape that browsers have; the library asks for theirs by name.
    transport = new WebSocketTransport({ url: exchange.wsUrl, reconnect: { WebSocket: WebSocket as never, reconnectionDelay: 10 } })
    feed = new SubscriptionClient({ transport })
    await transport.ready()
  })
  after(async () => {
    await transport.close()
    await exchange.stop()
  })

  it('tells the whole book at once, and again after every change, with a later time', async () => {
    const seen: { time: number; levels: readonly (readonly { px: string; sz: string }[])[] }[] = []
    await feed.l2Book({ coin: 'BTC' }, (event) => seen.push(event))
    await until(() => seen.length === 1)
    expect(seen[0]?.levels).to.deep.equal([[], []])
    exchange.place(other, { coin: 'BTC', side: 'SELL', price: '100100', size: '0.2' })
    await until(() => seen.length === 2)
    exchange.place(other, { coin: 'BTC', side: 'BUY', price: '99900', size: '0.1' })
    await until(() => seen.length === 3)
    expect(seen[2]?.levels).to.deep.equal([[{ px: '99900.0', sz: '0.1', n: 1 }], [{ px: '100100.0', sz: '0.2', n: 1 }]])
    expect(seen[1]!.time).to.be.above(seen[0]!.time)
    expect(seen[2]!.time).to.be.above(seen[1]!.time)
  })

  it("tells of a wallet's orders, fills and balances", async () => {
    const trader = newTrader(exchange)
    exchange.credit(trader.address, 'USDC', '10000')
    const [updates, fills, states, events]: [string[], string[], string[], string[]] = [[], [], [], []]
    await feed.orderUpdates({ user: trader.address }, (list) => updates.push(...list.map(({ order, status }) => `${status} ${order.sz}`)))
    await feed.userFills({ user: trader.address }, ({ fills: list, isSnapshot }) =>
      fills.push(...list.map(({ sz }) => sz), ...(isSnapshot ? ['snapshot'] : [])),
    )
    await feed.spotState({ user: trader.address }, ({ spotState }) =>
      states.push(spotState.balances.map(({ coin, total }) => `${coin} ${total}`).join()),
    )
    await feed.userEvents({ user: trader.address }, (event) => events.push(...Object.keys(event)))

    await trader.exchange.order({ orders: [{ a: 10_000, b: true, p: '0.2', s: '1000', r: false, t: { limit: { tif: 'Gtc' } } }] })
    exchange.place(other, { coin: 'PURR/USDC', side: 'SELL', price: '0.2', size: '400', tif: 'Ioc' })
    await until(() => fills.includes('400.0'))
    exchange.place(other, { coin: 'PURR/USDC', side: 'SELL', price: '0.2', size: '600', tif: 'Ioc' })
    await until(() => updates.includes('filled 0.0'))
    expect(updates).to.deep.equal(['open 1000.0', 'open 600.0', 'filled 0.0'])
    // 0.04 % of it is the fee of who waits.
    await until(() => states.at(-1) === 'USDC 9800.0,PURR 999.6')
    await until(() => fills.length >= 3 && events.length >= 2)
    expect(fills).to.deep.equal(['snapshot', '400.0', '600.0'])
    expect(events).to.deep.equal(['fills', 'fills'])
  })

  it('answers questions and takes actions that come by it', async () => {
    const trader = newTrader(exchange)
    exchange.credit(trader.address, 'USDC', '100')
    const [info, actions] = [new InfoClient({ transport }), new ExchangeClient({ transport, wallet: trader.wallet })]
    expect((await info.allMids())['ETH']).to.equal('4000.0')
    await actions.order({ orders: [{ a: 10_000, b: true, p: '0.15', s: '100', r: false, t: { limit: { tif: 'Gtc' } } }] })
    expect(await info.openOrders({ user: trader.address })).to.have.length(1)
    const refused = await actions.cancel({ cancels: [{ a: 10_000, o: 1 }] }).catch(String)
    expect(refused).to.contain('Order was never placed, already canceled, or filled. asset=10000')
  })

  it('tells of prices, positions, funding and money that moves', async () => {
    const trader = newTrader(exchange)
    const user = trader.address
    const seen = new Map<string, unknown[]>()
    const note = (what: string) => (event: unknown) => void seen.set(what, [...(seen.get(what) ?? []), event])
    await feed.activeAssetCtx({ coin: 'ETH' }, note('perp'))
    await feed.activeSpotAssetCtx({ coin: '@107' }, note('spot'))
    await feed.allMids(note('mids'))
    await feed.clearinghouseState({ user }, note('state'))
    await feed.openOrders({ user }, note('orders'))
    await feed.userFundings({ user }, note('fundings'))
    await feed.userNonFundingLedgerUpdates({ user }, note('money'))
    await feed.activeAssetData({ user, coin: 'ETH' }, note('data'))
    await until(() => seen.size === 8)
    const counts = new Map([...seen].map(([what, events]) => [what, events.length]))

    exchange.deposit(user, '1000')
    exchange.setOracle('@107', '41')
    exchange.place(other, { coin: 'ETH', side: 'BUY', price: '3999', size: '1' })
    await trader.exchange.order({ orders: [{ a: 1, b: false, p: '3999', s: '1', r: false, t: { limit: { tif: 'Gtc' } } }] })
    exchange.setFunding('ETH', '0.0001')
    exchange.clock.advance(3_600_000)
    await until(() => [...seen].every(([what, events]) => events.length > counts.get(what)!))
    expect(seen.get('money')!.at(-1)).to.have.deep.nested.property('nonFundingLedgerUpdates[0].delta', { type: 'deposit', usdc: '1000.0' })
    expect(seen.get('fundings')!.at(-1)).to.have.nested.property('fundings[0].usdc', '0.4')
    expect(seen.get('spot')!.at(-1)).to.have.nested.property('ctx.markPx', '41.0')
  })

  it('comes back after it was cut, and tells the book anew', async () => {
    const times: number[] = []
    await feed.bbo({ coin: 'BTC' }, ({ time }) => times.push(time))
    await until(() => times.length === 1)
    exchange.feed.cut()
    await until(() => times.length === 2)
    expect(exchange.feed.connections()).to.equal(1)
  })

  it('closes what it told nothing for a while, unless that says ping', async () => {
    const quiet = await startExchange({ quietMs: 1000 })
    const [silent, alive] = [new WebSocket(quiet.wsUrl), new WebSocket(quiet.wsUrl)]
    const closed = new Promise((resolve) => silent.addEventListener('close', resolve))
    const pongs: string[] = []
    alive.addEventListener('message', ({ data }) => {
      pongs.push(String(data))
      setTimeout(() => alive.send('{"method":"ping"}'), 20)
    })
    alive.addEventListener('open', () => alive.send('{"method":"ping"}'))
    await closed
    expect(pongs[0]).to.equal('{"channel":"pong"}')
    await until(() => quiet.feed.connections() === 1)
    await quiet.stop()
  })

  it('tells of the orders of ten wallets at most', async () => {
    const fresh = await startExchange()
    const socket = new WebSocket(fresh.wsUrl)
    const said: string[] = []
    socket.addEventListener('message', ({ data }) => said.push(JSON.parse(String(data)).channel))
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    for (let wallet = 1; wallet <= 11; wallet += 1) {
      const user = `0x${String(wallet).padStart(40, '0')}`
      for (const type of ['orderUpdates', 'openOrders']) socket.send(JSON.stringify({ method: 'subscribe', subscription: { type, user } }))
    }
    await until(() => said.includes('error'))
    expect(said.filter((channel) => channel === 'subscriptionResponse')).to.have.length(20)
    await fresh.stop()
  })

  it('drops and repeats messages where a test wants it, and is silent', async () => {
    const seen: string[] = []
    await feed.trades({ coin: 'HYPE' }, (list) => seen.push(...list.map(({ px }) => px)))
    const trade = (price: string) => {
      exchange.place(other, { coin: 'HYPE', side: 'SELL', price, size: '1' })
      exchange.place('0x00000000000000000000000000000000000000bb', { coin: 'HYPE', side: 'BUY', price, size: '1' })
    }
    exchange.feed.tamper((message) => [message, message])
    trade('40.1')
    await until(() => seen.length === 2)
    exchange.feed.tamper(() => [])
    trade('40.2')
    exchange.feed.silence(true)
    trade('40.3')
    await until(() => exchange.engine.outbox.trades.length === 0)
    exchange.feed.tamper()
    exchange.feed.silence(false)
    trade('40.4')
    await until(() => seen.includes('40.4'))
    expect(seen).to.deep.equal(['40.1', '40.1', '40.4'])
  })
})

/** As clients send them: the bytes after the head are changed by a mask. */
function masked(frame: Buffer, mask: Buffer): Buffer {
  const length = frame[1]! & 0x7f
  const at = length === 127 ? 10 : length === 126 ? 4 : 2
  const head = Buffer.from(frame.subarray(0, at))
  head[1]! |= 0x80
  return Buffer.concat([head, mask, frame.subarray(at).map((byte, index) => byte ^ mask[index & 3]!)])
}

describe('the frames of the websocket that the simulator of Hyperliquid speaks', () => {
  const text = fc.oneof(
    fc.string(),
    fc.nat(70_000).map((length) => 'x'.repeat(length)),
  )

  it('hold any text, masked or not, and what comes after it', () => {
    const run = fc.property(text, fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array(), (said, mask, more) => {
      const frame = writeFrame(opcodes.text, Buffer.from(said))
      for (const bytes of [frame, masked(frame, Buffer.from(mask))]) {
        const read = readFrame(Buffer.concat([bytes, more]))
        expect(read?.frame.payload.toString('utf8')).to.equal(Buffer.from(said).toString('utf8'))
        expect(read?.frame).to.include({ opcode: opcodes.text, isFinal: true })
        expect(Buffer.from(more).equals(read!.rest)).to.equal(true)
      }
    })
    fc.assert(run)
  })

  it('are read when all of them is there', () => {
    const frame = masked(writeFrame(opcodes.text, Buffer.from('x'.repeat(300))), Buffer.from('mask'))
    for (const length of [0, 1, 3, 7, frame.length - 1]) expect(readFrame(frame.subarray(0, length))).to.equal(undefined)
    expect(readFrame(frame)?.frame.payload).to.have.length(300)
  })
})
