// By what transactions are found besides their wallet, state and ids: columns that are read from an entry once, when it is made.
import { isObject } from '../base/json.ts'

export interface EntryFilters {
  /** The caller's id. */
  readonly client: string
  readonly kind: string
  /** Null: it went to no exchange. */
  readonly connector: string | null
  /** `pairName`, of a token that was in no list by its address; null: it is of no pair. */
  readonly pair: string | null
}

/** @param entry its fields, as they are journaled */
export function filtersOf(entry: Readonly<Record<string, unknown>>): EntryFilters {
  const { client, kind, connector, about, request } = entry
  const [token0, token1, ...others] = isObject(about) && Array.isArray(about['names']) ? about['names'] : []
  const known = isObject(about)
    ? (pairOf(about['base'], about['quote']) ?? (others.length === 0 ? pairOf(token0, token1) : undefined))
    : undefined
  const fields = isObject(request) && isObject(request['fields']) ? request['fields'] : {}
  const ofOrders = marketOfOrders(fields)
  const market = ofOrders === undefined ? (fields['market'] ?? fields['ticker']) : ofOrders
  return {
    client: textOf(client) ?? '',
    kind: textOf(kind) ?? '',
    connector: textOf(connector) ?? null,
    pair: known ?? pairOf(fields['base'], fields['quote']) ?? pairOf(fields['token0'], fields['token1']) ?? pairInName(market) ?? null,
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Its address is there where it was in no list: its symbol is what whoever deployed it chose. */
const nameOf = (token: unknown): string | undefined =>
  isObject(token) ? (textOf(token['address']) ?? textOf(token['symbol'])) : textOf(token)

function pairOf(base: unknown, quote: unknown): string | undefined {
  const [one, other] = [nameOf(base), nameOf(quote)]
  return one === undefined || other === undefined ? undefined : pairName(one, other)
}

/** What one transaction does of a batch: those that it places, or cancels where it places none. Null: in several markets; undefined: it is no batch. */
function marketOfOrders({ create, part, cancel }: Readonly<Record<string, unknown>>): string | null | undefined {
  const listed = [create, part, cancel].flatMap((list) => (Array.isArray(list) && list.length > 0 ? [list.filter(isObject)] : []))[0]
  if (!listed) return undefined
  const placed = listed.filter((each) => each['do'] === 'create')
  const [first, ...others] = (placed.length > 0 ? placed : listed).map(({ market }) => textOf(market))
  return first !== undefined && others.every((each) => each?.toLowerCase() === first.toLowerCase()) ? first : null
}

/** Of a market such as WETH-USDC. */
export function pairInName(name: unknown): string | undefined {
  const [one, other, ...more] = (textOf(name) ?? '').split('-')
  return one && other && more.length === 0 ? pairName(one, other) : undefined
}

/** What else a pair is called on a network, which has one of its tokens on a list. */
export interface PairAlias {
  readonly chain: string
  readonly network: string
  /** `pairName` */
  readonly pair: string
}

/** What an entry is found by. An entry keeps the name that it has: a token's address, and its symbol once a list has it. */
export interface PairFilter {
  /** `pairName` */
  readonly pair?: string
  readonly pairAliases?: readonly PairAlias[]
  /** No list has one of its tokens, and one may have had it: what it was called then is found by its trades. */
  readonly hasUnlisted?: boolean
  /** In the place of a pair: what is of none, as orders in several markets that one transaction placed. */
  readonly isOfNoPair?: true
}

/** All names, each once. */
export const pairNames = ({ pair, pairAliases = [] }: PairFilter): readonly string[] =>
  pair === undefined ? [] : [...new Set([pair, ...pairAliases.map((alias) => alias.pair)])]

/** Whether an entry, of this pair on this network, is wanted. */
export const isOfPair = (
  { pair, pairAliases = [], isOfNoPair }: PairFilter,
  row: Readonly<Record<'chain' | 'network', string>> & { readonly pair: string | null },
): boolean =>
  isOfNoPair
    ? row.pair === null
    : pair === undefined ||
      row.pair === pair ||
      pairAliases.some((alias) => alias.pair === row.pair && alias.chain === row.chain && alias.network === row.network)

/** The same in both directions and in any letter case. */
export const pairName = (one: string, other: string): string =>
  [one, other]
    .map((each) => each.toLowerCase())
    .toSorted()
    .join('-')
