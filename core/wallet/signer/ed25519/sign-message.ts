import { sign, type KeyObject } from 'node:crypto'
import { Refusal } from '../refusal.ts'
import type { SolanaRules } from '../signer-policy.ts'
import type { SignRequest } from '../sign-request.ts'
import { checkMessage } from './check-message.ts'

/** @returns the signature: 64 bytes. @throws Refusal */
export function signMessage(key: KeyObject, { draft, address }: SignRequest, rules: SolanaRules): Uint8Array {
  if (draft.scheme !== 'ed25519') throw new Refusal(`${rules.name} has messages of Solana, and what is to be signed is none`)
  checkMessage(draft.bytes, address, rules)
  return new Uint8Array(sign(null, draft.bytes, key))
}
