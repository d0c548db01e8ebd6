import { derivedAddress } from '../../addresses.ts'
import type { SolanaInstruction } from '../../types.ts'
import { amountsData, discriminatorOf } from '../anchor.ts'
import type { Swap } from '../swap-quote.ts'
import { dammAuthority, dammProgram, type DammPool } from './accounts.ts'

const swap2 = discriminatorOf('global', 'swap2')
/** types.ts, SwapMode; 1 would fill what it can. */
const modes = { in: 0, out: 2 } as const

let derivedEventAuthority: string | undefined

/** Anchor's events are instructions to the program itself, signed by this address. */
export function eventAuthority(): string {
  derivedEventAuthority ??= derivedAddress(dammProgram, [Buffer.from('__event_authority')])
  return derivedEventAuthority
}

/**
 * The program's instruction for a swap. @param boundRaw the least that arrives for exactly what is paid, or the most that leaves for exactly what
 * arrives @param from the wallet's account of the token that is paid @param to that of the other one; both have to be there
 */
export function dammSwap(
  { address, pool }: { address: string; pool: DammPool },
  { exact, amountRaw }: Swap,
  { boundRaw, owner, from, to }: { boundRaw: bigint; owner: string; from: string; to: string },
): SolanaInstruction {
  const read = (account: string) => ({ address: account, writable: false, signer: false })
  const write = (account: string) => ({ address: account, writable: true, signer: false })
  return {
    program: dammProgram,
    accounts: [
      read(dammAuthority),
      write(address),
      write(from),
      write(to),
      ...pool.vaults.map(write),
      ...pool.mints.map(read),
      { address: owner, writable: false, signer: true },
      ...pool.programs.map(read),
      // Nobody gets a referral's share: the program itself stands for an account that is left out.
      read(dammProgram),
      read(eventAuthority()),
      read(dammProgram),
    ],
    data: Buffer.from([...amountsData(swap2, amountRaw, boundRaw), modes[exact]]).toString('base64'),
  }
}
