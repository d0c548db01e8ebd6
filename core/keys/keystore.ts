// Encrypted key files: how they are read, written and decrypted.
import { pbkdf2Sync, scrypt as nodeScrypt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, rmdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { pbkdf2, scrypt } from 'ethers/crypto'
import { decryptKeystoreJson, encryptKeystoreJson } from 'ethers/wallet'
import { isObject } from '../base/json.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import type { LockedWallet, OpenedKeys, SigningWallet } from './key-source.ts'
import { keyFile, keystoreFiles, keystoreFolder, type KeystoreFile } from './keystore-files.ts'
import type { Passphrase } from './passphrase.ts'
import { curves, isCurve, walletAddress, type CurveName } from './curves.ts'

/** A wallet as its file shows it to anybody: no passphrase is needed for this. */
interface KeystoreEntry {
  readonly chain: string
  /** In its canonical spelling. */
  readonly address: string
  /** Absent where the file does not say. */
  readonly curve?: CurveName
  readonly label?: string
  readonly file: string
  /** Why the file cannot be used. Names the file and says what to do. */
  readonly problem?: string
}

/** All wallets of the keystore, by chain and address. A file that cannot be used is in the list, with its `problem`. */
export const listWallets = (dataDir: string): KeystoreEntry[] => keystoreFiles(dataDir).map(readEntry)

/** Any wallet whose file can be used; undefined where there is none. */
export function usableWallet(dataDir: string): KeystoreEntry | undefined {
  for (const file of keystoreFiles(dataDir)) {
    const entry = readEntry(file)
    if (entry.problem === undefined) return entry
  }
  return undefined
}

/**
 * The wallets with this address, on one chain or on all of them. The letter case of a hexadecimal address does not matter. Files of other names are not
 * read: the signer, which signs for others meanwhile, finds one among hundreds.
 */
export function findWallets(dataDir: string, address: string, chain?: string): KeystoreEntry[] {
  const canonical = walletAddress(address) ?? address
  const isNamed = (name: string): boolean => name.toLowerCase() === canonical.toLowerCase() && (walletAddress(name) ?? name) === canonical
  return keystoreFiles(dataDir)
    .filter(({ chain: on, file }) => (chain === undefined || on === chain) && isNamed(path.basename(file, '.json')))
    .map(readEntry)
}

function readEntry({ chain, file, problem }: KeystoreFile): KeystoreEntry {
  const named = path.basename(file, '.json')
  if (problem !== undefined) return { chain, address: named, file, problem }
  const address = walletAddress(named)
  if (address === undefined)
    return { chain, address: named, file, problem: `${file} is not named after an address; move it out of the keystore.` }
  try {
    const { address: addressInside, ...header } = readKeyHeader(readFileSync(file, 'utf8'))
    if (addressInside === undefined) throw new Error('it names no address')
    const entry = { chain, address, file, ...header }
    if (addressInside === address) return entry
    return {
      ...entry,
      problem: `${file} holds the key of ${addressInside}, not of the address in its name; rename it or restore it from a backup.`,
    }
  } catch (error) {
    return { chain, address, file, problem: unusable(file, error) }
  }
}

const unusable = (file: string, error: unknown): string =>
  `${file} is not a usable key file (${error instanceof Error ? error.message : 'unreadable'}); restore it from a backup.`

/** The part of a key file that is in the clear. */
interface KeyHeader {
  readonly curve: CurveName
  /** Canonical. Files of other programs may have none. */
  readonly address?: string
  readonly label?: string
}

/**
 * Reads the parts of an encrypted key file that need no passphrase. A file that does not name its curve holds a key of secp256k1, as
 * the files of all other programs do.
 * @throws Error with half a sentence about what is wrong
 */
function readKeyHeader(json: string): KeyHeader {
  const content = parseObject(json)
  if (Number(content.version) !== 3) throw new Error('it is not a version 3 keystore')
  const ours = isObject(content['x-sluice']) ? content['x-sluice'] : {}
  const { curve = 'secp256k1', label } = ours
  if (!isCurve(curve)) throw new Error('its key is of a kind that this version does not know')
  const address = readAddress(content.address, curve)
  return { curve, ...(address === undefined ? {} : { address }), ...(typeof label === 'string' ? { label } : {}) }
}

function readAddress(given: unknown, curve: CurveName): string | undefined {
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
  if (!isObject(content)) throw new Error('it is not a JSON object')
  return content
}

interface NewKey {
  readonly dataDir: string
  readonly chain: string
  /** Further chains of the same curve. The files are alike, so that they are opened by one derivation. */
  readonly alsoFor?: readonly string[]
  /** secp256k1 where absent. */
  readonly curve?: CurveName
  /** 0x and 64 hex digits; of ed25519 it is the seed. */
  readonly privateKey: string
  readonly passphrase: Passphrase
  readonly label?: string
  /** scrypt's cost. Only tests lower it: the default (131072) takes about half a second and 128 MiB. */
  readonly scryptN?: number
}

/**
 * Encrypts a key into the keystore.
 * @returns the wallet's address
 * @throws Error when the wallet is there already
 */
export async function saveKey({
  dataDir,
  chain,
  alsoFor = [],
  curve = 'secp256k1',
  privateKey,
  passphrase,
  ...how
}: NewKey): Promise<string> {
  const { label, scryptN } = how
  const address = curves[curve].addressOf(privateKey)
  const files = [chain, ...alsoFor].map((each) => ({ chain: each, file: keyFile(dataDir, each, address) }))
  const [kept] = findWallets(dataDir, address).filter((entry) => files.some((each) => each.chain === entry.chain))
  if (kept) throw new Error(`The key of ${address} is already in the keystore (${kept.file}); nothing was changed.`)
  // ethers writes only addresses of its own curve: an empty one stays empty.
  const account = { address: curve === 'secp256k1' ? address : '0x', privateKey }
  const encrypted = await encryptKeystoreJson(account, passphrase, scryptN === undefined ? {} : { scrypt: { N: scryptN } })
  const content = curve === 'secp256k1' ? withOwnField(encrypted, { label }) : withOwnField(encrypted, { curve, label }, address)
  for (const { file } of files) await writePrivately(dataDir, file, content)
  return address
}

/** Deletes a wallet's key for good. The folder of its chain goes too when it is empty. */
export async function removeKey(file: string): Promise<void> {
  await rm(file)
  // The system refuses while anything is in the folder: another process may add a key at this moment.
  await rmdir(path.dirname(file)).catch(() => {})
}

/**
 * Adds a field of our own to the standard ones. Other programs ignore it, and label and key stay together. A program that finds an
 * address in another form stops, so that none takes a key for one of the other curve.
 */
function withOwnField(encrypted: string, own: { curve?: CurveName; label: string | undefined }, address?: string): string {
  const isEmpty = Object.values(own).every((value) => value === undefined)
  return JSON.stringify({ ...parseObject(encrypted), ...(address !== undefined && { address }), ...(!isEmpty && { 'x-sluice': own }) })
}

async function writePrivately(dataDir: string, file: string, content: string): Promise<void> {
  const folder = path.dirname(file)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const each of [keystoreFolder(dataDir), folder]) await chmod(each, 0o700)
  await writeWholeFile(file, content)
}

/** A key file cannot be opened. The message names the file and holds no secret. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
  readonly wrongPassphrase: boolean

  constructor(message: string, wrongPassphrase = false) {
    super(message)
    this.wrongPassphrase = wrongPassphrase
  }
}

interface DecryptedKey {
  readonly curve: CurveName
  readonly address: string
  /** 0x and 64 hex digits; of ed25519 it is the seed. */
  readonly privateKey: string
}

/**
 * Opens an encrypted key file (version 3, scrypt or PBKDF2).
 * @throws KeyFileError
 */
export async function decryptKey(json: string, passphrase: Passphrase, file: string): Promise<DecryptedKey> {
  const otherKey = new KeyFileError(`${file} holds another key than that of its address; restore it from a backup.`)
  let header: KeyHeader
  try {
    header = readKeyHeader(json)
  } catch (error) {
    throw new KeyFileError(unusable(file, error))
  }
  const { curve } = header
  // ethers takes every key for one of secp256k1, and would refuse an address of the other curve.
  const readable = curve === 'secp256k1' ? json : JSON.stringify({ ...parseObject(json), address: '' })
  try {
    const { privateKey } = await decryptKeystoreJson(readable, passphrase)
    const address = curves[curve].addressOf(privateKey)
    if (header.address !== undefined && header.address !== address) throw otherKey
    return { curve, address, privateKey }
  } catch (error) {
    if (error instanceof KeyFileError) throw error
    if (error instanceof TooMuchWork)
      throw new KeyFileError(`${file} ${error.message}, so it is broken or hostile; restore it from a backup.`)
    // ethers names the argument that it refuses. Its message may quote the file's content, so it is not passed on.
    const argument = isObject(error) && 'argument' in error ? error.argument : undefined
    if (argument === 'password')
      throw new KeyFileError(`The passphrase does not open ${file}. All keys of the keystore have one passphrase: give that one.`, true)
    if (argument === 'address') throw otherKey
    throw new KeyFileError(`${file} is not a usable key file; restore it from a backup.`)
  }
}

// scrypt holds 128 MiB for each key while it runs.
const concurrency = Math.min(4, availableParallelism())

/** Decrypts every key of the keystore, a few at a time. For the signer's process only. */
export async function unlockKeystore(dataDir: string, passphrase: Passphrase | undefined): Promise<OpenedKeys> {
  const wallets: SigningWallet[] = []
  const locked: LockedWallet[] = []
  const waiting = listWallets(dataDir)
  const opened: OpenedFiles = new Map()
  const work = async (): Promise<void> => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
      try {
        wallets.push(await unlock(entry, passphrase, opened))
      } catch (error) {
        const problem = error instanceof KeyFileError ? error.message : `${entry.file} cannot be read; check its owner and mode.`
        locked.push({ chain: entry.chain, address: entry.address, problem })
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { wallets, locked }
}

/** By the content of the file. A key that was saved for several chains has the same in each. */
type OpenedFiles = Map<string, Promise<DecryptedKey>>

/** @throws KeyFileError */
export async function unlock(
  { chain, address, label, file, problem }: KeystoreEntry,
  passphrase: Passphrase | undefined,
  opened: OpenedFiles,
): Promise<SigningWallet> {
  if (problem !== undefined) throw new KeyFileError(problem)
  if (passphrase === undefined)
    throw new KeyFileError(
      `${file} needs the keystore's passphrase and none was given: put it into a file and name that in SLUICE_WALLET_PASSPHRASE_FILE.`,
    )
  const json = await readFile(file, 'utf8')
  // Where an equal file did not open, this one says so by its own name.
  const key = (await opened.get(json)?.catch(() => undefined)) ?? (await openFirst(json, passphrase, file, opened))
  if (key.address !== address) throw new KeyFileError(`${file} holds the key of ${key.address}; restore it from a backup.`)
  return { chain, address, curve: key.curve, ...(label === undefined ? {} : { label }), sign: curves[key.curve].signerOf(key.privateKey) }
}

function openFirst(json: string, passphrase: Passphrase, file: string, opened: OpenedFiles): Promise<DecryptedKey> {
  const opening = decryptKey(json, passphrase, file)
  opened.set(json, opening)
  return opening
}

const derive = promisify<Uint8Array, Uint8Array, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(nodeScrypt)

/** Files of other programs use up to 256 MiB. A file that asks for more than this is broken or hostile. */
const maxScryptBytes = 1024 ** 3
/** N · r · p: sixteen times what a new key gets, which takes about half a second. */
const maxScryptWork = 2 ** 24
/** Files of other programs have up to a million. These take a few seconds, in which the process does nothing else. */
const maxPbkdf2Rounds = 10_000_000

/** A file asks for more work than any program gives it, so that opening it would take for ever. */
class TooMuchWork extends Error {}

/** ethers makes a copy of the passphrase for each key, which is this one. */
async function wiping<T>(copy: Uint8Array, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    copy.fill(0)
  }
}

// ethers reads the parameters from the file, in whichever spelling: here they are as they will be used. scrypt runs in OpenSSL's threads:
// several at once, and the event loop stays free.
scrypt.register(async (passphrase, salt, N, r, p, lengthBytes) => {
  const memoryBytes = 128 * N * r + 128 * r * p
  if (memoryBytes > maxScryptBytes) throw new TooMuchWork('asks for more than 1 GiB of memory (its scrypt parameters n, r and p)')
  if (N * r * p > maxScryptWork) throw new TooMuchWork(`asks for more work than ${maxScryptWork} (its scrypt parameters n · r · p)`)
  return wiping(passphrase, () => derive(passphrase, salt, lengthBytes, { N, r, p, maxmem: memoryBytes + 1024 ** 2 }))
})
pbkdf2.register((passphrase, salt, rounds, lengthBytes, digest) => {
  if (rounds > maxPbkdf2Rounds)
    throw new TooMuchWork(`asks for more work than ${maxPbkdf2Rounds} rounds of PBKDF2 (its parameter c is ${rounds})`)
  const key = pbkdf2Sync(passphrase, salt, rounds, lengthBytes, digest)
  passphrase.fill(0)
  return key
})
