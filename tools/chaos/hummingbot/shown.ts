// Whether a run without a violation showed anything: a server that lets hardly anything through breaks no promise, either. Pure.
import { lpVersions, type PositionLife } from './position-bots.ts'
import type { PositionEvent } from './position-facts.ts'
import { versions, type SwapOrder } from './swap-bots.ts'

/** Of all orders, on a busy machine with bad lines; and of those that neither a line nor a death took. */
const leastFilled = 0.6
const leastOfOthers = 0.8

/**
 * What is missing: most orders are filled, in each version of the clients, and a lost answer was collected. Undefined where nothing is.
 * @param joined how many lost answers were collected
 */
export function missingOfSwaps(placed: readonly SwapOrder[], joined: number): string | undefined {
  const wanted = placed.filter(({ intent }) => intent.wants !== 'too much')
  const filled = wanted.filter(({ booked }) => booked === 'filled')
  const taken = wanted.filter((order) => order.booked !== 'filled' && wasTaken(order))
  const others = wanted.length - taken.length
  const without = versions.filter(({ name }) => !filled.some(({ version }) => version === name))
  const isEnough = filled.length >= leastFilled * wanted.length && filled.length >= leastOfOthers * others
  if (isEnough && without.length === 0 && joined > 0) return undefined
  return `${filled.length} of ${wanted.length} orders were filled, ${others - filled.length} refused by a live server, none of ${namesOf(without)}, and ${joined} lost answers collected`
}

/** Its bot gave up where an answer was lost, no server was there, or what was sent came into no block. What a live server refused was not taken. */
function wasTaken({ calls }: SwapOrder): boolean {
  const last = calls.at(-1)?.outcome
  return last !== undefined && (last.is !== 'refusal' || last.name === '')
}

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
