import type { Rail } from '../../contracts/index.ts'
import { isFinal } from '../entry.ts'
import type { Entry } from '../entry.ts'
import type { Filter, Guard } from '../journal/journal.ts'
import type { Lane, Occupant } from '../nonce-queue.ts'
import type { Site } from '../submit-request.ts'
import type { Recorder } from '../journal/recorder.ts'

const neverSigned = 'The server that took it ended before it was signed: nothing was sent.'

/**
 * What the journal has on a lane, after its owner changed: another server's death, a hand-over, a restart of ours. What was
 * never signed is given up, for whoever was about to sign it cannot journal any more; what was signed holds its slot.
 */
export async function rebuildLane({
  site: { chain, network, connector, impl },
  recorder,
  lane,
  guard,
}: {
  site: Site
  recorder: Recorder
  lane: Lane
  guard: Guard
}): Promise<void> {
  const on = { connector, address: lane.address }
  // The newest on a slot is what a replacement has to outbid: by its rank, for clocks differ and are set back.
  for (const entry of (await recorder.unfinished({ chain, network, ...on })).toSorted((a, b) => a.rank - b.rank)) {
    const kept = entry.attempts.length > 0 ? entry : await recorder.amend(entry, givenUp(neverSigned), guard)
    if (kept.attempts.length > 0) hold(kept, lane, impl.rail)
  }
  // Where slots have an order, whatever lies before a used one is used; and where they only increase, none is used again.
  const { slots } = impl.rail
  const last = slots === 'independent' ? undefined : await newestUsed(recorder, { chain, network, on }, slots === 'increasing')
  if (last) lane.settle(last.slot)
}

/** A change that gives up what was never signed. */
export const givenUp =
  (reason: string) =>
  (entry: Entry): Entry =>
    entry.state === 'QUEUED' ? { ...entry, state: 'EXPIRED', reason } : entry

/** What a signed entry means for its slot. */
export function hold(entry: Entry, lane: Lane, rail: Rail): void {
  if (isFinal(entry)) lane.settle(entry.slot)
  else lane.occupy(entry.slot, occupantOf(entry, rail), entry.slotGiven)
}

/** How a signed entry holds its slot. */
export function occupantOf({ key, kind, rank, step, attempts }: Entry, rail: Rail): Occupant {
  const newest = attempts.at(-1)
  if (!newest) throw new Error(`${key} was never signed.`)
  const costs = attempts.map(({ fees }) => rail.cost(step, fees))
  return { key, txHash: newest.id, kind, rank, fees: newest.fees, costRaw: costs.reduce((a, b) => (a > b ? a : b)) }
}

/**
 * Of the newest that ended with their slot used, the one with the highest. Callers may have given lower ones later; what they gave far ahead
 * says nothing of what the server assigns where slots only increase.
 */
async function newestUsed(recorder: Recorder, of: Filter, isAssigned: boolean): Promise<Entry | undefined> {
  for (let cursor: string | undefined, pages = 0; pages < 10; pages += 1) {
    const page = await recorder.list({ ...of, limit: 100, cursor })
    const used = page.entries.filter((entry) => isFinal(entry) && entry.attempts.length > 0 && !(isAssigned && entry.slotGiven))
    if (used.length > 0) return used.reduce((a, b) => (b.nonce > a.nonce ? b : a))
    cursor = page.nextCursor
    if (cursor === undefined) return undefined
  }
  return undefined
}
