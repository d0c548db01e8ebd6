import { getU64Encoder } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Plan, Quote, SwapTerms } from 'sluice/plugin'
import type { Solana, SolanaAccountUse } from 'sluice/solana'
import { associatedAccount } from './derived-address.ts'
import type { Pool } from './pool-account.ts'

const most = 2n ** 64n - 1n

/** One instruction, with the bound enforced by the program; of a deadline it knows nothing, so the plan has none. */
export function swapPlan(program: string, pool: Pool, quote: Quote, { recipient, boundRaw }: SwapTerms): Plan<Solana> {
  const { tokenIn, tokenOut, exact, amountRaw } = quote.swap
  const [vaultIn, vaultOut] = pool.mints[0] === tokenIn.address ? pool.vaults : pool.vaults.toReversed()
  if (!vaultIn || !vaultOut) throw new Error(`The pool ${pool.address} has no vaults.`)
  const accounts = [
    reads(pool.address),
    reads(pool.authority),
    { address: recipient, writable: false, signer: true },
    writes(associatedAccount(recipient, tokenIn.address)),
    writes(associatedAccount(recipient, tokenOut.address)),
    writes(vaultIn),
    writes(vaultOut),
    reads(TOKEN_PROGRAM_ADDRESS),
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
const words = (...all: readonly bigint[]) =>
  Buffer.concat(all.map((each) => Uint8Array.from(getU64Encoder().encode(each)))).toString('base64')
