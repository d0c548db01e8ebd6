import { chmod, mkdir, open, rename, rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import { computeAddress } from 'ethers/transaction'
import { encryptKeystoreJson } from 'ethers/wallet'
import { findWallets, keyFile, keystoreFolder } from './keystore.ts'

export interface KeyToSave {
  readonly dataDir: string
  readonly chain: string
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
export async function saveKey({ dataDir, chain, privateKey, passphrase, label, scryptN }: KeyToSave): Promise<string> {
  const address = computeAddress(privateKey)
  const file = keyFile(dataDir, chain, address)
  if (findWallets(dataDir, address, chain).length > 0) {
    throw new Error(`The key of ${address} is already in the keystore (${file}); nothing was changed.`)
  }
  const encrypted = await encryptKeystoreJson({ address, privateKey }, passphrase, scryptN === undefined ? {} : { scrypt: { N: scryptN } })
  const content = label === undefined ? encrypted : withLabel(encrypted, label)
  await writePrivately(dataDir, file, content)
  return address
}

/** Deletes a wallet's key for good. Its chain's folder goes too when it is empty. */
export async function removeKey(file: string): Promise<void> {
  await rm(file)
  // The system itself refuses while anything is in it: a key may be added at this very moment.
  await rmdir(path.dirname(file)).catch(() => {})
}

// A field of our own beside the standard's: other programs pass over it, and label and key cannot part.
const withLabel = (encrypted: string, label: string): string =>
  encrypted.replace(/\}\s*$/, () => `,"x-sluice":${JSON.stringify({ label })}}`)

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
