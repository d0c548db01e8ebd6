// How the program swaps.
import { tokenProgram, type SolanaAccountUse, type SolanaInstruction } from 'sluice/solana'
import type { Pool, PoolSwap } from 'sluice/solana-pools'
import type { PoolState } from './pool.ts'

const wordSize = 8

/** The bound is enforced by the program. */
export function swapInstruction(
  program: string,
  { address, tokens, state: { authority, vaults } }: Pool<PoolState>,
  { tokenIn, exact, amountRaw, boundRaw, owner, from, to }: PoolSwap,
): SolanaInstruction {
  const [first, second] = vaults
  const [vaultIn, vaultOut] = tokens[0] === tokenIn ? [first, second] : [second, first]
  const signer = { address: owner, writable: false, signer: true }
  const accounts = [reads(address), reads(authority), signer, ...[from, to, vaultIn, vaultOut].map(writes), reads(tokenProgram)]
  return { program, accounts, data: words(exact === 'in' ? 1n : 2n, amountRaw, boundRaw) }
}

const reads = (address: string): SolanaAccountUse => ({ address, writable: false, signer: false })
const writes = (address: string): SolanaAccountUse => ({ address, writable: true, signer: false })
/** Little-endian words of 64 bits, in base64. */
function words(...all: readonly bigint[]): string {
  const bytes = Buffer.alloc(all.length * wordSize)
  for (const [index, each] of all.entries()) bytes.writeBigUInt64LE(each, index * wordSize)
  return bytes.toString('base64')
}
