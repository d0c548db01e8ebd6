import { setTimeout as sleep } from 'node:timers/promises'
import { bounded } from '../ask.ts'
import type { Random } from '../random.ts'
import type { Stage } from '../stage.ts'
import { bookContent } from './between.ts'
import { markets, termsOf } from './messages.ts'

/** A book as a server showed it. */
export interface ShownBook {
  at: number
  /** Which server, by its process. */
  pid: number
  market: string
  sequence: number
  content: string
}

/** All levels that the exchange tells. */
const depth = '20'

/** A bot that looks at the books until the signal; what it saw goes into the list. */
export async function watchBooks(stage: Stage, shown: ShownBook[], random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(random.between(10, 100), undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    const seen = await lookAtBook(stage, random.pick(markets)).catch(() => {
      // A server that was killed shows nothing.
    })
    if (seen) shown.push(seen)
  }
}

/** Undefined where it is not shown now. */
export async function lookAtBook(stage: Stage, market: string): Promise<ShownBook | undefined> {
  const { client, pid } = await stage.someServer()
  const query = { ...stage.place, connector: 'hyperliquid', market, depth }
  const { status, body } = await bounded(client.get(`${termsOf({ market }).root}/orderBook`, query))
  if (status !== 200) return undefined
  return { at: stage.recorder.clock(), pid, market, sequence: body.sequence, content: bookContent(body.buys, body.sells) }
}
