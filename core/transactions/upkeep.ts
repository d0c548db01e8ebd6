import { randomUUID } from 'node:crypto'
import { SluiceError, type Head } from '../contracts/index.ts'
import { withDeadline } from '../async.ts'
import { replaceOf, submitEmpty, type CancelParts, type RaiseParts, type RaiseRequest } from './replace.ts'
import { signerOf, type Entry } from './entry.ts'

const timeoutMs = 15_000
/** What failed is tried again after so long, and twice as long each time. */
const shortestPauseMs = 1_000
const longestPauseMs = 60_000

interface UpkeepParts extends CancelParts, Pick<RaiseParts, 'goOn' | 'closing' | 'log'> {
  raise: (wanted: RaiseRequest, signal: AbortSignal) => Promise<{ txHash: string; nonce: number }>
  nowMs: () => number
}

/** What the server does by itself for what is open. Each at most once at a time for one thing, and again later where it fails. */
export interface Upkeep {
  /** Puts something harmless on an empty nonce that others wait behind. */
  fill(address: string, nonce: number): void
  /** Raises the fees of an entry whose newest attempt is still this one. */
  bump(entry: Entry, overId: string, head: Head): void
  /** Has it do nothing instead. */
  cancel(entry: Entry, reason: string): void
  /** Nothing will be done for it any more. */
  forget(entry: Entry): void
}

export function createUpkeep({ site, lanes, recorder, submit, raise, goOn, closing, log, nowMs }: UpkeepParts): Upkeep {
  // Once a trouble ends, what it left is done within a few blocks.
  const mostPauseMs = Math.min(longestPauseMs, Math.max(shortestPauseMs, site.impl.bumpAfterSeconds * 1000))
  const busy = new Set<string>()
  const failed = new Map<string, { pauseMs: number; until: number }>()
  /** No longer than it was meant to be, though the clock was set back. */
  const isPaused = (name: string) => {
    const { pauseMs = 0, until = 0 } = failed.get(name) ?? {}
    const leftMs = until - nowMs()
    return leftMs > 0 && leftMs <= pauseMs
  }
  const origin = (address: string) => ({
    network: site,
    address,
    caller: { commonName: 'sluice' },
    requestId: randomUUID(),
    feeOverrides: {},
  })

  function start(
    what: string,
    { address, name }: { address: string; name: string },
    fields: object,
    work: (signal: AbortSignal) => Promise<{ txHash: string }>,
  ): void {
    // A lane that went to another server is that one's to look after.
    if (closing.aborted || busy.has(name) || isPaused(name) || !lanes.held(address)) return
    busy.add(name)
    void goOn(run(what, name, { address, ...fields }, work))
  }

  async function run(what: string, name: string, fields: object, work: (signal: AbortSignal) => Promise<{ txHash: string }>) {
    try {
      const { txHash } = await withDeadline(closing, timeoutMs, work)
      failed.delete(name)
      log.info({ ...fields, txHash }, `${what}: done`)
    } catch (error) {
      // What was not wanted again since then is not wanted any more.
      for (const [other, { until }] of failed) if (until + longestPauseMs < nowMs()) failed.delete(other)
      const before = failed.get(name)
      const pauseMs = before ? Math.min(before.pauseMs * 2, mostPauseMs) : shortestPauseMs
      failed.set(name, { pauseMs, until: nowMs() + pauseMs })
      // Once: it is tried again for as long as it is needed.
      const reason = error instanceof Error ? error.message : 'unknown'
      if (!before && !closing.aborted) log.warn({ ...fields, reason }, `${what}: failed, and tried again while it is needed`)
    } finally {
      busy.delete(name)
    }
  }

  return {
    fill(address, nonce) {
      start('fill a gap in the nonces', { address, name: `fill/${address}/${nonce}` }, { nonce }, (signal) =>
        submitEmpty({ ...origin(address), signer: address, nonce }, 'fill', {}, { site, submit }, signal),
      )
    },
    bump(entry, overId, head) {
      const { key, nonce } = entry
      const address = signerOf(entry)
      const replace = replaceOf(site.impl.rail, site.chain)
      const pick = async (): Promise<Entry> => {
        const now = await recorder.read(key)
        const isAsSeen = now && !now.landed && now.replacedBy === undefined && now.attempts.at(-1)?.id === overId
        if (isAsSeen) return now
        throw new SluiceError('INVALID_NONCE', 'It is no longer what it was.')
      }
      start("raise a stuck transaction's fees", { address, name: `bump/${key}` }, { nonce, over: overId }, (signal) => {
        const feesOver: RaiseRequest['feesOver'] = (fees) => {
          const raised = replace.bump(fees, head)
          if (raised !== undefined) return raised
          throw new SluiceError('TRANSACTION_GAS_PRICE_TOO_LOW', "The network's feeCap leaves no room to outbid it: raise feeCap, or wait.")
        }
        return raise({ address, requestId: randomUUID(), feesGiven: false, pick, feesOver }, signal)
      })
    },
    cancel(entry, reason) {
      const { key, address, nonce, feesGiven } = entry
      const signer = signerOf(entry)
      // Where the caller said what it pays, nothing raises the cancel either: what was cheaper must not become dearer.
      const of = { ...origin(address), signer, nonce, ...(feesGiven && { feesGiven }) }
      start('cancel a late transaction', { address: signer, name: `cancel/${key}` }, { nonce, reason }, (signal) =>
        submitEmpty(of, 'cancel', { replaces: true, only: key, reason }, { site, submit }, signal),
      )
    },
    forget(entry) {
      const { key, nonce } = entry
      for (const name of [`bump/${key}`, `cancel/${key}`, `fill/${signerOf(entry)}/${nonce}`]) failed.delete(name)
    },
  }
}
