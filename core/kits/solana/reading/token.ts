import type { At, Token } from '../../../contracts/index.ts'
import type { Rpc } from '../../nodes/types.ts'
import { accountsCalls, readAccounts } from '../../../../kits/solana/accounts.ts'
import { readMint, tokenOptions } from '../../../../kits/solana/tokens.ts'
import type { Mint } from '../../../../kits/solana/tokens.ts'

/** Undefined where the address is none of a mint. */
export async function readMintAt(rpc: Rpc, address: string, at: At): Promise<Mint | undefined> {
  const { accounts } = readAccounts(rpc, await rpc.batch(accountsCalls([address], tokenOptions), at))
  return readMint(accounts[0])
}

/** A mint says its decimals; what people call it stands elsewhere, where whoever made it wrote what he liked: its address is its symbol. */
export async function readToken(rpc: Rpc, address: string, at: At): Promise<Token | undefined> {
  const mint = await readMintAt(rpc, address, at)
  return mint && { symbol: address, address, decimals: mint.decimals }
}
