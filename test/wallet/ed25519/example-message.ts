import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createNoopSigner,
  createTransactionMessage,
  getCompiledTransactionMessageEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type Address,
  type Instruction,
} from '@solana/kit'
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget'
import { curves } from '../../../core/keys/curves.ts'
import { readPolicy, type SignerPolicy, type SolanaRules } from '../../../core/wallet/policy.ts'

export const seed = `0x${'a1b2c3d4'.repeat(8)}`
export const wallet = address(curves.ed25519.addressOf(seed))
export const owner = createNoopSigner(wallet)
export const stranger = address(curves.ed25519.addressOf(`0x${'11'.repeat(32)}`))
/** A program that a connector declares. */
export const exchange = address('675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8')
export const mint = address('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')
export const feeCapLamports = 1_000_000n

/** Two networks of a chain whose keys are of ed25519. */
export const solanaPolicy: SignerPolicy = {
  networks: ['mainnet', 'devnet'].map((network) => ({
    keys: 'ed25519' as const,
    chain: 'solana',
    network,
    feeCapRaw: feeCapLamports.toString(),
    local: false,
    contracts: [exchange],
  })),
  allowedSpenders: [],
}

export function solanaRules(contracts: readonly string[] = [exchange]): SolanaRules {
  const rules = readPolicy({ ...solanaPolicy, networks: solanaPolicy.networks.map((each) => ({ ...each, contracts })) }).get(
    'solana/mainnet',
  )
  if (rules?.keys !== 'ed25519') throw new Error('the policy has no such network')
  return rules
}

export const limit = (units = 200_000): Instruction => getSetComputeUnitLimitInstruction({ units })
export const price = (microLamports: bigint): Instruction => getSetComputeUnitPriceInstruction({ microLamports })
export const trade: Instruction = {
  programAddress: exchange,
  accounts: [{ address: wallet, role: AccountRole.WRITABLE_SIGNER }],
  data: Uint8Array.of(9, 1, 2),
}

/** The bytes that a rail would draft. */
export function messageOf(
  instructions: readonly Instruction[],
  {
    version = 0,
    feePayer = wallet,
    hash = '3FyNBMhTW3dFc4XScESUikqoJJaGiJXKJteXvM3DPNNa',
  }: { version?: 0 | 1 | 'legacy'; feePayer?: Address; hash?: string } = {},
): Uint8Array {
  const message = pipe(
    createTransactionMessage({ version }),
    (made) => setTransactionMessageFeePayer(feePayer, made),
    (made) => setTransactionMessageLifetimeUsingBlockhash({ blockhash: blockhash(hash), lastValidBlockHeight: 0n }, made),
    (made) => appendTransactionMessageInstructions(instructions, made),
  )
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(message)))
}
