import { linkAbort, pause, withDeadline, withTimeout } from '../async.ts'
import type { Head, Log, Sighting } from '../contracts/index.ts'
import { StoreUnavailable } from '../store/store.ts'
import type { Broadcast } from './attempts.ts'
import { signerOf, isFinal, type Entry, txHashOf } from './entry.ts'
import { type Recorder, OwnershipLost } from './journal/journal.ts'
import { type LeasedQueue, type LeasedQueues, restoreSigned } from './leased-queues.ts'
import { firstInLine, missedBlocks, type NextInLine, advance, type Action, type Step, type CompetingTransaction } from './lifecycle.ts'
import type { TransactionTarget } from './submit-request.ts'
import type { Upkeep } from './upkeep.ts'

const lookTimeoutMs = 30_000
/** For all of a lane at once; then each by itself. */
const mostBatches = 3
const pauseAfterTroubleMs = 1_000
/** Without a new head for so long the old one is looked at again: what did not reach a node then goes out all the same. */
const pulseMs = 5_000

interface WatcherParts {
  site: TransactionTarget
  recorder: Recorder
  lanes: LeasedQueues
  dispatch: Broadcast
  upkeep: Upkeep
  log: Log
  closing: AbortSignal
  nowMs: () => number
}

interface Watcher {
  /** There is something to watch. */
  wake: () => void
  /** Settles when the loop has ended: after `closing`, or with nothing left to watch. */
  idle(): Promise<void>
}

/** What one look saw of everything that is open. */
interface PollResult {
  head: Head
  observations: ReadonlyMap<string, Sighting>
  competingOf: CompetingOf
}

/** Follows the heads for as long as anything is open on a lane of ours, with one batch for all of it at each; asks nothing otherwise. */
export function createWatcher({ site, recorder, lanes, dispatch, upkeep, log, closing, nowMs }: WatcherParts): Watcher {
  const { chain, network, connector, impl } = site
  const { rail, confirmations, bumpAfterSeconds } = impl
  let running: Promise<void> | undefined
  let woken = false
  let inLine: NextInLine = new Map()

  async function run(): Promise<void> {
    do {
      woken = false
      const done = new AbortController()
      const letGo = linkAbort(closing, done)
      try {
        for await (const head of repeatOnInterval(impl.heads(done.signal), pulseMs)) {
          woken = false
          if (!(await atHead(head)) && !woken) break
        }
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'the watch over open transactions was interrupted')
        woken = true
        await pause(pauseAfterTroubleMs, closing)
      } finally {
        letGo()
        done.abort()
      }
    } while (woken && !closing.aborted)
  }

  /** Whether anything is left to watch. */
  async function atHead(head: Head): Promise<boolean> {
    // Before the journal is read: what is written of this look is refused where the lane has another owner by then.
    const ours = new Map(lanes.all().map((held) => [held.queue.address, held]))
    const open = (await unfinished([...ours.keys()])).filter((entry) => entry.attempts.length > 0 && ours.has(signerOf(entry)))
    if (open.length === 0) return false
    try {
      return await look(open, ours, head)
    } catch (error) {
      if (!closing.aborted)
        log.warn({ open: open.length, reason: reasonOf(error) }, 'open transactions could not be looked at; the next head tries again')
      return true
    }
  }

  /** One wallet's entry that cannot be read keeps nobody else's from being seen. */
  async function unfinished(addresses: readonly string[]): Promise<readonly Entry[]> {
    try {
      return await recorder.unfinished({ chain, network, connector })
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      const each = await Promise.allSettled(addresses.map((address) => recorder.unfinished({ chain, network, connector, address })))
      return each.flatMap((read) => (read.status === 'fulfilled' ? read.value : []))
    }
  }

  async function look(open: readonly Entry[], ours: ReadonlyMap<string, LeasedQueue>, head: Head): Promise<boolean> {
    const attempts = open.flatMap((entry) =>
      entry.attempts.map(({ id, fees }) => ({ id, from: signerOf(entry), step: entry.step, slot: entry.slot, fees })),
    )
    const watched = [...new Set(open.map(signerOf))].flatMap((address) => ours.get(address) ?? [])
    const news = new Map(watched.map(({ queue: lane }) => [lane.address, lane.startSync()]))
    const { sightings, synced } = await withDeadline(closing, lookTimeoutMs, (signal) => rail.look(attempts, head, { signal }))
    for (const [address, counts] of synced) news.get(address)?.(counts)

    const byId = new Map(sightings.map((each) => [each.id, each]))
    inLine = firstInLine(inLine, open, byId, head.number)
    let isLeft = false
    let trouble: unknown
    for (const held of watched) {
      const of = open.filter((entry) => signerOf(entry) === held.queue.address)
      try {
        const seen = { head, observations: byId, competingOf: await findCompeting(of, byId, { recorder, confirmations }) }
        if (await moveOn(of, held, seen)) isLeft = true
        const counts = synced.get(held.queue.address)
        for (const slot of counts === undefined ? [] : held.queue.gaps(counts)) upkeep.fill(held.queue.address, rail.nonceOf(slot))
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        // Of this wallet alone: the others go on.
        if (!(error instanceof OwnershipLost)) trouble ??= error
      }
    }
    if (trouble !== undefined) throw trouble
    return isLeft
  }

  /** One write for all of a lane that changed; whether any of it is still open. */
  async function moveOn(open: readonly Entry[], held: LeasedQueue, seen: PollResult): Promise<boolean> {
    let entries = open
    for (let tries = 0; tries < mostBatches; tries += 1) {
      const steps = entries.map((before) => ({ before, ...stepOf(before, seen) }))
      const changed = steps.filter(({ before, entry }) => entry !== before)
      const changes = changed.map(({ before, entry }) => ({ before, after: entry }))
      const written = changes.length === 0 ? [] : await recorder.write(changes, held.lease)
      if (written) {
        const kept = new Map(written.map((entry) => [entry.key, entry]))
        return steps.map(({ entry, actions }) => act(kept.get(entry.key) ?? entry, actions, held, seen.head)).includes(true)
      }
      // Something was sent or asked for meanwhile.
      const now = await Promise.all(entries.map(({ key }) => recorder.read(key)))
      entries = now.flatMap((entry) => entry ?? [])
    }
    let isLeft = false
    for (const before of entries) if (await moveOne(before, held, seen)) isLeft = true
    return isLeft
  }

  async function moveOne(before: Entry, held: LeasedQueue, seen: PollResult): Promise<boolean> {
    let actions: readonly Action[] = []
    const entry = await recorder.amend(
      before,
      (now) => {
        const step = stepOf(now, seen)
        actions = step.actions
        return step.entry
      },
      held.lease,
    )
    return act(entry, actions, held, seen.head)
  }

  function stepOf(entry: Entry, { head, observations: sightings, competingOf: rivalOf }: PollResult): Step {
    const { replace } = rail
    const replacing = replace && {
      bumpAfterSeconds,
      cancelIsCheaper: (fees: Parameters<typeof replace.cancelIsCheaper>[1]) => replace.cancelIsCheaper(entry.step, fees, head),
    }
    return advance(entry, {
      observations: sightings,
      competing: rivalOf(entry),
      head,
      confirmations,
      missedBlocks: missedBlocks(entry, inLine, head.number),
      ...(replacing && { replacing }),
      nowMs: nowMs(),
    })
  }

  /** Whether it is still open. */
  function act(entry: Entry, actions: readonly Action[], { queue: lane, lease: guard }: LeasedQueue, head: Head): boolean {
    if (isFinal(entry)) {
      lane.markFinal(entry.slot)
      upkeep.forget(entry)
      return false
    }
    // What was to take its place and ended without doing so has left its slot.
    if (entry.signer !== undefined && !lane.pendingOn(entry.nonce)) restoreSigned(entry, lane, rail)
    for (const action of actions) {
      if (action.do === 'send') void dispatch(entry, action.attempt, guard)
      else if (action.do === 'bump') upkeep.bump(entry, action.over.id, head)
      else upkeep.cancel(entry, action.reason)
    }
    return true
  }

  return {
    wake() {
      woken = true
      if (closing.aborted) return
      running ??= run().finally(() => {
        running = undefined
        // Somebody may have come between the loop's last look and its end.
        if (woken && !closing.aborted) this.wake()
      })
    },
    idle: async () => running,
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : 'unknown')

/** Another of ours that is in a block on an entry's slot; `gone` where what was to take its place ended without doing so. */
type CompetingOf = (entry: Entry) => CompetingTransaction | 'gone' | undefined

/** Among the open ones, or what was to take a place and is final already. */
export async function findCompeting(
  open: readonly Entry[],
  sightings: ReadonlyMap<string, Sighting>,
  { recorder, confirmations }: { recorder: Recorder; confirmations: number },
): Promise<CompetingOf> {
  const landed = new Map<string, CompetingTransaction & { key: string }>()
  for (const { key, kind, rank, attempts, ...entry } of open) {
    const sighting = attempts.map(({ id }) => sightings.get(id)).find((each) => each?.is === 'landed')
    if (sighting?.is !== 'landed' || !takesSlot(entry, sighting)) continue
    landed.set(slotOf(entry), { key, txHash: sighting.id, kind, rank, final: sighting.depth >= confirmations })
  }
  const openIds = new Set(open.flatMap(({ attempts }) => attempts.map(({ id }) => id)))
  const final = new Map<string, CompetingTransaction | 'gone'>()
  for (const entry of open)
    for (const id of takersOf(entry, sightings)) {
      if (openIds.has(id) || final.has(id)) continue
      const heir = await recorder.find(entry.chain, entry.network, id)
      if (!heir || !isFinal(heir) || slotOf(heir) !== slotOf(entry)) continue
      if (endedInVain(heir)) final.set(id, 'gone')
      else if (heir.landed) final.set(id, { txHash: txHashOf(heir) ?? heir.landed.id, kind: heir.kind, rank: heir.rank, final: true })
    }
  return (entry) => {
    const rival = landed.get(slotOf(entry))
    if (rival && rival.key !== entry.key) return rival
    const takers = takersOf(entry, sightings).map((id) => final.get(id))
    return takers.find((each) => each !== undefined && each !== 'gone') ?? takers.find((each) => each !== undefined)
  }
}

/** In a block what reverted used its nonce, too; what an exchange refused may have used none, and kept nothing else from being done. */
const takesSlot = ({ signer }: Pick<Entry, 'signer'>, { ok }: { ok: boolean }): boolean => ok || signer === undefined

/** In a block something takes a nonce sooner or later; an action that an exchange never did leaves it as it was. */
const endedInVain = ({ signer, landed }: Entry): boolean => signer !== undefined && landed?.ok !== true

/** What was to take its place, and what was seen in a block there: of several that were to, it may be another one of ours. */
function takersOf({ replacedBy, attempts }: Entry, sightings: ReadonlyMap<string, Sighting>): readonly string[] {
  const seen = attempts.flatMap(({ id }) => {
    const sighting = sightings.get(id)
    return sighting?.is === 'dead' ? (sighting.by ?? []) : []
  })
  return replacedBy === undefined ? seen : [replacedBy, ...seen]
}

const slotOf = (entry: Pick<Entry, 'address' | 'signer' | 'slot'>) => `${signerOf(entry)}/${JSON.stringify(entry.slot)}`

/**
 * Gives the last value again when no new one came for so long: a chain without traffic may make no blocks at all.
 * The source ends when its own signal is aborted, for what waits for a value cannot be told to return.
 */
export async function* repeatOnInterval<T>(source: AsyncIterable<T>, pauseMs: number): AsyncGenerator<T, void> {
  const values = source[Symbol.asyncIterator]()
  let next = values.next()
  let last: { value: T } | undefined
  try {
    for (;;) {
      const came = await withTimeout(next, pauseMs, () => undefined)
      if (came) {
        if (came.done) return
        last = { value: came.value }
        next = values.next()
      }
      if (last) yield last.value
    }
  } finally {
    // Not waited for: it comes after a value that may be long in coming. Whoever stops listening leaves that one behind.
    next.catch(() => {})
    values.return?.().catch(() => {})
  }
}
