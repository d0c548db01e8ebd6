import type { SigningKey } from 'ethers/crypto'
import { getBytes } from 'ethers/utils'
import { Refusal } from './signer/refusal.ts'
import type { EvmRules } from './policy.ts'
import type { SignRequest } from './signer/sign-request.ts'
import { isWellKnown } from './signer/well-known-keys.ts'
import { checkTransaction } from './signer/secp256k1/check-transaction.ts'
import { checkTypedData } from './signer/secp256k1/check-typed-data.ts'

/** @returns r, s and the parity of y: 65 bytes. @throws Refusal */
export function signEvm(key: SigningKey, request: SignRequest, rules: EvmRules): Uint8Array {
  checkWallet(request, rules)
  const { r, s, yParity } = key.sign(checkDraft(request, rules))
  return Uint8Array.of(...getBytes(r), ...getBytes(s), yParity)
}

function checkWallet({ address }: SignRequest, { local, name }: EvmRules): void {
  if (local || !isWellKnown(address)) return
  throw new Refusal(
    `everybody has the key of ${address} (it is a test account of anvil and hardhat), so it signs on a devnet only, not on ${name}`,
  )
}

function checkDraft({ draft, address, admin = false }: SignRequest, rules: EvmRules): string {
  if (draft.scheme === 'eip712') return checkTypedData(draft.typedData, address, rules)
  if (draft.scheme === 'secp256k1') return checkTransaction({ bytes: draft.bytes, from: address, admin, rules })
  throw new Refusal(`${rules.name} has transactions of EVM chains, and what is to be signed is none`)
}
