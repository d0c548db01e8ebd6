import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../contracts/index.ts'
import { txHashOf } from '../entry.ts'
import type { NetworkTransactions } from '../network-transactions.ts'
import type { Recorder } from '../journal/recorder.ts'
import { railName } from './lane-name.ts'
import type { RailPlace } from './lane-name.ts'
import { Superseded } from '../journal/superseded.ts'

const roundMs = 2_000
/** Wallets that are taken up at once: each is a few questions to the store, which may be far away. */
const atOnce = 8

export interface AdoptionParts {
  recorder: Recorder
  /** By the names of their rails. */
  networks: ReadonlyMap<string, NetworkTransactions>
  closing: AbortSignal
  log: Log
}

/** Takes up what nobody alive looks after: at once, and again now and then. */
export interface Adoption {
  /** Settles after the first round, whatever came of it. */
  firstRound: Promise<void>
  /** After `closing`. */
  idle(): Promise<void>
}

/**
 * At the start what a server before left; later what one beside left when it died. And what was never signed on lanes of ours, for
 * which the store did not take the note that it was given up. Asks the journal only: no node can hold it up.
 */
export function startAdoption({ recorder, networks, closing, log }: AdoptionParts): Adoption {
  const unserved = new Set<string>()
  let troublesBefore: readonly string[] = []

  async function round(): Promise<void> {
    const troubles: string[] = []
    /** One wallet's trouble is not another's. */
    async function attempt(what: object, work: () => Promise<unknown>): Promise<void> {
      try {
        if (!closing.aborted) await work()
      } catch (error) {
        // Another server was quicker.
        if (error instanceof Superseded) return
        const reason = error instanceof Error ? error.message : 'unknown'
        // Said once for as long as it lasts.
        if (!troublesBefore.includes(reason) && !closing.aborted)
          log.warn({ ...what, reason }, 'open transactions could not be taken up; tried again')
        troubles.push(reason)
      }
    }
    await attempt({}, async () => {
      const open = (await recorder.openLanes()).values()
      async function takeUp(): Promise<void> {
        // All of them take from the same one.
        for (const { address, ...place } of open) {
          const served = networks.get(railName(place))
          await attempt({ ...place, address }, () => (served ? served.adopt(address) : warnOnce(place)))
        }
      }
      await Promise.all(Array.from({ length: atOnce }, takeUp))
    })
    for (const network of networks.values()) await attempt({}, () => network.giveUpLeftovers())
    troublesBefore = troubles
  }

  /** Nobody can look after them until the plugin is there again. */
  async function warnOnce(place: RailPlace): Promise<void> {
    const name = railName(place)
    if (unserved.has(name)) return
    unserved.add(name)
    const open = await recorder.unfinished(place)
    const transactions = open.map((entry) => ({ address: entry.address, nonce: entry.nonce, txHash: txHashOf(entry) }))
    log.warn(
      { ...place, transactions },
      'transactions are open on a network that no plugin serves: add it again to have them seen to their end',
    )
  }

  const firstRound = round()
  async function goOn(): Promise<void> {
    await firstRound
    while (!closing.aborted) {
      await sleep(roundMs, undefined, { signal: closing, ref: false }).catch(() => {})
      if (!closing.aborted) await round()
    }
  }
  const rounds = goOn()
  return { firstRound, idle: () => rounds }
}
