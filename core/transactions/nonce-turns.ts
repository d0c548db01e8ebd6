// Requests that named a nonce above the lowest free one wait here, unsigned, until the nonces below are taken.
import { abortable, withTimeout } from '../base/async.ts'

/** Other software and other servers take nonces, too: who waits looks again this often. */
const askEveryMs = 250

export interface NonceTurns {
  /** Resolves once no nonce below this one is free. Rejects with the signal's reason. */
  wait(address: string, nonce: number, signal: AbortSignal): Promise<void>
  /** A request of this server has claimed nonces of the wallet. */
  claimed(address: string): void
}

interface NonceTurnsParts {
  /** From memory; undefined where the queue is another server's, or not known yet. */
  knownNext(address: string): number | undefined
  /** Asks the chain, and where the queue is another server's the journal. */
  askNext(address: string, signal: AbortSignal): Promise<number>
}

export function createNonceTurns({ knownNext, askNext }: NonceTurnsParts): NonceTurns {
  const waiting = new Map<string, Set<() => void>>()
  /** Shared by all that wait for one wallet. */
  const asking = new Map<string, Promise<number>>()

  function ask(address: string, signal: AbortSignal): Promise<number> {
    const asked = asking.get(address) ?? askNext(address, signal).finally(() => asking.delete(address))
    asking.set(address, asked)
    return abortable(asked, signal)
  }

  /** Until a request of this server claims nonces, or the time is over. @returns whether one did */
  async function untilClaimed(address: string, signal: AbortSignal): Promise<boolean> {
    const wakers = waiting.get(address) ?? new Set()
    waiting.set(address, wakers)
    let wake = () => {}
    const woken = new Promise<boolean>((resolve) => (wake = () => resolve(true)))
    wakers.add(wake)
    try {
      return await abortable(
        withTimeout(woken, askEveryMs, () => false),
        signal,
      )
    } finally {
      wakers.delete(wake)
      if (wakers.size === 0) waiting.delete(address)
    }
  }

  return {
    async wait(address, nonce, signal) {
      for (let isTold = true; ; isTold = await untilClaimed(address, signal)) {
        signal.throwIfAborted()
        const known = knownNext(address)
        if (known !== undefined && known >= nonce) return
        // Another asker's signal may have ended the question.
        if (!isTold && (await ask(address, signal).catch(() => -1)) >= nonce) return
      }
    },
    claimed(address) {
      for (const wake of waiting.get(address) ?? []) wake()
    },
  }
}
