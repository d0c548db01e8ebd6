import { SluiceError } from 'sluice/plugin'
import type { Token } from 'sluice/plugin'
import { isListed } from './loans.ts'

/** What comes into the exchange and leaves it, as its chain's list calls it. */
export const dollar = 'USDC'

/** Anybody may call a token so: it is the listed one. @throws SluiceError UNSUPPORTED */
export function requireDollar(token: Token, listed: readonly Token[]): void {
  if (token.symbol === dollar && isListed(token, listed)) return
  throw new SluiceError('UNSUPPORTED', `Hyperliquid takes and gives ${dollar} only, and not ${token.symbol} (${token.address}).`)
}
