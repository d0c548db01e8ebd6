import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The client of the entries that are made here, and how their requests begin: no bot of a run. */
export const longAgo = 'long-ago'
/** So many wallets share them. */
export const walletsOfLongAgo = 200
export const walletOfLongAgo = (index: number): string => `0x${(index % walletsOfLongAgo).toString(16).padStart(40, '0')}`

const program = fileURLToPath(new URL('fill-journal.ts', import.meta.url))

/**
 * Fills the journal of a store that no server uses up to a number of entries: copies of those that are there and final, each with a key, a
 * hash, a request and an Idempotency-Key of its own, as old as a million trades are. In a process of its own: SQLite's work of many seconds
 * would let the calls to the chain that are under way in this one run into their time limits.
 */
export async function lengthenJournal(dataDir: string, count: number): Promise<void> {
  await promisify(execFile)(process.execPath, ['--import', import.meta.resolve('tsx/esm'), program, dataDir, String(count)])
}
