import { expect } from 'chai'
import { Wallet } from 'ethers'
import type { BookAction, BookMarket, VenuePlan } from '../../../core/contracts/index.ts'
import { newTrader } from '../../../tools/hyperliquid-simulator/client.ts'
import { failsWith, losesAnswer, losesRequest, overItsLimit, type Fault } from '../../../tools/hyperliquid-simulator/exchange/faults.ts'
import { at, landedOf, only, startVenue, usdc, type SentStep, type TestVenue } from './venue.ts'

const head = { number: 0n, timestamp: 0 }
const actions = ({ endpoint }: { endpoint: string }) => endpoint === 'exchange'

describe("Hyperliquid's actions whose answers are lost", () => {
  let venue: TestVenue
  let market: BookMarket
  let count = 0
  beforeEach(async () => {
    venue = await startVenue()
    const found = (await venue.CLOB.markets(at)).find(({ base }) => base === 'HYPE')
    if (!found) throw new Error('no market')
    market = found
  })
  afterEach(() => venue.stop())

  function newWallet() {
    const wallet = Wallet.createRandom()
    venue.exchange.credit(wallet.address.toLowerCase(), 'USDC', '1000')
    venue.exchange.deposit(wallet.address.toLowerCase(), '1000')
    return wallet
  }

  async function planOf(owner: string, ...list: BookAction[]): Promise<VenuePlan> {
    const { plan } = only(await venue.CLOB.act(owner, list, at))
    if (!('via' in plan)) throw new Error('it goes by the chain')
    return plan
  }
  const create = (price = '39', amount = '1'): BookAction => {
    count += 1
    const order = { clientOrderId: `order-${count}`, side: 'BUY', orderType: 'LIMIT', timeInForce: 'GTC', price, amount } as const
    return { do: 'create', market, order }
  }

  const look = async ({ sealed: { id }, sequence, step }: SentStep, from: string) =>
    only((await venue.actions.rail.poll([{ id, from, sequence, step, fees: null }], head, at)).statuses)
  const again = ({ sealed }: SentStep) => venue.actions.rail.send(sealed, at)

  async function sendAmid(fault: Fault, plan: VenuePlan, wallet: ReturnType<typeof newWallet>): Promise<SentStep> {
    const end = venue.exchange.faults.add(fault, actions, 1)
    const [sent] = await venue.carryOut(plan, wallet)
    end()
    if (!sent) throw new Error('nothing was sent')
    return sent
  }

  for (const [words, fault] of [
    ['a cut connection', losesAnswer],
    ['a failing gateway', failsWith(502, true)],
  ] as const) {
    it(`finds an order that was accepted behind ${words}, and never places it twice`, async () => {
      const wallet = newWallet()
      const plan = await planOf(wallet.address, create())
      const sent = await sendAmid(fault, plan, wallet)
      expect(sent.reception.is).to.equal('unclear')

      const seen = await look(sent, wallet.address)
      if (seen.is !== 'landed') throw new Error(`it is ${seen.is}`)
      expect(seen).to.include({ ok: true, depth: 1, blockNumber: -1 })
      expect(only(venue.CLOB.outcome(seen.receipt, plan.memo))).to.include({ state: 'OPEN', filledAmount: '0' })
      expect(await again(sent)).to.include({ is: 'refused', meaning: 'sequence-used' })
      expect(await venue.CLOB.orders(wallet.address, {}, at)).to.have.length(1)
    })
  }

  it('does not take a refusal of bytes that may have arrived before for their outcome', async () => {
    const wallet = newWallet()
    const sent = await sendAmid(losesAnswer, await planOf(wallet.address, create()), wallet)
    const refuses: Fault = ({ send }) => send({ status: 200, body: { status: 'err', response: 'Trading is halted.' } })
    const end = venue.exchange.faults.add(refuses, actions)
    expect(await again(sent)).to.deep.include({ is: 'refused', reason: 'Trading is halted.' })
    const first = only(await venue.carryOut(await planOf(wallet.address, create()), wallet))
    expect(landedOf(first.reception).ok, 'what never came before').to.equal(false)
    end()
    expect((await look(sent, wallet.address)).is).to.equal('landed')
  })

  it('returns the fills of a lost order that does not rest', async () => {
    const wallet = newWallet()
    venue.exchange.place('0x00000000000000000000000000000000000000ee', { coin: '@107', side: 'SELL', price: '39', size: '0.4' })
    const order = { clientOrderId: 'ioc', side: 'BUY', orderType: 'LIMIT', timeInForce: 'IOC', price: '39', amount: '1' } as const
    const plan = await planOf(wallet.address, { do: 'create', market, order })
    const sent = await sendAmid(losesAnswer, plan, wallet)
    // The exchange may return them a moment after the order.
    const isAboutFills = ({ body }: { body: unknown }) => Object(body).type === 'userFills'
    const end = venue.exchange.faults.add(({ send }) => send({ status: 200, body: [] }), isAboutFills)
    expect((await look(sent, wallet.address)).is).to.equal('unseen')
    end()
    const seen = await look(sent, wallet.address)
    if (seen.is !== 'landed') throw new Error(`it is ${seen.is}`)
    expect(only(venue.CLOB.outcome(seen.receipt, plan.memo))).to.include({ state: 'CANCELED', filledAmount: '0.4' })
  })

  it('finds the others where one fill of an order that does not rest cannot be read', async () => {
    const [first, second] = [newWallet(), newWallet()]
    venue.exchange.place('0x00000000000000000000000000000000000000ee', { coin: '@107', side: 'SELL', price: '39', size: '0.4' })
    const order = { clientOrderId: 'ioc', side: 'BUY', orderType: 'LIMIT', timeInForce: 'IOC', price: '39', amount: '1' } as const
    const odd = await sendAmid(losesAnswer, await planOf(first.address, { do: 'create', market, order }), first)
    const sound = await sendAmid(losesAnswer, await planOf(second.address, create()), second)
    const open = [
      { ...odd, from: first.address },
      { ...sound, from: second.address },
    ].map(({ sealed: { id }, from, sequence, step }) => ({ id, from, sequence, step, fees: null }))
    const found = async () => (await venue.actions.rail.poll(open, head, at)).statuses.map(({ id, is }) => [id, is])
    const isAboutFills = ({ body }: { body: unknown }) => Object(body).type === 'userFills'
    const newForm = [{ coin: '@107', side: 'B', px: '39', sz: '0.4', time: 1, hash: '0x', tid: 1, fee: '0' }]
    const end = venue.exchange.faults.add(({ send }) => send({ status: 200, body: newForm }), isAboutFills)
    expect(await found()).to.deep.equal([[sound.sealed.id, 'landed']])
    end()
    expect(await found()).to.deep.equal([
      [odd.sealed.id, 'landed'],
      [sound.sealed.id, 'landed'],
    ])
  })

  it('begins with none that the rate limit would cut off, and leaves a part of it to callers', async () => {
    await venue.stop()
    venue = await startVenue({ requestWeightPerMinute: 1_200 })
    const wallet = newWallet()
    const sent: SentStep[] = []
    const orders = () => Array.from({ length: 39 }, () => create('10', '0.5'))
    for (let batches = 0; batches < 24; batches += 1)
      sent.push(await sendAmid(losesAnswer, await planOf(wallet.address, ...orders()), wallet))
    const open = sent.map(({ sealed: { id }, sequence, step }) => ({ id, from: wallet.address, sequence, step, fees: null }))
    const { statuses } = await venue.actions.rail.poll(open, head, at)
    expect(statuses.map(({ is }) => is)).to.deep.equal(statuses.map(() => 'landed'))
    // A slow machine gets 20 of weight a second more, a quarter of a batch.
    expect(statuses.length).to.be.above(0).and.below(20)
    await venue.CLOB.orders(wallet.address, { names: [{ clientOrderId: 'order-1' }] }, at)
  })

  it("gives up an order that never arrived only after its expiry and a margin, by the exchange's clock", async () => {
    const wallet = newWallet()
    const sent = await sendAmid(losesRequest, await planOf(wallet.address, create()), wallet)
    expect((await look(sent, wallet.address)).is).to.equal('unseen')
    // Past its expiry of 60 s, with time for this machine until the margin of 10 s is over.
    venue.exchange.clock.advance(61_000)
    expect((await look(sent, wallet.address)).is).to.equal('unseen')
    venue.exchange.clock.advance(14_000)
    expect((await look(sent, wallet.address)).is).to.equal('expired')
    const { info, address: user } = newTrader(venue.exchange, wallet)
    const { nRequestsUsed } = await info.userRateLimit({ user })
    expect(await again(sent)).to.include({ is: 'refused' })
    expect((await info.userRateLimit({ user })).nRequestsUsed, 'it is not sent for nothing').to.equal(nRequestsUsed)
    expect(await venue.CLOB.orders(wallet.address, {}, at)).to.deep.equal([])
  })

  it('does not give up an order that the exchange shows late', async () => {
    await venue.stop()
    venue = await startVenue({}, { orderStatusLagMs: 30_000 })
    const wallet = newWallet()
    const sent = await sendAmid(losesAnswer, await planOf(wallet.address, create()), wallet)
    expect((await look(sent, wallet.address)).is).to.equal('unseen')
    venue.exchange.clock.advance(30_001)
    expect((await look(sent, wallet.address)).is).to.equal('landed')
  })

  it('returns which orders of a lost batch were accepted', async () => {
    const wallet = newWallet()
    venue.exchange.place('0x00000000000000000000000000000000000000ee', { coin: '@107', side: 'SELL', price: '41', size: '1' })
    const crossing = {
      clientOrderId: 'crossing',
      side: 'BUY',
      orderType: 'LIMIT_MAKER',
      timeInForce: 'GTC',
      price: '41',
      amount: '1',
    } as const
    const plan = await planOf(wallet.address, create(), { do: 'create', market, order: crossing }, create('38'))
    const seen = await look(await sendAmid(losesAnswer, plan, wallet), wallet.address)
    if (seen.is !== 'landed') throw new Error(`it is ${seen.is}`)
    const outcomes = venue.CLOB.outcome(seen.receipt, plan.memo)
    expect(outcomes.map(({ state }) => state)).to.deep.equal(['OPEN', 'REJECTED', 'OPEN'])
    expect(outcomes[1]?.reason).to.equal('badAloPxRejected')
  })

  it('takes an order of a lost batch for refused only if the exchange has known another order of it for a while', async () => {
    const wallet = newWallet()
    const plan = await planOf(wallet.address, create(), create('38'))
    const sent = await sendAmid(losesAnswer, plan, wallet)
    const cloids: readonly string[] = Object(only(plan.steps)).trace.cloids
    const isLast = ({ body }: { body: unknown }) => Object(body).oid === cloids.at(-1)
    const end = venue.exchange.faults.add(({ send }) => send({ status: 200, body: { status: 'unknownOid' } }), isLast)
    expect((await look(sent, wallet.address)).is).to.equal('unseen')
    end()
    const seen = await look(sent, wallet.address)
    if (seen.is !== 'landed') throw new Error(`it is ${seen.is}`)
    expect(venue.CLOB.outcome(seen.receipt, plan.memo).map(({ state }) => state)).to.deep.equal(['OPEN', 'OPEN'])

    const trace = { of: 'orders', cloids: [cloids[0], `0x${'f'.repeat(32)}`] }
    const partly = { ...sent, step: { ...Object(sent.step), trace } }
    expect((await look(partly, wallet.address)).is).to.equal('unseen')
    venue.exchange.clock.advance(15_000)
    await look(partly, wallet.address)
    const late = await look(partly, wallet.address)
    if (late.is !== 'landed') throw new Error(`it is ${late.is}`)
    expect(venue.CLOB.outcome(late.receipt, plan.memo).map(({ state }) => state)).to.deep.equal(['OPEN', 'REJECTED'])
  })

  it('finds a lost batch whose first orders are unknown to the exchange before giving it up', async () => {
    const wallet = newWallet()
    const plan = await planOf(wallet.address, ...Array.from({ length: 5 }, () => create('10', '1')))
    const sent = await sendAmid(losesRequest, plan, wallet)
    const taken = await planOf(wallet.address, create('10', '1'))
    await venue.carryOut(taken, wallet)
    const [known] = Object(only(taken.steps)).trace.cloids
    const trace = { of: 'orders', cloids: ['0x1', '0x2', '0x3', known].map((each) => `0x${each.slice(2).padStart(32, 'f')}`) }
    const step = { ...Object(sent.step), trace }
    expect((await look({ ...sent, step }, wallet.address)).is).to.equal('unseen')
    venue.exchange.clock.advance(75_000)
    expect((await look({ ...sent, step }, wallet.address)).is).to.be.oneOf(['unseen', 'landed'])
    expect((await look({ ...sent, step }, wallet.address)).is).to.equal('landed')
  })

  it('takes a lost cancel for done once its order is not open any more, and not before', async () => {
    const wallet = newWallet()
    const placed = create()
    await venue.carryOut(await planOf(wallet.address, placed), wallet)
    const order = placed.do === 'create' ? { clientOrderId: placed.order.clientOrderId } : {}
    const cancel = await planOf(wallet.address, { do: 'cancel', market, order })
    const lost = await sendAmid(losesRequest, cancel, wallet)
    expect((await look(lost, wallet.address)).is).to.equal('unseen')
    expect(await again(lost)).to.have.nested.property('landed.ok', true)
    expect((await look(lost, wallet.address)).is).to.equal('landed')
  })

  it("returns the exchange's refusal at once and does not send the action again", async () => {
    const wallet = newWallet()
    const { reception } = only(await venue.carryOut(await planOf(wallet.address, create('39', '10')), wallet))
    expect(landedOf(reception)).to.include({ ok: true })
    const poor = Wallet.createRandom()
    const plan = await planOf(wallet.address, create())
    const nobody = only(await venue.carryOut(plan, poor))
    expect(landedOf(nobody.reception)).to.include({ ok: false })
    expect(landedOf(nobody.reception).reason).to.match(/does not exist/)
    expect(only(venue.CLOB.outcome(landedOf(nobody.reception).receipt, plan.memo)).state).to.equal('REJECTED')
  })

  it("can send an action again that the exchange's rate limit refused", async () => {
    const wallet = newWallet()
    const sent = await sendAmid(overItsLimit, await planOf(wallet.address, create()), wallet)
    expect(sent.reception).to.include({ is: 'refused', meaning: 'not-now' })
  })

  it('finds a withdrawal by its nonce, and replaces one that never arrived by an action without effect', async () => {
    const wallet = newWallet()
    const plan = await venue.PERP_CLOB.transferCollateral?.(usdc, 100_000_000n, 'withdraw', wallet.address, at)
    if (!plan || !('via' in plan)) throw new Error('no plan')
    const sent = await sendAmid(losesAnswer, plan, wallet)
    expect((await look(sent, wallet.address)).is).to.equal('landed')
    expect(venue.exchange.withdrawals()).to.have.length(1)
    expect(only(venue.exchange.withdrawals())).to.include({ destination: wallet.address.toLowerCase() })

    const other = await sendAmid(losesRequest, plan, wallet)
    const { rail } = venue.actions
    expect(rail.replace?.cancelIsCheaper?.(other.step, null, head)).to.equal(true)
    const noop = rail.replace?.cancel(wallet.address)
    const stopped = await venue.carryOut({ via: 'venue', steps: [noop ?? null], memo: null }, wallet, [other.sequence])
    expect(landedOf(only(stopped).reception).ok).to.equal(true)
    expect(await again(other)).to.include({ is: 'refused', meaning: 'sequence-used' })
    expect((await look(other, wallet.address)).is).to.equal('unseen')
    expect(venue.exchange.withdrawals()).to.have.length(1)
  })

  it('does not take a withdrawal of another amount for one with the same nonce', async () => {
    const wallet = newWallet()
    const planned = async (amountRaw: bigint) => {
      const plan = await venue.PERP_CLOB.transferCollateral?.(usdc, amountRaw, 'withdraw', wallet.address, at)
      if (!plan || !('via' in plan)) throw new Error('no plan')
      return plan
    }
    const [small, large] = [await planned(50_000_000n), await planned(100_000_000n)]
    const lost = await sendAmid(losesRequest, small, wallet)
    expect(landedOf(only(await venue.carryOut(large, wallet, [lost.sequence])).reception).ok).to.equal(true)
    expect((await look(lost, wallet.address)).is).to.equal('unseen')
    // The exchange may tell the amount with its fee in it.
    const nonce = Object(lost.sequence).nonce
    const told = (amount: string, fee?: string) =>
      venue.exchange.faults.add(
        ({ send }) =>
          send({
            status: 200,
            body: [{ time: nonce, hash: '0x1', delta: { type: 'withdraw', usdc: amount, nonce, ...(fee !== undefined && { fee }) } }],
          }),
        ({ body }) => Object(body).type === 'userNonFundingLedgerUpdates',
      )
    told('49.0', '2.0')
    expect((await look(lost, wallet.address)).is).to.equal('unseen')
    told('50.0', '1.0')
    expect((await look(lost, wallet.address)).is).to.equal('landed')
    told('49.0', '1.0')
    expect((await look(lost, wallet.address)).is).to.equal('landed')
  })

  it('does not take a transfer of the same amount for one that never arrived', async () => {
    const wallet = newWallet()
    const both = await venue.CLOB.transferCollateral?.(usdc, 10_000_000n, 'withdraw', wallet.address, at)
    if (!both || !('via' in both)) throw new Error('no plan')
    const plan: VenuePlan = { ...both, steps: [both.steps[0]] }
    expect(landedOf(only(await venue.carryOut(plan, wallet)).reception).ok).to.equal(true)

    const lost = await sendAmid(losesRequest, plan, wallet)
    expect((await look(lost, wallet.address)).is).to.equal('unseen')
    expect(await again(lost)).to.have.nested.property('landed.ok', true)

    const unheard = await sendAmid(losesAnswer, plan, wallet)
    expect((await look(unheard, wallet.address)).is).to.equal('unseen')
    expect(await again(unheard)).to.include({ is: 'refused', meaning: 'sequence-used' })
    expect(await look(unheard, wallet.address)).to.include({ is: 'landed', ok: true })
  })

  it('does not take the entry of an action that was answered for the trace of an equal one that never arrived', async () => {
    const wallet = newWallet()
    const both = await venue.CLOB.transferCollateral?.(usdc, 10_000_000n, 'withdraw', wallet.address, at)
    if (!both || !('via' in both)) throw new Error('no plan')
    const plan: VenuePlan = { ...both, steps: [both.steps[0]] }
    const lost = await sendAmid(losesRequest, plan, wallet)
    const unheard = await sendAmid(losesAnswer, plan, wallet)
    expect(landedOf(only(await venue.carryOut(plan, wallet)).reception).ok).to.equal(true)
    // One that did arrive is known by the exchange's refusal to do it again.
    expect(await again(unheard)).to.include({ meaning: 'sequence-used' })
    expect((await look(unheard, wallet.address)).is).to.equal('landed')
    venue.exchange.clock.advance(2 * 86_400_000 + 20_000)
    await look(lost, wallet.address)
    expect((await look(lost, wallet.address)).is).to.equal('expired')
  })

  it('signs with the configured agent, for the wallet', async () => {
    const [wallet, agent] = [Wallet.createRandom(), Wallet.createRandom()]
    await venue.stop()
    venue = await startVenue({ agents: { [wallet.address]: agent.address } })
    venue.exchange.credit(wallet.address.toLowerCase(), 'USDC', '1000')
    const { exchange } = newTrader(venue.exchange, wallet)
    await exchange.approveAgent({ agentAddress: agent.address, agentName: 'sluice' })
    const plan = await planOf(wallet.address, create())
    expect(plan.signer).to.equal(agent.address)
    expect(landedOf(only(await venue.carryOut(plan, agent)).reception).ok).to.equal(true)
    expect(await venue.CLOB.orders(wallet.address, {}, at)).to.have.length(1)
    // Only the wallet itself can sign what takes money out.
    const out = await venue.CLOB.transferCollateral?.(usdc, 2_000_000n, 'withdraw', wallet.address, at)
    expect(out).to.not.have.property('signer')
  })
})
