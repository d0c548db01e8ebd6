import { expect } from 'chai'
import { newTrader, until } from './client.ts'
import {
  answersOutOfOrder,
  arrivesLate,
  delaysAnswer,
  delaysRequest,
  failsWith,
  losesAnswer,
  losesRequest,
  overItsLimit,
  type CarriedRequest,
} from './exchange/faults.ts'
import { startExchange, type HyperliquidExchange } from './exchange/start-exchange.ts'

const cloid = '0xf0000000000000000000000000000001'
const isOrder = ({ type }: CarriedRequest) => type === 'order'

/** Something that a test lets happen when it wants to. */
function newGate() {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open: () => open() }
}

describe('what can go wrong on the way to the simulator of Hyperliquid', () => {
  let exchange: HyperliquidExchange
  let trader: ReturnType<typeof newTrader>

  beforeEach(async () => {
    exchange = await startExchange()
    trader = newTrader(exchange)
    exchange.credit(trader.address, 'USDC', '1000')
  })
  afterEach(() => exchange.stop())

  const send = () =>
    trader.exchange
      .order({ orders: [{ a: 10_000, b: true, p: '0.19', s: '100', r: false, t: { limit: { tif: 'Gtc' } }, c: cloid }] })
      .then(() => 'taken', String)
  const isThere = async () => (await trader.info.orderStatus({ user: trader.address, oid: cloid })).status === 'order'

  it('is an answer that is lost, after the order was taken', async () => {
    exchange.faults.add(losesAnswer, isOrder, 1)
    expect(await send()).to.contain('HttpRequestError')
    expect(await isThere()).to.equal(true)
    expect(await send(), 'it was lost once').to.contain('Duplicate cloid')
  })

  it('is a request that is lost', async () => {
    exchange.faults.add(losesRequest, isOrder, 1)
    expect(await send()).to.contain('HttpRequestError')
    expect(await isThere()).to.equal(false)
  })

  it('is a request that arrives when nobody waits for it any more', async () => {
    const gate = newGate()
    exchange.faults.add(arrivesLate(gate.passed), isOrder, 1)
    expect(await send()).to.contain('HttpRequestError')
    expect(await isThere()).to.equal(false)
    gate.open()
    await until(isThere)
  })

  it('is a request, or its answer, that takes its time', async () => {
    const [gate, next] = [newGate(), newGate()]
    exchange.faults.add(delaysRequest(gate.passed), isOrder, 1)
    const sent = send()
    expect(await isThere()).to.equal(false)
    gate.open()
    expect(await sent).to.equal('taken')
    await trader.exchange.cancelByCloid({ cancels: [{ asset: 10_000, cloid }] })
    exchange.faults.add(delaysAnswer(next.passed), isOrder, 1)
    const again = send()
    await until(async () => (await trader.info.openOrders({ user: trader.address })).length === 1)
    next.open()
    expect(await again).to.equal('taken')
  })

  it('is a limit, or a failure before or behind the exchange', async () => {
    exchange.faults.add(overItsLimit, isOrder, 1)
    expect(await send()).to.contain('429')
    exchange.faults.add(failsWith(502), isOrder, 1)
    expect(await send()).to.contain('502')
    expect(await isThere()).to.equal(false)
    exchange.faults.add(failsWith(504, true), isOrder, 1)
    expect(await send()).to.contain('504')
    expect(await isThere()).to.equal(true)
  })

  it('are answers that overtake one another', async () => {
    const [order, arrived]: [string[], string[]] = [[], []]
    const seen = ({ type }: CarriedRequest) => arrived.push(type) > 0
    exchange.faults.add(answersOutOfOrder(30_000), seen)
    const first = trader.info.allMids().then(() => order.push('first'))
    await until(() => arrived.length === 1)
    const second = trader.info.spotMeta().then(() => order.push('second'))
    await Promise.all([first, second])
    expect(order).to.deep.equal(['second', 'first'])
  })

  it('ends where a test ends it', async () => {
    const end = exchange.faults.add(failsWith(500))
    expect(await send()).to.contain('500')
    end()
    expect(await send()).to.equal('taken')
  })
})
