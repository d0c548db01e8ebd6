import { toQuantity } from 'ethers'
import { expect } from 'chai'
import { SluiceError } from '../../../core/base/errors.ts'
import type { Store } from '../../../core/store/store.ts'
import { txHashOf } from '../../../core/transactions/entry.ts'
import type { Journal } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { attempt, giveLease, newEntry, next, queueOf } from '../journal/entries.ts'
import { faultyJournal, type Faults } from '../submit/faulty-journal.ts'
import {
  addressOf,
  freshStore,
  gate,
  gwei,
  order,
  reaches,
  rejection,
  sign,
  soon,
  startSite,
  stateOf,
  transactionsOn,
  until,
  type TestSite,
} from '../site.ts'

const cheap = { maxFeePerGasRaw: 10n * gwei, maxPriorityFeePerGasRaw: gwei }
const dear = { maxFeePerGasRaw: 20n * gwei, maxPriorityFeePerGasRaw: 2n * gwei }

describe('transactions that a server left open', function () {
  let site: TestSite
  let store: Store
  let faults: Faults
  const running: Transactions[] = []

  before(async () => {
    site = await startSite({ confirmations: 3, flags: ['--no-mining'] })
    await site.mine(5)
  })
  after(() => site.stop())
  beforeEach(async () => {
    store = await freshStore()
    faults = {}
  })
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop(0)
    await store.close()
    await site.heal()
    await site.rpc('anvil_dropAllTransactions')
  })

  async function server(more: Parameters<typeof transactionsOn>[0] = {}): Promise<Transactions> {
    const transactions = await transactionsOn({ store, sites: [site.network], ...more })
    running.push(transactions)
    return transactions
  }
  /** One that can be killed: from then on nothing of it gets into the journal. */
  const mortal = (more: Parameters<typeof transactionsOn>[0] = {}) =>
    server({ journalOf: (journal) => faultyJournal(journal, faults), ...more })
  async function kill(transactions: Transactions): Promise<void> {
    faults.away = true
    running.splice(running.indexOf(transactions), 1)
    await transactions.stop(0)
  }

  it('free no nonce of a final one after them, where a node lags and one before it is seen late', async () => {
    let late: number | undefined
    const first = await mortal({ readOutcome: ({ nonce }) => (nonce === late ? () => new Promise(() => {}) : undefined) })
    const held = await first.submit(order(site), soon())
    late = held.nonce
    const final = await first.submit(order(site), soon())
    await site.mine(4)
    await reaches(first, final.txHash, 'CONFIRMED')
    expect(await stateOf(first, held.txHash)).to.equal('MINED')
    await kill(first)
    faults = {}
    const before = toQuantity(held.nonce)
    site.relay.edit = (methods, answer) =>
      Array.isArray(answer)
        ? answer.map((each: object, index) => (methods[index] === 'eth_getTransactionCount' ? { ...each, result: before } : each))
        : answer
    const second = await server()
    expect(await rejection(second.submit(order(site, { nonce: final.nonce }), soon()))).to.include({ name: 'INVALID_NONCE' })
    site.relay.edit = undefined
    await reaches(second, held.txHash, 'CONFIRMED')
  })

  it('reach their end on the next server, whatever state they were in', async () => {
    let isHung = false
    const first = await mortal({ sign: (request: Parameters<typeof sign>[0]) => (isHung ? new Promise<never>(() => {}) : sign(request)) })
    const mined = await first.submit(order(site), soon())
    await site.mine()
    await reaches(first, mined.txHash, 'MINED')
    const pending = await first.submit(order(site, { feeOverrides: cheap }), soon())
    const replaced = await first.submit(order(site, { feeOverrides: cheap }), soon())
    const heir = await first.submit(order(site, { feeOverrides: dear, nonce: replaced.nonce }), soon())
    const sped = await first.submit(order(site), soon())
    const faster = await first.speedUp(order(site, { nonce: sped.nonce }), soon())
    isHung = true
    const queued = first.submit(order(site, { requestId: 'never-signed' }), soon())
    await until('it is queued', async () => (await first.list({ requestId: 'never-signed' })).entries.length === 1)
    isHung = false
    // Behind the one that will never be signed, and no node gets it.
    site.relay.meddle = (methods) => (methods.includes('eth_sendRawTransaction') ? 'refuse' : 'pass')
    const unsent = await first.submit(order(site), soon())
    expect(unsent.nonce).to.equal(sped.nonce + 2)
    await kill(first)
    await queued.catch(() => {})
    await site.heal()

    const second = await server()
    expect((await second.list({ requestId: 'never-signed' })).entries.map(({ state, attempts }) => [state, attempts.length])).to.deep.equal(
      [['EXPIRED', 0]],
    )
    await until('everything is in a block', async () => {
      await site.mine()
      return (await stateOf(second, unsent.txHash)) === 'CONFIRMED'
    })
    for (const { txHash } of [mined, pending, heir, faster, unsent]) await reaches(second, txHash, 'CONFIRMED')
    await reaches(second, replaced.txHash, 'REPLACED')
    expect(await second.find('ethereum', 'local', sped.txHash)).to.include({ state: 'CONFIRMED', nonce: sped.nonce })
    const after = await second.submit(order(site), soon())
    expect(after.nonce).to.equal(unsent.nonce + 1)
  })

  it('keep their nonces and are replaced only at higher fees', async () => {
    const first = await mortal()
    const open = await first.submit(order(site, { feeOverrides: cheap }), soon())
    await kill(first)
    const second = await server()
    const next = await second.submit(order(site), soon())
    expect(next.nonce).to.equal(open.nonce + 1)
    const refused = await second.submit(order(site, { nonce: open.nonce, feeOverrides: cheap }), soon()).catch((error: Error) => error)
    expect(refused).to.include({ name: 'INVALID_NONCE' })
    const cancel = await second.cancel(order(site), soon())
    expect(cancel.nonce).to.equal(open.nonce)
    await until('it is cancelled', async () => {
      await site.mine()
      return (await stateOf(second, open.txHash)) === 'CANCELLED'
    })
  })

  it('reach their end without the key of their wallet, and nothing new is signed for it', async () => {
    const first = await mortal()
    const { txHash } = await first.submit(order(site), soon())
    await kill(first)
    await site.rpc('anvil_dropAllTransactions')
    let asked = 0
    const second = await server({
      sign: () => {
        asked += 1
        throw new SluiceError('LOAD_WALLET', 'There is no key.')
      },
    })
    const refused = await second.cancel(order(site), soon()).catch((error: Error) => error)
    expect(refused).to.include({ name: 'LOAD_WALLET' })
    expect(asked).to.equal(1)
    // Nodes had forgotten it.
    await until('it is final', async () => {
      await site.mine()
      return (await stateOf(second, txHash)) === 'CONFIRMED'
    })
    expect(await second.find('ethereum', 'local', txHash))
      .to.have.property('attempts')
      .with.lengthOf(1)
  })

  it('get a replacement at the fees of the newest, even if the clock was set back before it', async () => {
    const first = await mortal()
    const open = await first.submit(order(site, { feeOverrides: cheap }), soon())
    await kill(first)
    faults = {}
    const second = await mortal({ nowMs: () => Date.now() - 3_600_000 })
    const heir = await second.submit(order(site, { feeOverrides: dear, nonce: open.nonce }), soon())
    await kill(second)
    const third = await server()
    const between = { maxFeePerGasRaw: 15n * gwei, maxPriorityFeePerGasRaw: (3n * gwei) / 2n }
    const refused = await third.submit(order(site, { nonce: open.nonce, feeOverrides: between }), soon()).catch((error: Error) => error)
    expect(refused).to.include({ name: 'INVALID_NONCE' })
    expect(refused).to.have.nested.property('details.txHash', heir.txHash)
    await until('it is replaced', async () => {
      await site.mine()
      return (await stateOf(third, open.txHash)) === 'REPLACED'
    })
  })

  it('come before those of the next server, though the clock of the earlier one was a day ahead', async () => {
    const dayAhead = (Date.now() + 86_400_000).toString(36).padStart(9, '0')
    const earlier = newEntry({ key: `${dayAhead}-00000001-00000000`, address: addressOf(0), nonce: 0, sequence: 0 })
    const lease = await giveLease(store, { queue: queueOf(addressOf(0)), fencingToken: 1 })
    await sqlJournal(store).open([earlier], lease)
    await sqlJournal(store).write([next(earlier, { state: 'CONFIRMED', attempts: [attempt(`0x${'1'.repeat(64)}`)] })], lease)

    const second = await server()
    const { txHash } = await second.submit(order(site), soon())
    // The highest nonces of a queue are looked for among its newest entries.
    expect((await second.list({ address: addressOf(0) })).entries.map(txHashOf)).to.deep.equal([txHash, `0x${'1'.repeat(64)}`])
  })

  it('need one search, however many networks have none', async () => {
    let asked = 0
    const counting = (journal: Journal): Journal => ({ ...journal, list: (filter) => ((asked += 1), journal.list(filter)) })
    const others = Array.from({ length: 30 }, (_, index) => ({ ...site.network, network: `other-${index}` }))
    await server({ sites: [site.network, ...others], journalOf: counting })
    expect(asked).to.equal(0)
  })

  it('do not delay a start: without a node they are recovered, and continued when the node is back', async () => {
    const first = await mortal()
    const open = await first.submit(order(site), soon())
    await kill(first)
    site.relay.meddle = () => 'refuse'
    const second = await server()
    expect(await stateOf(second, open.txHash)).to.equal('BROADCAST')
    await site.heal()
    await until('it is confirmed', async () => {
      await site.mine()
      return (await stateOf(second, open.txHash)) === 'CONFIRMED'
    })
  })

  it('do not delay a start: if the store hangs they are recovered when it answers', async () => {
    const first = await mortal()
    const open = await first.submit(order(site), soon())
    await kill(first)
    const hung = gate()
    const hanging = (journal: Journal): Journal => ({ ...journal, openQueues: () => hung.pass.then(() => journal.openQueues()) })
    const second = await server({ journalOf: hanging })
    expect(await stateOf(second, open.txHash)).to.equal('BROADCAST')
    hung.open()
    await until('it is confirmed', async () => {
      await site.mine()
      return (await stateOf(second, open.txHash)) === 'CONFIRMED'
    })
  })

  it('cause a message to the operator if no plugin serves their network, and are watched once one does', async () => {
    const first = await mortal()
    const open = await first.submit(order(site), soon())
    await kill(first)
    const said: object[] = []
    const second = await server({ sites: [], log: { info: () => {}, warn: () => {}, error: (fields) => said.push(fields) } })
    expect(said).to.deep.include({
      chain: 'ethereum',
      network: 'local',
      open: 1,
      transactions: [{ address: addressOf(0), nonce: open.nonce, txHash: open.txHash }],
    })
    expect((await second.list({})).entries).to.have.length(1)
    second.watch(site.network)
    await until('it is confirmed', async () => {
      await site.mine()
      return (await stateOf(second, open.txHash)) === 'CONFIRMED'
    })
  })
})
