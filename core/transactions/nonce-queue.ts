import { type Json, type Rail, type Standing, SluiceError } from '../contracts/index.ts'
import { type Kind, txHashOf } from './entry.ts'
import type { Recorder } from './journal/journal.ts'
import { timedOutBeforeSigning, orTimeout, type TransactionTarget } from './submit-request.ts'

/** Our newest transaction on a slot. */
export interface PendingTransaction {
  key: string
  txHash: string
  kind: Kind
  rank: number
  fees: Json
  /** The most that it can take of the native coin, smallest units. */
  costRaw: bigint
}

interface Held {
  slot: Json
  given: boolean
  /** The request that is about to sign on it. */
  claimedBy?: string
  /** The most that what is being signed can take. */
  claimedRaw?: bigint
  occupant?: PendingTransaction
}

export interface Claim {
  requestId: string
  count: number
  /** The first slot's; absent: the next free ones. */
  nonce?: number
  /** The caller chose the nonce, and not the server for a fill. */
  chosenByCaller: boolean
  /** Of each step, to be compared with the occupants'. */
  fees: readonly Json[]
  /** Of each step, the most that it can take of the native coin. */
  costsRaw: readonly bigint[]
  /** The caller said what it pays, or asked for a cancel: it means to replace. */
  mayReplace: boolean
  /** Only this entry, and nothing else that may be on the slot. */
  only?: string
}

/** What a request has for itself until it has signed. */
export interface ClaimedNonces {
  slots: readonly Json[]
  /** Of each, whether a caller chose it: of what was on it before, where something was. */
  chosenByCaller: readonly boolean[]
  pending: readonly (PendingTransaction | undefined)[]
}

/** Why a nonce cannot be had. */
interface NonceConflict {
  is: 'past' | 'claimed' | 'not-meant' | 'outbid' | 'foreign' | 'far'
  nonce: number
  /** What the server would assign. */
  next: number
  pending?: PendingTransaction
  requestId?: string
}

export interface NonceQueue {
  readonly address: string
  /** Called before the chain is asked; what it gives takes the answer. So answers count by when they were asked for. */
  startSync(): (news: Json) => void
  /** The chain should be asked once more before slots are claimed. */
  needsResync(): boolean
  /** Whether slots may be claimed by what is known: this older word of the chain says nothing else, and has seen all that is final. */
  agreesWith(word: Json): boolean
  /** Slots for a request, or why not. At once: nobody comes in between. The chain must have been asked before. */
  claim(claim: Claim): ClaimedNonces | { conflict: NonceConflict }
  /** Signed bytes on a slot are in the journal. `given`: the caller chose it, where nobody claimed it here. */
  setPending(slot: Json, occupant: PendingTransaction, given?: boolean): void
  /** Nothing was signed on claimed slots: they are free again. Gives those that others wait behind. */
  release(slots: readonly Json[]): readonly Json[]
  /** What is on the slot is final: neither it nor any before it is free again, whatever a node says. */
  markFinal(slot: Json): void
  pendingOn(nonce: number): PendingTransaction | undefined
  /** What an attempt on a slot, or on that of a nonce, would meet, by all that is known. */
  statusOf(of: { slot: Json } | { nonce: number }): Standing
  /** The request that is signing on a nonce, or on the lowest one that any is signing on. */
  signingOn(nonce?: number): { nonce: number; requestId: string } | undefined
  /** What our transactions can still take of the native coin, but for those on some slots and those that were mined by some news. */
  committedRaw(news: Json, except: readonly Json[]): bigint
  /** What the server would assign, as far as the chain was asked. */
  nextNonce(): number
  /** Empty slots that hold ours up: such as we gave back at once, others when two news in a row had them. */
  gaps(news: Json): readonly Json[]
}

/** The one owner of a wallet's slots on a network. Assigns without asking the chain, and waits for nobody. */
export function createNonceQueue({ rail, address, limit, name }: { rail: Rail; address: string; limit: number; name: string }): NonceQueue {
  const isOrdered = rail.slots === 'ordered'
  const isIncreasing = rail.slots === 'increasing'
  const keyOf = (slot: Json) => rail.nonceOf(slot)
  const held = new Map<number, Held>()
  const vacated = new Set<number>()
  let suspects: ReadonlySet<number> = new Set()
  let known: Json | undefined
  let asked = 0
  let newest = 0
  /** The first nonce that is not final by our own journal, where they come one after the other. */
  let floor = 0
  /** The highest that the server assigned and that ended, where they only increase. */
  let used: Json | undefined

  const slots = () => [...held.values()].map(({ slot }) => slot)
  const synced = (): Json => {
    if (known === undefined) throw new Error(`Slots of ${name} were claimed before the chain was asked.`)
    return known
  }
  /** What is still being signed may be released, so nothing is filled on its account; nor on a nonce's that the caller chose. */
  const waiting = () => [...held.values()].filter(({ given, occupant }) => !given && occupant !== undefined).map(({ slot }) => slot)
  const next = () => rail.nonceOf(free(1)[0] ?? 0)

  /** A node that lags may give what is final as free. */
  function free(count: number): readonly Json[] {
    const [lowest] = rail.claim(synced(), [], 1)
    const first = lowest === undefined ? floor : rail.nonceOf(lowest)
    const final = first < floor ? rail.slotsFrom(synced(), first, floor - first) : []
    return rail.claim(synced(), [...slots(), ...final, ...(used === undefined ? [] : [used])], count)
  }

  const standingOf = (slot: Json, news: Json) => (rail.nonceOf(slot) < floor ? 'past' : rail.standing(news, slot))

  function conflictOn(slot: Json, fees: Json | undefined, { mayReplace, only }: Claim): NonceConflict | undefined {
    const { claimedBy, occupant } = held.get(keyOf(slot)) ?? {}
    const standing = standingOf(slot, synced())
    const found = { nonce: rail.nonceOf(slot), next: next(), holder: occupant }
    if (standing === 'past') return { is: 'past', ...found }
    if (claimedBy !== undefined) return { is: 'claimed', ...found, requestId: claimedBy }
    if (only !== undefined && occupant?.key !== only) return { is: 'not-meant', ...found }
    if (!occupant) {
      if (standing === 'taken' && !mayReplace) return { is: 'foreign', ...found }
      return isOrdered && found.nonce - found.next > limit ? { is: 'far', ...found } : undefined
    }
    if (!mayReplace || !rail.replace) return { is: 'not-meant', ...found }
    return fees !== undefined && rail.replace.outbids(fees, occupant.fees) ? undefined : { is: 'outbid', ...found }
  }

  return {
    address,
    startSync() {
      const order = (asked += 1)
      return (news) => {
        // What was asked for earlier and comes later says nothing that is not known.
        if (order < newest) return
        known = known === undefined ? news : rail.merge(known, news, slots())
        newest = order
      }
    },
    needsResync: () => rail.doubtful(synced(), slots()),
    agreesWith(word) {
      if (known === undefined || rail.doubtful(known, slots())) return false
      // Of a lane of its own: an old word is not to be heard twice.
      if (rail.doubtful(rail.merge(known, word, slots()), slots())) return false
      const [last] = floor > 0 ? rail.slotsFrom(word, floor - 1, 1) : []
      return last === undefined || rail.standing(word, last) === 'past'
    },
    claim(claim) {
      const { nonce, count, fees, costsRaw, requestId } = claim
      const wanted = nonce === undefined ? free(count) : rail.slotsFrom(synced(), nonce, count)
      if (nonce !== undefined) {
        const conflict = wanted.map((slot, index) => conflictOn(slot, fees[index], claim)).find((each) => each !== undefined)
        if (conflict) return { conflict }
      }
      const occupants = wanted.map((slot) => held.get(keyOf(slot))?.occupant)
      const given = wanted.map((slot) => held.get(keyOf(slot))?.given ?? claim.chosenByCaller)
      for (const [index, slot] of wanted.entries()) {
        const key = keyOf(slot)
        vacated.delete(key)
        held.set(key, {
          slot,
          given: given[index] ?? false,
          occupant: occupants[index],
          claimedBy: requestId,
          claimedRaw: costsRaw[index],
        })
      }
      return { slots: wanted, chosenByCaller: given, pending: occupants }
    },
    setPending(slot, occupant, given = false) {
      held.set(keyOf(slot), { slot, given: held.get(keyOf(slot))?.given ?? given, occupant })
    },
    release(released) {
      for (const slot of released) {
        const key = keyOf(slot)
        const { given = false, occupant } = held.get(key) ?? {}
        if (occupant) held.set(key, { slot, given, occupant })
        else {
          held.delete(key)
          if (!given) vacated.add(key)
        }
      }
      return rail.gaps(synced(), synced(), slots(), waiting()).filter((slot) => vacated.has(keyOf(slot)))
    },
    markFinal(slot) {
      if (isOrdered) floor = Math.max(floor, rail.nonceOf(slot) + 1)
      if (isIncreasing && !held.get(keyOf(slot))?.given && (used === undefined || rail.nonceOf(slot) > rail.nonceOf(used))) used = slot
      vacated.delete(keyOf(slot))
      held.delete(keyOf(slot))
    },
    committedRaw(news, except) {
      const left = new Set(except.map(keyOf))
      // Counts of an account say at once what is mined; where there are none, only a look at each says it.
      const said = isOrdered ? news : synced()
      const open = [...held].filter(([key, { slot }]) => !left.has(key) && standingOf(slot, said) !== 'past')
      // Of two on one slot at most one is mined: the dearer one counts.
      return open.reduce(
        (sum, [, { claimedRaw = 0n, occupant }]) => sum + (occupant && occupant.costRaw > claimedRaw ? occupant.costRaw : claimedRaw),
        0n,
      )
    },
    pendingOn: (nonce) => held.get(nonce)?.occupant,
    statusOf(of) {
      const slot = 'slot' in of ? of.slot : rail.slotsFrom(synced(), of.nonce, 1)[0]
      return slot === undefined ? 'free' : standingOf(slot, synced())
    },
    signingOn(nonce) {
      const claimed = [...held.values()].flatMap(({ slot, claimedBy }) =>
        claimedBy === undefined ? [] : [{ nonce: rail.nonceOf(slot), requestId: claimedBy }],
      )
      const wanted = nonce === undefined ? claimed : claimed.filter((each) => each.nonce === nonce)
      return wanted.toSorted((a, b) => a.nonce - b.nonce)[0]
    },
    nextNonce: next,
    gaps(news) {
      const empty = rail.gaps(synced(), news, slots(), waiting()).filter((slot) => rail.nonceOf(slot) >= floor)
      const sure = empty.filter((slot) => vacated.has(keyOf(slot)) || suspects.has(keyOf(slot)))
      suspects = new Set(empty.map(keyOf))
      for (const key of vacated) if (!suspects.has(key)) vacated.delete(key)
      return sure
    },
  }
}

/** What one node says alone and nothing bears out is asked for so many times more. */
const mostDoubts = 2

/** Asks the chain for a wallet's nonces, and tells its lane. */
export async function syncQueue(rail: Rail, lane: NonceQueue, signal: AbortSignal): Promise<void> {
  await ask(rail, lane, signal)
  await resync(rail, lane, signal)
}

/** Until the lane believes what it was told. */
export async function resync(rail: Rail, lane: NonceQueue, signal: AbortSignal): Promise<void> {
  for (let doubts = 0; doubts < mostDoubts && lane.needsResync(); doubts += 1) await ask(rail, lane, signal)
}

async function ask(rail: Rail, lane: NonceQueue, signal: AbortSignal): Promise<void> {
  const news = lane.startSync()
  news(await orTimeout(rail.sync(lane.address, { signal }), signal, timedOutBeforeSigning))
}

/** What a caller is told about a nonce that cannot be had. */
export async function nonceConflictError(
  { is, nonce, next, pending: holder, requestId }: NonceConflict,
  { recorder, site, address }: { recorder: Recorder; site: TransactionTarget; address: string },
): Promise<SluiceError> {
  const { rail } = site.impl
  const txHash = holder?.txHash ?? (is === 'past' ? await minedOn(nonce) : undefined)
  const least = holder && rail.replace ? rail.replace.least(holder.fees) : undefined
  const replace = least === undefined ? '' : ` To replace it offer at least ${least}.`
  const isOrdered = rail.slots === 'ordered'
  const free = isOrdered ? ` The next free one is ${next}.` : ' Leave nonce out where it need not be this one.'
  const held = txHash === undefined ? 'a transaction that is not in the journal' : txHash
  const messages: Record<NonceConflict['is'], string> = {
    past: `Nonce ${nonce} is used: ${held} is mined on it.${isOrdered ? ` The next is ${next}; leave nonce out to have it assigned.` : ' Try again.'}`,
    claimed: `Nonce ${nonce} is being signed for the request ${requestId ?? ''}: try again when that is answered, or leave nonce out.`,
    'not-meant': `Nonce ${nonce} is held by ${held}, which is pending.${replace}${free}`,
    outbid: `Nonce ${nonce} is held by ${held}, and the fees are too low to replace it.${replace}`,
    foreign: `Nonce ${nonce} is held by ${held}, sent by other software. To try to replace it give maxFeePerGas and maxPriorityFeePerGas; the next free one is ${next}.`,
    far: `Nonce ${nonce} is too far ahead: the next is ${next}, and everything up to it would have to be sent first.`,
  }
  return new SluiceError('INVALID_NONCE', messages[is], {
    details: { nonce, ...(isOrdered && { next }), ...(txHash !== undefined && { txHash }) },
  })

  async function minedOn(used: number): Promise<string | undefined> {
    const { entries } = await recorder.list({
      chain: site.chain,
      network: site.network,
      on: { connector: site.connector, address },
      nonce: used,
    })
    const mined = entries.find(({ landed }) => landed)
    return mined && txHashOf(mined)
  }
}
