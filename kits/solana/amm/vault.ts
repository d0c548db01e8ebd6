import { AccountState, getTokenDecoder, getTokenSize } from '@solana-program/token'
import { tryDecode } from '../accounts.ts'
import { token2022Program } from '../tokens.ts'
import type { SolanaAccount } from '../types.ts'

/** Token accounts with extensions are longer, and this byte after the base says what they are. */
const accountKind = 2

/** What a pool's token account holds. Undefined where it is not the one that the pool has to have, or is frozen: nothing leaves it then. */
export function vaultBalance(
  account: SolanaAccount | undefined,
  of: { mint: string; authority: string; program: string },
): bigint | undefined {
  if (!account || account.owner !== of.program) return undefined
  const { data } = account
  const isExtended = of.program === token2022Program && data.length > getTokenSize() && data[getTokenSize()] === accountKind
  if (data.length !== getTokenSize() && !isExtended) return undefined
  const vault = tryDecode(getTokenDecoder(), data.subarray(0, getTokenSize()))
  if (vault?.state !== AccountState.Initialized || vault.mint !== of.mint || vault.owner !== of.authority) return undefined
  return vault.amount
}
