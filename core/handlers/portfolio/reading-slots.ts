// How many wallets are read at once on a network, over all requests: a node is asked by so many, and no client takes all of the places.

export interface ReadingSlots {
  /** Waits for a place, in the order of those who asked. @throws the reason of the signal, if it is aborted while it waits */
  of<T>(client: string, signal: AbortSignal, read: () => Promise<T>): Promise<T>
}

interface Waiter {
  readonly client: string
  begin(): void
}

/** @param most of all clients @param mostOfOne client */
export function createReadingSlots(most: number, mostOfOne: number): ReadingSlots {
  const reading = new Map<string, number>()
  const waiting = new Set<Waiter>()
  let all = 0

  const hasPlace = (client: string): boolean => all < most && (reading.get(client) ?? 0) < mostOfOne

  function count(client: string, by: 1 | -1): void {
    all += by
    const now = (reading.get(client) ?? 0) + by
    if (now === 0) reading.delete(client)
    else reading.set(client, now)
  }

  function end(client: string): void {
    count(client, -1)
    // One place is free: the first who may have it.
    for (const next of waiting) {
      if (!hasPlace(next.client)) continue
      waiting.delete(next)
      count(next.client, 1)
      return next.begin()
    }
  }

  function place(client: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next: Waiter = {
        client,
        begin() {
          signal.removeEventListener('abort', giveUp)
          resolve()
        },
      }
      const giveUp = (): void => {
        waiting.delete(next)
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      waiting.add(next)
    })
  }

  return {
    async of(client, signal, read) {
      signal.throwIfAborted()
      if (hasPlace(client)) count(client, 1)
      else await place(client, signal)
      try {
        return await read()
      } finally {
        end(client)
      }
    },
  }
}
