// What requests touch: for the lists of the client.
import { isSameAddress } from '../base/addresses.ts'
import type { Fraction } from '../base/decimal.ts'
import { toFraction } from '../base/decimal.ts'
import type { BookSet } from '../api/index.ts'
import type { BookMarket, NewOrder, Token } from '../contracts/index.ts'
import { approvableOf } from '../contracts/index.ts'
import { tokensOfMarket } from '../market/book-tokens.ts'
import type { NetworkEntry, Registry, VenueEntry } from '../plugins/index.ts'
import type { Footprint, TouchedToken } from '../transactions/budgets.ts'

type OfVenue = Pick<VenueEntry, 'connector' | 'builtIn' | 'contained'>

export const touchedVenue = ({ connector: name, builtIn }: OfVenue): NonNullable<Footprint['connectors']> => [{ name, builtIn }]

/** By their addresses. */
export const touchedTokens = (addresses: readonly string[], { tokens }: Pick<NetworkEntry, 'tokens'>): readonly TouchedToken[] =>
  addresses.map((name) => {
    const symbol = tokens.listedAt(name)?.symbol
    return { name, ...(symbol !== undefined && { symbol }) }
  })

/** Of a plugin of third parties nobody knows which pools its plan trades in. */
export const touchedPools = (pools: readonly string[], { builtIn }: OfVenue): NonNullable<Footprint['pools']> =>
  builtIn ? pools : 'unknown'

/** Connectors that have all of these spenders. */
export const connectorsOf = (
  addresses: readonly string[],
  { chain, network }: NetworkEntry,
  registry: Pick<Registry, 'venuesOn'>,
): NonNullable<Footprint['connectors']> =>
  registry
    .venuesOn(chain, network)
    .filter(({ impl }) => addresses.every((spender) => Object.values(approvableOf(impl)).some((each) => isSameAddress(each, spender))))
    .flatMap(touchedVenue)

/** What a new order in a book touches. Tokens of a spot market are those of the network's list. */
export function touchesOfOrder(
  type: BookSet,
  { market, order }: { market: BookMarket; order: NewOrder },
  venue: OfVenue,
  on: NetworkEntry,
): Footprint {
  const isPerpetual = type === 'PERP_CLOB'
  const tokens = (['base', 'quote'] as const).map((side): TouchedToken => {
    const [symbol, [listed]] = [market[side], tokensOfMarket(market, side, on.tokens.listed, venue)]
    return isPerpetual ? { name: symbol, symbol } : listed ? { name: listed.address, symbol: listed.symbol } : { name: symbol }
  })
  return {
    action: isPerpetual ? 'perpetual' : 'order',
    connectors: touchedVenue(venue),
    tokens,
    // Of perpetuals the leverage of the account is held.
    ...(type === 'MARGIN_CLOB' && { leverage: order.leverage === undefined ? 'unknown' : toFraction(order.leverage) }),
  }
}

/** Of all orders of a plan. */
export function touchesOfAll(all: readonly [Footprint, ...Footprint[]]): Footprint {
  const leverages = all.flatMap(({ leverage }) => leverage ?? [])
  const highest = leverages.reduce<Fraction | 'unknown' | undefined>((most, each) => {
    if (most === undefined || each === 'unknown') return each
    if (most === 'unknown') return most
    return most.numerator * each.denominator < each.numerator * most.denominator ? each : most
  }, undefined)
  return { ...all[0], tokens: all.flatMap(({ tokens }) => tokens), ...(highest && { leverage: highest }) }
}

/** How lists of transactions name a token: by its symbol, and where it is in no list by its address. Anybody can deploy a token of any symbol. */
export const listedName = ({ address, symbol }: Pick<Token, 'address' | 'symbol'>, { tokens }: Pick<NetworkEntry, 'tokens'>): string =>
  tokens.listedAt(address) ? symbol : address
