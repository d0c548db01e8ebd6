// The files of the keystore: `<dataDir>/keystore/<chain>/<address>.json`.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'

export const keystoreFolder = (dataDir: string): string => path.join(dataDir, 'keystore')

/** @param address in its canonical spelling */
export function keyFile(dataDir: string, chain: string, address: string): string {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(chain)) throw new Error(`"${chain}" is not a valid chain name: use lower-case letters, digits and "-".`)
  return path.join(keystoreFolder(dataDir), chain, `${address}.json`)
}

/** Whether there is any key, and so a passphrase is needed. Unreadable files count, since they may hold somebody's keys. */
export const keystoreHasKeys = (dataDir: string): boolean => keystoreFiles(dataDir).length > 0

export interface KeystoreFile {
  readonly chain: string
  readonly file: string
  /** Of a chain whose folder cannot be read, which is named in its place. */
  readonly problem?: string
}

export function keystoreFiles(dataDir: string): KeystoreFile[] {
  const folder = keystoreFolder(dataDir)
  if (!existsSync(folder)) return []
  const chains = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  return chains.toSorted().flatMap((chain) => {
    const own = path.join(folder, chain)
    try {
      const names = readdirSync(own).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      return names.toSorted().map((name) => ({ chain, file: path.join(own, name) }))
    } catch {
      // The keys of other chains are in folders of their own.
      return [{ chain, file: own, problem: `${own} cannot be read; check its owner and mode.` }]
    }
  })
}
