// Orders of one perpetual account on two servers, whose readings of the exchange may be out of date when the orders are signed.
import { expect } from 'chai'
import { createPerpetualTurns, type PerpetualTurn } from '../../core/limits/perpetual-limits.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import type { Store } from '../../core/store/store.ts'
import type { Spending } from '../../core/transactions/budgets.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { onBothStores } from '../store/stores.ts'
import { giveLease, newEntry, queueOf } from '../transactions/journal/entries.ts'

const account = 'ethereum/local/exchange/wallet'
const maxOpenNotional = 1_000n
/** Of each server, where readings, orders and fills interleave as they come. */
const rounds = process.env['SLUICE_LIMITS_TURNS'] === 'all' ? 40 : 15
const micros = (amount: bigint): bigint => amount * 1_000_000n

describe('orders of one perpetual account on two servers', () => {
  onBothStores((place) => {
    let servers: Awaited<ReturnType<typeof serverOn>>[]
    /** What the exchange has, and what it shows. */
    let open = 0n
    beforeEach(async () => {
      open = 0n
      const store = await place().open()
      const other = place().kind === 'postgres' ? await place().open() : store
      servers = [await serverOn(store, '0x01'), await serverOn(other, '0x02')]
    })
    const [a, b] = [() => servers[0]!, () => servers[1]!]

    async function serverOn(store: Store, address: string) {
      const limits = createSpendingLimits(() => ({ maxOpenNotional: String(maxOpenNotional) }), store.kind)
      const journal = sqlJournal(store, undefined, [limits])
      const lease = await giveLease(store, { queue: queueOf(address), fencingToken: 1 })
      const turns = createPerpetualTurns(store)
      return {
        take: <T>(work: (turn: PerpetualTurn) => Promise<T>) => turns.take({ client: 'bot', account }, work),
        /** @param shown what the exchange showed in this turn */
        async place(turn: PerpetualTurn, shown: bigint, amount: bigint, requestId?: string): Promise<Entry> {
          const entry = newEntry({ address, client: 'bot', kind: 'position', ...(requestId !== undefined && { requestId }) })
          const perpetual = {
            ...turn,
            account,
            valueMicros: 0n,
            openMicros: micros(shown),
            addedMicros: micros(amount),
            notionalMicros: micros(amount),
          }
          const spending: Spending = {
            client: 'bot',
            is: 'new',
            coin: { symbol: 'ETH', decimals: 18 },
            steps: [{ entry, maxCostRaw: 0n, valueRaw: 0n }],
            commitment: { gives: {}, perpetual },
          }
          await journal.open([entry], lease, undefined, [], spending)
          return entry
        },
        /** The exchange shows it, and its reservation ends. */
        async fill(entry: Entry, amount: bigint): Promise<void> {
          open += amount
          const landed = { id: '0x1', ok: true, blockNumber: 1, receipt: null }
          expect(await journal.write([{ ...entry, version: 2, state: 'CONFIRMED', landed }], lease)).to.equal(true)
        },
      }
    }
    const outcomeOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'placed',
        ({ name }: Error) => name,
      )

    it('count those that were filled since the exchange was read', async () => {
      const first = await b().take((turn) => b().place(turn, open, 600n))
      const second = a().take(async (turn) => {
        const shown = open
        await b().fill(first, 600n)
        return a().place(turn, shown, 600n)
      })
      expect(await outcomeOf(second)).to.equal('LIMIT_EXCEEDED')
      expect(await outcomeOf(a().take((turn) => a().place(turn, open, 300n)))).to.equal('placed')
    })

    it('pass beside one that is filled meanwhile, where both are within the limit', async () => {
      const first = await b().take((turn) => b().place(turn, open, 600n))
      const second = a().take(async (turn) => {
        const shown = open
        await b().fill(first, 600n)
        return a().place(turn, shown, 400n)
      })
      expect(await outcomeOf(second)).to.equal('placed')
    })

    it('are told apart though their caller gives both requests one id', async () => {
      const second = a().take(async (turn) => {
        const shown = open
        const first = await b().take((other) => b().place(other, open, 600n, 'chosen'))
        await b().fill(first, 600n)
        return a().place(turn, shown, 600n, 'chosen')
      })
      expect(await outcomeOf(second)).to.equal('LIMIT_EXCEEDED')
    })

    it('see each of several plans of one request', async () => {
      const second = b().take(async (turn) => {
        const [ofPlans] = [open]
        const plan = await b().place(turn, ofPlans, 600n)
        await b().fill(plan, 300n)
        const late = a().take(async (other) => {
          const shown = open
          // The rest of the first request, after the exchange was read for the second.
          await b().place(turn, ofPlans, 600n)
          return a().place(other, shown, 500n)
        })
        return late
      })
      expect(await outcomeOf(second)).to.equal('LIMIT_EXCEEDED')
    })

    it('never open more than the limit, however readings, orders and fills interleave', async () => {
      let seed = 7
      const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below
      const pause = () => new Promise((resolve) => setTimeout(resolve, random(4)))
      let placed = 0
      /** Signed, whether the exchange shows them or not. */
      let signed = 0n
      const fills: Promise<void>[] = []
      const bot = async (server: ReturnType<typeof a>) => {
        for (let round = 0; round < rounds; round += 1) {
          await server
            .take(async (turn) => {
              const amount = BigInt(100 + random(300))
              const shown = open
              await pause()
              const entry = await server.place(turn, shown, amount, 'chosen')
              placed += 1
              signed += amount
              expect(signed <= maxOpenNotional, `${signed} is open`).to.equal(true)
              fills.push(pause().then(() => server.fill(entry, amount)))
            })
            .catch((error: unknown) => {
              if (!(error instanceof Error) || error.name !== 'LIMIT_EXCEEDED') throw error
            })
          if (random(6) > 0) continue
          // All is closed, and the exchange shows it.
          await Promise.all(fills.splice(0))
          ;[signed, open] = [signed - open, 0n]
        }
      }
      await Promise.all(servers.map(bot))
      await Promise.all(fills)
      expect(placed).to.be.greaterThan(10)
    })
  })
})
