// What one tab has asked for, the others take that show the same: ten tabs cost the server little more than one.
import { learnServerTime, serverNow } from './api.ts'

interface Told {
  readonly key: string
  /** When it was asked for, by the browser's clock, which all tabs have. */
  readonly askedAt: number
  /** By the server's clock. */
  readonly at: number
  /** When it was sent to the other tabs, by the browser's clock. A page of an earlier release does not say it. */
  readonly toldAt?: number
  readonly data: unknown
}

export interface SharedAnswer {
  /** @param since an answer of another tab will do that was asked for since then; undefined: none will */
  ask(since: number | undefined, ask: () => Promise<unknown>): Promise<unknown>
  end(): void
}

const channel = new BroadcastChannel('sluice-answers')
const followed = new Map<string, Set<(told: Told) => void>>()
channel.addEventListener('message', ({ data: told }: MessageEvent<Told>) => {
  for (const take of followed.get(told.key) ?? []) take(told)
})

/** Whoever waits for its turn has heard the answer by then. */
const arrivalMs = 500
/** A tab whose answer does not come, or that the browser has put to sleep, keeps the others waiting no longer than this. */
const longestTurnMs = 10_000

/** A tab that the browser has put to sleep, or a machine that slept, hears later what was told meanwhile: that is no news any more. */
const isLate = ({ toldAt = Infinity }: Told): boolean => toldAt < Date.now() - lateMs
const lateMs = 10_000

/** Of a clock that was set back since. Browsers round the time. */
const isAhead = (askedAt: number): boolean => askedAt > Date.now() + 1_000

/** @param taken with each answer that another tab has, and when it was asked for */
export function shareAnswer(key: string, taken: (data: unknown, askedAt: number) => void): SharedAnswer {
  /** Of the other tabs. */
  let newest: Told | undefined
  /** When the newest answer was asked for, by whichever tab. */
  let newestAt = -Infinity
  let heard: (() => void) | undefined
  /** Whether it was asked for before the newest answer. */
  const isOld = (askedAt: number): boolean => askedAt < newestAt && !isAhead(newestAt)
  const take = (told: Told): void => {
    if (isOld(told.askedAt) || isLate(told)) return
    newest = told
    newestAt = told.askedAt
    learnServerTime(told.at)
    heard?.()
    taken(told.data, told.askedAt)
  }
  const takers = followed.get(key) ?? new Set()
  followed.set(key, takers.add(take))

  async function askNow(ask: () => Promise<unknown>): Promise<unknown> {
    const askedAt = Date.now()
    const data = await ask()
    if (newest !== undefined && isOld(askedAt)) return newest.data
    newestAt = askedAt
    channel.postMessage({ key, askedAt, at: serverNow(), toldAt: Date.now(), data } satisfies Told)
    return data
  }

  /** One tab at a time asks. */
  const askInTurn = (since: number, ask: () => Promise<unknown>): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const waiting = new AbortController()
      heard = () => {
        if (newest === undefined || newest.askedAt < since || isAhead(newest.askedAt)) return
        waiting.abort()
        resolve(newest.data)
      }
      heard()
      if (waiting.signal.aborted) return
      const begin = async (): Promise<void> => {
        clearTimeout(late)
        heard = undefined
        await askNow(ask).then(resolve, reject)
      }
      const late = setTimeout(() => {
        if (waiting.signal.aborted) return
        waiting.abort()
        void begin()
      }, longestTurnMs)
      const turn = navigator.locks.request(`sluice-ask ${key}`, { signal: waiting.signal }, async () => {
        await begin()
        await new Promise((free) => setTimeout(free, arrivalMs))
      })
      // Its turn was not needed.
      turn.catch(() => {})
    })

  return {
    ask: (since, ask) => (since === undefined ? askNow(ask) : askInTurn(since, ask)),
    end() {
      takers.delete(take)
      if (takers.size === 0) followed.delete(key)
    },
  }
}
