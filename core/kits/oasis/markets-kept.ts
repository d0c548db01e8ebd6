import type { At, BookMarket, Log } from '../../contracts/index.ts'

/** How old the list may be before it is asked for again beside the answer, and before an answer waits for it. */
const freshMs = 1000
const mostMs = 30_000
const timeoutMs = 10_000

type Read = (at: At) => Promise<readonly BookMarket[]>

/** The markets as they were read some time ago: the same array for as long as nothing changed. */
export function keepMarkets(read: Read, log: Log): () => Promise<readonly BookMarket[]> {
  let kept: { readonly markets: readonly BookMarket[]; readonly at: number } | undefined
  let reading: Promise<readonly BookMarket[]> | undefined
  // Those who come meanwhile wait for the same answer, so none of them ends it.
  const readAnew = () => (reading ??= readOnce().finally(() => (reading = undefined)))

  async function readOnce(): Promise<readonly BookMarket[]> {
    const found = await read({ signal: AbortSignal.timeout(timeoutMs) })
    const markets = kept && JSON.stringify(kept.markets) === JSON.stringify(found) ? kept.markets : found
    kept = { markets, at: performance.now() }
    return markets
  }

  return async () => {
    const ageMs = kept ? performance.now() - kept.at : Infinity
    if (!kept || ageMs > mostMs) return readAnew()
    if (ageMs > freshMs)
      readAnew().catch((error: unknown) =>
        log.warn({ error: String(error) }, 'The markets could not be read anew: what was read before is shown.'),
      )
    return kept.markets
  }
}
