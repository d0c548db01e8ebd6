// What files in the data folder stop, held in every write of the journal of this server.
import { isSameAddress } from '../base/addresses.ts'
import { readStopFiles } from '../config/stop-files.ts'
import { findStop, stoppedError, type Stop, type StopScope } from '../config/stops.ts'
import type { Client } from '../config/clients.ts'
import type { Settings } from '../config/settings.ts'
import type { Entry } from './entry.ts'
import type { Journal } from './journal/journal.ts'
import { leastEffect } from './stops.ts'

export interface StopFiles {
  /** What they say now. */
  read(): readonly Stop[]
  /** Whose addresses lines may name. Until then, and for any other line, a line counts as a stop for all. */
  know(wallets: () => readonly { readonly address: string }[]): void
}

export function createStopFiles({ data }: Pick<Settings, 'data'>, clients: () => readonly Client[]): StopFiles {
  let known: () => readonly { readonly address: string }[] = () => []
  function readLine(line: string): StopScope | undefined {
    const listed = clients().flatMap(({ wallets }) => (wallets === 'all' ? [] : wallets))
    const isWallet = [...listed, ...known().map(({ address }) => address)].some((each) => isSameAddress(each, line))
    if (isWallet) return { of: 'wallet', subject: line }
    return clients().some(({ name }) => name === line) ? { of: 'client', subject: line } : undefined
  }

  return {
    read: () => readStopFiles(data.dir, readLine),
    know(wallets) {
      known = wallets
    },
  }
}

/** The journal, which asks the files before each new entry and before fees are raised. */
export function withStopFiles(journal: Journal, files: Pick<StopFiles, 'read'>): Journal {
  function refuse(entries: readonly Entry[], client?: string): void {
    const [first] = entries
    const stops = first ? files.read() : []
    if (!first || stops.length === 0) return
    const { address, signer = address, client: own } = first
    const stop = findStop(stops, leastEffect(entries), { wallets: [address, signer], clients: [own, client ?? own] })
    if (stop) throw stoppedError(stop)
  }
  return {
    ...journal,
    async open(entries, lease, claim, orders, spending) {
      refuse(entries, spending?.client)
      await journal.open(entries, lease, claim, orders, spending)
    },
    async reserve(spending, lease) {
      refuse(
        spending.steps.map(({ entry }) => entry),
        spending.client,
      )
      await journal.reserve(spending, lease)
    },
  }
}
