// What a wallet held before the journal begins, with what it had cost: a line of words for each, in the settings.
import { readMoment } from '../base/moments.ts'
import type { NetworkName } from '../base/networks.ts'

export interface OpeningBalance extends NetworkName {
  readonly atMs: number
  readonly wallet: string
  /** Symbols or addresses, as they were given. */
  readonly base: string
  readonly quote: string
  /** Decimal strings: how much was held, and what all of it had cost. */
  readonly amount: string
  readonly cost: string
}

const decimal = String.raw`(?=[\d.]*[1-9])\d{1,60}(?:\.\d{1,30})?`
const name = String.raw`[^\s,]{1,128}`

/** E.g. `2026-01-01 ethereum/mainnet 0x7099… 2 WETH 6000 USDC`. */
export const openingPattern = String.raw`^[\dTZ:.+-]{8,40} [a-z0-9-]{1,64}/[a-z0-9-]{1,64} ${name} ${decimal} ${name} \d{1,60}(\.\d{1,30})? ${name}$`
export const openingForm =
  'a date, chain/network, wallet, amount and token held, and cost and token of the cost: "2026-01-01 ethereum/mainnet 0x7099… 2 WETH 6000 USDC"'

/** Undefined where it is none, or its date is no moment. */
export function readOpening(text: string): OpeningBalance | undefined {
  const [date = '', place = '', wallet = '', amount = '', base = '', cost = '', quote = ''] = text.split(' ')
  const atMs = readMoment(date)
  if (!new RegExp(openingPattern).test(text) || atMs === undefined) return undefined
  const [chain = '', network = ''] = place.split('/')
  return { atMs, chain, network, wallet, base, quote, amount, cost }
}
