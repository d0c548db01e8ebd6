import { parseEther, toQuantity } from 'ethers'
import { expect } from 'chai'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { addressOf, gwei, nowhere, order, planOf, reaches, rejection, soon, startSite, transactionsOn, type TestSite } from '../site.ts'

const sending = (ether: string) => ({ plan: planOf({ to: nowhere, data: '0x', value: parseEther(ether).toString() }) })
const fees = (most: bigint) => ({ feeOverrides: { maxFeePerGasRaw: most * gwei, maxPriorityFeePerGasRaw: most * gwei } })

describe("a wallet's balance while its transactions are pending", function () {
  let site: TestSite
  let transactions: Transactions
  const submit = (ether: string, more: object = {}) => transactions.submit(order(site, { ...sending(ether), ...more }), soon())

  before(async () => {
    site = await startSite({ flags: ['--no-mining'] })
  })
  after(() => site.stop())
  beforeEach(async () => {
    await site.rpc('anvil_setBalance', addressOf(0), toQuantity(parseEther('10')))
    transactions = await transactionsOn()
  })
  afterEach(() => transactions.stop(1000))

  it('pays once: of two simultaneous requests that fit alone, one is refused', async () => {
    const outcomes = await Promise.allSettled([submit('6'), submit('6')])
    const sent = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const [refused] = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(sent).to.have.length(1)
    expect(refused).to.include({ name: 'INSUFFICIENT_BALANCE' })
    expect(refused.details).to.include({ token: 'ETH' }).and.include.keys('current', 'needed', 'committed')

    const next = await submit('1')
    expect(next.nonce).to.equal((sent[0]?.nonce ?? 0) + 1)
    await site.mine(1)
    for (const { txHash } of [...sent, next]) await reaches(transactions, txHash, 'CONFIRMED')
    expect((await submit('2')).nonce).to.equal(next.nonce + 1)
    await site.mine(1)
  })

  it('pays once with cached checks too, and only the chain reports a shortage', async () => {
    const { steps } = sending('6').plan
    await submit('0.001')
    await site.mine(1)
    const checked = await site.chain.rail.check(steps, [], addressOf(0), { feeOverrides: {} }, { signal: soon() })
    site.relay.requests.length = 0
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => submit('6', { checkFromCache: () => checked })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
    expect(site.relay.requests.filter((methods) => methods.includes('eth_estimateGas'))).to.have.length(2)
    await site.mine(1)
  })

  it('pays for a replacement, and for a new transaction after a cancel', async () => {
    const first = await submit('9', fees(10n))
    expect((await submit('9', { ...fees(20n), nonce: first.nonce })).nonce).to.equal(first.nonce)
    expect(await rejection(submit('9'))).to.include({ name: 'INSUFFICIENT_BALANCE' })
    const cancel = await transactions.cancel({ ...order(site), nonce: first.nonce }, soon())
    const again = await submit('9')
    expect(again.nonce).to.equal(first.nonce + 1)
    await site.mine(1)
    for (const { txHash } of [cancel, again]) await reaches(transactions, txHash, 'CONFIRMED')
  })
})
