// A private key that a client sent to the server, as the signer takes it: encrypted into the keystore, and signing from then on.
import { curves, type CurveName } from '../keys/curves.ts'
import type { SigningWallet } from '../keys/key-source.ts'
import { findWallets, KeyFileError, saveKey, unlock, usableWallet } from '../keys/keystore.ts'
import { Refusal } from './policy.ts'

interface SentKey {
  readonly dataDir: string
  /** Of one curve. */
  readonly chains: readonly string[]
  readonly curve: CurveName
  /** As people paste it. */
  readonly text: string
  /** Of the keystore. The caller wipes it. */
  readonly passphrase: Uint8Array
  /** Those that sign already. */
  isOpen(wallet: { readonly chain: string; readonly address: string }): boolean
}

/** As for a keystore that is made at the terminal. */
const minPassphraseBytes = 8

/**
 * Keeps a key for each of its chains that has no file of its address yet, also where it signs already: its file may have been removed since the start.
 * @returns its address, and the wallets that sign from now on
 * @throws Refusal that says what to do; nothing of it repeats the key
 */
export async function addSentKey({ dataDir, chains, curve, text, passphrase, isOpen }: SentKey) {
  const privateKey = readKey(text, curve)
  const address = curves[curve].addressOf(privateKey)
  const kept = findWallets(dataDir, address).filter(({ chain }) => chains.includes(chain))
  const [first, ...others] = chains.filter((chain) => !kept.some((each) => each.chain === chain))
  await requirePassphrase(kept.length > 0 ? kept : [usableWallet(dataDir)].filter((each) => each !== undefined), passphrase)
  if (first !== undefined) await saveKey({ dataDir, chain: first, alsoFor: others, curve, privateKey, passphrase })
  const sign = curves[curve].signerOf(privateKey)
  const added = chains.filter((chain) => !isOpen({ chain, address }))
  return { address, added: added.map((chain): SigningWallet => ({ chain, address, curve, sign })) }
}

function readKey(text: string, curve: CurveName): string {
  try {
    return curves[curve].parse(text)
  } catch (error) {
    throw new Refusal(error instanceof Error ? error.message.replace(/\.$/, '') : 'it is no private key', 'INCOMPLETE_PARAMS')
  }
}

/** All keys of the keystore have one passphrase: what it does not open now would be locked after the next start. */
async function requirePassphrase(wallets: readonly Parameters<typeof unlock>[0][], passphrase: Uint8Array): Promise<void> {
  if (wallets.length === 0 && passphrase.length < minPassphraseBytes)
    throw new Refusal(
      `the keystore's passphrase has fewer than ${minPassphraseBytes} characters; take a longer one`,
      'SERVICE_UNINITIALIZED',
    )
  const opened = new Map()
  try {
    for (const wallet of wallets) await unlock(wallet, passphrase, opened)
  } catch (error) {
    if (error instanceof KeyFileError) throw new Refusal(error.message.replace(/\.$/, ''), 'SERVICE_UNINITIALIZED')
    throw error
  }
}
