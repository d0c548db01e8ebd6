// How quickly new connections are made: each costs the server a handshake, and an abort takes one away.

export interface ConnectionPace {
  /** At once. */
  readonly burst: number
  /** Then so many a second. */
  readonly perSecond: number
}

interface Turns {
  /** @returns whether it may connect now; false where it is not wanted any more, which costs nothing */
  next(isGone: () => boolean): Promise<boolean>
}

/** Clients of bots hold up to 30 connections. A hundred handshakes a second take about a tenth of a processor. */
const usual: ConnectionPace = { burst: 64, perSecond: 100 }

/** First come, first served. */
export function createConnectionPace({ burst, perSecond }: ConnectionPace = usual): Turns {
  const waiting: { readonly isGone: () => boolean; readonly done: (may: boolean) => void }[] = []
  let left = burst
  let countedMs = performance.now()
  let timer: NodeJS.Timeout | undefined

  function serve(): void {
    timer = undefined
    const nowMs = performance.now()
    left = Math.min(burst, left + ((nowMs - countedMs) / 1_000) * perSecond)
    countedMs = nowMs
    for (let first = waiting[0]; first; first = waiting[0]) {
      const isGone = first.isGone()
      if (!isGone && left < 1) break
      waiting.shift()
      if (!isGone) left -= 1
      first.done(!isGone)
    }
    if (waiting.length > 0) timer ??= setTimeout(serve, Math.ceil(((1 - left) / perSecond) * 1_000))
  }

  return {
    next: (isGone) =>
      new Promise((done) => {
        waiting.push({ isGone, done })
        if (timer === undefined) serve()
      }),
  }
}
