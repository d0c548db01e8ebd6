// The sums of many transactions: what moved of each token, what trades earned, fees, perpetuals and liquidity. Pure: entries come in the order of time.
import { isObject } from '../base/json.ts'
import { parseDecimal, type DecimalParts } from '../base/decimal.ts'
import { addressKey } from '../base/addresses.ts'
import type { Json } from '../contracts/index.ts'
import type { Cost } from '../transactions/costs.ts'
import { isFinal, type Entry } from '../transactions/entry.ts'
import { createPosition, type Position } from './profit.ts'

interface OnNetwork {
  readonly chain: string
  readonly network: string
}

/** What a book keeps of an entry: a few hundred bytes of some kilobytes. */
export interface BookLine extends OnNetwork {
  readonly feeRaw: bigint | undefined
  /** It paid on the chain, and nobody knows how much. */
  readonly lacksFee: boolean
  readonly movements: Entry['movements']
  /** Something may have moved on the chain, and the entry does not say what. */
  readonly lacksMovements: boolean
  readonly trade?: Trade | 'unknown'
  readonly perpetual?: Perpetual
  readonly liquidity?: LiquidityChange
}

interface Trade {
  /** Addresses. */
  readonly base: string
  readonly quote: string
  readonly side: 'BUY' | 'SELL'
  readonly baseAmount: DecimalParts
  readonly quoteAmount: DecimalParts
}

interface Perpetual {
  readonly connector: string
  readonly market: string
  readonly fee: DecimalParts
  readonly realizedProfit: DecimalParts
}

interface LiquidityChange {
  readonly connector: string
  /** Of a position, or the pool of shares. */
  readonly id: string
  /** The ids of each version are its own. Undefined where the request named none: then the connector has one. */
  readonly version: string | undefined
  /** Above 0 what was added. */
  readonly liquidity: DecimalParts
  readonly isCollect: boolean
}

/** What a mined transaction paid; undefined where nobody knows all of it. */
export type CostOf = (entry: Entry) => Cost | undefined

/** Undefined where nothing became final on a chain or an exchange. */
export function lineOf(entry: Entry, costOf: CostOf): BookLine | undefined {
  const { chain, network, landed, movements, signer, state } = entry
  if (!isFinal(entry) || !landed) return undefined
  const cost = costOf(entry)
  const [trade, perpetual, liquidity] = state === 'CONFIRMED' ? [tradeOf(entry), perpetualOf(entry), liquidityOf(entry)] : []
  return {
    chain,
    network,
    feeRaw: cost && BigInt(cost.feeRaw),
    lacksFee: cost === undefined && signer === undefined,
    movements,
    lacksMovements: movements === undefined && signer === undefined,
    ...(trade && { trade }),
    ...(perpetual && { perpetual }),
    ...(liquidity && { liquidity }),
  }
}

function tradeOf({ kind, outcome, planned, request, part }: Entry): Trade | 'unknown' | undefined {
  if (kind !== 'trade') return undefined
  const side = request?.fields['side']
  const [amountIn, amountOut] = [decimalIn(outcome, 'amountIn'), decimalIn(outcome, 'amountOut')]
  const { base, quote } = isObject(planned) ? planned : {}
  // Steps before the last one, such as approvals, have neither.
  if (!outcome && part.index < part.of - 1) return undefined
  if (!amountIn || !amountOut || typeof base !== 'string' || typeof quote !== 'string' || (side !== 'BUY' && side !== 'SELL'))
    return 'unknown'
  const [baseAmount, quoteAmount] = side === 'BUY' ? [amountOut, amountIn] : [amountIn, amountOut]
  return { base, quote, side, baseAmount, quoteAmount }
}

function perpetualOf({ kind, outcome, request, connector = '' }: Entry): Perpetual | undefined {
  const [fee, realizedProfit] = [decimalIn(outcome, 'fee'), decimalIn(outcome, 'realizedProfit')]
  if (kind !== 'position' || !fee || !realizedProfit) return undefined
  const [market, base = '?', quote = '?'] = ['market', 'base', 'quote'].map((field) => textIn(request?.fields, field))
  return { connector, market: market ?? `${base}-${quote}`, fee, realizedProfit }
}

function liquidityOf({ kind, outcome, planned, request, connector = '' }: Entry): LiquidityChange | undefined {
  if (kind !== 'liquidity' || !isObject(outcome)) return undefined
  const { tokenId, pool } = outcome
  const amount = decimalIn(outcome, 'liquidity') ?? decimalIn(outcome, 'shares')
  const id = typeof tokenId === 'string' ? tokenId : pool
  const { path = '', fields = {} } = request ?? {}
  if (!amount || typeof id !== 'string') return undefined
  const liquidity = path.endsWith('/add') ? amount : { digits: -amount.digits, scale: amount.scale }
  // A new position says in its plan which version it is of.
  const version =
    textIn(fields, 'version') ?? (isObject(planned) && fields['tokenId'] === undefined ? textIn(planned, 'version') : undefined)
  return { connector, id, version, liquidity, isCollect: path.endsWith('/collect_fees') }
}

function textIn(fields: Readonly<Record<string, unknown>> = {}, field: string): string | undefined {
  const text = fields[field]
  return typeof text === 'string' ? text : undefined
}

function decimalIn(outcome: Json | undefined, field: string): DecimalParts | undefined {
  const text = isObject(outcome) ? outcome[field] : undefined
  return typeof text === 'string' && /^-?\d{1,200}(\.\d{1,255})?$/.test(text) ? parseDecimal(text) : undefined
}

export interface PairBook extends OnNetwork {
  readonly base: string
  readonly quote: string
  trades: number
  baseDecimals: number
  quoteDecimals: number
  boughtRaw: bigint
  spentRaw: bigint
  soldRaw: bigint
  receivedRaw: bigint
  readonly average: Position
  readonly fifo: Position
}

interface TokenBook extends OnNetwork {
  readonly token: string
  inRaw: bigint
  outRaw: bigint
}

interface FeeBook extends OnNetwork {
  transactions: number
  feeRaw: bigint
}

interface PerpetualBook extends OnNetwork {
  readonly connector: string
  readonly market: string
  fills: number
  fee: DecimalParts
  realizedProfit: DecimalParts
}

export interface LiquidityBook extends OnNetwork {
  readonly connector: string
  readonly id: string
  readonly version: string | undefined
  liquidity: DecimalParts
  /** Of one of its transactions nobody knows all that it moved. */
  lacksMovements: boolean
  /** By token: what was paid in and taken out, and of that what `collect_fees` brought. */
  readonly tokens: Map<string, { paidRaw: bigint; receivedRaw: bigint; feesRaw: bigint }>
}

export interface Book {
  take(line: BookLine): void
  readonly pairs: ReadonlyMap<string, PairBook>
  readonly tokens: ReadonlyMap<string, TokenBook>
  readonly fees: ReadonlyMap<string, FeeBook>
  readonly perpetuals: ReadonlyMap<string, PerpetualBook>
  readonly liquidity: ReadonlyMap<string, LiquidityBook>
  /** Transactions of which the sums lack something. */
  readonly lacking: { movements: number; coin: number; fills: number; fees: number }
}

const noAmount: DecimalParts = { digits: 0n, scale: 0 }

export function createBook(): Book {
  const pairs = new Map<string, PairBook>()
  const tokens = new Map<string, TokenBook>()
  const fees = new Map<string, FeeBook>()
  const perpetuals = new Map<string, PerpetualBook>()
  const liquidity = new Map<string, LiquidityBook>()
  /** The last that was named of a position. */
  const versions = new Map<string, string | undefined>()
  const lacking = { movements: 0, coin: 0, fills: 0, fees: 0 }

  function takeTrade({ chain, network }: OnNetwork, { base, quote, side, baseAmount, quoteAmount }: Trade): void {
    const pair = at(pairs, [chain, network, addressKey(base), addressKey(quote)], () => ({
      chain,
      network,
      base,
      quote,
      trades: 0,
      baseDecimals: 0,
      quoteDecimals: 0,
      boughtRaw: 0n,
      spentRaw: 0n,
      soldRaw: 0n,
      receivedRaw: 0n,
      average: createPosition('average'),
      fifo: createPosition('fifo'),
    }))
    rescale(pair, Math.max(pair.baseDecimals, baseAmount.scale), Math.max(pair.quoteDecimals, quoteAmount.scale))
    const [baseRaw, quoteRaw] = [rawOf(baseAmount, pair.baseDecimals), rawOf(quoteAmount, pair.quoteDecimals)]
    pair.trades += 1
    if (side === 'BUY') {
      pair.boughtRaw += baseRaw
      pair.spentRaw += quoteRaw
    } else {
      pair.soldRaw += baseRaw
      pair.receivedRaw += quoteRaw
    }
    for (const position of [pair.average, pair.fifo]) {
      if (side === 'BUY') position.buy(baseRaw, quoteRaw)
      else position.sell(baseRaw, quoteRaw)
    }
  }

  function takeMovements({ chain, network, movements = {}, liquidity: change }: BookLine): void {
    for (const [token, amount] of Object.entries(movements)) {
      if (amount === null) {
        lacking.coin += 1
        if (change) positionOf({ chain, network }, change).lacksMovements = true
        continue
      }
      const raw = BigInt(amount)
      const sum = at(tokens, [chain, network, addressKey(token)], () => ({ chain, network, token, inRaw: 0n, outRaw: 0n }))
      if (raw > 0n) sum.inRaw += raw
      else sum.outRaw -= raw
      if (change) addToPosition(positionOf({ chain, network }, change), token, raw, change.isCollect)
    }
  }

  function positionOf({ chain, network }: OnNetwork, { connector, id, version }: LiquidityChange): LiquidityBook {
    const name = [chain, network, connector, addressKey(id)].join(' ')
    const of = version ?? versions.get(name)
    versions.set(name, of)
    return at(liquidity, [name, of ?? ''], () => ({
      chain,
      network,
      connector,
      id,
      version: of,
      liquidity: noAmount,
      lacksMovements: false,
      tokens: new Map(),
    }))
  }

  return {
    take(line) {
      const { chain, network, feeRaw, trade, perpetual, liquidity: change, lacksMovements } = line
      if (lacksMovements) lacking.movements += 1
      if (feeRaw !== undefined) {
        const sum = at(fees, [chain, network], () => ({ chain, network, transactions: 0, feeRaw: 0n }))
        sum.transactions += 1
        sum.feeRaw += feeRaw
      } else if (line.lacksFee) lacking.fees += 1
      if (trade === 'unknown') lacking.fills += 1
      else if (trade) takeTrade(line, trade)
      if (perpetual) {
        const { connector, market } = perpetual
        const sum = at(perpetuals, [chain, network, connector, market], () => ({
          chain,
          network,
          connector,
          market,
          fills: 0,
          fee: noAmount,
          realizedProfit: noAmount,
        }))
        sum.fills += 1
        sum.fee = plus(sum.fee, perpetual.fee)
        sum.realizedProfit = plus(sum.realizedProfit, perpetual.realizedProfit)
      }
      if (change) {
        const position = positionOf(line, change)
        position.liquidity = plus(position.liquidity, change.liquidity)
        if (!line.movements) position.lacksMovements = true
      }
      takeMovements(line)
    },
    pairs,
    tokens,
    fees,
    perpetuals,
    liquidity,
    lacking,
  }
}

function addToPosition({ tokens, id }: LiquidityBook, token: string, raw: bigint, isCollect: boolean): void {
  // The position itself, or its shares.
  if (token.includes('/') || addressKey(token) === addressKey(id)) return
  const sum = tokens.get(token) ?? { paidRaw: 0n, receivedRaw: 0n, feesRaw: 0n }
  tokens.set(token, sum)
  if (raw < 0n) sum.paidRaw -= raw
  else sum.receivedRaw += raw
  if (raw > 0n && isCollect) sum.feesRaw += raw
}

function at<V>(all: Map<string, V>, names: readonly string[], make: () => V): V {
  const key = names.join(' ')
  const found = all.get(key) ?? make()
  all.set(key, found)
  return found
}

/** Amounts of one token have as many decimals as the token, so this happens once. */
function rescale(pair: PairBook, baseDecimals: number, quoteDecimals: number): void {
  if (baseDecimals === pair.baseDecimals && quoteDecimals === pair.quoteDecimals) return
  const [base, quote] = [10n ** BigInt(baseDecimals - pair.baseDecimals), 10n ** BigInt(quoteDecimals - pair.quoteDecimals)]
  Object.assign(pair, {
    baseDecimals,
    quoteDecimals,
    boughtRaw: pair.boughtRaw * base,
    soldRaw: pair.soldRaw * base,
    spentRaw: pair.spentRaw * quote,
    receivedRaw: pair.receivedRaw * quote,
  })
  for (const position of [pair.average, pair.fifo]) position.rescale(base, quote)
}

const rawOf = ({ digits, scale }: DecimalParts, decimals: number): bigint => digits * 10n ** BigInt(decimals - scale)

function plus(one: DecimalParts, other: DecimalParts): DecimalParts {
  const scale = Math.max(one.scale, other.scale)
  return { digits: rawOf(one, scale) + rawOf(other, scale), scale }
}
