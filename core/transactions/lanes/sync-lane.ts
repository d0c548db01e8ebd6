import type { Rail } from '../../contracts/index.ts'
import type { Lane } from '../nonce-queue.ts'
import { nothingSent, orTimeout } from '../submit/timeout.ts'

/** What one node says alone and nothing bears out is asked for so many times more. */
const mostDoubts = 2

/** Asks the chain for a wallet's nonces, and tells its lane. */
export async function syncLane(rail: Rail, lane: Lane, signal: AbortSignal): Promise<void> {
  await ask(rail, lane, signal)
  await askAgain(rail, lane, signal)
}

/** Until the lane believes what it was told. */
export async function askAgain(rail: Rail, lane: Lane, signal: AbortSignal): Promise<void> {
  for (let doubts = 0; doubts < mostDoubts && lane.doubtful(); doubts += 1) await ask(rail, lane, signal)
}

async function ask(rail: Rail, lane: Lane, signal: AbortSignal): Promise<void> {
  const news = lane.asking()
  news(await orTimeout(rail.sync(lane.address, { signal }), signal, nothingSent))
}
