import { SluiceError } from 'sluice/plugin'
import type { At } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { abstraction } from '../accounts.ts'

const withMargin = 'portfolioMargin'
/** In these, what is in spot is what perpetual positions are backed by. */
const shared: ReadonlySet<string> = new Set([withMargin, 'unifiedAccount'])

/** How the exchange keeps a wallet's balances: its own word. */
export async function readMode(ask: Ask, user: string, at: At): Promise<string> {
  return (await ask({ type: 'userAbstraction', user }, abstraction, at)) ?? 'default'
}

export const isShared = (mode: string): boolean => shared.has(mode)

/** @throws SluiceError UNSUPPORTED where the wallet did not opt in: nothing does it for it */
export async function requireMode(ask: Ask, user: string, at: At): Promise<void> {
  const mode = await readMode(ask, user, at)
  if (mode === withMargin) return
  throw new SluiceError(
    'UNSUPPORTED',
    `The account of ${user} at Hyperliquid is in the mode "${mode}", and margin is there in "${withMargin}" only. Its owner switches it on at the exchange; Sluice never does. Without it, use /clob and /clob/perp.`,
    { details: { mode, needed: withMargin } },
  )
}
