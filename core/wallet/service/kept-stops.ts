// What servers had stopped whose connections have ended. Who took over a server may end connections and greet again: so their end lifts nothing, and
// what the next connection says lifts it only after a while.
import { addressKey } from '../../base/addresses.ts'
import type { StopInMessage as ToldStop } from '../signer-messages.ts'

/** So long they hold at least, whatever comes. */
export const stopsKeptMs = 600_000
/** Of what a server wrote beside a stop. */
const maxWords = 300
/** Stops of wallets that are not here. */
const maxOthers = 1_000

interface KeptStop {
  readonly stop: ToldStop
  readonly endedMs: number
  /** A later connection has said what is stopped now. */
  isReplaced: boolean
}

export interface KeptStops {
  /**
   * Of what a server says is stopped, each once: who says much fills no memory with it, and keeps nobody busy. A wallet that is not here may be added
   * later: a thousand of such are held, too.
   */
  own(stops: readonly ToldStop[]): readonly ToldStop[]
  /** The connection of a server ended that had stopped these. @returns what is kept of them */
  keep(stops: readonly ToldStop[]): readonly ToldStop[]
  /** A server said what is stopped, by a connection that was greeted then: it replaces what ended before. */
  replace(greetedMs: number): void
  /** @returns what held until now, and does not any more */
  lift(): readonly ToldStop[]
  current(): readonly ToldStop[]
}

/**
 * @param nowMs of a steady clock
 * @param addresses of the keys: stops of others are not kept, so that nobody fills the memory with them
 */
export function createKeptStops(nowMs: () => number, addresses: () => readonly string[]): KeptStops {
  const kept = new Map<string, KeptStop>()
  const keyOf = ({ mode, wallet }: ToldStop) => `${mode} ${wallet === undefined ? '' : addressKey(wallet)}`

  function own(stops: readonly ToldStop[]): ReadonlyMap<string, ToldStop> {
    const isHere = isWalletHere()
    const found = new Map<string, ToldStop>()
    let others = 0
    for (const { mode, wallet, setBy, since, reason } of stops) {
      if (!isHere(wallet) && (others += 1) > maxOthers) continue
      const stop = {
        mode,
        setBy: setBy.slice(0, maxWords),
        since,
        ...(wallet !== undefined && { wallet }),
        ...(reason !== undefined && { reason: reason.slice(0, maxWords) }),
      }
      found.set(keyOf(stop), stop)
    }
    return found
  }

  function isWalletHere(): (wallet: string | undefined) => boolean {
    const here = new Set(addresses().map(addressKey))
    return (wallet) => wallet === undefined || here.has(addressKey(wallet))
  }

  return {
    own: (stops) => [...own(stops).values()],
    keep(stops) {
      const isHere = isWalletHere()
      const all = [...own(stops)].filter(([, { wallet }]) => isHere(wallet))
      for (const [key, stop] of all) kept.set(key, { stop, endedMs: nowMs(), isReplaced: false })
      return all.map(([, stop]) => stop)
    },
    replace(greetedMs) {
      for (const each of kept.values()) if (each.endedMs <= greetedMs) each.isReplaced = true
    },
    lift() {
      const over = [...kept].filter(([, { isReplaced, endedMs }]) => isReplaced && nowMs() - endedMs >= stopsKeptMs)
      for (const [key] of over) kept.delete(key)
      return over.map(([, { stop }]) => stop)
    },
    current: () => [...kept.values()].map(({ stop }) => stop),
  }
}
