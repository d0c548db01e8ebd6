// Keys of new accounts that sign beside a wallet, on chains with keys of ed25519: a position that is an account of its own, say. Each follows from the
// wallet's key and an id, so that nothing is kept: whoever has the wallet's key, the id and this file finds it again.
import { hkdfSync } from 'node:crypto'
import { curves } from '../keys/curves.ts'
import type { SigningWallet } from '../keys/key-source.ts'
import { Refusal } from './policy.ts'

export interface NewAccount {
  readonly address: string
  sign(message: Uint8Array): Uint8Array
}

/**
 * A signature of ed25519 follows from key and message (RFC 8032), so one that nobody else ever sees is a secret that every source of keys can make. What
 * is signed for it is no message of Solana: it would begin with 83 signers, and the policy lets none through.
 * @param network `chain/network`: another one has other accounts
 * @throws Refusal where the source of keys signs differently each time
 */
export async function newAccountOf(wallet: SigningWallet, network: string, id: string): Promise<NewAccount> {
  if (wallet.curve !== 'ed25519') throw new Refusal(`the key of ${wallet.address} is one of ${wallet.curve}, which has no new accounts`)
  const text = new TextEncoder().encode(`Sluice: the key of a new account\n${network}\n${wallet.address}\n${id}`)
  const [secret, again] = [await wallet.sign(text), await wallet.sign(text)]
  if (!Buffer.from(secret).equals(again))
    throw new Refusal(`the key of ${wallet.address} signs the same differently each time, so no key of a new account follows from it`)
  const seed = `0x${Buffer.from(hkdfSync('sha256', secret, '', 'sluice new account', 32)).toString('hex')}`
  secret.fill(0)
  again.fill(0)
  return { address: curves.ed25519.addressOf(seed), sign: curves.ed25519.signerOf(seed) }
}
