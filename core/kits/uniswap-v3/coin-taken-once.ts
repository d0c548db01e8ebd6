import type { Need } from '../../contracts/index.ts'

export interface CoinSent {
  readonly wrapped: string
  /** That move in the same call. */
  readonly tokens: readonly string[]
  readonly spender: string
  readonly listed: ReadonlySet<string>
}

/**
 * What keeps a contract from taking the coin twice. A token's code runs while it is moved, and anybody may have the
 * contract give back what coin it holds (PeripheryPayments.refundETH of @uniswap/v3-periphery@1.4.4): to pay a pool then, it
 * takes the wrapped coin from the wallet, if it may. Tokens on the network's list are trusted not to.
 */
export function coinTakenOnce({ wrapped, tokens, spender, listed }: CoinSent): readonly Need[] {
  const strange = tokens.some((token) => token !== wrapped && !listed.has(token))
  return strange ? [{ is: 'allowance-at-most', token: wrapped, spender, amountRaw: 0n }] : []
}
