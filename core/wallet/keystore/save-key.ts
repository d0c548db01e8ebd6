import { chmod, mkdir, open, rename, rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import { encryptKeystoreJson } from 'ethers/wallet'
import { curves, type CurveName } from '../keys.ts'
import { parseObject } from './key-header.ts'
import { findWallets, keyFile, keystoreFolder } from '../keystore.ts'

export interface KeyToSave {
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
export async function saveKey({ dataDir, chain, curve = 'secp256k1', privateKey, passphrase, label, scryptN }: KeyToSave): Promise<string> {
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
