import { traffic, type Traffic } from '../bots/traffic.ts'
import { watch } from '../bots/watch.ts'
import type { Random } from '../random.ts'
import type { Stage } from '../stage.ts'

/** Bots trade, and watch what is said of it, for at least as long as the trouble lasts. */
export async function amid(
  stage: Stage,
  trading: Omit<Traffic, 'wallets' | 'goOn'>,
  random: Random,
  trouble: (random: Random) => Promise<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const watching = new AbortController()
  let troubled = true
  const troubles = trouble(random.fork('trouble')).finally(() => {
    troubled = false
  })
  troubles.catch((error: unknown) => {
    stage.failure = error instanceof Error ? error : new Error(String(error))
  })
  const watched = watch(stage, random.fork('watch'), watching.signal)
  try {
    await traffic(stage, { ...trading, wallets: stage.wallets, goOn: () => troubled }, random.fork('traffic'))
    return await troubles
  } finally {
    watching.abort()
    await watched
  }
}
