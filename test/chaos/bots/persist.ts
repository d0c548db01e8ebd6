import { setTimeout as sleep } from 'node:timers/promises'
import type { Call, Request } from '../history.ts'
import type { Random } from '../random.ts'
import type { Stage } from '../stage.ts'
import { ask } from './ask.ts'

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

export const isSettled = ({ outcome }: Call): boolean => outcome.is === 'answer' && !again.has(outcome.name ?? '')

/** Repeats a request with its key until it is answered for good; false where that takes too long. */
export async function persist(stage: Stage, request: Request, random: Random, patienceMs: number): Promise<boolean> {
  const end = performance.now() + patienceMs
  for (;;) {
    if (isSettled(await ask(stage, request))) return true
    if (performance.now() > end) return false
    await sleep(random.between(50, 400))
  }
}
