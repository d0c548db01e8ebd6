import { createTurns, pause } from '../base/async.ts'
import { SluiceError, type Log } from '../contracts/index.ts'
import type { ArchiveFiles } from './archive-files.ts'
import type { Cost } from './costs.ts'
import { queueName, railOf, signerOf, type Entry } from './entry.ts'
import type { EndedEntry, EndedPosition, EntryPlace, Journal } from './journal/journal.ts'
import { highestUsed, type Leases } from './leases.ts'
import { addressKey } from '../base/addresses.ts'
import { reasonOf } from '../base/errors.ts'

export const dayMs = 86_400_000
/** No call, however slow, still works on what ended so long ago. */
export const minKeepMs = dayMs

/**
 * Moves final entries out of the journal into compressed files. What stays in the store is their outcome, their hashes, their client order
 * ids, and what is recorded under their Idempotency-Keys.
 */
export interface Archiver {
  /** Where the files are, on this server's machine. */
  readonly folder: string
  /**
   * Moves entries that ended at least so long ago by the store's time, or only counts them: at most a thousand.
   * @throws SluiceError OVERLOADED if a file cannot be written; StoreUnavailable
   */
  prune(of: { olderThanMs: number; after?: EndedPosition; isDryRun?: boolean }, signal: AbortSignal): Promise<PruneResult>
  /** Moves everything that is older than it is kept. Runs by itself every hour. */
  run(): Promise<void>
  /** Ends between two batches. */
  stop(): Promise<void>
}

export interface PruneResult {
  archived: number
  /** Those that are old enough and stay: of an order that may be open, the newest of its wallet, or damaged. */
  kept: number
  /** Where to go on; absent: there are no more. */
  next?: EndedPosition
}

interface ArchiverOptions {
  journal: Journal
  leases: Pick<Leases, 'use'>
  files: ArchiveFiles
  /** What an earlier version did not keep: it is kept before the receipt goes. */
  costOf?: (entry: Entry) => Cost | undefined
  /** `store.keepDays`; absent: nothing is archived by itself. */
  keepDays: number | undefined
  log: Log
  /** Receives the number of entries that were moved, and whether the last attempt failed. */
  onArchived?: (count: number) => void
  onFailing?: (isFailing: boolean) => void
}

/** One server archives at a time. Not the name of a queue of nonces: those have slashes. */
const leaseName = 'archive'
/** Entries that are written, flushed to the disk and deleted together: a few milliseconds of work. */
const batchSize = 25
/** Between two batches other work has the processor and the store. */
const pauseMs = 10
/** Entries that one call of `prune` looks at. */
const sliceSize = 1_000
const firstRunMs = 60_000
const everyMs = 3_600_000

export function createArchiver({
  journal,
  leases,
  files,
  costOf = ({ landed }) => landed?.cost,
  keepDays,
  log,
  onArchived = () => {},
  onFailing = () => {},
}: ArchiverOptions): Archiver {
  const { ended } = journal
  const closing = new AbortController()
  /** Keys of damaged entries that were named in the log. */
  const named = new Set<string>()
  const underWay = new Set<Promise<unknown>>()
  /** Calls of one server share the lease: each batch is read, written and removed before the next one, so that no two write one place of a file. */
  const inTurn = createTurns()
  let isFailing = false
  let running: Promise<void> | undefined
  const first = setTimeout(() => void run(), firstRunMs).unref()
  const timer = setInterval(() => void run(), everyMs).unref()

  function onDamage(key: string, error: unknown): void {
    if (named.has(key)) return
    named.add(key)
    log.warn({ key, reason: reasonOf(error) }, 'a damaged entry of the journal is not archived')
  }

  /** Those of a batch that may leave the journal. */
  async function movable(page: readonly EndedEntry[], newest: NewestOfQueues): Promise<readonly Entry[]> {
    const keys = page.filter(({ hasOpenOrder }) => !hasOpenOrder).map(({ key }) => key)
    if (keys.length === 0) return []
    const open = new Set((await ended.openPlaces()).map(placeName))
    const found: Entry[] = []
    for (const entry of await ended.read(keys, onDamage)) {
      // The watcher asks which final entry took the nonce of an open one.
      const place = placeName({ ...railOf(entry), signer: signerOf(entry), nonce: entry.nonce })
      if (!open.has(place) && !(await newest.has(entry))) found.push(entry)
    }
    return found
  }

  function withCost(entry: Entry): Entry {
    const { landed } = entry
    const cost = landed && !landed.cost ? costOf(entry) : undefined
    return landed && cost ? { ...entry, landed: { ...landed, cost } } : entry
  }

  async function moveBatch(of: Parameters<typeof ended.select>[0], newest: NewestOfQueues, isDryRun: boolean) {
    const page = await ended.select(of)
    const entries = (await movable(page, newest)).map(withCost)
    if (!isDryRun && entries.length > 0) {
      await writeFiles(files, entries)
      const moved = await ended.moveOut(entries)
      onArchived(moved.length)
    }
    return { page, entries }
  }

  async function prunePages(
    { olderThanMs, after, isDryRun = false }: Parameters<Archiver['prune']>[0],
    signal: AbortSignal,
    newest = newestOfQueues(journal),
  ): Promise<PruneResult> {
    let [archived, kept, position] = [0, 0, after]
    while (archived + kept < sliceSize) {
      signal.throwIfAborted()
      const asked = { olderThanMs, ...(position && { after: position }), limit: batchSize }
      const { page, entries } = await inTurn(() => moveBatch(asked, newest, isDryRun))
      archived += entries.length
      kept += page.length - entries.length
      const last = page.at(-1)
      if (!last || page.length < batchSize) return { archived, kept }
      position = { endedAt: last.endedAt, key: last.key }
      await pause(pauseMs, signal)
    }
    return { archived, kept, ...(position && { next: position }) }
  }

  async function forgetEvents(olderThanMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await ended.deleteEvents(olderThanMs))) await pause(pauseMs, signal)
  }

  const prune: Archiver['prune'] = (of, signal) => {
    // Databases count whole milliseconds.
    const olderThanMs = Math.ceil(Math.max(of.olderThanMs, minKeepMs))
    const either = AbortSignal.any([signal, closing.signal])
    const work = leases.use(leaseName, either, async () => {
      const result = await prunePages({ ...of, olderThanMs }, either)
      if (!of.isDryRun && !result.next) await forgetEvents(olderThanMs, either)
      return result
    })
    underWay.add(work)
    return work.finally(() => underWay.delete(work))
  }

  async function runNow(): Promise<void> {
    const { signal } = closing
    await ended.markEvents()
    if (keepDays === undefined) return
    const olderThanMs = keepDays * dayMs
    const newest = newestOfQueues(journal)
    let after: EndedPosition | undefined
    let total = 0
    do {
      const result = await leases.use(leaseName, signal, () => prunePages({ olderThanMs, ...(after && { after }) }, signal, newest))
      total += result.archived
      after = result.next
    } while (after)
    await forgetEvents(olderThanMs, signal)
    if (total > 0) log.info({ transactions: total, folder: files.folder }, 'old transactions archived')
  }

  function run(): Promise<void> {
    return (running ??= runNow()
      .then(
        () => setFailing(undefined),
        (error: unknown) => setFailing(error),
      )
      .finally(() => (running = undefined)))
  }

  function setFailing(error: unknown): void {
    if (closing.signal.aborted) return
    // Logged once as long as it lasts.
    if (error !== undefined && !isFailing)
      log.warn(
        { folder: files.folder, reason: reasonOf(error) },
        'old transactions not archived; they stay in the journal, and it is tried again',
      )
    isFailing = error !== undefined
    onFailing(isFailing)
  }

  return {
    folder: files.folder,
    prune,
    run,
    async stop() {
      clearTimeout(first)
      clearInterval(timer)
      closing.abort()
      await Promise.allSettled([running, ...underWay])
    },
  }
}

const placeName = ({ signer, nonce, ...rail }: EntryPlace) => `${nonce} ${queueName(rail, addressKey(signer))}`

/** @throws SluiceError OVERLOADED */
async function writeFiles(files: ArchiveFiles, entries: readonly Entry[]): Promise<void> {
  try {
    await files.append(entries)
  } catch (cause) {
    throw new SluiceError(
      'OVERLOADED',
      `The archive in ${files.folder} cannot be written: ${reasonOf(cause)}. These transactions stay in the journal. Make room, or make the folder writable for the user of Sluice.`,
      { retryAfterSeconds: 60, cause },
    )
  }
}

type NewestOfQueues = ReturnType<typeof newestOfQueues>

/** The entries from which nonce queues go on after a restart. They stay. */
function newestOfQueues(journal: Journal) {
  const queues = new Map<string, Promise<ReadonlySet<string>>>()

  async function read(entry: Entry): Promise<ReadonlySet<string>> {
    const { chain, network, connector } = railOf(entry)
    const filter = { chain, network, on: { connector, address: signerOf(entry) } }
    const [used, assigned] = [await highestUsed(journal, filter, false), await highestUsed(journal, filter, true)]
    return new Set([used, assigned].flatMap((each) => (each ? [each.key] : [])))
  }

  return {
    async has(entry: Entry): Promise<boolean> {
      const name = queueName(railOf(entry), signerOf(entry))
      const keys = queues.get(name) ?? read(entry)
      queues.set(name, keys)
      return (await keys).has(entry.key)
    },
  }
}
