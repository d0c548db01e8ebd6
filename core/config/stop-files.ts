// Files in the data folder that stop what is signed. They are looked at whatever else works: by the server at each write of the journal, and by
// the signer's process at each signature.
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import type { StopMode } from '../api/limits.ts'
import type { Stop, StopScope } from './stops.ts'

/** The names of the files. The second ones are what is typed in a hurry. */
export const stopFileNames: Readonly<Record<StopMode, readonly [string, string]>> = {
  stop: ['STOP', 'stop'],
  'reduce-only': ['REDUCE-ONLY', 'reduce-only'],
}

/** Longer ones are no list of names. */
const maxBytes = 65_536

/** What a line means: what is held, `ignored` where that is another process's to hold, or undefined where nobody can tell. */
export type ReadLine = (line: string) => StopScope | 'ignored' | undefined

/** What the files say now. One that is empty is for all. One that cannot be read, or has a line that nobody can tell, counts as `stop` for all. */
export function readStopFiles(dataDir: string, readLine: ReadLine): readonly Stop[] {
  const stops = (['stop', 'reduce-only'] as const).flatMap((mode) =>
    stopFileNames[mode].flatMap((name) => readStopFile(dataDir, name, mode, readLine)),
  )
  if (stops.length > 0 || existsSync(dataDir)) return stops
  return [oddFile(path.basename(dataDir), 0, 'the data folder is not there')]
}

function readStopFile(dataDir: string, name: string, mode: StopMode, readLine: ReadLine): readonly Stop[] {
  const file = path.join(dataDir, name)
  let since = 0
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (!stat && !isLink(file)) return []
    since = Math.round(stat?.mtimeMs ?? 0)
    if (!stat?.isFile() || stat.size > maxBytes) return [oddFile(name, since, 'it is not a short text')]
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .map(withoutComment)
      .filter((line) => line !== '')
    if (lines.length === 0) return [{ mode, scope: { of: 'all' }, setBy: name, since, file: name }]
    return lines.flatMap((line): Stop[] => {
      const scope = readLine(line)
      if (scope === 'ignored') return []
      return scope
        ? [{ mode, scope, setBy: name, since, file: name }]
        : [oddFile(name, since, 'a line names neither a wallet nor a client')]
    })
  } catch {
    return [oddFile(name, since, 'it cannot be read')]
  }
}

const withoutComment = (line: string): string => line.replace(/#.*/, '').trim()

/** A link that leads nowhere is there, too. */
const isLink = (file: string): boolean => {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

const oddFile = (file: string, since: number, reason: string): Stop => ({
  mode: 'stop',
  scope: { of: 'all' },
  setBy: file,
  since,
  reason: `${reason}, so it counts as stop for all`,
  file,
})
