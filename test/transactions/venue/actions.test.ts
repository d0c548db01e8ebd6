import { expect } from 'chai'
import { unpack } from '../../../core/store/compact.ts'
import type { Store } from '../../../core/store/store.ts'
import { railName } from '../../../core/transactions/entry.ts'
import { type Sign } from '../../../core/transactions/submit-request.ts'
import { type Transactions } from '../../../core/transactions/transactions.ts'
import { addressOf, freshStore, gate, reaches, rejection, soon, stateOf, transactionsOn, until } from '../site.ts'
import { named, once, ordersOf, placing, settled, signTyped, startVenue, type VenueSite } from './venue-site.ts'

describe('signed actions of an exchange', () => {
  let venue: VenueSite
  let store: Store
  let transactions: Transactions
  let signings: number
  const sign: Sign = (request) => {
    signings += 1
    return signTyped(request)
  }
  const start = (more: Partial<Parameters<typeof transactionsOn>[0]> = {}) => transactionsOn({ store, sites: [venue.site], sign, ...more })

  beforeEach(async () => {
    signings = 0
    venue = await startVenue({ livesMs: 20_000, marginMs: 60_000 })
    store = await freshStore()
    transactions = await start()
  })
  afterEach(async () => {
    await transactions.stop(500)
    await store.close()
    await venue.stop()
  })

  it("become final with the exchange's immediate answer, and leave nothing to watch", async () => {
    const sent = await transactions.submit(placing(venue), soon())
    expect(sent.landed).to.deep.include({ ok: true })
    expect(sent.landed?.receipt).to.deep.equal(venue.exchange.done[0]?.outcome)
    const entry = await transactions.find('ethereum', 'local', sent.txHash)
    expect(entry).to.deep.include({ state: 'CONFIRMED', kind: 'order', connector: 'book', address: addressOf(0), signer: addressOf(0) })
    expect(entry?.landed).to.deep.equal({ id: sent.txHash, ok: true, blockNumber: -1, receipt: sent.landed?.receipt })
    expect(entry && transactions.status(entry)).to.equal(1)
    expect([venue.exchange.questions, venue.exchange.asked.length]).to.deep.equal([1, 1])
  })

  it('cost no gas, and report their nonce', async () => {
    const { gas, nonce } = await transactions.submit(placing(venue), soon())
    expect(gas).to.deep.equal({ gasLimit: 0n, gasPriceRaw: 0n, gasCostRaw: 0n })
    expect(nonce).to.equal(venue.exchange.done[0]?.nonce)
  })

  it('become REVERTED if the exchange refuses at once, with its reason', async () => {
    const sent = await transactions.submit(placing(venue, { amount: '0' }), soon())
    expect(sent.landed).to.include({ ok: false, reason: 'the amount is 0' })
    const entry = await transactions.find('ethereum', 'local', sent.txHash)
    expect(entry).to.include({ state: 'REVERTED', reason: 'the amount is 0' })
    expect(await transactions.orders.list({ ...listOf(), openOnly: true })).to.deep.equal([])
  })

  it('answer a request with a key as journaled, before anything is sent', async () => {
    const bodies: object[] = []
    const claim = { client: 'client', path: '/clob/orders', key: 'k', claim: 1 }
    await store.write((tx) =>
      tx
        .insertInto('requests')
        .values({ ...claim, fingerprint: '', server: '', request_id: '', created_at: 0, tag: '', status: null, body: null })
        .execute(),
    )
    const answerOf = (answer: object) => {
      bodies.push(answer)
      return { status: 200, body: JSON.stringify(answer) }
    }
    const kept = () => bodies.push({ is: 'kept' })
    const sent = await transactions.submit(placing(venue, { keyed: { claim, tag: '', answerOf, onRecorded: kept } }), soon())
    expect(sent).not.to.have.property('landed')
    expect(bodies).to.deep.equal([{ txHash: sent.txHash }, { is: 'kept' }])
    expect(await stateOf(transactions, sent.txHash)).to.equal('CONFIRMED')
    const [row] = await store.read((db) => db.selectFrom('requests').select('body').execute())
    expect(unpack(row?.body ?? Buffer.of())).to.equal(JSON.stringify({ txHash: sent.txHash }))
  })

  it('cause a look-up if the answer is lost, and are not done again', async () => {
    once(venue.exchange, 'lose')
    const sent = await transactions.submit(placing(venue), soon())
    expect(sent).not.to.have.property('landed')
    await reaches(transactions, sent.txHash, 'CONFIRMED')
    expect(venue.exchange.done).to.have.length(1)
    expect((await transactions.find('ethereum', 'local', sent.txHash))?.landed?.receipt).to.deep.equal(venue.exchange.done[0]?.outcome)
    expect(signings).to.equal(1)
  })

  it('go out again as the same bytes if they never arrived', async () => {
    once(venue.exchange, 'cut')
    const sent = await transactions.submit(placing(venue), soon())
    await reaches(transactions, sent.txHash, 'CONFIRMED')
    const [first, second] = venue.exchange.asked
    expect(second).to.deep.equal(first)
    expect([venue.exchange.done.length, signings]).to.deep.equal([1, 1])
  })

  it('go out again if the exchange accepts none for now', async () => {
    once(venue.exchange, { status: 429 })
    const sent = await transactions.submit(placing(venue), soon())
    await reaches(transactions, sent.txHash, 'CONFIRMED')
    expect(venue.exchange.done).to.have.length(1)
  })

  it('become EXPIRED after their time and a margin, if the exchange does not know them', async () => {
    venue.exchange.meddle = () => 'cut'
    const { txHash } = await transactions.submit(placing(venue), soon())
    venue.exchange.advance(21_000)
    await until('it was sent after its time', async () => venue.exchange.asked.length > 1)
    expect(await stateOf(transactions, txHash)).not.to.equal('EXPIRED')
    venue.exchange.advance(60_000)
    await reaches(transactions, txHash, 'EXPIRED')
    const { attempts = [] } = (await transactions.find('ethereum', 'local', txHash)) ?? {}
    expect([attempts.length, signings, venue.exchange.done.length]).to.deep.equal([1, 1, 0])
    // It was signed: its id stays its own.
    expect(await rejection(transactions.submit(placing(venue, { clientOrders: [named(await idOf(txHash))] }), soon()))).to.include({
      name: 'IDEMPOTENCY_CONFLICT',
    })
  })

  it('answer TIMEOUT if the exchange takes too long, and are finished', async () => {
    const { pass, open } = gate()
    const ending = new AbortController()
    venue.exchange.meddle = () => {
      venue.exchange.meddle = () => 'pass'
      ending.abort()
      return { hold: pass }
    }
    const late = await rejection(transactions.submit(placing(venue), ending.signal))
    expect(late.name).to.equal('TIMEOUT')
    open()
    await settled(transactions)
    const { entries } = await transactions.list({})
    expect(entries.map(({ state }) => state)).to.deep.equal(['CONFIRMED'])
    expect(venue.exchange.done).to.have.length(1)
  })

  it('stay unsent if the exchange is down during the check', async () => {
    venue.exchange.away = true
    const refused = await rejection(transactions.submit(placing(venue, { clientOrders: [named('a')] }), soon()))
    expect(refused.name).to.equal('NETWORK')
    venue.exchange.away = false
    expect(await ordersOf(transactions)).to.deep.equal([])
    await transactions.submit(placing(venue, { clientOrders: [named('a')] }), soon())
    expect(venue.exchange.done).to.have.length(1)
  })

  it('free their id if signing failed', async () => {
    await transactions.stop(100)
    let fails = true
    transactions = await start({ sign: (request) => (fails ? Promise.reject(new Error('the signer died')) : sign(request)) })
    await rejection(transactions.submit(placing(venue, { clientOrders: [named('a')] }), soon()))
    const [gaveUp] = await ordersOf(transactions)
    expect(gaveUp?.entry).to.deep.include({ state: 'EXPIRED', attempts: [] })
    fails = false
    const { txHash } = await transactions.submit(placing(venue, { clientOrders: [named('a')] }), soon())
    expect((await ordersOf(transactions)).map(({ entry }) => entry.attempts[0]?.id)).to.deep.equal([txHash])
    expect(venue.exchange.done).to.have.length(1)
  })

  it('reach the exchange once if many come at once with one id', async () => {
    const tries = await Promise.all(
      Array.from({ length: 30 }, () =>
        transactions.submit(placing(venue, { clientOrders: [named('a')] }), soon()).then(
          () => 'done',
          ({ name }: Error) => name,
        ),
      ),
    )
    expect(tries.filter((each) => each === 'done')).to.have.length(1)
    expect(tries.filter((each) => each === 'IDEMPOTENCY_CONFLICT')).to.have.length(29)
    expect(venue.exchange.asked).to.have.length(1)
    expect(await ordersOf(transactions)).to.have.length(1)
  })

  it('have one nonce each if many come at once', async () => {
    // A hundred take long on a busy machine: neither they nor their requests run out of time here.
    await transactions.stop(500)
    await venue.stop()
    venue = await startVenue({ livesMs: 600_000, marginMs: 60_000 })
    transactions = await start()
    const sent = await Promise.all(Array.from({ length: 100 }, () => transactions.submit(placing(venue), new AbortController().signal)))
    expect(new Set(sent.map(({ nonce }) => nonce)).size).to.equal(100)
    expect(sent.every(({ landed }) => landed?.ok)).to.equal(true)
    expect(venue.exchange.done).to.have.length(100)
    const highest = Math.max(...sent.map(({ nonce }) => nonce))
    const { nonce } = await transactions.submit(placing(venue), soon())
    expect(venue.held()).to.deep.equal([highest])
    expect(nonce).to.be.above(highest)
  })

  it("use an agent's key and nonces, and belong to the wallet", async () => {
    venue.exchange.agents.set(addressOf(5).toLowerCase(), addressOf(0).toLowerCase())
    const { txHash } = await transactions.submit(placing(venue, { signer: addressOf(5).toLowerCase() }), soon())
    expect(venue.exchange.done[0]).to.include({ signer: addressOf(5).toLowerCase() })
    expect(await transactions.find('ethereum', 'local', txHash)).to.include({ address: addressOf(0), signer: addressOf(5) })
    expect((await transactions.list({ address: addressOf(0) })).entries).to.have.length(1)
    expect((await transactions.list({ address: addressOf(5) })).entries).to.have.length(0)
    const lanes = await store.read((db) => db.selectFrom('lanes').select('lane').execute())
    expect(lanes).to.deep.equal([{ lane: `ethereum/local/book/${addressOf(5)}` }])
    expect(railName(venue.site)).to.equal('ethereum/local/book')
    // The wallet's id is used, whoever signs.
    const again = placing(venue, { clientOrders: [named(await idOf(txHash))] })
    expect((await rejection(transactions.submit(again, soon()))).name).to.equal('IDEMPOTENCY_CONFLICT')
  })

  it('stay unsigned if the plugin has no rail for its plan, or names no valid signer', async () => {
    const withoutRail = { ...placing(venue), venue: { connector: 'book' } }
    for (const order of [withoutRail, placing(venue, { signer: 'me' })]) {
      const refused = await rejection(transactions.submit(order, soon()))
      expect(refused.name).to.equal('UNKNOWN_ERROR')
      expect(refused.message).to.contain('defect of the plugin')
    }
    expect([signings, venue.exchange.asked.length]).to.deep.equal([0, 0])
  })

  it('must be actions, not transactions of the chain', async () => {
    const { rail } = venue.site.impl
    const draft: typeof rail.draft = (what, sequence) => ({ ...rail.draft(what, sequence), scheme: 'evm-transaction' })
    const posing = { ...venue.site, impl: { ...venue.site.impl, rail: { ...rail, draft } } }
    await transactions.stop(100)
    transactions = await start({ sites: [posing] })
    const refused = await rejection(transactions.submit(placing(venue), soon()))
    expect(refused).to.include({ name: 'UNKNOWN_ERROR' })
    expect(refused.message).to.contain('as an action')
    expect([signings, venue.exchange.asked.length]).to.deep.equal([0, 0])
  })

  it('go out in the order of their plan, and return the result of the last', async () => {
    const order = placing(venue)
    if (!('via' in order.plan)) throw new Error('It goes by the venue.')
    const [step] = order.plan.steps
    const sent = await transactions.submit({ ...order, plan: { ...order.plan, steps: [step, { ...Object(step), amount: '0' }] } }, soon())
    expect(venue.exchange.done.map(({ action }) => action['amount'])).to.deep.equal(['1', '0'])
    expect(sent.landed).to.include({ ok: false })
    expect(sent.transactions).to.have.length(2)
    expect((await ordersOf(transactions))[0]?.entry.state).to.equal('REVERTED')
  })

  const inTwoSteps = (first: object, second: object) => {
    const order = placing(venue)
    if (!('via' in order.plan)) throw new Error('It goes by the venue.')
    const [step] = order.plan.steps
    return {
      ...order,
      plan: {
        ...order.plan,
        steps: [
          { ...Object(step), ...first },
          { ...Object(step), ...second },
        ] as const,
      },
    }
  }
  const amountsDone = () => venue.exchange.done.map(({ action }) => action['amount'])

  it('do not go out behind a step of their plan that the exchange refused', async () => {
    const sent = await transactions.submit(inTwoSteps({ amount: '0' }, { amount: '1' }), soon())
    expect(sent.landed).to.include({ ok: false, reason: 'the amount is 0' })
    await settled(transactions)
    const { entries } = await transactions.list({})
    expect(entries.map(({ state }) => state)).to.deep.equal(['EXPIRED', 'REVERTED'])
    expect(entries[0]?.reason).to.contain('the amount is 0')
    expect(amountsDone()).to.deep.equal(['0'])
    expect((await ordersOf(transactions))[0]?.entry.state).to.equal('EXPIRED')
  })

  for (const trouble of ['cut', 'lose'] as const)
    it(`go out once it is known that the step of their plan before them was done (${trouble})`, async () => {
      once(venue.exchange, trouble)
      const sent = await transactions.submit(inTwoSteps({ amount: '1' }, { amount: '2' }), soon())
      expect(sent).not.to.have.property('landed')
      await settled(transactions)
      expect(amountsDone()).to.deep.equal(['1', '2'])
      const { entries } = await transactions.list({})
      expect(entries.map(({ state }) => state)).to.deep.equal(['CONFIRMED', 'CONFIRMED'])
    })

  it('do not go out at the next server behind a step of their plan that was refused at the last', async () => {
    const held = gate()
    venue.exchange.meddle = () => ({ hold: held.pass })
    const submitting = transactions.submit(inTwoSteps({ amount: '0' }, { amount: '1' }), soon()).catch(() => {})
    await until('it is sent', async () => venue.exchange.asked.length > 0)
    await transactions.stop(0)
    venue.exchange.meddle = () => 'pass'
    held.open()
    await submitting
    transactions = await start()
    await settled(transactions)
    expect(amountsDone()).not.to.include('1')
  })

  it('cannot be cancelled or sped up', async () => {
    const origin = { network: venue.site, address: addressOf(0), caller: { id: 'c' }, requestId: 'r', feeOverrides: {} }
    once(venue.exchange, 'cut')
    const { txHash, nonce } = await transactions.submit(placing(venue), soon())
    expect((await rejection(transactions.cancel({ ...origin, nonce }, soon()))).name).to.equal('UNSUPPORTED')
    expect((await rejection(transactions.speedUp({ ...origin, nonce }, soon()))).name).to.equal('UNSUPPORTED')
    await reaches(transactions, txHash, 'CONFIRMED')
  })

  async function idOf(txHash: string): Promise<string> {
    const found = (await ordersOf(transactions)).find(({ entry }) => entry.attempts.some(({ id }) => id === txHash))
    return found?.clientOrderId ?? ''
  }
  const listOf = () => ({ chain: 'ethereum', network: 'local', connector: 'book', address: addressOf(0), limit: 10 })
})
