// What files in the data folder stop, held in every write of the journal of this server.
import { isSameAddress } from '../base/addresses.ts'
import { readStopFiles } from '../config/stop-files.ts'
import { findStop, stoppedError, type Stop, type StopScope } from '../config/stops.ts'
import type { Client } from '../config/clients.ts'
import type { Settings } from '../config/settings.ts'
import type { Guard } from './guards.ts'
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

/** Asks the files, as they are now. */
export const stopFileGuard =
  (files: Pick<StopFiles, 'read'>): Guard =>
  ({ entries, client }) => {
    const stops = files.read()
    if (stops.length === 0) return
    const [{ address, signer = address, client: own }] = entries
    const stop = findStop(stops, leastEffect(entries), { wallets: [address, signer], clients: [own, client] })
    if (stop) throw stoppedError(stop)
  }
