// How the program swaps, and what its receipts say.
import type { Fill, Json, Plan, Quote, SwapTerms } from 'sluice/plugin'
import { tokenAccountOf, tokenProgram, type Solana, type SolanaAccountUse, type SolanaReceipt } from 'sluice/solana'
import type { Pool } from 'sluice/solana-pools'
import type { PoolState } from './pool.ts'

const most = 2n ** 64n - 1n
const wordSize = 8

/** One instruction, with the bound enforced by the program; of a deadline it knows nothing, so the plan has none. */
export function swapPlan(program: string, pool: Pool<PoolState>, quote: Quote, { recipient, boundRaw }: SwapTerms): Plan<Solana> {
  const { tokenIn, tokenOut, exact, amountRaw } = quote.swap
  const { authority, vaults } = pool.state
  const [first, second] = vaults
  const [vaultIn, vaultOut] = pool.tokens[0] === tokenIn.address ? [first, second] : [second, first]
  const accounts = [
    reads(pool.address),
    reads(authority),
    { address: recipient, writable: false, signer: true },
    writes(tokenAccountOf(recipient, tokenIn.address)),
    writes(tokenAccountOf(recipient, tokenOut.address)),
    writes(vaultIn),
    writes(vaultOut),
    reads(tokenProgram),
  ]
  // More than fits is no tighter bound than the most that fits.
  const data = words(exact === 'in' ? 1n : 2n, amountRaw, boundRaw < most ? boundRaw : most)
  return {
    steps: [{ payer: recipient, instructions: [{ program, accounts, data }], value: '0', rent: '0' }],
    needs: [{ is: 'balance', token: tokenIn.address, amountRaw: exact === 'in' ? amountRaw : boundRaw }],
    memo: { program },
  }
}

const reads = (address: string): SolanaAccountUse => ({ address, writable: false, signer: false })
const writes = (address: string): SolanaAccountUse => ({ address, writable: true, signer: false })
/** Little-endian words of 64 bits, in base64. */
function words(...all: readonly bigint[]): string {
  const bytes = Buffer.alloc(all.length * wordSize)
  for (const [index, each] of all.entries()) bytes.writeBigUInt64LE(each, index * wordSize)
  return bytes.toString('base64')
}

/** agave `program-runtime/src/stable_log.rs`, program_return. Programs' own lines begin with "Program log: ". */
const returned = /^Program return: (\w{32,44}) (\S+)$/

/** The program returns what was paid and what was got. */
export function fillOf({ status, logs }: SolanaReceipt, memo: Json): Fill | undefined {
  const program = typeof memo === 'object' && memo !== null && 'program' in memo ? memo.program : undefined
  if (status !== 1) return undefined
  const data = logs.map((line) => returned.exec(line)).findLast((found) => found?.[1] === program)?.[2]
  const bytes = Buffer.from(data ?? '', 'base64')
  if (bytes.length !== 2 * wordSize) return undefined
  return { amountInRaw: bytes.readBigUInt64LE(), amountOutRaw: bytes.readBigUInt64LE(wordSize) }
}
