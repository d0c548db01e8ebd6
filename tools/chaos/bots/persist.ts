import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from '../history.ts'
import type { Random } from '../random.ts'

/** After one of these a bot with a key asks again: it does not know yet, or nothing speaks against another try. */
const again: ReadonlySet<string> = new Set([
  'TIMEOUT',
  'IN_FLIGHT',
  'OVERLOADED',
  'RATE_LIMIT',
  'NETWORK',
  'SERVICE_UNINITIALIZED',
  'UNKNOWN_ERROR',
])

/** Each of a batch has its own outcome, for good, once the whole has an answer. */
export const isSettled = ({ outcome }: Call): boolean =>
  outcome.is === 'answer' && (outcome.ofBatch === true || !again.has(outcome.name ?? ''))

/** Sends something with its key again and again until it is answered for good; false where that takes too long. */
export async function persist(send: () => Promise<readonly Call[]>, random: Random, patienceMs: number): Promise<boolean> {
  const end = performance.now() + patienceMs
  for (;;) {
    if ((await send()).some(isSettled)) return true
    if (performance.now() > end) return false
    await sleep(random.between(50, 400))
  }
}
