import { expect } from 'chai'
import type { Entry } from '../../core/transactions/entry.ts'
import type { Store } from '../../core/store/store.ts'
import type { Transactions } from '../../core/transactions/transactions.ts'
import { faultyJournal, type Faults } from './submit/faulty-journal.ts'
import { startPrivateRelay, type PrivateRelay } from './private-relay.ts'
import {
  addressOf,
  freshStore,
  gwei,
  nowhere,
  order,
  planOf,
  reaches,
  rejection,
  sign,
  soon,
  startSite,
  stateOf,
  transactionsOn,
  until,
  type TestSite,
} from './site.ts'

const cheap = { maxFeePerGasRaw: 10n * gwei, maxPriorityFeePerGasRaw: gwei }
const dear = { maxFeePerGasRaw: 20n * gwei, maxPriorityFeePerGasRaw: 2n * gwei }
const hidden = { privateOnly: true } as const

describe('a private transaction', function () {
  let site: TestSite
  let relay: PrivateRelay
  let store: Store
  let faults: Faults
  const running: Transactions[] = []

  before(async () => {
    // Of two relays one is away all the time.
    const relaysOf = async (rpc: TestSite['rpc']) => [(relay = await startPrivateRelay(rpc)).url, 'http://127.0.0.1:9']
    site = await startSite({ confirmations: 2, flags: ['--no-mining'], bumpAfterSeconds: 1, relaysOf })
    await site.mine(5)
  })
  after(async () => {
    await site.stop()
    await relay.stop()
  })
  beforeEach(async () => {
    store = await freshStore()
    faults = {}
    site.relay.sends.length = 0
    relay.received.length = 0
    relay.ways.withdraws = true
    relay.ways.trouble = undefined
  })
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop(0)
    await store.close()
    const leaked = relay.received.filter(({ serialized }) => site.relay.sends.some((body) => body.includes(serialized)))
    expect(leaked, 'private ones that a public node got').to.deep.equal([])
    // For the next test no nonce is open.
    await relay.include()
    relay.expire()
  })

  async function server(more: Parameters<typeof transactionsOn>[0] = {}): Promise<Transactions> {
    const transactions = await transactionsOn({
      store,
      sites: [site.network],
      journalOf: (journal) => faultyJournal(journal, faults),
      ...more,
    })
    running.push(transactions)
    return transactions
  }
  const isHeld = (txHash: string) => relay.held().some(({ hash }) => hash === txHash)
  async function included(transactions: Transactions, txHash: string, state = 'CONFIRMED'): Promise<void> {
    // What the relay has given up in the meantime comes again.
    await until(state, async () => {
      await relay.include()
      return (await stateOf(transactions, txHash)) === state
    })
  }

  it('goes to the relay and to no node, and is followed by its block', async () => {
    const transactions = await server()
    const { txHash } = await transactions.submit(order(site, hidden), soon())
    expect(isHeld(txHash)).to.equal(true)
    const entry = await transactions.find('ethereum', 'local', txHash)
    expect(entry).to.include({ state: 'BROADCAST', privateOnly: true, seen: 'pays' })
    await included(transactions, txHash)
  })

  it('goes to the relay again when that has given it up, which is no end of it', async () => {
    const transactions = await server()
    const { txHash } = await transactions.submit(order(site, { ...hidden, feeOverrides: cheap }), soon())
    for (let times = 0; times < 3; times += 1) {
      relay.expire()
      await site.mine(30)
      await until('the relay has it again', async () => isHeld(txHash))
      expect(await stateOf(transactions, txHash)).to.equal('BROADCAST')
    }
    await included(transactions, txHash)
  })

  it('stays with the relay when it is sped up, replaced or cancelled, whatever the next request says', async () => {
    relay.ways.withdraws = false
    const transactions = await server()
    const slow = await transactions.submit(order(site, { ...hidden, feeOverrides: cheap }), soon())
    const faster = await transactions.speedUp(order(site, { nonce: slow.nonce }), soon())
    expect([isHeld(slow.txHash), isHeld(faster.txHash)]).to.deep.equal([false, true])
    await included(transactions, faster.txHash)

    const first = await transactions.submit(order(site, { ...hidden, feeOverrides: cheap }), soon())
    const heir = await transactions.submit(order(site, { feeOverrides: dear, nonce: first.nonce }), soon())
    expect(await transactions.find('ethereum', 'local', heir.txHash)).to.include({ privateOnly: true })
    expect([isHeld(first.txHash), isHeld(heir.txHash)]).to.deep.equal([false, true])
    const cancel = await transactions.cancel(order(site, { nonce: heir.nonce }), soon())
    expect([isHeld(heir.txHash), isHeld(cancel.txHash)]).to.deep.equal([false, true])
    await included(transactions, cancel.txHash)
    for (const { txHash } of [first, heir]) await reaches(transactions, txHash, 'CANCELLED')
  })

  it('has a gap below it filled by the relay', async () => {
    relay.ways.withdraws = false
    let refuse = (_error: Error): void => {}
    const hangs = new Promise<never>((_resolve, reject) => (refuse = reject))
    let isHung = true
    const transactions = await server({ sign: (request) => (isHung ? hangs : sign(request)) })
    const lost = transactions.submit(order(site, { ...hidden, requestId: 'lost' }), soon())
    await until('it is queued', async () => (await transactions.list({ requestId: 'lost' })).entries.length === 1)
    isHung = false
    const next = await transactions.submit(order(site, hidden), soon())
    refuse(new Error('no signature'))
    await lost.catch(() => {})
    await until('the gap is filled', async () => relay.held().some(({ nonce }) => nonce === next.nonce - 1))
    await included(transactions, next.txHash)
  })

  it('stays private after a restart, with relays and without', async () => {
    const first = await server()
    const { txHash } = await first.submit(order(site, hidden), soon())
    faults.away = true
    running.splice(0)
    await first.stop(0)
    faults = {}
    relay.expire()

    const { impl } = site.network
    const without = { ...site.network, impl: { ...impl, rail: { ...impl.rail, sendsPrivately: false } } }
    const bare = await server({ sites: [without] })
    await until('it could not be sent', async () => /privateUrls/.test((await bare.find('ethereum', 'local', txHash))?.reason ?? ''))
    await site.mine(20)
    expect(await stateOf(bare, txHash)).to.equal('BROADCAST')
    running.splice(0)
    await bare.stop(0)

    const second = await server()
    await until('the relay has it again', async () => isHeld(txHash))
    await included(second, txHash)
  })

  const slotOf = (txHash: string) => relay.held().find(({ hash }) => hash === txHash)
  async function entryOf(transactions: Transactions, txHash: string): Promise<Entry> {
    const entry = await transactions.find('ethereum', 'local', txHash)
    if (!entry) throw new Error(`${txHash} is not in the journal.`)
    return entry
  }

  it('has its nonce used by another one when a relay took the cancel for a withdrawal and includes neither', async () => {
    const transactions = await server()
    const trade = await transactions.submit(order(site, { ...hidden, feeOverrides: cheap }), soon())
    const cancel = await transactions.cancel(order(site, { nonce: trade.nonce }), soon())
    expect(
      relay.held().map(({ hash }) => hash),
      'withdrawn',
    ).to.not.include.members([trade.txHash, cancel.txHash])
    const next = await transactions.submit(order(site, hidden), soon())
    await until('another one is on the nonce', async () => {
      await site.mine()
      return relay.held().some(({ nonce }) => nonce === trade.nonce)
    })
    const [last] = relay.held().filter(({ nonce }) => nonce === trade.nonce)
    expect(last).to.deep.include({ to: addressOf(0), value: 0n, data: '0x00000000' })
    await included(transactions, next.txHash)
    for (const { txHash } of [trade, cancel]) await reaches(transactions, txHash, 'CANCELLED')
    expect(await entryOf(transactions, String(last?.hash))).to.include({ state: 'CONFIRMED', kind: 'cancel', privateOnly: true })
    expect((await entryOf(transactions, cancel.txHash)).reason).to.contain('did not include')
  })

  it('ends at once by a second cancel in the form that no relay takes for a withdrawal', async () => {
    const transactions = await server()
    const trade = await transactions.submit(order(site, { ...hidden, feeOverrides: cheap }), soon())
    await transactions.cancel(order(site, { nonce: trade.nonce }), soon())
    const second = await transactions.cancel(order(site, { nonce: trade.nonce }), soon())
    expect(slotOf(second.txHash)?.data).to.equal('0x00000000')
    await included(transactions, second.txHash)
    await reaches(transactions, trade.txHash, 'CANCELLED')
  })

  it('ends at the relay when its deadline passed, so that its nonce is free for the next', async () => {
    const transactions = await server()
    const { timestamp } = Object(await site.rpc('eth_getBlockByNumber', 'latest', false))
    const plan = { ...planOf({ to: nowhere, data: '0x', value: '1' }), deadline: Number(timestamp) + 3 }
    const late = await transactions.submit(order(site, { ...hidden, plan }), soon())
    const next = await transactions.submit(order(site, hidden), soon())
    relay.expire()
    await until('it is cancelled', async () => {
      await site.mine()
      return relay.held().some(({ nonce, data }) => nonce === late.nonce && data === '0x00000000')
    })
    expect((await entryOf(transactions, late.txHash)).reason).to.contain('deadline passed')
    await until('the relay has the next one again', async () => isHeld(next.txHash))
    await included(transactions, next.txHash)
    await reaches(transactions, late.txHash, 'CANCELLED')
  })

  for (const trouble of ['refuses', 'hangs', 'lies'] as const)
    it(`returns its hash when the relay ${trouble}, and goes there again when that is over`, async () => {
      const transactions = await server()
      relay.ways.trouble = trouble
      const { txHash } = await transactions.submit(order(site, hidden), soon())
      expect(relay.received.map(({ hash }) => hash)).to.include(txHash)
      expect(isHeld(txHash)).to.equal(false)
      expect(await stateOf(transactions, txHash)).to.equal(trouble === 'lies' ? 'BROADCAST' : 'SIGNED')
      relay.ways.trouble = undefined
      await until('the relay has it', async () => isHeld(txHash))
      await included(transactions, txHash)
    })

  it('has its fees raised at the relay when blocks leave it out', async () => {
    const transactions = await server()
    const { txHash, nonce } = await transactions.submit(order(site, hidden), soon())
    const first = slotOf(txHash)
    await until('its fees are raised', async () => {
      await site.mine()
      return relay.held().some((each) => each.nonce === nonce && each.hash !== txHash)
    })
    const [raised] = relay.held()
    expect(Number(raised?.maxPriorityFeePerGas)).to.be.greaterThan(Number(first?.maxPriorityFeePerGas))
    expect((await entryOf(transactions, txHash)).attempts.map(({ id }) => id)).to.include.members([txHash, raised?.hash])
    await included(transactions, String(raised?.hash))
  })

  it('holds up a public one behind it, and waits for a public one before it', async () => {
    const transactions = await server()
    const before = await transactions.submit(order(site), soon())
    const secret = await transactions.submit(order(site, hidden), soon())
    const after = await transactions.submit(order(site), soon())
    expect([before, secret, after].map(({ nonce }) => nonce - before.nonce)).to.deep.equal([0, 1, 2])
    await site.mine(4)
    await reaches(transactions, before.txHash, 'CONFIRMED')
    expect([await stateOf(transactions, secret.txHash), await stateOf(transactions, after.txHash)]).to.deep.equal([
      'BROADCAST',
      'BROADCAST',
    ])
    // Nothing of it is an unused nonce.
    expect((await transactions.list({})).entries.map(({ kind }) => kind)).to.deep.equal(['trade', 'trade', 'trade'])
    await included(transactions, secret.txHash)
    await reaches(transactions, after.txHash, 'CONFIRMED')
  })

  it('cannot be cancelled, sped up or replaced where the network has no relay any more, and nothing is signed for that', async () => {
    const first = await server()
    const { txHash, nonce } = await first.submit(order(site, hidden), soon())
    running.splice(0)
    await first.stop(0)
    const { impl } = site.network
    const without = { ...site.network, impl: { ...impl, rail: { ...impl.rail, sendsPrivately: false } } }
    const bare = await server({ sites: [without] })
    const at = { network: without, nonce }
    for (const attempt of [
      () => bare.cancel(order(site, at), soon()),
      () => bare.speedUp(order(site, at), soon()),
      () => bare.submit(order(site, { ...at, feeOverrides: dear }), soon()),
      () => bare.submit(order(site, { network: without, ...hidden }), soon()),
    ])
      expect(await rejection(attempt())).to.deep.include({ name: 'UNSUPPORTED' })
    const { entries } = await bare.list({ on: { address: addressOf(0) }, chain: 'ethereum', network: 'local' })
    expect(entries.filter(({ attempts }) => attempts.length > 0).map((entry) => entry.attempts.map(({ id }) => id))).to.deep.equal([
      [txHash],
    ])
    running.splice(0)
    await bare.stop(0)
    const second = await server()
    await included(second, txHash)
  })
})
