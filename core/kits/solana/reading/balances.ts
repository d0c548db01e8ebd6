import { SluiceError } from '../../../contracts/index.ts'
import type { At, Token } from '../../../contracts/index.ts'
import type { Rpc } from '../../nodes/types.ts'
import { accountsCalls, readAccounts } from '../../../../kits/solana/accounts.ts'
import type { createAssociated } from './associated.ts'
import { heldIn, readMint, tokenOptions, tokenPrograms } from '../../../../kits/solana/tokens.ts'
import type { SolanaAccount } from '../../../../kits/solana/types.ts'

type Associated = ReturnType<typeof createAssociated>

/** What there is to read of a token, the mint first. */
export const holdingAccounts = async (associated: Associated, owner: string, mint: string): Promise<readonly string[]> => [
  mint,
  ...(await associated(owner, mint)),
]
export const accountsPerHolding = 1 + tokenPrograms.length

/** What the wallet's own account for a token holds; undefined where the token is none. */
export function holdingIn([mint, ...held]: readonly (SolanaAccount | undefined)[], owner: string, token: string): bigint | undefined {
  const read = readMint(mint)
  return read && (heldIn(held[tokenPrograms.indexOf(read.program)], { mint: token, owner }) ?? 0n)
}

/** Native and token balances, in one round trip. */
export async function readBalances(
  rpc: Rpc,
  associated: Associated,
  owner: string,
  tokens: readonly Token[],
  at: At,
): Promise<readonly bigint[]> {
  if (tokens.length === 0) return []
  const wanted = await Promise.all(
    tokens.map(async ({ native, address }) => (native ? [owner] : holdingAccounts(associated, owner, address))),
  )
  const answers = await rpc.batch(accountsCalls(wanted.flat(), tokenOptions), at)
  const { accounts } = readAccounts(rpc, answers)
  let next = 0
  return tokens.map((token, index) => {
    const own = accounts.slice(next, (next += wanted[index]?.length ?? 0))
    if (token.native) return own[0]?.lamportsRaw ?? 0n
    return holdingIn(own, owner, token.address) ?? noMint(token)
  })
}

/** A balance of 0 in its place would be a lie. */
export function noMint({ symbol, address }: Pick<Token, 'symbol' | 'address'>): never {
  throw new SluiceError('TOKEN_NOT_SUPPORTED', `${symbol} at ${address} is no mint of a token on this network: check its address.`)
}
