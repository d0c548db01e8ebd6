import { sign, type KeyObject } from 'node:crypto'
import { Refusal } from './signer/refusal.ts'
import type { SolanaRules } from './policy.ts'
import type { SignRequest } from './signer/sign-request.ts'
import { checkMessage } from './signer/ed25519/check-message.ts'

interface Wallet {
  readonly key: KeyObject
  /** As its file has it: the request's may differ in the case of letters, and be another's. */
  readonly address: string
}

/** @returns the signature: 64 bytes. @throws Refusal */
export function signMessage({ key, address }: Wallet, { draft }: SignRequest, rules: SolanaRules): Uint8Array {
  if (draft.scheme !== 'ed25519') throw new Refusal(`${rules.name} has messages of Solana, and what is to be signed is none`)
  checkMessage(draft.bytes, address, rules)
  return new Uint8Array(sign(null, draft.bytes, key))
}
