import { expect } from 'chai'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import {
  addressOf,
  gate,
  gwei,
  order,
  reaches,
  rejection,
  sendForeign,
  sign,
  soon,
  startSite,
  stateOf,
  transactionsOn,
  until,
  type TestSite,
} from '../site.ts'

const cheap = { maxFeePerGasRaw: 10n * gwei, maxPriorityFeePerGasRaw: gwei }
const dear = { maxFeePerGasRaw: 11n * gwei, maxPriorityFeePerGasRaw: (11n * gwei) / 10n }

describe('nonces chosen by callers, and cancels', () => {
  let site: TestSite
  let transactions: Transactions
  const next = () => transactions.nextNonce({ network: site.network, address: addressOf(0) }, soon())
  const statusOf = async (txHash: string) => {
    const entry = await transactions.find('ethereum', 'local', txHash)
    return entry && transactions.status(entry)
  }

  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
  })
  after(() => site.stop())
  beforeEach(async () => {
    transactions = await transactionsOn()
  })
  afterEach(async () => {
    await transactions.stop(1000)
    await site.rpc('anvil_dropAllTransactions')
  })

  it('cancels the lowest pending transaction, then the next', async () => {
    const first = await transactions.submit(order(site), soon())
    const second = await transactions.submit(order(site), soon())
    const cancel = await transactions.cancel(order(site), soon())
    expect(cancel.nonce).to.equal(first.nonce)
    expect(await statusOf(first.txHash)).to.equal(3)
    expect((await transactions.cancel(order(site), soon())).nonce).to.equal(second.nonce)
    await site.mine()
    await reaches(transactions, first.txHash, 'CANCELLED')
    await reaches(transactions, second.txHash, 'CANCELLED')
    await reaches(transactions, cancel.txHash, 'CONFIRMED')
    expect(await statusOf(first.txHash)).to.equal(-1)
    expect((await transactions.find('ethereum', 'local', first.txHash))?.replacedBy).to.equal(cancel.txHash)
  })

  it('has nothing to cancel where nothing is pending', async () => {
    expect(await rejection(transactions.cancel(order(site), soon()))).to.include({ name: 'UNKNOWN_TRANSACTION' })
    expect(await rejection(transactions.cancel(order(site, { nonce: (await next()) + 3 }), soon()))).to.include({
      name: 'UNKNOWN_TRANSACTION',
    })
  })

  it('refuses to cancel a mined transaction, and says so', async () => {
    const { txHash, nonce } = await transactions.submit(order(site), soon())
    await site.mine()
    await reaches(transactions, txHash, 'CONFIRMED')
    const error = await rejection(transactions.cancel(order(site, { nonce }), soon()))
    expect(error).to.include({ name: 'INVALID_NONCE' })
    expect(error.message).to.contain(txHash).and.to.contain('mined')
  })

  it('replaces the transaction on an occupied nonce when the fees allow it', async () => {
    const old = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
    const heir = await transactions.submit(order(site, { feeOverrides: dear, nonce: old.nonce }), soon())
    expect(heir.nonce).to.equal(old.nonce)
    expect(await statusOf(old.txHash)).to.equal(3)
    await site.mine()
    await reaches(transactions, heir.txHash, 'CONFIRMED')
    await reaches(transactions, old.txHash, 'REPLACED')
    expect((await transactions.find('ethereum', 'local', old.txHash))?.replacedBy).to.equal(heir.txHash)
  })

  it('refuses an occupied nonce without fees that replace, and names the holder', async () => {
    const holder = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
    for (const wish of [{}, cheap, { ...dear, maxPriorityFeePerGasRaw: cheap.maxPriorityFeePerGasRaw }]) {
      const error = await rejection(transactions.submit(order(site, { nonce: holder.nonce, feeOverrides: wish }), soon()))
      expect(error).to.include({ name: 'INVALID_NONCE' })
      expect(error.details).to.deep.equal({ nonce: holder.nonce, next: holder.nonce + 1, txHash: holder.txHash })
      expect(error.message).to.contain('maxFeePerGas 11 and maxPriorityFeePerGas 1.1')
    }
    expect((await transactions.list({})).entries).to.have.length(1)
  })

  it('refuses a used nonce, and names its transaction', async () => {
    const used = await transactions.submit(order(site), soon())
    await site.mine()
    await reaches(transactions, used.txHash, 'CONFIRMED')
    const error = await rejection(transactions.submit(order(site, { nonce: used.nonce }), soon()))
    expect(error.details).to.deep.equal({ nonce: used.nonce, next: used.nonce + 1, txHash: used.txHash })
    expect(error).to.include({ name: 'INVALID_NONCE' })
  })

  it('signs nothing above a free nonce, and says when that is used', async () => {
    const start = await next()
    const free = transactions.untilFree({ network: site.network, address: addressOf(0), nonce: start + 2 }, soon())
    const ahead = () => transactions.submit(order(site, { nonce: start + 2 }), soon())
    expect(await rejection(ahead())).to.deep.include({ name: 'INVALID_NONCE', details: { nonce: start + 2, next: start } })
    expect((await transactions.list({})).entries).to.deep.equal([])
    const first = await transactions.submit(order(site, { nonce: start }), soon())
    expect(await rejection(ahead())).to.deep.include({ details: { nonce: start + 2, next: start + 1 } })
    // By other software.
    const foreign = { maxFeePerGas: 10n * gwei, maxPriorityFeePerGas: gwei }
    await sendForeign(site, start + 1, foreign)
    await free
    expect((await ahead()).nonce).to.equal(start + 2)
    await site.mine()
    await reaches(transactions, first.txHash, 'CONFIRMED')
  })

  it('refuses a nonce too far ahead', async () => {
    const start = await next()
    expect(await rejection(transactions.submit(order(site, { nonce: start + 10_000 }), soon()))).to.include({ name: 'INVALID_NONCE' })
  })

  it('names the request that is signing with the nonce', async () => {
    const { pass, open } = gate()
    const signing = gate()
    transactions = await transactionsOn({
      async sign(request) {
        signing.open()
        await pass
        return sign(request)
      },
    })
    const nonce = await next()
    const first = transactions.submit(order(site, { nonce, requestId: 'the-first' }), soon())
    await signing.pass
    let asked = await rejection(transactions.submit(order(site, { nonce, feeOverrides: dear }), soon()))
    expect(asked.message).to.contain('the-first')
    open()
    await first
    asked = await rejection(transactions.submit(order(site, { nonce }), soon()))
    expect(asked.message).to.contain((await first).txHash)
  })

  it("does not replace another program's transaction unless the caller sets fees", async () => {
    const nonce = await next()
    await sendForeign(site, nonce, { maxFeePerGas: 10n * gwei, maxPriorityFeePerGas: gwei })
    expect(await rejection(transactions.submit(order(site, { nonce }), soon()))).to.include({ name: 'INVALID_NONCE' })
    const taken = await transactions.submit(order(site, { nonce, feeOverrides: dear }), soon())
    await site.mine()
    await reaches(transactions, taken.txHash, 'CONFIRMED')
  })

  it('drops a transaction whose nonce another program took, and continues after it', async () => {
    const ours = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
    const later = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
    await sendForeign(site, ours.nonce, { maxFeePerGas: 20n * gwei, maxPriorityFeePerGas: 5n * gwei })
    await site.mine()
    await reaches(transactions, later.txHash, 'CONFIRMED')
    await until('it is dropped', async () => {
      await site.mine()
      return (await stateOf(transactions, ours.txHash)) === 'DROPPED'
    })
    expect(await statusOf(ours.txHash)).to.equal(-1)
    expect(await next()).to.equal(later.nonce + 1)
  })

  it('keeps the mined transaction if the replacement came too late', async () => {
    const old = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
    // The node keeps the first: the replacement never gets there.
    site.relay.meddle = (methods) => (methods.includes('eth_sendRawTransaction') ? 'refuse' : 'pass')
    const heir = await transactions.submit(order(site, { feeOverrides: dear, nonce: old.nonce }), soon())
    await site.mine()
    await site.heal()
    await reaches(transactions, old.txHash, 'CONFIRMED')
    await reaches(transactions, heir.txHash, 'OVERTAKEN')
    expect((await transactions.find('ethereum', 'local', old.txHash))?.replacedBy).to.equal(undefined)
  })
})
