import type { Sighting } from '../../contracts/index.ts'
import type { Entry } from '../entry.ts'

/** By the newest attempt: the newest block when its entry was first in line at a node, with nothing before it still to be mined. */
export type FirstInLine = ReadonlyMap<string, bigint>

/** Whether a node has it, and only its fees or the chain hold it up. */
export function isFirstInLine({ attempts }: Entry, sightings: ReadonlyMap<string, Sighting>): boolean {
  return attempts.some(({ id }) => {
    const each = sightings.get(id)
    return each?.is === 'pending' && each.next === true
  })
}

/** After another look. What the look says nothing of is as it was. */
export function firstInLine(
  before: FirstInLine,
  open: readonly Entry[],
  sightings: ReadonlyMap<string, Sighting>,
  head: bigint,
): FirstInLine {
  const now = open.flatMap((entry): [string, bigint][] => {
    const newest = entry.attempts.at(-1)?.id
    if (newest === undefined) return []
    const since = before.get(newest)
    if (isFirstInLine(entry, sightings)) return [[newest, since ?? head]]
    return since === undefined || entry.attempts.some(({ id }) => sightings.has(id)) ? [] : [[newest, since]]
  })
  return new Map(now)
}

/** How many blocks came without it since. */
export function leftOutOf({ attempts }: Entry, since: FirstInLine, head: bigint): number {
  const newest = attempts.at(-1)?.id
  const first = newest === undefined ? undefined : since.get(newest)
  return first === undefined ? 0 : Math.max(0, Number(head - first))
}
