import { SluiceError } from 'sluice/plugin'
import { compare, plain } from '../decimal.ts'

/** @throws SluiceError INSUFFICIENT_BALANCE */
export function requireBalance(token: string, current: string, needed: string): void {
  if (compare(needed, current) <= 0) return
  throw new SluiceError('INSUFFICIENT_BALANCE', `The wallet has ${current} ${token} free at Hyperliquid, and ${needed} are needed.`, {
    details: { token, current, needed },
  })
}

/** @throws SluiceError INSUFFICIENT_MARGIN */
export function requireFree(token: string, free: string, needed: string): void {
  if (compare(needed, free) <= 0) return
  throw new SluiceError(
    'INSUFFICIENT_MARGIN',
    `${plain(free)} ${token} are free to be taken at Hyperliquid, and ${needed} were asked for.`,
    {
      details: { token, free: plain(free), needed },
    },
  )
}
