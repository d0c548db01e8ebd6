// What is held of a client's limits while other software uses its wallet, and what its requests replace.
import { expect } from 'chai'
import { readAccount } from '../../core/limits/account.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Transactions } from '../../core/transactions/transactions.ts'
import {
  freshStore,
  gwei,
  order,
  rejection,
  sendForeign,
  soon,
  startSite,
  stateOf,
  transactionsOn,
  until,
  type TestSite,
} from '../transactions/site.ts'

const token = { address: 'in', symbol: 'USDC', decimals: 0 }
const limits = { maxDailyGas: '1000', tokens: { 'ethereum/local': { USDC: { perDay: '100' } } } }
const cheap = { maxFeePerGasRaw: 10n * gwei, maxPriorityFeePerGasRaw: gwei }
const theirs = { maxFeePerGas: 90n * gwei, maxPriorityFeePerGas: 50n * gwei }

describe('limits of a client whose transactions are overtaken', () => {
  let site: TestSite
  let store: Store
  let server: Transactions
  before(async () => {
    site = await startSite({ confirmations: 3, flags: ['--no-mining'] })
    await site.mine(5)
  })
  after(() => site.stop())
  beforeEach(async () => {
    store = await freshStore()
    const budgets = createSpendingLimits(() => limits)
    budgets.readBy({
      gains: () => undefined,
      tells: () => undefined,
      heldChanges: () => [],
      gasCost: () => 21_000n,
      token: (_, name) => (name === token.symbol || name === token.address ? token : undefined),
      value: () => ({ is: 'no market' }),
      reference: () => 'USDC',
    })
    server = await transactionsOn({ store, budgets })
  })
  afterEach(async () => {
    await server.stop(500)
    await store.close()
    await site.rpc('anvil_dropAllTransactions')
  })

  const give = (raw: bigint, more: Parameters<typeof order>[1] = {}) =>
    server.submit(order(site, { caller: { id: 'bot' }, commitment: { gives: { in: raw } }, feeOverrides: cheap, ...more }), soon())
  const refused = async (raw: bigint) => expect(await rejection(give(raw))).to.have.property('name', 'LIMIT_EXCEEDED')
  /** Of the token, and whatever is held beside it. */
  async function held(): Promise<readonly [raw: bigint, measures: number]> {
    const { body } = await store.read((db) => db.selectFrom('budgets').select('body').executeTakeFirstOrThrow())
    const { open } = readAccount(body)
    return [open['token:ethereum/local/in'] ?? 0n, Object.keys(open).length]
  }
  /** A block each time. */
  const reaches = (txHash: string, state: string) =>
    until(state, async () => {
      await site.mine()
      return (await stateOf(server, txHash)) === state
    })
  /** The journal has looked at the newest block. */
  const seen = async () => {
    const head = Number(await site.rpc('eth_blockNumber'))
    const looks = site.relay.requests.length
    await until(
      'it was looked at',
      async () => site.relay.requests.length > looks + 1 && Number(await site.rpc('eth_blockNumber')) === head,
    )
  }

  it('hold a trade whose nonce other software has used, until that is final, and free it then', async () => {
    const ours = await give(100n)
    await sendForeign(site, ours.nonce, theirs)
    await site.mine()
    await seen()
    await refused(1n)
    await reaches(ours.txHash, 'DROPPED')
    expect(await held()).to.deep.equal([0n, 0])
    await give(100n)
    await refused(1n)
  })

  it("hold a trade that is mined after all, once a reorganisation has taken the other software's transaction back", async () => {
    const ours = await give(100n)
    await sendForeign(site, ours.nonce, theirs)
    await site.mine()
    await seen()
    await site.rpc('anvil_reorg', 1, [])
    await reaches(ours.txHash, 'CONFIRMED')
    expect(await held()).to.deep.equal([0n, 0])
    await refused(1n)
  })

  it('free a trade and all that was to replace it, where other software has used their nonce', async () => {
    const ours = await give(60n)
    const replacement = await give(70n, {
      nonce: ours.nonce,
      feeOverrides: { maxFeePerGasRaw: 20n * gwei, maxPriorityFeePerGasRaw: 2n * gwei },
    })
    expect((await held())[0]).to.equal(70n)
    await server.cancel(order(site, { caller: { id: 'bot' }, nonce: ours.nonce }), soon())
    await server.speedUp(order(site, { caller: { id: 'bot' }, nonce: ours.nonce }), soon())
    expect((await held())[0]).to.equal(70n)
    await refused(31n)
    await sendForeign(site, ours.nonce, { maxFeePerGas: 400n * gwei, maxPriorityFeePerGas: 300n * gwei })
    await reaches(ours.txHash, 'DROPPED')
    await until('all have ended', async () => (await held())[1] === 0)
    expect(['DROPPED', 'OVERTAKEN']).to.include(await stateOf(server, replacement.txHash))
    await give(100n)
  })
})
