import type { SolanaInstruction } from '../../types.ts'
import { amountsData, discriminatorOf } from '../anchor.ts'
import type { Swap } from '../swap-quote.ts'
import { authority, constantProductProgram, type Pool } from './accounts.ts'

const [baseInput, baseOutput] = [discriminatorOf('global', 'swap_base_input'), discriminatorOf('global', 'swap_base_output')]

/**
 * The program's instruction for a swap. @param boundRaw the least that arrives for exactly what is paid, or the most that leaves for exactly what
 * arrives @param from the wallet's account of the token that is paid @param to that of the other one; both have to be there
 */
export function constantProductSwap(
  { address, pool }: { address: string; pool: Pool },
  { pays, exact, amountRaw }: Swap,
  { boundRaw, owner, from, to }: { boundRaw: bigint; owner: string; from: string; to: string },
): SolanaInstruction {
  const gets = pays === 0 ? 1 : 0
  const read = (account: string) => ({ address: account, writable: false, signer: false })
  const write = (account: string) => ({ address: account, writable: true, signer: false })
  const data = exact === 'in' ? amountsData(baseInput, amountRaw, boundRaw) : amountsData(baseOutput, boundRaw, amountRaw)
  return {
    program: constantProductProgram,
    accounts: [
      { address: owner, writable: false, signer: true },
      read(authority()),
      read(pool.config),
      write(address),
      write(from),
      write(to),
      write(pool.vaults[pays]),
      write(pool.vaults[gets]),
      read(pool.programs[pays]),
      read(pool.programs[gets]),
      read(pool.mints[pays]),
      read(pool.mints[gets]),
      write(pool.observation),
    ],
    data: Buffer.from(data).toString('base64'),
  }
}
