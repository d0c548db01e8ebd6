import { randomUUID } from 'node:crypto'
import { withDeadline } from '../base/async.ts'
import { ownId } from '../config/clients.ts'
import { SluiceError, type Head, type Json, type Log } from '../contracts/index.ts'
import { signerOf, type Entry } from './entry.ts'
import { isPrivateEmpty, replaceOf, submitEmpty, type Raise, type ReplaceParts } from './replace.ts'
import { reasonOf } from '../base/errors.ts'

const timeoutMs = 15_000
/** A failed action is tried again after this time, doubled with each failure. */
const minPauseMs = 1_000
const maxPauseMs = 60_000

export interface UpkeepParts extends ReplaceParts {
  raise: Raise
  inBackground: <T>(work: Promise<T>) => Promise<T>
  closing: AbortSignal
  log: Log
  /** A clock that is never set. */
  steadyMs: () => number
}

/** What the server does by itself for open transactions. Each action runs once at a time for one entry, and again later if it fails. */
export interface Upkeep {
  /** Closes a nonce gap that blocks later transactions, by a transfer of nothing. */
  fill(address: string, nonce: number): void
  /** Raises the fees of an entry whose newest attempt is still this one. */
  bump(entry: Entry, overId: string, head: Head): void
  /** Replaces an entry by a transfer of nothing: of one wallet in the order in which this is called. */
  cancel(entry: Entry, reason: string): void
  /** The entry is final: forgets its failures. */
  forget(entry: Entry): void
}

export function createUpkeep({ target, queues, recorder, submit, raise, inBackground, closing, log, steadyMs }: UpkeepParts): Upkeep {
  // When an outage ends, the actions that failed in it run within a few blocks.
  const longestPauseMs = Math.min(maxPauseMs, Math.max(minPauseMs, target.impl.bumpAfterSeconds * 1000))
  const running = new Set<string>()
  const failures = new Map<string, { pauseMs: number; until: number }>()
  /** By wallet, what was started last of what is done in turn. */
  const lastInTurn = new Map<string, Promise<void>>()
  const parts = { target, submit }
  const isPaused = (name: string) => (failures.get(name)?.until ?? -Infinity) > steadyMs()
  const originOf = (address: string) => ({
    network: target,
    address,
    caller: { id: ownId },
    requestId: randomUUID(),
    feeOverrides: {},
  })

  /** @param isInTurn one after the other, for this wallet */
  function start(
    action: string,
    { address, name, isInTurn = false }: { address: string; name: string; isInTurn?: boolean },
    fields: object,
    work: (signal: AbortSignal) => Promise<{ txHash: string }>,
  ): void {
    // If another server owns the queue, that server acts.
    if (closing.aborted || running.has(name) || isPaused(name) || !queues.held(address)) return
    running.add(name)
    const before = isInTurn ? lastInTurn.get(address) : undefined
    const done = (before ?? Promise.resolve()).then(() => run(action, name, { address, ...fields }, work))
    if (isInTurn) {
      lastInTurn.set(address, done)
      void done.then(() => lastInTurn.get(address) === done && lastInTurn.delete(address))
    }
    void inBackground(done)
  }

  async function run(action: string, name: string, fields: object, work: (signal: AbortSignal) => Promise<{ txHash: string }>) {
    try {
      const { txHash } = await withDeadline(closing, timeoutMs, work)
      failures.delete(name)
      log.info({ ...fields, txHash }, `${action}: done`)
    } catch (error) {
      // Failures of actions that were not needed again expire.
      for (const [other, { until }] of failures) if (until + maxPauseMs < steadyMs()) failures.delete(other)
      const before = failures.get(name)
      const pauseMs = before ? Math.min(before.pauseMs * 2, longestPauseMs) : minPauseMs
      failures.set(name, { pauseMs, until: steadyMs() + pauseMs })
      const reason = reasonOf(error)
      // Logged once: the action is tried again as long as it is needed.
      if (!before && !closing.aborted) log.warn({ ...fields, reason }, `${action}: failed; tried again while it is needed`)
    } finally {
      running.delete(name)
    }
  }

  return {
    fill(address, nonce) {
      const paidBy = queues.held(address)?.queue.releasedBy(nonce)
      const origin = { ...originOf(address), signer: address, nonce, ...(paidBy !== undefined && { paidBy }) }
      start('fill a nonce gap', { address, name: `fill/${address}/${nonce}` }, { nonce }, (signal) =>
        submitEmpty(origin, 'fill', {}, parts, signal),
      )
    },
    bump(entry, overId, head) {
      const { key, nonce } = entry
      const address = signerOf(entry)
      const replace = replaceOf(target)
      const pick = async (): Promise<Entry> => {
        const current = await recorder.read(key)
        const isUnchanged = current && !current.landed && current.replacedBy === undefined && current.attempts.at(-1)?.id === overId
        if (isUnchanged) return current
        throw new SluiceError('INVALID_NONCE', 'The transaction has changed in the meantime.')
      }
      const feesOver = (fees: Json): Json => {
        const raised = replace.bump(fees, head)
        if (raised !== undefined) return raised
        throw new SluiceError('TRANSACTION_GAS_PRICE_TOO_LOW', "The network's feeCap leaves no room to outbid it: raise feeCap, or wait.")
      }
      start("raise a stuck transaction's fees", { address, name: `bump/${key}` }, { nonce, over: overId }, (signal) =>
        raise({ address, client: ownId, requestId: randomUUID(), feesGiven: false, pick, feesOver }, signal),
      )
    },
    cancel(entry, reason) {
      const { key, address, nonce, client, paidBy = client } = entry
      const signer = signerOf(entry)
      const again = isPrivateEmpty(entry)
      // Its fees are raised up to the network's cap, whoever gave those of what it ends: else that could wait for as long as its caller likes.
      const origin = { ...originOf(address), signer, nonce, again, paidBy }
      start('cancel a transaction', { address: signer, name: `cancel/${key}`, isInTurn: true }, { nonce, reason }, (signal) =>
        submitEmpty(origin, 'cancel', { replaces: true, only: key, reason }, parts, signal),
      )
    },
    forget(entry) {
      const { key, nonce } = entry
      for (const name of [`bump/${key}`, `cancel/${key}`, `fill/${signerOf(entry)}/${nonce}`]) failures.delete(name)
    },
  }
}
