// Accounts that belong together, each set of them as it is at one slot.
import { SluiceError, type At, type Head } from '../../core/contracts/index.ts'
import type { ReadRpc } from '../nodes/rpc.ts'
import { accountsCalls, maxPerCall, readAccounts, requireSlot } from './accounts.ts'
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

async function readSets(rpc: ReadRpc, sets: readonly AccountSet[], at: At, after?: Pick<Head, 'number'>): Promise<readonly ReadSet[]> {
  if (sets.length === 0) return []
  const packs = packed(sets)
  const calls = packs.map(({ addresses }) => accountsCalls([...addresses], confirmed))
  const answers = await rpc.batch(calls.flat(), at)
  let next = 0
  return packs.flatMap((pack, index) => {
    const { slot: oldest, slots, accounts } = readAccounts(rpc, answers.slice(next, (next += calls[index]?.length ?? 0)))
    if (after) requireSlot(oldest, after)
    const places = new Map([...pack.addresses].map((address, place) => [address, place]))
    return pack.sets.map((set): ReadSet => {
      const own = set.map((address) => places.get(address) ?? -1)
      const [slot, ...others] = new Set(own.map((place) => slots[place]))
      return { slot: others.length === 0 ? slot : undefined, accounts: own.map((place) => accounts[place]) }
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
