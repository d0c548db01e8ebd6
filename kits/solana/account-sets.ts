// Accounts that belong together, each set of them as it is at one slot.
import { SluiceError, type At, type Head } from '../../core/contracts/index.ts'
import type { ReadRpc } from '../nodes/rpc.ts'
import { isWhole, keyedCalls } from './account-keys.ts'
import { maxPerCall, readAccounts, requireSlot } from './accounts.ts'
import { confirmed } from './rpc.ts'
import type { SolanaAccount, SolanaReader } from './types.ts'

type AccountSet = readonly string[]

/** What a set is, and the slot; undefined where its accounts were read at several. */
interface ReadSet {
  readonly slot: number | undefined
  readonly accounts: readonly (SolanaAccount | undefined)[]
}

/** What is read by one call, which a node answers by one slot: no set is divided that fits. */
interface Pack {
  readonly addresses: Set<string>
  readonly sets: AccountSet[]
}

export const createSetReader =
  (rpc: ReadRpc): SolanaReader['sets'] =>
  async (sets, at, after) => {
    const first = await readSets(rpc, sets, at, after)
    // The node takes fewer accounts at once, and went on between two calls.
    const mixed = sets.filter((_set, index) => first[index]?.slot === undefined)
    const again = mixed.length === 0 ? [] : await readSets(rpc, mixed, at, after)
    let next = 0
    const whole = first.map((each) => (each.slot === undefined ? again[next++] : each))
    const slots = whole.map((each) => each?.slot)
    const known = slots.filter((slot) => slot !== undefined)
    if (known.length < sets.length)
      throw new SluiceError('NETWORK', 'The node answers by several slots what is to be of one. Try again.', { retryAfterSeconds: 1 })
    const number = known.length === 0 ? (after?.number ?? 0n) : BigInt(Math.min(...known))
    return { head: { number }, sets: whole.map((each) => each?.accounts ?? []) }
  }

/** Beginnings of accounts are of the whole batch, and of no set's slot: they are read once, behind all sets. */
async function readSets(rpc: ReadRpc, sets: readonly AccountSet[], at: At, after?: Pick<Head, 'number'>): Promise<readonly ReadSet[]> {
  if (sets.length === 0) return []
  const starts = [...new Set(sets.flat().filter((key) => !isWhole(key)))]
  const packs = packed(sets.map((set) => set.filter(isWhole)))
  const calls = [...packs.map(({ addresses }) => [...addresses]), starts].map((keys) => keyedCalls(keys, confirmed))
  const answers = await rpc.batch(
    calls.flat().map(({ call }) => call),
    at,
  )
  let next = 0
  const read = calls.map((own) => readAccounts(rpc, answers.slice(next, (next += own.length))))
  if (after) for (const { slots } of read) for (const slot of slots) requireSlot(slot, after)
  const startKeys = calls.at(-1)?.flatMap(({ keys }) => keys) ?? []
  const startsBy = new Map(startKeys.map((key, place) => [key, read.at(-1)?.accounts[place]]))
  let index = 0
  return packs.flatMap((pack, part) => {
    const { slots = [], accounts = [] } = read[part] ?? {}
    const places = new Map([...pack.addresses].map((address, place) => [address, place]))
    return pack.sets.map((own): ReadSet => {
      const [slot, ...others] = new Set(own.map((address) => slots[places.get(address) ?? -1]))
      const keys = sets[index++] ?? []
      const found = keys.map((key) => (startsBy.has(key) ? startsBy.get(key) : accounts[places.get(key) ?? -1]))
      return { slot: others.length === 0 ? slot : undefined, accounts: found }
    })
  })
}

function packed(sets: readonly AccountSet[]): readonly Pack[] {
  const packs: Pack[] = []
  for (const set of sets) {
    const last = packs.at(-1)
    const room = last ? maxPerCall - last.addresses.size : 0
    if (last && new Set(set.filter((address) => !last.addresses.has(address))).size <= room) {
      for (const address of set) last.addresses.add(address)
      last.sets.push(set)
    } else packs.push({ addresses: new Set(set), sets: [set] })
  }
  return packs
}
