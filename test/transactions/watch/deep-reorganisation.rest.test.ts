import { Transaction, hexlify, toQuantity } from 'ethers'
import { expect } from 'chai'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import type { Store } from '../../../core/store/store.ts'
import type { Relay } from '../relay.ts'
import {
  addressOf,
  freshStore,
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

describe('a reorganisation deeper than the confirmations', function () {
  let site: TestSite
  let store: Store
  let transactions: Transactions
  let aheadMs: number
  let ageSeconds: number
  let told: { fields: object; message: string }[]
  let heightBefore: number
  let unsignable: number | undefined
  let lost: { txHash: string; nonce: number }[]

  before(async () => {
    site = await startSite({ confirmations: 2, flags: ['--no-mining'], hasTwoNodes: true })
  })
  after(() => site.stop())
  beforeEach(async () => {
    aheadMs = 0
    ageSeconds = 0
    unsignable = undefined
    told = []
    store = await freshStore()
    transactions = await start()
    // Three trades are final.
    await site.mine(8)
    heightBefore = await height()
    lost = []
    for (let count = 0; count < 3; count += 1) lost.push(await transactions.submit(order(site), soon()))
    for (const { txHash } of lost) await end(txHash, 'CONFIRMED')
  })
  afterEach(async () => {
    await transactions.stop(1000)
    await store.close()
    await site.rpc('anvil_dropAllTransactions')
    const { relay, secondRelay } = site
    for (const each of [relay, secondRelay]) if (each) Object.assign(each, { edit: undefined, meddle: () => 'pass' })
  })

  const height = async () => Number(await site.rpc('eth_blockNumber'))
  /** The chain goes on without them. */
  async function goBack(): Promise<void> {
    await site.rpc('anvil_reorg', (await height()) - heightBefore, [])
    await site.rpc('anvil_dropAllTransactions')
    await site.mine(2)
  }
  function start(): Promise<Transactions> {
    const tell = (fields: object, message: string) => void told.push({ fields, message })
    return transactionsOn({
      store,
      sites: [site.network],
      async sign(request) {
        if (Transaction.from(hexlify(request.signable.bytes)).nonce === unsignable) throw new Error('It does not sign that.')
        return sign(request)
      },
      steadyMs: () => performance.now() + aheadMs,
      ageSeconds: () => ageSeconds,
      log: { info: () => {}, warn: tell, error: tell },
    })
  }
  const end = (txHash: string, state: string) =>
    until(state, async () => {
      await site.mine()
      return (await stateOf(transactions, txHash)) === state
    })
  const fills = async () => (await transactions.list({})).entries.filter(({ kind }) => kind === 'fill')
  /** A node of another branch, by the number of transactions there. */
  const counting =
    (count: number): Relay['edit'] =>
    (methods, answer) =>
      Array.isArray(answer)
        ? answer.map((each: object, index) =>
            methods[index] === 'eth_getTransactionCount' ? { ...each, result: toQuantity(count) } : each,
          )
        : answer
  /** Each block is looked at. */
  async function mineAndLook(blocks: number): Promise<void> {
    const looks = () => site.relay.requests.filter((methods) => methods.includes('eth_getTransactionReceipt')).length
    for (let count = 0; count < blocks; count += 1) {
      const seen = looks()
      await site.mine()
      await until('the block was looked at', async () => looks() > seen)
    }
  }

  it('keeps a later trade waiting for minutes only', async () => {
    await goBack()
    const count = Number(await site.rpc('eth_getTransactionCount', addressOf(0), 'latest'))
    expect(count, 'the chain is without them').to.equal(lost[0]?.nonce)
    const later = await transactions.submit(order(site), soon())
    // Not one that a node which errs would have others use on the true chain.
    expect(later.nonce).to.equal((lost[2]?.nonce ?? 0) + 1)
    await mineAndLook(8)
    expect(await fills(), 'at once').to.deep.equal([])
    aheadMs = 10 * 60_000
    await end(later.txHash, 'CONFIRMED')
    expect((await fills()).map(({ nonce }) => nonce).toSorted((a, b) => a - b)).to.deep.equal(lost.map(({ nonce }) => nonce))
    // What was said of them stays said.
    for (const { txHash } of lost) await reaches(transactions, txHash, 'CONFIRMED')
    const [shout, ...more] = told.filter(({ message }) => message.includes('not on the chain any more'))
    expect(more).to.deep.equal([])
    expect(shout?.fields).to.deep.include({ address: addressOf(0), firstNonce: lost[0]?.nonce, lastNonce: lost[2]?.nonce })
    expect(JSON.stringify(shout?.fields)).to.include(lost[0]?.txHash).and.include(lost[2]?.txHash)
  })

  it('fills the nonces below one that a caller chose as well, after as long', async () => {
    const [first, , last] = lost
    if (!first || !last) throw new Error('There is none.')
    await goBack()
    const later = await transactions.submit(order(site, { nonce: last.nonce + 1 }), soon())
    await mineAndLook(8)
    expect(await fills(), 'at once').to.deep.equal([])
    const naming = () => transactions.submit(order(site, { nonce: first.nonce }), soon())
    expect(await rejection(naming())).to.include({ name: 'INVALID_NONCE' })
    aheadMs = 10 * 60_000
    await end(later.txHash, 'CONFIRMED')
    expect((await fills()).map(({ nonce }) => nonce).toSorted((a, b) => a - b)).to.deep.equal(lost.map(({ nonce }) => nonce))
    await reaches(transactions, first.txHash, 'CONFIRMED')
    expect(await rejection(naming())).to.include({ name: 'INVALID_NONCE' })
  })

  it('goes on with its fills after a restart', async () => {
    const [first, second, last] = lost
    if (!first || !second || !last) throw new Error('There is none.')
    await goBack()
    const later = await transactions.submit(order(site), soon())
    await mineAndLook(8)
    aheadMs = 10 * 60_000
    unsignable = second.nonce
    const sent = async () => (await fills()).filter(({ state }) => state === 'BROADCAST').map(({ nonce }) => nonce)
    await until('two are filled', async () => {
      if ((await fills()).length === 0) await site.mine()
      return (await sent()).length === 2
    })
    await transactions.stop(1000)
    unsignable = undefined
    transactions = await start()
    const origin = { network: site.network, address: addressOf(0), caller: { id: 'client' }, requestId: 'faster', feeOverrides: {} }
    for (const { nonce } of [first, last]) expect(await transactions.speedUp({ ...origin, nonce }, soon())).to.include({ nonce })
    // The one between them is filled without five more minutes.
    await end(later.txHash, 'CONFIRMED')
    const filled = (await fills()).filter(({ state }) => state !== 'EXPIRED')
    expect(filled.map(({ state }) => state)).to.deep.equal(['CONFIRMED', 'CONFIRMED', 'CONFIRMED'])
    expect(filled.map(({ nonce }) => nonce).toSorted((a, b) => a - b)).to.deep.equal(lost.map(({ nonce }) => nonce))
  })

  it('fills nothing and tells of no loss while the newest block is from before: the nodes catch up', async () => {
    await goBack()
    const later = await transactions.submit(order(site), soon())
    ageSeconds = 3 * 3600
    await mineAndLook(8)
    for (const passed of [10, 20, 30]) {
      aheadMs = passed * 60_000
      await mineAndLook(4)
    }
    expect(await fills()).to.deep.equal([])
    const behind = told.filter(({ message }) => message.includes('caught up'))
    expect(behind).to.have.length(1)
    expect(behind[0]?.fields).to.deep.include({ address: addressOf(0), ageSeconds })
    expect(told.map(({ message }) => message).join()).to.not.include('not on the chain any more')
    // A block of ten minutes ago came twenty minutes after the first answer, and is without them, too.
    ageSeconds = 600
    await end(later.txHash, 'CONFIRMED')
    expect(await fills()).to.have.length(lost.length)
  })

  it('fills nothing while one of two nodes says otherwise, or does not answer', async () => {
    const { secondRelay } = site
    if (!secondRelay) throw new Error('It has one node.')
    await goBack()
    const later = await transactions.submit(order(site), soon())
    await mineAndLook(8)
    secondRelay.edit = counting(later.nonce)
    aheadMs += 10 * 60_000
    await mineAndLook(8)
    expect(told.map(({ message }) => message).join()).to.include('nodes differ')
    secondRelay.edit = undefined
    secondRelay.meddle = () => 'refuse'
    aheadMs += 10 * 60_000
    await mineAndLook(8)
    expect(JSON.stringify(told.at(-1))).to.include('1 of the nodes')
    expect(await fills()).to.deep.equal([])
    secondRelay.meddle = () => 'pass'
    await until('it is mined', async () => {
      // The node is used again after a while, and then asked after as long.
      aheadMs += 60_000
      await site.mine()
      return (await stateOf(transactions, later.txHash)) === 'CONFIRMED'
    })
  })

  it('changes nothing by fills where all nodes were wrong: what was mined stays, once', async () => {
    const relays = [site.relay, site.secondRelay].flatMap((each) => each ?? [])
    const [first] = lost
    if (!first) throw new Error('There is none.')
    // No node takes anything meanwhile: the later trade waits.
    for (const relay of relays) {
      relay.edit = counting(first.nonce)
      relay.meddle = (methods) => (methods.includes('eth_sendRawTransaction') ? { error: 'not now' } : 'pass')
    }
    const later = await transactions.submit(order(site), soon())
    await mineAndLook(8)
    aheadMs = 10 * 60_000
    await until('fills are signed', async () => {
      await site.mine()
      return (await fills()).some(({ attempts }) => attempts.length > 0)
    })
    for (const relay of relays) Object.assign(relay, { edit: undefined, meddle: () => 'pass' })
    await end(later.txHash, 'CONFIRMED')
    await until('no fill is open', async () => {
      await site.mine()
      return (await fills()).every(({ state }) => ['REPLACED', 'DROPPED', 'EXPIRED'].includes(state))
    })
    expect(Number(await site.rpc('eth_getTransactionCount', addressOf(0), 'latest'))).to.equal(later.nonce + 1)
    for (const { txHash } of lost) {
      await reaches(transactions, txHash, 'CONFIRMED')
      expect(await site.rpc('eth_getTransactionReceipt', txHash)).to.include({ status: '0x1' })
    }
  })
})
