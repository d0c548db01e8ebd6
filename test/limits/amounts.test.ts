// What a client gives away by token, whatever order requests, replacements and ends come in.
import { array, assert, asyncProperty, bigInt, constant, nat, oneof, record } from 'fast-check'
import { expect } from 'chai'
import type { Store } from '../../core/store/store.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import type { Spending } from '../../core/transactions/budgets.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { newEntry } from '../transactions/journal/entries.ts'
import { freshStore } from '../transactions/site.ts'

const token = { address: '0xtoken', symbol: 'USDC', decimals: 0 }
const limit = 100n

/** A request, one on the nonce of an open one, or the end of a nonce with some of it, nothing, or a failure. */
const step = oneof(
  record({ is: constant('request' as const), raw: bigInt({ min: 0n, max: 60n }) }),
  record({ is: constant('replace' as const), raw: bigInt({ min: 0n, max: 60n }), which: nat() }),
  record({
    is: constant('end' as const),
    which: nat(),
    mined: nat(),
    percent: nat({ max: 100 }),
    ok: oneof(constant(true), constant(false)),
  }),
)

interface OpenEntry {
  readonly entry: Entry
  readonly raw: bigint
}

describe('the amounts of a client by token', () => {
  let store: Store
  before(async () => {
    store = await freshStore()
  })
  after(() => store.close())

  it('never come to more than the limit, with all that may still be mined, and all that was never given is free again', async () => {
    let run = 0
    await assert(
      asyncProperty(array(step, { maxLength: 40 }), async (steps) => {
        run += 1
        const client = `bot ${run}`
        const gained = new Map<string, bigint>()
        const budgets = createSpendingLimits(() => ({
          maxDailyGas: '1000000',
          tokens: { 'ethereum/local': { USDC: { perDay: limit.toString() } } },
        }))
        budgets.readBy({
          gains: ({ key }) => new Map([[token.address, gained.get(key) ?? 0n]]),
          tells: () => 'all',
          heldChanges: () => [],
          gasCost: () => 1n,
          token: (_, name) => (name === token.symbol || name === token.address ? token : undefined),
          value: () => ({ is: 'no market' }),
          reference: () => 'USDC',
        })
        /** By nonce, at most one of which is mined. */
        const open: OpenEntry[][] = []
        let givenRaw = 0n
        let keys = 0
        const reserve = async (raw: bigint, replaces?: string): Promise<OpenEntry | undefined> => {
          keys += 1
          const entry = newEntry({ key: `${run}-${keys}`, client, kind: 'trade' })
          const spending: Spending = {
            client,
            is: 'new',
            coin: { symbol: 'ETH', decimals: 18 },
            commitment: { gives: { [token.address]: raw } },
            steps: [{ entry, maxCostRaw: 2n, valueRaw: 0n, ...(replaces !== undefined && { replaces }) }],
          }
          const isReserved = await store
            .write((tx) => budgets.reserve(spending, tx))
            .then(
              () => true,
              ({ name }: Error) => {
                expect(name).to.equal('LIMIT_EXCEEDED')
                return false
              },
            )
          return isReserved ? { entry, raw } : undefined
        }
        const heldRaw = () => open.reduce((sum, group) => sum + group.reduce((most, { raw }) => (raw > most ? raw : most), 0n), 0n)
        const pick = <T>(from: readonly T[], which: number): T | undefined => (from.length === 0 ? undefined : from[which % from.length])

        for (const each of steps) {
          if (each.is === 'request') {
            const fits = givenRaw + heldRaw() + each.raw <= limit
            const reserved = await reserve(each.raw)
            expect(reserved !== undefined).to.equal(fits || each.raw === 0n)
            if (reserved) open.push([reserved])
          } else if (each.is === 'replace') {
            const group = pick(open, each.which)
            const reserved = group && (await reserve(each.raw, group.at(-1)?.entry.key))
            if (reserved) group.push(reserved)
          } else {
            const group = pick(open, each.which)
            if (!group) continue
            open.splice(open.indexOf(group), 1)
            const mined = pick([...group, undefined], each.mined)
            const raw = mined && each.ok ? (mined.raw * BigInt(each.percent)) / 100n : 0n
            if (mined) gained.set(mined.entry.key, -raw)
            givenRaw += raw
            const landed = { id: '0x1', ok: each.ok, blockNumber: 1, receipt: null }
            // The others of the nonce end before it or after it.
            for (const { entry } of each.percent % 2 === 0 ? group : group.toReversed()) {
              const ended = entry === mined?.entry ? { ...entry, landed } : entry
              await store.write(async (tx) => budgets.settle?.([ended], tx))
            }
          }
          expect(givenRaw + heldRaw() <= limit, `${givenRaw} given, ${heldRaw()} held`).to.equal(true)
        }
        for (const group of open) for (const { entry } of group) await store.write(async (tx) => budgets.settle?.([entry], tx))
        const rest = limit - givenRaw
        expect(await reserve(rest + 1n)).to.equal(undefined)
        expect(await reserve(rest)).to.not.equal(undefined)
      }),
      { numRuns: 30 },
    )
  }).timeout(60_000)
})
