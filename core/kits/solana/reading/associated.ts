import { address } from '@solana/kit'
import { findAssociatedTokenPda } from '@solana-program/token'
import { tokenPrograms } from '../../../../kits/solana/tokens.ts'

const mostRemembered = 10_000

/** Where a wallet's account for a mint is, under each of the token programs in their order. Only that of the mint's own program can be there. */
export function createAssociated(): (owner: string, mint: string) => Promise<readonly string[]> {
  const known = new Map<string, readonly string[]>()
  return async (owner, mint) => {
    const name = `${owner}/${mint}`
    const found = known.get(name)
    if (found) return found
    const addresses = await Promise.all(tokenPrograms.map((program) => associatedAddress(owner, mint, program)))
    if (known.size >= mostRemembered) known.clear()
    known.set(name, addresses)
    return addresses
  }
}

/** Where a wallet's account for a mint of that program is. Derived, so it takes a while: a third of a millisecond. */
export async function associatedAddress(owner: string, mint: string, program: string): Promise<string> {
  const [found] = await findAssociatedTokenPda({ owner: address(owner), mint: address(mint), tokenProgram: address(program) })
  return found
}
