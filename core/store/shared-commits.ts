import { setImmediate as soon } from 'node:timers/promises'
import type { ControlledTransaction } from 'kysely'
import type { Tables } from './tables.ts'

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
export function sharedCommits(
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
