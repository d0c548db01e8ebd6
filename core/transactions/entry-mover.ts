// Moves entries on by what a poll saw of them.
import { isDeepStrictEqual } from 'node:util'
import type { Head, Json } from '../contracts/index.ts'
import type { Observations, CompetingOf } from './competing.ts'
import { costOfStep } from './costs.ts'
import { isFinal, signerOf, type Entry } from './entry.ts'
import { restoreSigned, type LeasedQueue } from './leases.ts'
import { advance, missedBlocks, type Action, type AttemptTimes, type NextInLine, type Step } from './lifecycle.ts'
import type { Broadcast } from './attempts.ts'
import type { Comparisons } from './comparisons.ts'
import type { Recorder } from './journal/journal.ts'
import type { OutcomeReadings } from './outcome-readings.ts'
import type { TransactionTarget } from './submit-request.ts'
import type { Upkeep } from './upkeep.ts'

/** Writes of a whole queue at once, before each entry is written alone. */
const maxBatches = 3

/** What one poll observed of all open entries. */
export interface PollResult {
  readonly head: Head
  readonly observations: Observations
  readonly competingOf: CompetingOf
  /** Since which block attempts are next in line. */
  readonly nextInLine: NextInLine
  /** By the key of an entry, which limit it would pass by the market of now. */
  readonly passing: ReadonlyMap<string, string>
}

/** What transactions moved, to the unit, is journaled once they are final. It keeps none of them from that. */
export interface MovementReadings {
  /**
   * Begins to read what the receipt does not tell. Settles after a moment at the latest.
   * @param newest the number of the newest block
   */
  begin(entries: readonly Entry[], newest: bigint): Promise<void>
  /** Undefined where nothing tells it. */
  of(entry: Entry): Entry['movements']
  /** It is final in the journal. */
  forget(entry: Pick<Entry, 'key'>): void
}

export interface MoverParts {
  target: TransactionTarget
  recorder: Recorder
  broadcast: Broadcast
  upkeep: Upkeep
  outcomes: OutcomeReadings
  comparisons: Comparisons
  movements: MovementReadings
  times: AttemptTimes
}

export interface EntryMover {
  /** Begins to read what has to be known of entries before they are final. Those of all wallets at once: each call may wait a moment. */
  prepare(entries: readonly Entry[], result: PollResult): Promise<void>
  /** One write for all changes of a queue, whose outcomes are being read already. Returns whether any of its entries is still open. */
  moveAll(open: readonly Entry[], leased: LeasedQueue, result: PollResult): Promise<boolean>
}

export function createEntryMover(parts: MoverParts): EntryMover {
  const { target, recorder, broadcast, upkeep, outcomes, comparisons, movements, times } = parts
  const { impl } = target
  const { rail, confirmations, bumpAfterSeconds } = impl

  async function moveAll(open: readonly Entry[], leased: LeasedQueue, result: PollResult): Promise<boolean> {
    let entries = open
    for (let tries = 0; tries < maxBatches; tries += 1) {
      const observed = entries.map((before) => ({ before, step: observedStep(before, result) }))
      if (tries > 0)
        await read(
          observed.map(({ step }) => step.entry),
          result,
        )
      const steps = observed.map(({ before, step }) => ({ before, ...settled(before, step) }))
      const changes = steps.flatMap(({ before, entry }) => (entry === before ? [] : [{ before, after: entry }]))
      const written = changes.length === 0 ? [] : await recorder.write(changes, leased.lease)
      if (written) {
        const stored = new Map(written.map((entry) => [entry.key, entry]))
        return steps.map(({ entry, actions }) => act(stored.get(entry.key) ?? entry, actions, leased, result.head)).includes(true)
      }
      // A broadcast or a replacement changed an entry in the meantime.
      const current = await Promise.all(entries.map(({ key }) => recorder.read(key)))
      entries = current.flatMap((entry) => entry ?? [])
    }
    let isAnyOpen = false
    for (const before of entries) if (await moveOne(before, leased, result)) isAnyOpen = true
    return isAnyOpen
  }

  async function moveOne(before: Entry, leased: LeasedQueue, result: PollResult): Promise<boolean> {
    let actions: readonly Action[] = []
    await read([observedStep(before, result).entry], result)
    const entry = await recorder.amend(
      before,
      (current) => {
        const step = settled(current, observedStep(current, result))
        actions = step.actions
        return step.entry
      },
      leased.lease,
    )
    return act(entry, actions, leased, result.head)
  }

  /** What is to be known before they are final. */
  async function read(entries: readonly Entry[], { head }: PollResult): Promise<void> {
    await Promise.all([outcomes.begin(entries), comparisons.begin(entries), movements.begin(entries, head.number)])
  }

  /** An entry that is about to be final waits until it is compared with its plan, and its outcome is read. */
  function settled(before: Entry, step: Step): Step {
    const entry = outcomes.settle(before, comparisons.settle(before, step.entry))
    if (entry.landed && isFinal(entry) && !isFinal(before)) {
      const moved = movements.of(entry)
      if (moved) return { entry: { ...entry, movements: moved }, actions: entry === step.entry ? step.actions : [] }
    }
    return entry === step.entry ? step : { entry, actions: [] }
  }

  function observedStep(entry: Entry, { head, observations, competingOf, nextInLine, passing }: PollResult): Step {
    const { replace } = rail
    const replacing = replace && {
      bumpAfterSeconds,
      mayBeWithdrawal: replace.cancelAgain !== undefined && isDeepStrictEqual(entry.step, replace.cancel(signerOf(entry))),
      // Of an exchange's own rail not all can be ended.
      mayCancel: (fees: Json) => entry.signer === undefined || replace.cancelIsCheaper?.(entry.step, fees, head) === true,
    }
    return advance(entry, {
      observations,
      competing: competingOf(entry),
      head,
      confirmations,
      missedBlocks: missedBlocks(entry, nextInLine, head.number),
      ...(replacing && { replacing }),
      passesLimit: passing.get(entry.key),
      waited: (attempt) => times.of(attempt),
      costOf: (landed) => costOfStep(entry.step, landed, rail),
    })
  }

  /** Returns whether the entry is still open. */
  function act(entry: Entry, actions: readonly Action[], { queue, lease, permits }: LeasedQueue, head: Head): boolean {
    if (isFinal(entry)) {
      permits.set(entry)
      queue.markFinal(entry.sequence)
      upkeep.forget(entry)
      outcomes.forget(entry)
      movements.forget(entry)
      times.forget(entry.attempts)
      return false
    }
    // Its replacement ended without replacing it, and has left the queue.
    if (entry.signer !== undefined && !queue.pendingOn(entry.nonce)) restoreSigned(entry, queue, rail)
    for (const action of actions) {
      if (action.do === 'send') void broadcast(entry, action.attempt, lease)
      else if (action.do === 'bump') upkeep.bump(entry, action.over.id, head)
      else upkeep.cancel(entry, action.reason)
    }
    return true
  }

  return {
    prepare: (entries, result) =>
      read(
        entries.map((entry) => observedStep(entry, result).entry),
        result,
      ),
    moveAll,
  }
}
