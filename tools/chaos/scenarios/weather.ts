import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'

/** Troubles come and go: who trades while nothing works learns little. */
export async function comeAndGo<Trouble>(
  { proxy }: { proxy: { become(trouble?: Trouble): void } },
  troubles: readonly Trouble[],
  random: Random,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    proxy.become(random.pick(troubles))
    await sleep(random.between(500, 2500), undefined, { signal: over }).catch(() => {})
    proxy.become()
    await sleep(random.between(100, 500), undefined, { signal: over }).catch(() => {})
  }
}
