// What the sums of a book take of a transaction, once it is final: its fees, what it moved, and the trade, perpetual or liquidity that it was. Pure.
import { isObject } from '../base/json.ts'
import type { DecimalParts } from '../base/decimal.ts'
import type { Json } from '../contracts/index.ts'
import type { Cost } from '../transactions/costs.ts'
import { isFinal, type Entry } from '../transactions/entry.ts'
import { decimalIn, orderTradesOf, tradeOf, type OrderTrade, type TokenOf, type Trade } from './trades.ts'

export interface OnNetwork {
  readonly chain: string
  readonly network: string
}

/** What a book keeps of an entry: a few hundred bytes of some kilobytes. */
export interface BookLine extends OnNetwork {
  /** When it was requested, milliseconds since the Unix epoch. */
  readonly atMs: number
  readonly feeRaw: bigint | undefined
  /** It paid on the chain, and nobody knows how much. */
  readonly lacksFee: boolean
  readonly movements: Entry['movements']
  /** Something may have moved on the chain, and the entry does not say what. */
  readonly lacksMovements: boolean
  readonly trade?: Trade | 'unknown'
  /** Fills of the orders that it placed. */
  readonly fills?: readonly OrderTrade[]
  /** The exchange has filled more of its orders than is known fill by fill; or it changed a position, and nobody knows how. */
  readonly lacksFills?: true
  readonly perpetual?: Perpetual
  readonly liquidity?: LiquidityChange
  /** Collateral that left an exchange of perpetuals: it settles the funding of the wallet's positions there, and does not say how much. */
  readonly withdrawal?: Withdrawal
}

export interface Withdrawal {
  readonly connector: string
  readonly address: string
}

export interface Perpetual {
  readonly connector: string
  readonly market: string
  readonly address: string
  /** Of base; undefined where nobody knows it. A close brings a position nearer to 0. */
  readonly change: { readonly side: 'LONG' | 'SHORT' | 'close'; readonly size: DecimalParts } | undefined
  readonly fee: DecimalParts
  /** Without funding. */
  readonly realizedProfit: DecimalParts
  /** Received, below 0 paid, with the transaction. */
  readonly funding?: DecimalParts
  /** It may have settled funding, and does not say so. */
  readonly lacksFunding?: boolean
  readonly blockNumber: number
}

export interface LiquidityChange {
  readonly connector: string
  /** Of a position, or the pool of shares. */
  readonly id: string
  readonly isPosition: boolean
  /** The ids of each version are its own. Undefined where the request named none: then the connector has one. */
  readonly version: string | undefined
  /** Above 0 what was added. */
  readonly liquidity: DecimalParts
  /** All that it paid was fees. */
  readonly isCollect: boolean
  /** The wallet. */
  readonly address: string
  /** Of another removal, smallest units by token address; `unknown`: its receipt does not tell them from what was removed. */
  readonly fees?: Readonly<Record<string, bigint>> | 'unknown'
}

type Fields = { readonly [field: string]: Json }

/** What a mined transaction paid; undefined where nobody knows all of it. */
export type CostOf = (entry: Entry) => Cost | undefined

export interface LineReaders {
  readonly costOf: CostOf
  readonly tokenOf: TokenOf
}

/** Undefined where nothing became final on a chain or an exchange. */
export function lineOf(entry: Entry, { costOf, tokenOf }: LineReaders): BookLine | undefined {
  const { chain, network, landed, movements, signer, state, createdAt } = entry
  if (!isFinal(entry) || !landed) return undefined
  const cost = costOf(entry)
  const [trade, perpetual, liquidity] = state === 'CONFIRMED' ? [tradeOf(entry), perpetualOf(entry), liquidityOf(entry)] : []
  const orders = state === 'CONFIRMED' ? orderTradesOf(entry, tokenOf) : undefined
  const withdrawal = withdrawalOf(entry)
  return {
    atMs: createdAt,
    chain,
    network,
    feeRaw: cost && BigInt(cost.feeRaw),
    lacksFee: cost === undefined && signer === undefined,
    movements,
    lacksMovements: movements === undefined && signer === undefined,
    ...(trade && { trade }),
    ...(orders && orders.trades.length > 0 && { fills: orders.trades }),
    ...((orders?.lacks || perpetual === 'unknown' || liquidity === 'unknown') && { lacksFills: true }),
    ...(perpetual && perpetual !== 'unknown' && { perpetual }),
    ...(liquidity && liquidity !== 'unknown' && { liquidity }),
    ...(withdrawal && { withdrawal }),
  }
}

/** Entries of earlier versions do not have the request: what came to the wallet tells a withdrawal. */
function withdrawalOf({ kind, state, request, connector, address, movements = {} }: Entry): Withdrawal | undefined {
  if (kind !== 'collateral' || state !== 'CONFIRMED' || connector === undefined) return undefined
  const isWithdrawal = request ? request.path.endsWith('/withdraw') : Object.values(movements).some((raw) => raw?.startsWith('-') === false)
  return isWithdrawal ? { connector, address } : undefined
}

/** Steps before the last one, such as approvals, have no outcome. */
const isBeforeLast = ({ outcome, part }: Entry): boolean => !outcome && part.index < part.of - 1

function perpetualOf(entry: Entry): Perpetual | 'unknown' | undefined {
  const { kind, outcome, request, address, connector = '', landed } = entry
  const [fee, realizedProfit, funding, size] = ['fee', 'realizedProfit', 'funding', 'size'].map((field) => decimalIn(outcome, field))
  if (kind !== 'position' || !landed || isBeforeLast(entry)) return undefined
  if (!fee || !realizedProfit) return 'unknown'
  const [market, base = '?', quote = '?'] = ['market', 'base', 'quote'].map((field) => textIn(request?.fields, field))
  const change = size && { side: sideOf(request), size }
  // Requests name them in any letter case.
  const of = { connector, market: market ?? `${base}-${quote}`.toUpperCase(), address, change, blockNumber: landed.blockNumber }
  return { ...of, fee, realizedProfit, ...(funding ? { funding } : { lacksFunding: true }) }
}

/** BUY and SELL mean LONG and SHORT. */
function sideOf({ path, fields }: Partial<NonNullable<Entry['request']>> = {}): 'LONG' | 'SHORT' | 'close' {
  if (path?.endsWith('/close')) return 'close'
  return ['LONG', 'BUY'].includes(textIn(fields, 'side')?.toUpperCase() ?? '') ? 'LONG' : 'SHORT'
}

function liquidityOf(entry: Entry): LiquidityChange | 'unknown' | undefined {
  const { kind, outcome, planned, request, connector = '' } = entry
  if (kind !== 'liquidity' || isBeforeLast(entry)) return undefined
  if (!isObject(outcome)) return 'unknown'
  const { tokenId, pool } = outcome
  const amount = decimalIn(outcome, 'liquidity') ?? decimalIn(outcome, 'shares')
  const id = typeof tokenId === 'string' ? tokenId : pool
  const { path = '', fields = {} } = request ?? {}
  if (!amount || typeof id !== 'string') return 'unknown'
  const liquidity = path.endsWith('/add') ? amount : { digits: -amount.digits, scale: amount.scale }
  // A new position says in its plan which version it is of.
  const version =
    textIn(fields, 'version') ?? (isObject(planned) && fields['tokenId'] === undefined ? textIn(planned, 'version') : undefined)
  const isPosition = typeof tokenId === 'string'
  const change = { connector, id, isPosition, version, liquidity, address: entry.address }
  if (path.endsWith('/add') || !isPosition) return { ...change, isCollect: false }
  const fees = feesOf(entry, outcome, amount.digits === 0n)
  return fees === 'all' ? { ...change, isCollect: true } : { ...change, isCollect: false, fees }
}

/** The fees in the payment of a removal, by its fill and not by its path: liquidity that others had removed before is paid out with them. */
function feesOf({ plugin, movements }: Entry, outcome: Fields, isWithoutRemoval: boolean): 'all' | NonNullable<LiquidityChange['fees']> {
  const told = ['0', '1'].map((place) => ({ paid: decimalIn(outcome, `amount${place}`), fee: decimalIn(outcome, `fees${place}`) }))
  // Fills of built-in connectors tell since 0.3 where nobody knows the fees. Before, those without fees were of exchanges that owe a position nothing else.
  if (told.every(({ fee }) => fee === undefined) && outcome['lacksFees'] !== true && plugin === undefined && isWithoutRemoval) return 'all'
  if (told.every(({ paid, fee }) => paid && fee && isSame(paid, fee))) return 'all'
  return feesIn(outcome, movements) ?? 'unknown'
}

const isSame = (one: DecimalParts, other: DecimalParts): boolean =>
  one.digits * 10n ** BigInt(other.scale) === other.digits * 10n ** BigInt(one.scale)

/** A fill does not name the tokens: they are those of which the wallet got its amounts, which have as many decimals as the token. */
function feesIn(outcome: Fields, movements: Entry['movements'] = {}): Readonly<Record<string, bigint>> | undefined {
  const fees: Record<string, bigint> = {}
  for (const place of ['0', '1']) {
    const [fee, amount] = [decimalIn(outcome, `fees${place}`), decimalIn(outcome, `amount${place}`)]
    if (!fee || !amount) return undefined
    if (fee.digits === 0n) continue
    const [token, ...others] = Object.keys(movements).filter((each) => movements[each] === amount.digits.toString())
    if (token === undefined || others.length > 0) return undefined
    fees[token] = fee.digits
  }
  return fees
}

export function textIn(fields: Readonly<Record<string, unknown>> = {}, field: string): string | undefined {
  const text = fields[field]
  return typeof text === 'string' ? text : undefined
}
