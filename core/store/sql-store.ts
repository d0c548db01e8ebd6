import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type ControlledTransaction, type Kysely } from 'kysely'
import { pause } from '../base/async.ts'
import {
  StoreUnavailable,
  type Fault,
  type Faults,
  type LeaseEvents,
  type ServerIdentity,
  type ServerLeases,
  type Store,
  type StoreLog,
} from './store.ts'
import type { Tables } from './tables.ts'

/** Colliding transactions are retried after a random pause. */
const maxTries = 8
/** Jobs in one shared commit. With more the first would wait for the last. */
const maxJobs = 64

interface SqlStoreParts extends Pick<Store, 'kind' | 'isServerAlive'> {
  openLeases(store: Store, server: ServerIdentity, events: LeaseEvents): ServerLeases
  db: Kysely<Tables>
  faults: Faults
  log: StoreLog
  /** Serializes access where there is one connection. Writes then share commits. */
  inTurn?: <T>(work: () => Promise<T>) => Promise<T>
  /** What the write probe writes: as many bytes as have to fit. */
  ballast?: string
  /** Writes as much as a few transactions take, to be undone: where the probe's update needs no room. Asked after a write found the disk full. */
  fill?: (tx: Kysely<Tables>) => Promise<unknown>
  /** Called after the last connection is closed, also where that failed. */
  closed?: () => void
}

/** A store on kysely: transactions, retries after collisions, and what an error means. */
export function createSqlStore({
  kind,
  db,
  faults,
  log,
  inTurn,
  ballast = '',
  fill,
  closed,
  isServerAlive,
  openLeases,
}: SqlStoreParts): Store {
  const serially = inTurn ?? ((work) => work())
  let closing: Promise<void> | undefined
  let probing: Promise<string | undefined> | undefined
  let wasFull = false
  let failingFor: string | undefined

  /** The operator reads why once, with the database's own words, until it works again or there is another reason. */
  function report({ reason, says }: Fault): void {
    if (failingFor !== reason) log.warn({ reason, says }, 'the store cannot be used')
    failingFor = reason
  }

  function reportWorking(): void {
    if (failingFor !== undefined) log.info({}, 'the store can be used again')
    failingFor = undefined
  }

  /** Turns faults of the database into StoreUnavailable. */
  async function withStoreErrors<T>(work: () => Promise<T>, { isCommit = false } = {}): Promise<T> {
    if (closing) throw new StoreUnavailable('the server is stopping')
    try {
      const result = await work()
      if (isCommit) reportWorking()
      return result
    } catch (error) {
      const fault = faults.of(error)
      if (!fault) throw error
      if (!faults.isCollision(error)) report(fault)
      if (fault.isFull) wasFull = true
      throw new StoreUnavailable(fault.reason, { uncertain: isCommit && fault.leavesCommitOpen, cause: error })
    }
  }

  async function transaction<T>(work: (tx: ControlledTransaction<Tables>) => Promise<T>): Promise<T> {
    const tx = await withStoreErrors(() => db.startTransaction().execute())
    try {
      const result = await withStoreErrors(() => work(tx))
      await withStoreErrors(() => tx.commit().execute(), { isCommit: true })
      return result
    } catch (error) {
      // If the rollback fails, the connection breaks, and that rolls back too.
      await tx
        .rollback()
        .execute()
        .catch(() => {})
      throw error
    }
  }

  async function retryCollisions<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt()
      } catch (error) {
        if (tries === maxTries || !(error instanceof StoreUnavailable && faults.isCollision(error.cause))) throw error
        await pause(Math.random() * 10 * tries)
      }
    }
  }

  // With many connections the database itself lets commits share a flush to the disk.
  const write: Store['write'] = inTurn
    ? sharedCommits(
        (work) => inTurn(() => transaction(work)),
        (error) => error instanceof StoreUnavailable || faults.of(error) !== undefined,
      )
    : (work) => retryCollisions(() => transaction(work))

  async function probe(): Promise<string | undefined> {
    try {
      await write((tx) =>
        tx
          .updateTable('probes')
          .set(({ eb }) => ({ tries: eb('tries', '+', 1), ballast }))
          .execute(),
      )
      if (wasFull && fill) await fillAndUndo(fill)
      wasFull = false
      return undefined
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      return `The store cannot be written: ${faults.of(error.cause)?.reason ?? 'the server is stopping'}.`
    } finally {
      probing = undefined
    }
  }

  async function fillAndUndo(work: NonNullable<SqlStoreParts['fill']>): Promise<void> {
    const undo = new Error('There is room.')
    await write(async (tx) => {
      await work(tx)
      throw undo
    }).catch((error: unknown) => {
      if (error !== undo) throw error
    })
  }

  const store: Store = {
    kind,
    read: (work) => serially(() => withStoreErrors(() => work(db))),
    write,
    writeOnce: (statement) => (inTurn ? write(statement) : retryCollisions(() => withStoreErrors(() => statement(db), { isCommit: true }))),
    isServerAlive,
    openLeases: (server, events) => openLeases(store, server, events),
    failing: () => (probing ??= probe()),
    // On the only connection a running transaction ends first.
    close: () => (closing ??= serially(() => db.destroy()).finally(closed)),
  }
  return store
}

/** Takes the lease if it is free, expired or ours. The fencing token rises with the owner only: nobody else can have written in between. */
export async function takeLease(store: Store, queue: string, serverId: string): Promise<number | undefined> {
  const { rows } = await store.writeOnce((db) =>
    sql<{ fence: number }>`
      insert into lanes (lane, server, fence) values (${queue}, ${serverId}, 1)
      on conflict (lane) do update set
        server = excluded.server,
        fence = lanes.fence + case when lanes.server = excluded.server then 0 else 1 end,
        wanted_by = case when lanes.wanted_by = excluded.server then null else lanes.wanted_by end
      where lanes.server = excluded.server or not ${store.isServerAlive(sql`lanes.server`)}
      returning fence`.execute(db),
  )
  return rows[0]?.fence
}

type Tx = ControlledTransaction<Tables, string[]>

interface Job {
  run(tx: Tx): Promise<void>
  /** After the commit. */
  resolve(): void
  reject(error: unknown): void
}

/**
 * Writes that arrive at the same moment share one commit, because the flush to the disk is what takes long. A job that throws is undone
 * alone; where the database fails, all of them are undone.
 * @param transaction begins, commits, and rolls back where its work throws; one after another
 * @param isFault whether an error ends the whole transaction
 */
export function sharedCommits(
  transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>,
  isFault: (error: unknown) => boolean,
): <T>(work: (tx: Tx) => Promise<T>) => Promise<T> {
  let waiting: Job[] = []
  let running: Promise<void> | undefined

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      // Other writes of the same turn of the event loop join.
      await nextTurn()
      const jobs = waiting.slice(0, maxJobs)
      waiting = waiting.slice(maxJobs)
      await commit(jobs)
    }
    running = undefined
  }

  async function commit(jobs: readonly Job[]): Promise<void> {
    const refused = new Map<Job, unknown>()
    try {
      await transaction(async (tx) => {
        for (const job of jobs) {
          const savepoint = await tx.savepoint('job').execute()
          try {
            await job.run(savepoint)
          } catch (error) {
            if (isFault(error)) throw error
            await savepoint.rollbackToSavepoint('job').execute()
            refused.set(job, error)
          }
          await savepoint.releaseSavepoint('job').execute()
        }
      })
      for (const job of jobs) if (!refused.has(job)) job.resolve()
    } catch (error) {
      for (const job of jobs) if (!refused.has(job)) job.reject(error)
    }
    for (const [job, error] of refused) job.reject(error)
  }

  return <T>(work: (tx: Tx) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      let result: T
      waiting.push({
        run: async (tx) => {
          result = await work(tx)
        },
        resolve: () => resolve(result),
        reject,
      })
      running ??= commitAll()
    })
}
