import { SluiceError, type Json, type Rail, type SequenceStatus } from '../contracts/index.ts'
import { txHashOf, type Kind } from './entry.ts'
import type { Recorder } from './journal/journal.ts'
import { orTimeout, timedOutBeforeSigning, type TransactionTarget } from './submit-request.ts'

/**
 * The nonces of one wallet on one rail, on the server that owns them. Assigns them in memory: without asking the chain and without waiting.
 * A nonce's place on the rail is its *sequence*, which only the rail reads.
 */
export interface NonceQueue {
  readonly address: string
  /** Call before the chain is asked, and the returned function with its answer. An answer is ignored once that to a later call has come. */
  startSync(): (update: Json) => void
  /** Whether the chain should be asked once more before nonces are claimed. */
  needsResync(): boolean
  /** Whether nonces may be claimed without asking: the cached answer agrees with the queue and is not behind a final transaction. */
  agreesWith(cached: Json): boolean
  /** Claims nonces synchronously, so no other request comes in between. The chain must have been asked before. */
  claim(claim: Claim): ClaimedNonces | { conflict: NonceConflict }
  /** Signed bytes are in the journal. `chosenByCaller` is for sequences that were not claimed on this server. */
  setPending(sequence: Json, pending: PendingTransaction, chosenByCaller?: boolean): void
  /** Nothing was signed with the claimed sequences, so they are free again. Returns those that block later transactions. */
  release(sequences: readonly Json[]): readonly Json[]
  /** The client whose request released a nonce last. */
  releasedBy(nonce: number): string | undefined
  /** The transaction is final: its nonce and those below are never free again, even if a node that lags says so. */
  markFinal(sequence: Json): void
  pendingOn(nonce: number): PendingTransaction | undefined
  /** By position, what is pending on the nonces that a claim from this one would get. The chain must have been asked before. */
  pendingFrom(nonce: number, count: number): readonly (PendingTransaction | undefined)[]
  /** Whether one of the pending transactions is private. */
  hasPrivate(): boolean
  /** What an attempt would meet: the chain is past it, another transaction is pending, or it is free. */
  statusOf(of: { sequence: Json } | { nonce: number }): SequenceStatus
  /** The request that is signing with a nonce, or with the lowest one that any request is signing with. */
  signingOn(nonce?: number): { nonce: number; requestId: string } | undefined
  /**
   * The most that pending transactions can still take of the native coin, without these sequences and without those mined by the update.
   */
  committedRaw(update: Json, except: readonly Json[]): bigint
  /** The nonce that the server would assign next, by the chain's last answer. */
  nextNonce(): number
  /** The same; undefined before the chain was asked. */
  knownNext(): number | undefined
  /** Why a request that names this nonce cannot have it yet, by what is known without asking the chain. */
  isAhead(nonce: number): NonceConflict | undefined
  /** Nonce gaps below our pending transactions. Reported at once if we released them, otherwise after two updates in a row. */
  gaps(update: Json): readonly Json[]
  /** The nonces of final transactions that nobody uses by an answer of the chain: the node lags, or the chain has gone back behind them. */
  undone(update: Json): { readonly first: number; readonly last: number } | undefined
  /**
   * The chain has gone back: from this nonce on, those of final transactions are free for fills and for callers that name them. The server
   * assigns none of them: the ones above are right on whichever branch comes to last.
   */
  reopen(first: number): void
}

/** Our newest transaction with a sequence. */
export interface PendingTransaction {
  key: string
  txHash: string
  kind: Kind
  rank: number
  fees: Json
  /** The most that it can take of the native coin, smallest units. */
  costRaw: bigint
  /** It goes to relays only, and so does what takes its place. */
  privateOnly?: true
  /** An earlier version signed it above a free nonce: a fill of that would have it mined. */
  mayBeHeldBack?: true
}

export interface Claim {
  requestId: string
  /** Who causes a gap if the nonces are released. */
  client?: string
  count: number
  /** The first nonce; absent: the next free ones. */
  nonce?: number
  /** The caller chose the nonce, not the server for a fill. */
  chosenByCaller: boolean
  /** One for each step. They must outbid those of pending transactions with the same nonce. */
  fees: readonly Json[]
  /** One for each step: the most that it can take of the native coin. */
  costsRaw: readonly bigint[]
  /** The caller set the fees, or asked for a cancel: it may replace a pending transaction. */
  mayReplace: boolean
  /** Key of the only entry that may be replaced. */
  only?: string
}

/** The nonces that a request owns until it has signed. */
export interface ClaimedNonces {
  sequences: readonly Json[]
  /** Whether a caller chose each; where something is pending, whether its caller did. */
  chosenByCaller: readonly boolean[]
  pending: readonly (PendingTransaction | undefined)[]
}

/**
 * Why a nonce is not available: it is mined; a request is signing with it; it is pending and not to be replaced, or not at these fees;
 * other software uses it; it is above the lowest free one; or it is too far ahead to wait for that.
 */
export interface NonceConflict {
  is: 'past' | 'claimed' | 'not-replaceable' | 'outbid' | 'foreign' | 'ahead' | 'far'
  nonce: number
  /** The nonce that the server would assign. */
  next: number
  pending?: PendingTransaction
  requestId?: string
}

interface QueueItem {
  sequence: Json
  chosenByCaller: boolean
  /** The request that is signing. */
  claimedBy?: string
  /** Its client. */
  client?: string | undefined
  /** The most that the transaction it signs can take. */
  claimedRaw?: bigint
  pending?: PendingTransaction
}

interface ReleasedNonce {
  /** Whose request had claimed it. */
  readonly client: string | undefined
  /** It blocks what comes after it from the moment when that is signed. Not where a caller chose it: other software may use it. */
  readonly isCertain: boolean
}

interface NonceQueueParts {
  rail: Rail
  address: string
  /** How far above the next nonce a caller may go. */
  limit: number
  /** For error messages. */
  name: string
}

export function createNonceQueue({ rail, address, limit, name }: NonceQueueParts): NonceQueue {
  const isOrdered = rail.sequences === 'ordered'
  const isIncreasing = rail.sequences === 'increasing'
  const nonceOf = (sequence: Json) => rail.nonceOf(sequence)
  const items = new Map<number, QueueItem>()
  /** Nonces that we released. They are gaps unless another request claims them. */
  const released = new Map<number, ReleasedNonce>()
  /** Gaps in the previous update. */
  let gapsBefore: ReadonlySet<number> = new Set()
  let known: Json | undefined
  let syncs = 0
  let newestSync = 0
  /** Where nonces are consecutive: the first that is not final in our own journal. */
  let floor = 0
  /** The first below it that the chain has not used any more. */
  let reopened: number | undefined
  /** Where nonces only increase: the highest that the server assigned and whose transaction is final. */
  let highest: Json | undefined

  const sequences = () => [...items.values()].map(({ sequence }) => sequence)
  /** Ours beyond the chain's answer `update`: those that are open, and final ones that it does not count yet. */
  const ours = (update: Json) => [...sequences(), ...finalBeyond(update)]
  const synced = (): Json => {
    if (known === undefined) throw new Error(`Nonces of ${name} were claimed before the chain was asked.`)
    return known
  }
  /** Sequences that a gap blocks. Not those still being signed, which may be released. */
  const waiting = () =>
    [...items.values()].filter(({ pending }) => pending && pending.mayBeHeldBack !== true).map(({ sequence }) => sequence)
  const nextNonce = () => nonceOf(free(1)[0] ?? 0)
  /** Of a nonce below it nothing is asked, whatever a node says. */
  const lowest = () => reopened ?? floor
  const statusAt = (sequence: Json, update: Json) => (nonceOf(sequence) < lowest() ? 'past' : rail.sequenceStatus(update, sequence))
  /** Whether all that is final in our journal is in blocks, by an answer of the chain. */
  function hasFinal(update: Json): boolean {
    const [last] = floor > 0 ? rail.sequencesFrom(update, floor - 1, 1) : []
    return last === undefined || rail.sequenceStatus(update, last) === 'past'
  }

  function finalBeyond(update: Json): readonly Json[] {
    const first = firstFree(update)
    return first < floor ? rail.sequencesFrom(update, first, floor - first) : []
  }

  /** The lowest nonce that is free by an answer of the chain. */
  function firstFree(update: Json): number {
    const [lowest] = rail.claim(update, [], 1)
    return lowest === undefined ? floor : nonceOf(lowest)
  }

  /** The next free sequences. A node that lags may report final ones as free. */
  function free(count: number): readonly Json[] {
    return rail.claim(synced(), [...ours(synced()), ...(highest === undefined ? [] : [highest])], count)
  }

  function conflictOn(sequence: Json, fees: Json | undefined, claim: Claim): NonceConflict | undefined {
    const [nonce, status] = [nonceOf(sequence), statusAt(sequence, synced())]
    return claimConflict({ nonce, next: nextNonce(), status, item: items.get(nonce) }, fees, claim, rail.replace)
  }

  /**
   * What is signed above a free nonce waits until somebody fills the gap: whoever can fill it chooses the moment at which the rest is mined. A fill does nothing,
   * and closes a gap that is there.
   */
  function aheadOf(wanted: readonly Json[], { nonce, chosenByCaller }: Pick<Claim, 'nonce' | 'chosenByCaller'>): NonceConflict | undefined {
    if (!isOrdered || (nonce !== undefined && !chosenByCaller)) return undefined
    const first = wanted.find((sequence) => !items.has(nonceOf(sequence)) && statusAt(sequence, synced()) === 'free')
    const next = nextNonce()
    if (first === undefined || nonceOf(first) <= next) return undefined
    return { is: nonceOf(first) - next > limit ? 'far' : 'ahead', nonce: nonceOf(first), next }
  }

  return {
    address,
    startSync() {
      const order = (syncs += 1)
      return (update) => {
        // The answer to an earlier question came later: it is out of date.
        if (order < newestSync) return
        known = known === undefined ? update : rail.merge(known, update, ours(known))
        newestSync = order
      }
    },
    needsResync: () => rail.needsSync(synced(), ours(synced())),
    agreesWith(cached) {
      if (known === undefined || rail.needsSync(known, ours(known))) return false
      // Merged into a copy: a cached answer must not count twice.
      const merged = rail.merge(known, cached, ours(known))
      if (rail.needsSync(merged, ours(merged))) return false
      if (!hasFinal(cached)) return false
      // It only confirms our own transactions: blocks show what became of them, so the chain is seldom asked.
      if (firstFree(merged) > firstFree(known)) known = merged
      return true
    },
    claim(claim) {
      const { nonce, count, fees, costsRaw, requestId } = claim
      const wanted = nonce === undefined ? free(count) : rail.sequencesFrom(synced(), nonce, count)
      if (nonce !== undefined) {
        const conflict = wanted.map((sequence, index) => conflictOn(sequence, fees[index], claim)).find((each) => each !== undefined)
        if (conflict) return { conflict }
      }
      const conflict = aheadOf(wanted, claim)
      if (conflict) return { conflict }
      const before = wanted.map((sequence) => items.get(nonceOf(sequence)))
      const chosenByCaller = before.map((item) => item?.chosenByCaller ?? claim.chosenByCaller)
      const pending = before.map((item) => item?.pending)
      for (const [index, sequence] of wanted.entries()) {
        released.delete(nonceOf(sequence))
        items.set(nonceOf(sequence), {
          sequence,
          chosenByCaller: chosenByCaller[index] ?? false,
          pending: pending[index],
          claimedBy: requestId,
          client: claim.client,
          claimedRaw: costsRaw[index],
        })
      }
      return { sequences: wanted, chosenByCaller, pending }
    },
    setPending(sequence, pending, chosenByCaller = false) {
      const before = items.get(nonceOf(sequence))
      items.set(nonceOf(sequence), { sequence, chosenByCaller: before?.chosenByCaller ?? chosenByCaller, pending })
    },
    release(given) {
      for (const sequence of given) {
        const nonce = nonceOf(sequence)
        const { chosenByCaller = false, pending, client } = items.get(nonce) ?? {}
        if (pending) items.set(nonce, { sequence, chosenByCaller, pending })
        else {
          items.delete(nonce)
          released.set(nonce, { client, isCertain: !chosenByCaller })
        }
      }
      return rail.gaps(synced(), synced(), sequences(), waiting()).filter((sequence) => released.get(nonceOf(sequence))?.isCertain)
    },
    releasedBy: (nonce) => released.get(nonce)?.client,
    markFinal(sequence) {
      const nonce = nonceOf(sequence)
      if (isOrdered) floor = Math.max(floor, nonce + 1)
      if (reopened !== undefined) reopened = Math.max(reopened, nonce + 1)
      if (isIncreasing && !items.get(nonce)?.chosenByCaller && (highest === undefined || nonce > nonceOf(highest))) highest = sequence
      released.delete(nonce)
      items.delete(nonce)
    },
    committedRaw(update, except) {
      const excluded = new Set(except.map(nonceOf))
      // An account's nonce says at once what is mined. Without one only a poll of each transaction does.
      const latest = isOrdered ? update : synced()
      const open = [...items].filter(([nonce, { sequence }]) => !excluded.has(nonce) && statusAt(sequence, latest) !== 'past')
      // Of two with one sequence at most one is mined: the dearer one counts.
      return open.reduce(
        (sum, [, { claimedRaw = 0n, pending }]) => sum + (pending && pending.costRaw > claimedRaw ? pending.costRaw : claimedRaw),
        0n,
      )
    },
    pendingOn: (nonce) => items.get(nonce)?.pending,
    pendingFrom: (nonce, count) => rail.sequencesFrom(synced(), nonce, count).map((sequence) => items.get(nonceOf(sequence))?.pending),
    hasPrivate: () => [...items.values()].some(({ pending }) => pending?.privateOnly === true),
    statusOf(of) {
      const sequence = 'sequence' in of ? of.sequence : rail.sequencesFrom(synced(), of.nonce, 1)[0]
      return sequence === undefined ? 'free' : statusAt(sequence, synced())
    },
    signingOn(nonce) {
      const claimed = [...items].flatMap(([each, { claimedBy }]) =>
        claimedBy === undefined ? [] : [{ nonce: each, requestId: claimedBy }],
      )
      const wanted = nonce === undefined ? claimed : claimed.filter((each) => each.nonce === nonce)
      return wanted.toSorted((a, b) => a.nonce - b.nonce)[0]
    },
    nextNonce,
    knownNext: () => (known === undefined ? undefined : nextNonce()),
    isAhead: (nonce) => (known === undefined ? undefined : aheadOf(rail.sequencesFrom(known, nonce, 1), { nonce, chosenByCaller: true })),
    gaps(update) {
      if (hasFinal(update)) reopened = undefined
      const behind = waiting()
      // They may be more than a gap has otherwise.
      if (reopened !== undefined && behind.length > 0) behind.push(...finalBeyond(update))
      const empty = rail.gaps(synced(), update, sequences(), behind).filter((sequence) => nonceOf(sequence) >= lowest())
      const certain = empty.filter((sequence) => released.get(nonceOf(sequence))?.isCertain || gapsBefore.has(nonceOf(sequence)))
      gapsBefore = new Set(empty.map(nonceOf))
      // What comes after it may still be being signed: whoever released it is known until its nonce is used.
      const used = isOrdered ? firstFree(update) : Infinity
      for (const nonce of released.keys()) if (nonce < used && !gapsBefore.has(nonce)) released.delete(nonce)
      return certain
    },
    undone(update) {
      const first = firstFree(update)
      return isOrdered && first < floor ? { first, last: floor - 1 } : undefined
    },
    reopen(first) {
      if (isOrdered && first < floor) reopened = first
    },
  }
}

/** What a request meets on a nonce that it names. */
interface NamedNonce {
  readonly nonce: number
  /** The nonce that the server would assign. */
  readonly next: number
  readonly status: SequenceStatus
  readonly item: QueueItem | undefined
}

/** Why the request cannot have it. */
function claimConflict(
  { nonce, next, status, item }: NamedNonce,
  fees: Json | undefined,
  { mayReplace, only }: Claim,
  replace: Rail['replace'],
): NonceConflict | undefined {
  const { claimedBy, pending } = item ?? {}
  const details = { nonce, next, pending }
  if (status === 'past') return { is: 'past', ...details }
  if (claimedBy !== undefined) return { is: 'claimed', ...details, requestId: claimedBy }
  if (only !== undefined && pending?.key !== only) return { is: 'not-replaceable', ...details }
  if (!pending) {
    return status === 'taken' && !mayReplace ? { is: 'foreign', ...details } : undefined
  }
  if (!mayReplace || !replace) return { is: 'not-replaceable', ...details }
  return fees !== undefined && replace.outbids(fees, pending.fees) ? undefined : { is: 'outbid', ...details }
}

/** How often the chain is asked again while its answer comes from one node only and is not confirmed. */
const maxResyncs = 2

/** Asks the chain for a wallet's nonces, and updates the queue. @throws SluiceError TIMEOUT */
export async function syncQueue(rail: Rail, queue: NonceQueue, signal: AbortSignal): Promise<void> {
  await sync(rail, queue, signal)
  await resync(rail, queue, signal)
}

/** Asks again until the queue trusts the answer. */
export async function resync(rail: Rail, queue: NonceQueue, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < maxResyncs && queue.needsResync(); tries += 1) await sync(rail, queue, signal)
}

async function sync(rail: Rail, queue: NonceQueue, signal: AbortSignal): Promise<void> {
  const update = queue.startSync()
  update(await orTimeout(rail.sync(queue.address, { signal }), signal, timedOutBeforeSigning))
}

/** Nothing was signed, and nothing will be until the nonces below are used: whoever handles the request waits for that, and does all of it anew. */
export class NonceAhead extends SluiceError {
  /** The queue's, and its nonce that is not free yet. */
  readonly of: { readonly address: string; readonly nonce: number }

  constructor(message: string, extras: ConstructorParameters<typeof SluiceError>[2], of: NonceAhead['of']) {
    super('INVALID_NONCE', message, extras)
    this.of = of
  }
}

/** The error for a caller whose nonce is not available. */
export async function nonceConflictError(
  { is, nonce, next, pending, requestId }: NonceConflict,
  { recorder, target, address }: { recorder: Recorder; target: TransactionTarget; address: string },
): Promise<SluiceError> {
  const { rail } = target.impl
  const txHash = pending?.txHash ?? (is === 'past' ? await minedOn(nonce) : undefined)
  const minFees = pending && rail.replace ? rail.replace.minimumReplacement(pending.fees) : undefined
  const replace = minFees === undefined ? '' : ` To replace it offer at least ${minFees}.`
  const isOrdered = rail.sequences === 'ordered'
  const free = isOrdered ? ` The next free one is ${next}.` : ' Leave nonce out unless it has to be this one.'
  const held = txHash === undefined ? 'a transaction that is not in the journal' : txHash
  const messages: Record<NonceConflict['is'], string> = {
    past: `Nonce ${nonce} is used: ${held} is mined on it.${isOrdered ? ` The next is ${next}; leave nonce out to have it assigned.` : ' Leave nonce out to have one made.'}`,
    claimed: `Nonce ${nonce} is being signed for the request ${requestId ?? ''}: try again when that is answered, or leave nonce out.`,
    'not-replaceable': `Nonce ${nonce} is held by ${held}, which is pending.${replace}${free}`,
    outbid: `Nonce ${nonce} is held by ${held}, and the fees are too low to replace it.${replace}`,
    foreign: `Nonce ${nonce} is held by ${held}, sent by other software. To try to replace it give maxFeePerGas and maxPriorityFeePerGas; the next free one is ${next}.`,
    ahead: `Nonce ${nonce} is above the lowest free one, which is ${next}, and nothing is signed above that. It has waited for the nonces between as long as a request may take: nothing was signed. Send those first, or leave nonce out.`,
    far: `Nonce ${nonce} is too far ahead: the next is ${next}, and everything up to it would have to be sent first.`,
  }
  const extras = { details: { nonce, ...(isOrdered && { next }), ...(txHash !== undefined && { txHash }) } }
  return is === 'ahead' ? new NonceAhead(messages[is], extras, { address, nonce }) : new SluiceError('INVALID_NONCE', messages[is], extras)

  async function minedOn(used: number): Promise<string | undefined> {
    const { chain, network, connector } = target
    const { entries } = await recorder.list({ chain, network, on: { connector, address }, nonce: used })
    const mined = entries.find(({ landed }) => landed)
    return mined && txHashOf(mined)
  }
}
