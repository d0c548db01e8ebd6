import { expect } from 'chai'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { addressOf, gwei, order, reaches, sendForeign, soon, startSite, stateOf, transactionsOn, until, type TestSite } from '../site.ts'

const cheap = { maxFeePerGasRaw: 10n * gwei, maxPriorityFeePerGasRaw: gwei }
const theirs = { maxFeePerGas: 30n * gwei, maxPriorityFeePerGas: 5n * gwei }

describe('a wallet that other software uses, too', function () {
  let site: TestSite
  let transactions: Transactions
  const next = () => transactions.nextNonce({ network: site.network, address: addressOf(0) }, soon())
  const fills = async () => (await transactions.list({})).entries.filter(({ kind }) => kind === 'fill')

  before(async () => {
    site = await startSite({ confirmations: 3, flags: ['--no-mining'] })
    await site.mine(5)
  })
  after(() => site.stop())
  beforeEach(async () => {
    transactions = await transactionsOn()
  })
  afterEach(async () => {
    await transactions.stop(1000)
    await site.rpc('anvil_dropAllTransactions')
  })

  /** One block after the other, each looked at, until it holds: how many it took. */
  async function blocksUntil(holds: () => Promise<boolean>): Promise<number> {
    for (let blocks = 0; blocks < 20; blocks += 1) {
      if (await holds()) return blocks
      const looks = () => site.relay.requests.filter((methods) => methods.includes('eth_getTransactionReceipt')).length
      const seen = looks()
      await site.mine()
      await until('the block was looked at', async () => looks() > seen || (await holds()))
      // What follows from a look takes its time on a busy machine; blocks of a real chain leave it that.
      let asked = -1
      await until('nothing follows from it any more', async () => {
        const before = asked
        asked = site.relay.requests.filter((methods) => methods.join() !== 'eth_getBlockByNumber').length
        if (before !== asked) await new Promise((done) => setTimeout(done, 500))
        return (before === asked && site.relay.underWay === 0) || (await holds())
      })
    }
    throw new Error('Twenty blocks did not do.')
  }
  const isMined = (txHash: string) => async () => ['MINED', 'CONFIRMED'].includes(await stateOf(transactions, txHash))
  const end = (txHash: string, state: string) =>
    until(state, async () => {
      await site.mine()
      return (await stateOf(transactions, txHash)) === state
    })

  it('continues after their transactions', async () => {
    const nonce = await next()
    await sendForeign(site, nonce, theirs)
    await sendForeign(site, nonce + 1, theirs)
    const ours = await transactions.submit(order(site), soon())
    expect(ours.nonce).to.equal(nonce + 2)
    await end(ours.txHash, 'CONFIRMED')
    expect(await fills()).to.deep.equal([])
  })

  it('fills the nonce gap that their dropped transaction left, and continues', async () => {
    const nonce = await next()
    const dropped = await sendForeign(site, nonce, theirs)
    const ours = await transactions.submit(order(site), soon())
    expect(ours.nonce).to.equal(nonce + 1)
    await site.rpc('anvil_dropTransaction', dropped)
    // Two looks see it, the third block has the fill and what waited behind it.
    expect(await blocksUntil(isMined(ours.txHash))).to.be.at.most(4)
    expect(await fills()).to.have.length(1)
    await end(ours.txHash, 'CONFIRMED')
  })

  it('fills the nonce of their transaction that a reorganisation removed, and continues', async () => {
    const nonce = await next()
    await sendForeign(site, nonce, theirs)
    await site.mine()
    const ours = await transactions.submit(order(site), soon())
    expect(ours.nonce).to.equal(nonce + 1)
    await site.mine()
    await until('it is mined', isMined(ours.txHash))
    await site.rpc('anvil_reorg', 2, [])
    await until('it is seen that it is not', async () => !(await isMined(ours.txHash)()))
    // Two looks see it. Ours is sent again by the clock, and blocks are faster here.
    expect(await blocksUntil(async () => (await fills()).length > 0)).to.be.at.most(4)
    await end(ours.txHash, 'CONFIRMED')
  })

  it('drops the transaction whose nonce they took, and finishes the others', async () => {
    const ours = []
    for (let count = 0; count < 5; count += 1) ours.push(await transactions.submit(order(site, { feeOverrides: cheap }), soon()))
    const [first, , third] = ours
    for (const each of [first, third]) if (each) await sendForeign(site, each.nonce, theirs)
    for (const [index, { txHash }] of ours.entries()) await end(txHash, index === 0 || index === 2 ? 'DROPPED' : 'CONFIRMED')
    expect(await next()).to.equal((ours[4]?.nonce ?? 0) + 1)
    const after = await transactions.submit(order(site), soon())
    await end(after.txHash, 'CONFIRMED')
  })

  it('recovers when their transaction took our nonce and was removed by a reorganisation', async () => {
    const ours = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
    const later = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
    await sendForeign(site, ours.nonce, theirs)
    await site.mine()
    await until('the later one is mined', isMined(later.txHash))
    await site.rpc('anvil_reorg', 1, [])
    // Theirs is gone with the block: ours is sent again.
    await end(ours.txHash, 'CONFIRMED')
    await end(later.txHash, 'CONFIRMED')
    expect(await fills()).to.deep.equal([])
  })

  it('finishes every trade of its own while they keep sending', async () => {
    const sent = []
    for (let round = 0; round < 5; round += 1) {
      const mine = Array.from({ length: 4 }, () => transactions.submit(order(site), soon()))
      await sendForeign(site, (await next()) + 1, theirs).catch(() => '')
      sent.push(...(await Promise.all(mine)))
      await site.mine()
    }
    for (const { txHash } of sent) {
      await until('it has an end', async () => {
        await site.mine()
        return ['CONFIRMED', 'DROPPED'].includes(await stateOf(transactions, txHash))
      })
    }
    const after = await transactions.submit(order(site), soon())
    await end(after.txHash, 'CONFIRMED')
    await reaches(transactions, after.txHash, 'CONFIRMED')
  })
})
