// By what transactions are found besides their wallet, state and ids: columns that are read from an entry once, when it is made.
import { isObject } from '../base/json.ts'

export interface EntryFilters {
  /** The caller's id. */
  readonly client: string
  readonly kind: string
  /** Null: it went to no exchange. */
  readonly connector: string | null
  /** `pairName`; null: it is of no pair. */
  readonly pair: string | null
}

/** @param entry its fields, as they are journaled */
export function filtersOf(entry: Readonly<Record<string, unknown>>): EntryFilters {
  const { client, kind, connector, about, request } = entry
  const traded = isObject(about) ? pairOf(about['base'], about['quote']) : undefined
  const fields = isObject(request) && isObject(request['fields']) ? request['fields'] : {}
  const [order, ...otherOrders] = Array.isArray(fields['part']) ? fields['part'] : []
  const market = isObject(order) && otherOrders.length === 0 ? order['market'] : (fields['market'] ?? fields['ticker'])
  return {
    client: textOf(client) ?? '',
    kind: textOf(kind) ?? '',
    connector: textOf(connector) ?? null,
    pair: traded ?? pairOf(fields['base'], fields['quote']) ?? pairOf(fields['token0'], fields['token1']) ?? pairInName(market) ?? null,
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const symbolOf = (token: unknown): string | undefined => (isObject(token) ? textOf(token['symbol']) : textOf(token))

function pairOf(base: unknown, quote: unknown): string | undefined {
  const [one, other] = [symbolOf(base), symbolOf(quote)]
  return one === undefined || other === undefined ? undefined : pairName(one, other)
}

/** Of a market such as WETH-USDC. */
function pairInName(name: unknown): string | undefined {
  const [one, other, ...more] = (textOf(name) ?? '').split('-')
  return one && other && more.length === 0 ? pairName(one, other) : undefined
}

/** The same in both directions and in any letter case. */
export const pairName = (one: string, other: string): string =>
  [one, other]
    .map((each) => each.toLowerCase())
    .toSorted()
    .join('-')
