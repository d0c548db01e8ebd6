import { type KeyObject, scrypt as nodeScrypt } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, open, rename, rm, rmdir, readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { SigningKey, scrypt } from 'ethers/crypto'
import { encryptKeystoreJson, decryptKeystoreJson } from 'ethers/wallet'
import { walletAddress, type CurveName, curves, isCurve, ed25519Key } from './keys.ts'

/** A wallet as its file shows it to anybody: no passphrase is needed for this. */
interface KeystoreEntry {
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

/** What of a key file is in the clear. */
interface KeyHeader {
  readonly curve: CurveName
  /** Canonical. Files of other programs may have none. */
  readonly address?: string
  readonly label?: string
}

/**
 * Reads the parts of an encrypted key file that need no passphrase. A file that does not say its curve is one of
 * secp256k1, as all were that other programs write.
 * @throws Error with half a sentence on what it is not
 */
function readKeyHeader(json: string): KeyHeader {
  const content = parseObject(json)
  if (Number(content.version) !== 3) throw new Error('it is no version 3 keystore')
  const ours = isRecord(content['x-sluice']) ? content['x-sluice'] : {}
  const { curve = 'secp256k1', label } = ours
  if (!isCurve(curve)) throw new Error('its key is of a kind that this version does not know')
  const address = addressOf(content.address, curve)
  return { curve, ...(address === undefined ? {} : { address }), ...(typeof label === 'string' ? { label } : {}) }
}

function addressOf(given: unknown, curve: CurveName): string | undefined {
  if (given === undefined || given === '') return undefined
  const address =
    typeof given === 'string' ? curves[curve].address(curve === 'secp256k1' ? given.replace(/^(0x)?/, '0x') : given) : undefined
  if (address === undefined) throw new Error('its address is malformed')
  return address
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

interface NewKey {
  readonly dataDir: string
  readonly chain: string
  /** secp256k1 unless said otherwise. */
  readonly curve?: CurveName
  /** 0x and 64 hex digits: of ed25519, the seed. */
  readonly privateKey: string
  readonly passphrase: string
  readonly label?: string
  /** scrypt's cost. Only tests lower it: the default (131072) takes about half a second and 128 MiB. */
  readonly scryptN?: number
}

/**
 * Encrypts a key into the keystore.
 * @returns the wallet's address
 * @throws Error when the wallet is there already
 */
export async function saveKey({ dataDir, chain, curve = 'secp256k1', privateKey, passphrase, label, scryptN }: NewKey): Promise<string> {
  const address = curves[curve].addressOf(privateKey)
  const file = keyFile(dataDir, chain, address)
  if (findWallets(dataDir, address, chain).length > 0) {
    throw new Error(`The key of ${address} is already in the keystore (${file}); nothing was changed.`)
  }
  // An empty address stays empty in what ethers writes: it knows no other than its own.
  const account = { address: curve === 'secp256k1' ? address : '0x', privateKey }
  const encrypted = await encryptKeystoreJson(account, passphrase, scryptN === undefined ? {} : { scrypt: { N: scryptN } })
  await writePrivately(
    dataDir,
    file,
    curve === 'secp256k1' ? withOurs(encrypted, { label }) : withOurs(encrypted, { curve, label }, address),
  )
  return address
}

/** Deletes a wallet's key for good. Its chain's folder goes too when it is empty. */
export async function removeKey(file: string): Promise<void> {
  await rm(file)
  // The system itself refuses while anything is in it: a key may be added at this very moment.
  await rmdir(path.dirname(file)).catch(() => {})
}

/**
 * A field of our own beside the standard's: other programs pass over it, and label and key cannot part. In place of an address that
 * is not theirs they stop: none takes the key for one of the other curve.
 */
function withOurs(encrypted: string, ours: { curve?: CurveName; label: string | undefined }, address?: string): string {
  const content = parseObject(encrypted)
  const isEmpty = Object.values(ours).every((value) => value === undefined)
  return JSON.stringify({ ...content, ...(address !== undefined && { address }), ...(!isEmpty && { 'x-sluice': ours }) })
}

/** Whole or not at all, also when the power goes: a temporary file, flushed, renamed, and the folder flushed. */
async function writePrivately(dataDir: string, file: string, content: string): Promise<void> {
  const folder = path.dirname(file)
  await mkdir(folder, { recursive: true })
  for (const each of [keystoreFolder(dataDir), folder]) await chmod(each, 0o700)
  const temporary = path.join(folder, `.${path.basename(file)}.${process.pid}.tmp`)
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await flushFolder(folder)
}

async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return // has no such thing
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A key file cannot be opened; the message names the file and holds no secret. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
  readonly wrongPassphrase: boolean

  constructor(message: string, wrongPassphrase = false) {
    super(message)
    this.wrongPassphrase = wrongPassphrase
  }
}

interface OpenedKey {
  readonly curve: CurveName
  readonly address: string
  /** 0x and 64 hex digits: of ed25519, the seed. */
  readonly privateKey: string
}

/**
 * Opens an encrypted key file (version 3, scrypt or PBKDF2).
 * @throws KeyFileError
 */
export async function decryptKey(json: string, passphrase: string, file: string): Promise<OpenedKey> {
  const { curve, address: named } = headerOf(json, file)
  try {
    const { privateKey } = await decryptKeystoreJson(curve === 'secp256k1' ? json : withoutAddress(json), passphrase)
    const address = curves[curve].addressOf(privateKey)
    if (named !== undefined && named !== address) throw otherKey(file)
    return { curve, address, privateKey }
  } catch (error) {
    if (error instanceof KeyFileError) throw error
    // ethers names the argument that it refuses; its message may quote the file's content, so it is not passed on.
    const argument = typeof error === 'object' && error !== null && 'argument' in error ? error.argument : undefined
    if (argument === 'password') {
      throw new KeyFileError(`The passphrase does not open ${file}. All keys of the keystore have one passphrase: give that one.`, true)
    }
    if (argument === 'address') throw otherKey(file)
    throw new KeyFileError(`${file} is not a usable key file; restore it from a backup.`)
  }
}

function headerOf(json: string, file: string): KeyHeader {
  try {
    return readKeyHeader(json)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unreadable'
    throw new KeyFileError(`${file} is not a usable key file (${reason}); restore it from a backup.`)
  }
}

// ethers takes the key for one of secp256k1, and would hold the address of that one against it.
const withoutAddress = (json: string): string => JSON.stringify({ ...parseObject(json), address: '' })

const otherKey = (file: string): KeyFileError =>
  new KeyFileError(`${file} holds another key than that of its address; restore it from a backup.`)

export type UnlockedWallet = {
  readonly chain: string
  readonly address: string
  readonly label?: string
  readonly devnet?: true
} & WalletKey

type WalletKey = { readonly curve: 'secp256k1'; readonly key: SigningKey } | { readonly curve: 'ed25519'; readonly key: KeyObject }

// scrypt holds 128 MiB per key while it runs.
const atOnce = Math.min(4, availableParallelism())

/** A wallet whose key file cannot be opened. */
export interface LockedWallet {
  readonly chain: string
  readonly address: string
  /** Names the file and says what to do. */
  readonly problem: string
}

/**
 * Decrypts every key of the keystore, a few at a time. For the signer's process only.
 * @returns the wallets, and those whose file could not be opened
 */
export async function unlockKeystore(
  dataDir: string,
  passphrase: string | undefined,
): Promise<{ wallets: UnlockedWallet[]; locked: LockedWallet[] }> {
  const wallets: UnlockedWallet[] = []
  const locked: LockedWallet[] = []
  const waiting = listWallets(dataDir)
  const work = async (): Promise<void> => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
      try {
        wallets.push(await unlock(entry, passphrase))
      } catch (error) {
        const problem = error instanceof KeyFileError ? error.message : `${entry.file} cannot be read; check its owner and mode.`
        locked.push({ chain: entry.chain, address: entry.address, problem })
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { wallets, locked }
}

async function unlock(entry: KeystoreEntry, passphrase: string | undefined): Promise<UnlockedWallet> {
  const { chain, address, label, file, problem } = entry
  if (problem !== undefined) throw new KeyFileError(problem)
  if (passphrase === undefined) {
    throw new KeyFileError(
      `${file} needs the keystore's passphrase and none was given: put it into a file and name that in SLUICE_WALLET_PASSPHRASE_FILE.`,
    )
  }
  const opened = await decryptKey(await readFile(file, 'utf8'), passphrase, file)
  if (opened.address !== address) throw new KeyFileError(`${file} holds the key of ${opened.address}; restore it from a backup.`)
  return { chain, address, ...(label === undefined ? {} : { label }), ...keyOf(opened) }
}

const keyOf = ({ curve, privateKey }: OpenedKey): WalletKey =>
  curve === 'ed25519' ? { curve, key: ed25519Key(privateKey) } : { curve, key: new SigningKey(privateKey) }

const derive = promisify<Uint8Array, Uint8Array, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(nodeScrypt)

/** Files of other programs use up to 256 MiB; a file that asks for more than this is broken or hostile. */
const mostMemoryBytes = 1024 ** 3

/** Lets ethers derive keys in OpenSSL's threads: several at once, and the event loop stays free. Call once per process. */
export function useNativeScrypt(): void {
  scrypt.register(async (passphrase, salt, N, r, p, lengthBytes) => {
    const memoryBytes = 128 * N * r + 128 * r * p
    if (memoryBytes > mostMemoryBytes) throw new Error('its scrypt parameters ask for more than 1 GiB of memory')
    return derive(passphrase, salt, lengthBytes, { N, r, p, maxmem: memoryBytes + 1024 ** 2 })
  })
}
