import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { getAddress, isAddress } from 'ethers/address'

/** A wallet as its file shows it to anybody: no passphrase is needed for this. */
export interface KeystoreEntry {
  readonly chain: string
  /** With its checksum. */
  readonly address: string
  readonly label?: string
  readonly file: string
  /** Why the file cannot be used, naming it and what to do. */
  readonly problem?: string
}

export const keystoreFolder = (dataDir: string): string => path.join(dataDir, 'keystore')

/** `<dataDir>/keystore/<chain>/<address>.json` */
export function keyFile(dataDir: string, chain: string, address: string): string {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(chain)) throw new Error(`"${chain}" is no name of a chain: lower-case letters, digits and "-".`)
  return path.join(keystoreFolder(dataDir), chain, `${getAddress(address)}.json`)
}

/** Whether there is any real key, and so a passphrase is needed. Unreadable files count: they are somebody's keys. */
export const keystoreHasKeys = (dataDir: string): boolean => keystoreFiles(dataDir).length > 0

/** All wallets of the keystore, by chain and address. A file that cannot be used is in the list, with its `problem`. */
export const listWallets = (dataDir: string): KeystoreEntry[] => keystoreFiles(dataDir).map(({ chain, file }) => readEntry(chain, file))

/** The wallet with this address (any letter case), on one chain or on all of them. */
export const findWallets = (dataDir: string, address: string, chain?: string): KeystoreEntry[] =>
  listWallets(dataDir).filter(
    (entry) => entry.address.toLowerCase() === address.toLowerCase() && (chain === undefined || entry.chain === chain),
  )

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
  if (!isAddress(named))
    return { chain, address: named, file, problem: `${file} is not named after an address; move it out of the keystore.` }
  const address = getAddress(named)
  try {
    const { address: inside, label } = readHeader(readFileSync(file, 'utf8'))
    const entry = { chain, address, file, ...(label === undefined ? {} : { label }) }
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

/** The parts of an encrypted key file that are in the clear. */
function readHeader(json: string): { address: string; label?: string } {
  const content = parseObject(json)
  if (Number(content.version) !== 3 || typeof content.address !== 'string') throw new Error('it is no version 3 keystore with an address')
  const address = content.address.startsWith('0x') ? content.address : `0x${content.address}`
  if (!isAddress(address)) throw new Error('its address is malformed')
  const ours = content['x-sluice']
  const label = isRecord(ours) && typeof ours.label === 'string' ? ours.label : undefined
  return { address: getAddress(address), ...(label === undefined ? {} : { label }) }
}

function parseObject(json: string): Record<string, unknown> {
  let content: unknown
  try {
    content = JSON.parse(json)
  } catch {
    throw new Error('it is not JSON') // the parser's own message quotes the file
  }
  if (!isRecord(content)) throw new Error('it is not a JSON object')
  return content
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
