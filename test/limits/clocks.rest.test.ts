// Windows of limits go by the store's time: what the host's clock shows frees nothing, at no edge.
import { expect } from 'chai'
import { sql } from 'kysely'
import { windows } from '../../core/limits/account.ts'
import type { NetworkLimits } from '../../core/limits/limit-checks.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import { countEveryMs } from '../../core/store/store-time.ts'
import type { Store } from '../../core/store/store.ts'
import { freshStore, order, reaches, rejection, soon, startSite, transactionsOn, type TestSite } from '../transactions/site.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const token = { address: 'in', symbol: 'USDC', decimals: 0 }
const perDay: NetworkLimits = { maxDailyGas: '1000', tokens: { 'ethereum/local': { USDC: { perDay: '1' } } } }

describe("a clock that is set at a window's edge", () => {
  let site: TestSite
  let store: Store
  before(async () => {
    site = await startSite()
  })
  after(() => site.stop())
  beforeEach(async () => {
    store = await freshStore()
  })
  afterEach(() => store.close())

  for (const [window, limits, lengthMs] of [
    ['hour', { transactionsPerHour: 1 }, hourMs],
    ['day', perDay, dayMs],
  ] as const)
    for (const beforeEdgeMs of [1, 0])
      it(`frees nothing of a limit of the ${window}, ${beforeEdgeMs === 1 ? 'just before' : 'at'} its edge, forward or back`, async () => {
        const edge = 10 * dayMs
        let hostMs = edge - beforeEdgeMs
        const storeIs = (ms: number) => store.write((tx) => sql`update store_time set elapsed = ${ms}`.execute(tx))
        const budgets = createSpendingLimits(() => limits)
        budgets.readBy({
          gains: () => undefined,
          tells: () => undefined,
          heldChanges: () => [],
          gasCost: () => 21_000n,
          token: () => token,
          value: () => ({ is: 'no market' }),
          reference: () => 'USDC',
        })
        const server = await transactionsOn({ store, budgets, nowMs: () => hostMs })
        try {
          const give = () => server.submit(order(site, { caller: { id: 'bot' }, commitment: { gives: { in: 1n } } }), soon())
          const isRefused = async (why: string) => expect(await rejection(give()), why).to.have.property('name', 'LIMIT_EXCEEDED')
          await storeIs(edge - beforeEdgeMs)
          const { txHash } = await give()
          await isRefused('while it is open')
          await reaches(server, txHash, 'CONFIRMED')
          for (const jumpMs of [hourMs, -hourMs, dayMs, -dayMs, 400 * dayMs]) {
            hostMs = edge - beforeEdgeMs + jumpMs
            await isRefused(`a clock that is set by ${jumpMs / hourMs} hours`)
          }
          await storeIs(edge + lengthMs)
          await isRefused('before it has left the window')
          // What is spent is dated by how much the store's time may be behind.
          await storeIs(edge + lengthMs + 2 * countEveryMs + windows[window].bucketMs)
          hostMs = edge - lengthMs
          await give()
        } finally {
          await server.stop(500)
        }
      })
})
