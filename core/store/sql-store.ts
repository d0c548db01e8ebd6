import { setImmediate as soon } from 'node:timers/promises'
import { pause } from '../async.ts'
import type { ControlledTransaction, Kysely } from 'kysely'
import { type Faults, StoreUnavailable, type Store } from './store.ts'
import type { Tables } from './tables.ts'

/** Two that collide are told apart by chance. */
const maxTries = 8

interface StoreParts {
  kind: Store['kind']
  db: Kysely<Tables>
  faults: Faults
  /** How several take turns, where there is one connection. */
  inTurn?: <T>(work: () => Promise<T>) => Promise<T>
  /** What the probe writes: as much as may have to fit. */
  ballast?: string
  /** After the last connection is closed, also where that failed. */
  closed?: () => void
}

/** A store by kysely: transactions, what an error means for them, and running again what collided. */
export function createSqlStore({ kind, db, faults, inTurn = (work) => work(), ballast = '', closed = () => {} }: StoreParts): Store {
  let closing: Promise<void> | undefined
  let probing: Promise<string | undefined> | undefined

  async function telling<T>(work: () => Promise<T>, { mayBeKept = false } = {}): Promise<T> {
    if (closing) throw new StoreUnavailable('the server is stopping')
    try {
      return await work()
    } catch (error) {
      const fault = faults.of(error)
      if (!fault) throw error
      throw new StoreUnavailable(fault.reason, { uncertain: mayBeKept && fault.leavesCommitOpen, cause: error })
    }
  }

  async function transaction<T>(work: (tx: ControlledTransaction<Tables>) => Promise<T>): Promise<T> {
    const tx = await telling(() => db.startTransaction().execute())
    try {
      const result = await telling(() => work(tx))
      await telling(() => tx.commit().execute(), { mayBeKept: true })
      return result
    } catch (error) {
      // What cannot be rolled back is so by itself, with its connection.
      await tx
        .rollback()
        .execute()
        .catch(() => {})
      throw error
    }
  }

  async function retried<T>(attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt()
      } catch (error) {
        if (tries === maxTries || !(error instanceof StoreUnavailable && faults.isCollision(error.cause))) throw error
        await pause(Math.random() * 10 * tries)
      }
    }
  }

  const shared = sharedCommits(
    (work) => inTurn(() => transaction(work)),
    (error) => error instanceof StoreUnavailable || faults.of(error) !== undefined,
  )
  // Where there are many connections, the database itself lets commits share what they wait for.
  const write: Store['write'] = kind === 'embedded' ? shared : (work) => retried(() => transaction(work))

  async function probe(): Promise<string | undefined> {
    try {
      await write((tx) =>
        tx
          .updateTable('probes')
          .set(({ eb }) => ({ tries: eb('tries', '+', 1), ballast }))
          .execute(),
      )
      return undefined
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      return `The store cannot be written: ${faults.of(error.cause)?.reason ?? 'the server is stopping'}.`
    } finally {
      probing = undefined
    }
  }

  async function close(): Promise<void> {
    // Whoever is in a transaction on an only connection ends it first.
    await inTurn(() => db.destroy())
  }

  return {
    kind,
    read: (work) => inTurn(() => telling(() => work(db))),
    write,
    writeOnce: (statement) => (kind === 'embedded' ? write(statement) : retried(() => telling(() => statement(db), { mayBeKept: true }))),
    failing: () => (probing ??= probe()),
    close: () => (closing ??= close().finally(closed)),
  }
}

type Tx = ControlledTransaction<Tables, string[]>

interface Job {
  run(tx: Tx): Promise<void>
  /** After the commit. */
  keep(): void
  refuse(error: unknown): void
}

/** More would have the first wait for the last. */
const mostTogether = 64

/**
 * Writes that come at the same moment share one commit, for the disk is what they wait for. Each is undone alone where it throws;
 * where the database fails, all of them are.
 * @param transaction begins, commits, and rolls back where what it is given throws; one after another
 * @param isFault whether an error ends the whole transaction
 */
function sharedCommits(
  transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>,
  isFault: (error: unknown) => boolean,
): <T>(work: (tx: Tx) => Promise<T>) => Promise<T> {
  let waiting: Job[] = []
  let running: Promise<void> | undefined

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      // What else this turn of the event loop brings.
      await soon()
      const jobs = waiting.slice(0, mostTogether)
      waiting = waiting.slice(mostTogether)
      await commit(jobs)
    }
    running = undefined
  }

  async function commit(jobs: readonly Job[]): Promise<void> {
    const refused = new Map<Job, unknown>()
    try {
      await transaction(async (tx) => {
        for (const job of jobs) {
          const point = await tx.savepoint('job').execute()
          try {
            await job.run(point)
          } catch (error) {
            if (isFault(error)) throw error
            await point.rollbackToSavepoint('job').execute()
            refused.set(job, error)
          }
          await point.releaseSavepoint('job').execute()
        }
      })
      for (const job of jobs) if (!refused.has(job)) job.keep()
    } catch (error) {
      for (const job of jobs) if (!refused.has(job)) job.refuse(error)
    }
    for (const [job, error] of refused) job.refuse(error)
  }

  return <T>(work: (tx: Tx) => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      let result: T
      waiting.push({
        run: async (tx) => {
          result = await work(tx)
        },
        keep: () => resolve(result),
        refuse: reject,
      })
      running ??= commitAll()
    })
}
