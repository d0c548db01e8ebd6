// Whether a run without a violation showed anything: a server that lets hardly anything through breaks no promise, either. Pure.
import { lpVersions, type PositionLife } from './position-bots.ts'
import type { PositionEvent } from './position-facts.ts'

const leastEnded = 0.6

/** What is missing: most positions are burnt on the chain, and some were closed in each version of the clients. Undefined where nothing is. */
export function missingOfPositions(lives: readonly PositionLife[], events: readonly PositionEvent[]): string | undefined {
  const closed = lives.filter(({ booked }) => booked === 'closed')
  const without = lpVersions.filter(({ name }) => !closed.some(({ version }) => version === name))
  // What a bot is told to be gone may never have been there.
  const burnt = new Set(events.filter(({ is }) => is === 'burnt').map(({ tokenId }) => tokenId)).size
  if (burnt >= leastEnded * lives.length && without.length === 0) return undefined
  return `${burnt} of ${lives.length} positions are burnt on the chain, ${closed.length} were told to be closed, none of ${namesOf(without)}`
}

const namesOf = (without: readonly { readonly name: string }[]): string => without.map(({ name }) => name).join(', ') || 'no version'
