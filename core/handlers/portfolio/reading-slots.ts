// How many wallets are read at once on a network, over all requests: a node is asked by so many, and clients share the places.

export interface ReadingSlots {
  /**
   * Waits for a place where none is free. The client with the fewest readings under way has the next one; of several, whose last reading ended first.
   * @throws the reason of the signal, if it is aborted while it waits
   */
  of<T>(client: string, signal: AbortSignal, read: () => Promise<T>): Promise<T>
}

/** What one client has under way and waiting. */
interface Client {
  underWay: number
  /** Each begins one reading. */
  readonly waiting: Set<() => void>
}

/** @param most of all clients @param mostOfOne client */
export function createReadingSlots(most: number, mostOfOne: number): ReadingSlots {
  /** Whose reading ended last is the last one. */
  const clients = new Map<string, Client>()
  let all = 0

  function begin(client: Client): void {
    all += 1
    client.underWay += 1
  }

  function end(name: string, client: Client): void {
    all -= 1
    client.underWay -= 1
    clients.delete(name)
    if (client.underWay > 0 || client.waiting.size > 0) clients.set(name, client)
    beginNext()
  }

  /** One place is free. */
  function beginNext(): void {
    let next: Client | undefined
    for (const client of clients.values())
      if (client.waiting.size > 0 && client.underWay < mostOfOne && client.underWay < (next?.underWay ?? Infinity)) next = client
    const [first] = next?.waiting ?? []
    first?.()
  }

  function place(name: string, client: Client, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = (): void => {
        signal.removeEventListener('abort', giveUp)
        client.waiting.delete(next)
        begin(client)
        resolve()
      }
      const giveUp = (): void => {
        client.waiting.delete(next)
        if (client.underWay === 0 && client.waiting.size === 0) clients.delete(name)
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      client.waiting.add(next)
    })
  }

  return {
    async of(name, signal, read) {
      signal.throwIfAborted()
      const client = clients.get(name) ?? { underWay: 0, waiting: new Set() }
      clients.set(name, client)
      if (all < most && client.underWay < mostOfOne) begin(client)
      else await place(name, client, signal)
      try {
        return await read()
      } finally {
        end(name, client)
      }
    },
  }
}
