import { AccountRole, address } from '@solana/kit'
import type { Instruction } from '@solana/kit'
import type { SolanaInstruction } from '../../../kits/solana/types.ts'

/** An instruction as @solana/kit has it. */
export function toKit({ program, accounts, data }: SolanaInstruction): Instruction {
  return {
    programAddress: address(program),
    accounts: accounts.map(({ address: of, writable, signer }) => ({ address: address(of), role: roleOf(writable, signer) })),
    data: Uint8Array.from(Buffer.from(data, 'base64')),
  }
}

/** The other way round: what may be journaled. */
export function fromKit({ programAddress, accounts = [], data = new Uint8Array() }: Instruction): SolanaInstruction {
  return {
    program: programAddress,
    accounts: accounts.map(({ address: of, role }) => ({
      address: of,
      writable: role === AccountRole.WRITABLE || role === AccountRole.WRITABLE_SIGNER,
      signer: role === AccountRole.READONLY_SIGNER || role === AccountRole.WRITABLE_SIGNER,
    })),
    data: Buffer.from(Uint8Array.from(data)).toString('base64'),
  }
}

function roleOf(writable: boolean, signer: boolean): AccountRole {
  if (signer) return writable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER
  return writable ? AccountRole.WRITABLE : AccountRole.READONLY
}
