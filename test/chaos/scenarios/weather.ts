import { setTimeout as sleep } from 'node:timers/promises'
import type { Trouble } from '../proxy/fault-proxy.ts'
import type { Random } from '../random.ts'
import type { Stage } from '../stage.ts'

/** Troubles of the node come and go: who trades while nothing works learns little. */
export async function comeAndGo({ proxy }: Stage, troubles: readonly Trouble[], random: Random, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    proxy.become(random.pick(troubles))
    await sleep(random.between(500, 2500), undefined, { signal: over }).catch(() => {})
    proxy.become()
    await sleep(random.between(100, 500), undefined, { signal: over }).catch(() => {})
  }
}
