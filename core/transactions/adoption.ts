import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../contracts/index.ts'
import { txHashOf } from './entry.ts'
import type { NetworkTransactions } from './network-transactions.ts'
import type { Recorder } from './recorder.ts'

const roundMs = 2_000

export interface AdoptionParts {
  recorder: Recorder
  /** By chain/network. */
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
  let lastTrouble: string | undefined

  async function round(): Promise<void> {
    try {
      for (const { chain, network, address } of await recorder.openLanes()) {
        if (closing.aborted) return
        const served = networks.get(`${chain}/${network}`)
        if (served) await served.adopt(address)
        else await warnOnce(chain, network)
      }
      for (const network of networks.values()) await network.giveUpLeftovers()
      lastTrouble = undefined
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown'
      // Said once for as long as it lasts.
      if (reason !== lastTrouble && !closing.aborted) log.warn({ reason }, 'open transactions could not be taken up; tried again')
      lastTrouble = reason
    }
  }

  /** Nobody can look after them until the plugin is there again. */
  async function warnOnce(chain: string, network: string): Promise<void> {
    const name = `${chain}/${network}`
    if (unserved.has(name)) return
    unserved.add(name)
    const open = await recorder.unfinished({ chain, network })
    const transactions = open.map((entry) => ({ address: entry.address, nonce: entry.nonce, txHash: txHashOf(entry) }))
    log.warn(
      { chain, network, transactions },
      'transactions are open on a network that no plugin serves: add it again to have them seen to their end',
    )
  }

  const firstRound = round()
  const rounds = firstRound.then(async () => {
    while (!closing.aborted) {
      await sleep(roundMs, undefined, { signal: closing, ref: false }).catch(() => {})
      if (!closing.aborted) await round()
    }
  })
  return { firstRound, idle: () => rounds }
}
