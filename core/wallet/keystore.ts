import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { walletAddress, type CurveName } from './keys.ts'
import { readKeyHeader } from './keystore/key-header.ts'

/** A wallet as its file shows it to anybody: no passphrase is needed for this. */
export interface KeystoreEntry {
  readonly chain: string
  /** In its canonical spelling. */
  readonly address: string
  /** Of its key; absent where the file does not say. */
  readonly curve?: CurveName
  readonly label?: string
  readonly file: string
  /** Why the file cannot be used, naming it and what to do. */
  readonly problem?: string
}

export const keystoreFolder = (dataDir: string): string => path.join(dataDir, 'keystore')

/** `<dataDir>/keystore/<chain>/<address>.json`; the address in its canonical spelling */
export function keyFile(dataDir: string, chain: string, address: string): string {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(chain)) throw new Error(`"${chain}" is no name of a chain: lower-case letters, digits and "-".`)
  return path.join(keystoreFolder(dataDir), chain, `${address}.json`)
}

/** Whether there is any real key, and so a passphrase is needed. Unreadable files count: they are somebody's keys. */
export const keystoreHasKeys = (dataDir: string): boolean => keystoreFiles(dataDir).length > 0

/** All wallets of the keystore, by chain and address. A file that cannot be used is in the list, with its `problem`. */
export const listWallets = (dataDir: string): KeystoreEntry[] => keystoreFiles(dataDir).map(({ chain, file }) => readEntry(chain, file))

/** The wallet with this address (one of hexadecimal digits in any letter case), on one chain or on all of them. */
export function findWallets(dataDir: string, address: string, chain?: string): KeystoreEntry[] {
  const wanted = walletAddress(address) ?? address
  return listWallets(dataDir).filter((entry) => entry.address === wanted && (chain === undefined || entry.chain === chain))
}

function keystoreFiles(dataDir: string): { chain: string; file: string }[] {
  const folder = keystoreFolder(dataDir)
  if (!existsSync(folder)) return []
  const chains = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  return chains.toSorted().flatMap((chain) =>
    readdirSync(path.join(folder, chain))
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .toSorted()
      .map((name) => ({ chain, file: path.join(folder, chain, name) })),
  )
}

function readEntry(chain: string, file: string): KeystoreEntry {
  const named = path.basename(file, '.json')
  const address = walletAddress(named)
  if (address === undefined)
    return { chain, address: named, file, problem: `${file} is not named after an address; move it out of the keystore.` }
  try {
    const { address: inside, ...header } = readKeyHeader(readFileSync(file, 'utf8'))
    if (inside === undefined) throw new Error('it names no address')
    const entry = { chain, address, file, ...header }
    if (inside === address) return entry
    return {
      ...entry,
      problem: `${file} holds the key of ${inside}, not of the address in its name; rename it or restore it from a backup.`,
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable'
    return { chain, address, file, problem: `${file} is not a usable key file (${reason}); restore it from a backup.` }
  }
}
