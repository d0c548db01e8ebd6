import type { KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { SigningKey } from 'ethers/crypto'
import { ed25519Key } from '../keys/ed25519-key.ts'
import { decryptKey, KeyFileError, type OpenedKey } from './decrypt-key.ts'
import { listWallets, type KeystoreEntry } from '../keystore.ts'

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
