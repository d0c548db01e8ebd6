import { expect } from 'chai'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { gwei, order, planOf, reaches, rejection, soon, startSite, transactionsOn, until, type TestSite } from '../site.ts'

/** Reverts whatever is called: PUSH0 PUSH0 REVERT after a switch that the test can throw. */
const contract = '0x00000000000000000000000000000000000000c0'
const accepts = '0x00'
const reverts = '0x5f5ffd'

describe('transactions and their blocks', () => {
  let site: TestSite
  let transactions: Transactions
  const statusOf = async (txHash: string) => {
    const entry = await transactions.find('ethereum', 'local', txHash)
    return entry && transactions.status(entry)
  }

  before(async () => {
    site = await startSite({ confirmations: 4, flags: ['--no-mining'] })
    await site.mine(8)
  })
  after(() => site.stop())
  beforeEach(async () => {
    transactions = await transactionsOn()
  })
  afterEach(() => transactions.stop(1000))

  it('goes from BROADCAST to MINED to CONFIRMED by depth', async () => {
    const { txHash } = await transactions.submit(order(site), soon())
    await reaches(transactions, txHash, 'BROADCAST')
    // A look that was under way while it was sent may not have seen it yet.
    await until('it is seen to wait', async () => (await statusOf(txHash)) === 2)
    await site.mine()
    await reaches(transactions, txHash, 'MINED')
    expect(await statusOf(txHash)).to.equal(1)
    await site.mine(2)
    await new Promise((done) => setTimeout(done, 200))
    await reaches(transactions, txHash, 'MINED')
    await site.mine()
    await reaches(transactions, txHash, 'CONFIRMED')
  })

  it('follows a reorganisation of depth 2 back and forth', async () => {
    const { txHash, nonce } = await transactions.submit(order(site), soon())
    await site.mine(2)
    await reaches(transactions, txHash, 'MINED')
    await site.rpc('anvil_reorg', 2, [])
    await reaches(transactions, txHash, 'BROADCAST')
    expect(await statusOf(txHash)).to.be.oneOf([2, 3])
    const again = await transactions.submit(order(site), soon())
    expect(again.nonce).to.equal(nonce + 1)
    // The node forgot it: it is sent again at a later head.
    await until('it is mined again', async () => {
      await site.mine()
      return (await transactions.find('ethereum', 'local', txHash))?.landed !== undefined
    })
    await site.mine(4)
    await reaches(transactions, txHash, 'CONFIRMED')
    await reaches(transactions, again.txHash, 'CONFIRMED')
  })

  it('become REVERTED only when that is final, and keep the receipt', async () => {
    await site.rpc('anvil_setCode', contract, accepts)
    const { txHash } = await transactions.submit(order(site, { plan: planOf({ to: contract, data: '0x', value: '0' }) }), soon())
    await site.rpc('anvil_setCode', contract, reverts)
    await site.mine()
    await reaches(transactions, txHash, 'MINED')
    await site.mine(3)
    await reaches(transactions, txHash, 'REVERTED')
    expect(await statusOf(txHash)).to.equal(1)
    const entry = await transactions.find('ethereum', 'local', txHash)
    expect(entry?.landed?.receipt).to.include({ status: 0, transactionHash: txHash })
  })

  it('does not sign a transaction that would revert', async () => {
    await site.rpc('anvil_setCode', contract, reverts)
    const error = await rejection(transactions.submit(order(site, { plan: planOf({ to: contract, data: '0x', value: '0' }) }), soon()))
    expect(error).to.include({ name: 'TRADE_FAILED' })
    expect((await transactions.list({})).entries).to.have.length(0)
  })

  it('shows that a transaction pays too little for now', async () => {
    const { txHash } = await transactions.submit(
      order(site, { feeOverrides: { maxFeePerGasRaw: 3n * gwei, maxPriorityFeePerGasRaw: 0n } }),
      soon(),
    )
    await site.rpc('anvil_setNextBlockBaseFeePerGas', '0x12a05f2000')
    await site.mine()
    await until('it is underpriced', async () => (await statusOf(txHash)) === 3)
    await reaches(transactions, txHash, 'BROADCAST')
    await until('it is mined when the base fee has come down', async () => {
      await site.mine(5)
      return (await statusOf(txHash)) === 1
    })
  })

  it('sends a transaction again that the nodes dropped', async () => {
    const { txHash } = await transactions.submit(order(site), soon())
    await site.rpc('anvil_dropTransaction', txHash)
    await until('it is mined all the same', async () => {
      await site.mine()
      return (await statusOf(txHash)) === 1
    })
  })

  it('asks for the receipts of all that a block has in one batch, and at later blocks for nothing', async () => {
    const known = site.relay.requests.length
    const sent = await Promise.all(Array.from({ length: 5 }, () => transactions.submit(order(site), soon())))
    await site.mine()
    for (const { txHash } of sent) await reaches(transactions, txHash, 'MINED')
    const count = () => site.relay.requests.slice(known).filter((methods) => methods.includes('eth_getTransactionReceipt'))
    const looks = count()
    expect(looks.at(-1)).to.deep.equal(Array.from({ length: 5 }, () => 'eth_getTransactionReceipt'))
    await site.mine(3)
    for (const { txHash } of sent) await reaches(transactions, txHash, 'CONFIRMED')
    expect(count()).to.have.length(looks.length)
  })
})
