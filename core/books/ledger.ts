// The ledger of a final transaction, one line for each token: the sum of a wallet's lines of a token is the change of its balance by these transactions. Pure.
import { formatDecimal } from '../base/decimal.ts'
import { addressKey, isSameAddress } from '../base/addresses.ts'
import type { Token } from '../contracts/index.ts'
import type { OrderFill } from '../transactions/order-fills.ts'
import { isFinal, txHashOf, type Entry } from '../transactions/entry.ts'
import { lineOf, textIn, type LiquidityChange, type LineReaders } from './book-lines.ts'
import { orderTradesOf, rawOf, type OrderTrade } from './trades.ts'

/**
 * `moved`: by the transaction itself. `fee`: what the network took. `poolFees`: of what a position paid out, the part that is fees. `fill`: an order was filled
 * by the transaction of somebody else. `received`: from another wallet of the server.
 */
export type LedgerPart = 'moved' | 'fee' | 'poolFees' | 'fill' | 'received'

export interface LedgerLine {
  /** Milliseconds since the Unix epoch: of the request; of a fill when it was filled. */
  readonly atMs: number
  readonly wallet: string
  /** The exchange that holds it; absent: the wallet itself. */
  readonly heldBy?: string
  readonly part: LedgerPart
  /** Its address; of an exchange with tokens of its own its symbol. */
  readonly token: string
  /** In the smallest unit, where the token counts in units. Below 0 it left. Absent with a `note`: nobody knows it. */
  readonly rawChange?: bigint
  /** As a decimal; absent of a token that is on no list. */
  readonly change?: string
  readonly symbol?: string
  readonly counterparty?: string
  readonly order?: string
  readonly txHash?: string
  readonly note?: string
}

export interface LedgerReaders extends LineReaders {
  tokenAt(entry: Entry, address: string): Pick<Token, 'symbol' | 'decimals'> | undefined
  coinOf(entry: Entry): Pick<Token, 'address' | 'symbol' | 'decimals'> | undefined
  /** Whether a transaction of the same wallet made the fill: then what it moved is there. */
  isOwn(entry: Entry, fill: OrderFill): boolean
  isWallet(entry: Entry, address: string): boolean
}

/** The act of a transaction in one word: wraps and unwraps, deposits and withdrawals have words of their own. */
export function actOf({ kind, request, movements = {} }: Pick<Entry, 'kind' | 'request' | 'movements'>, coin?: string): string {
  const { path = '', fields = {} } = request ?? {}
  const side = fields['side']
  if (kind === 'trade') return side === 'BUY' || side === 'SELL' ? side.toLowerCase() : kind
  if (!['wrap', 'collateral', 'funds', 'liquidity', 'position'].includes(kind)) return kind
  if (path !== '') return path.slice(path.lastIndexOf('/') + 1)
  // Entries of earlier versions have no request.
  const isIn = Object.entries(movements).some(([token, raw]) => raw !== null && !raw.startsWith('-') && (kind !== 'wrap' || token === coin))
  return { wrap: isIn ? 'unwrap' : 'wrap', collateral: isIn ? 'withdraw' : 'deposit' }[kind as string] ?? kind
}

/** Empty where it is not final, or changed nothing. */
export function ledgerLines(entry: Entry, readers: LedgerReaders): readonly LedgerLine[] {
  const line = lineOf(entry, readers)
  if (!line || !isFinal(entry)) return []
  const txHash = txHashOf(entry)
  const base = { atMs: entry.createdAt, wallet: entry.address, ...(txHash !== undefined && { txHash }) }
  const unknown = (part: LedgerPart, token: string, note: string): LedgerLine => ({ ...base, part, token, note })
  const coin = readers.coinOf(entry)
  const to = entry.kind === 'send' ? textIn(entry.request?.fields, 'to') : undefined
  const known = (part: LedgerPart, token: string, rawChange: bigint): LedgerLine => ({
    ...base,
    part,
    token,
    rawChange,
    ...shown(rawChange, coin?.address === token ? coin : readers.tokenAt(entry, token)),
    ...(to !== undefined && part === 'moved' && { counterparty: to }),
  })
  const moved = Object.entries(line.movements ?? {}).flatMap(([token, text]): LedgerLine[] => {
    if (text === null) return [unknown('moved', token, 'it may have moved the coin, and nobody could tell how much')]
    const raw = BigInt(text)
    const feesRaw = line.liquidity ? poolFeesIn(line.liquidity, token, raw) : 0n
    return [
      ...(raw === feesRaw ? [] : [known('moved', token, raw - feesRaw)]),
      ...(feesRaw === 0n ? [] : [known('poolFees', token, feesRaw)]),
    ]
  })
  const ownToken = coin?.address ?? ''
  return [
    ...moved,
    ...(line.lacksMovements ? [unknown('moved', '', 'nothing tells what it moved')] : []),
    ...received(entry, to, moved, readers),
    ...(line.feeRaw === undefined ? [] : line.feeRaw === 0n ? [] : [known('fee', ownToken, -line.feeRaw)]),
    ...(line.lacksFee ? [unknown('fee', ownToken, 'its receipt does not say what it cost')] : []),
    ...fillLines(entry, readers),
  ]
}

/** A wallet of the server that another one sent to. Tokens that keep a part of what is sent bring less. */
function received(entry: Entry, to: string | undefined, moved: readonly LedgerLine[], { isWallet }: LedgerReaders): readonly LedgerLine[] {
  if (to === undefined || isSameAddress(to, entry.address) || !isWallet(entry, to)) return []
  return moved.map(({ rawChange, change, ...line }) => ({
    ...line,
    wallet: to,
    counterparty: entry.address,
    part: 'received',
    ...(rawChange !== undefined && { rawChange: -rawChange }),
    ...(change !== undefined && { change: change.startsWith('-') ? change.slice(1) : `-${change}` }),
  }))
}

/** The position itself, and shares, are no fees. */
function poolFeesIn({ isCollect, fees, id }: LiquidityChange, token: string, raw: bigint): bigint {
  if (raw <= 0n || token.includes('/') || addressKey(token) === addressKey(id)) return 0n
  if (isCollect) return raw
  return fees === undefined || fees === 'unknown' ? 0n : (fees[token] ?? 0n)
}

/**
 * An exchange on a chain keeps what an order pays from when it is placed, and what it brings comes with the transaction of who takes it. Elsewhere both sides
 * change at the exchange; perpetuals change no token.
 */
function fillLines(entry: Entry, readers: LedgerReaders): readonly LedgerLine[] {
  const { orders = [], connector } = entry
  return orders.flatMap((order): LedgerLine[] => {
    const found = orderTradesOf({ ...entry, orders: [order] }, readers.tokenOf)
    const lines = (found?.trades ?? []).flatMap((trade, index): readonly LedgerLine[] => {
      const fill = order.fills[index]
      if (!fill || trade.perpetual || connector === undefined) return []
      return trade.trade.venue === undefined ? onChain(entry, fill, trade, readers) : atExchange(entry, fill, trade, connector)
    })
    const lacking: readonly LedgerLine[] = found?.lacks
      ? [
          {
            atMs: entry.createdAt,
            wallet: entry.address,
            part: 'fill',
            token: '',
            note: 'more was filled than is known fill by fill',
          },
        ]
      : []
    return [...lines, ...lacking].map((line): LedgerLine => ({ ...line, order: order.clientOrderId }))
  })
}

function onChain(entry: Entry, fill: OrderFill, { atMs, trade }: OrderTrade, readers: LedgerReaders): readonly LedgerLine[] {
  if (fill.txHash === undefined || readers.isOwn(entry, fill)) return []
  const [token, amount] = trade.side === 'BUY' ? [trade.base, trade.baseAmount] : [trade.quote, trade.quoteAmount]
  const listed = readers.tokenAt(entry, token)
  const common = { atMs, wallet: entry.address, part: 'fill' as const, token, txHash: fill.txHash }
  if (!listed || amount.scale > listed.decimals) return [{ ...common, note: 'the token is on no list' }]
  const rawChange = rawOf(amount, listed.decimals)
  return [{ ...common, rawChange, ...shown(rawChange, listed) }]
}

function atExchange(entry: Entry, fill: OrderFill, { atMs, trade }: OrderTrade, heldBy: string): readonly LedgerLine[] {
  const isBuy = trade.side === 'BUY'
  const common = { atMs, wallet: entry.address, heldBy, ...(fill.txHash !== undefined && { txHash: fill.txHash }) }
  const line = (part: LedgerPart, token: string, amount: string): LedgerLine => ({ ...common, part, token, symbol: token, change: amount })
  const signed = (amount: { digits: bigint; scale: number }, isIn: boolean) =>
    formatDecimal(isIn ? amount : { ...amount, digits: -amount.digits })
  return [
    line('fill', trade.base, signed(trade.baseAmount, isBuy)),
    line('fill', trade.quote, signed(trade.quoteAmount, !isBuy)),
    ...(trade.otherFee ? [line('fill', trade.otherFee.token, signed(trade.otherFee.amount, false))] : []),
  ]
}

const shown = (raw: bigint, token: Pick<Token, 'symbol' | 'decimals'> | undefined) =>
  token && { symbol: token.symbol, change: formatDecimal({ digits: raw, scale: token.decimals }) }
