// The sums of many transactions: what moved of each token, what trades earned, fees, perpetuals and liquidity. Pure: entries come in the order of time.
import type { DecimalParts } from '../base/decimal.ts'
import { addressKey } from '../base/addresses.ts'
import type { BookLine, LiquidityChange, OnNetwork } from './book-lines.ts'
import { createFillQueue } from './fill-queue.ts'
import { createPerpetuals, type PerpetualBook, type PerpetualName } from './perpetuals.ts'
import { createPosition, type Position } from './profit.ts'
import { at, plus, rawOf, type OrderTrade, type Trade } from './trades.ts'

export interface PairBook extends OnNetwork {
  /** Addresses; with a `venue` symbols. */
  readonly base: string
  readonly quote: string
  readonly venue: string | undefined
  trades: number
  /** What exchanges took in other tokens, by symbol. */
  readonly otherFees: Map<string, DecimalParts>
  baseDecimals: number
  quoteDecimals: number
  boughtRaw: bigint
  spentRaw: bigint
  soldRaw: bigint
  receivedRaw: bigint
  readonly average: Position
  readonly fifo: Position
  /** What was held before, and what it had cost: in the positions, and in no sum of trades. */
  openingRaw: bigint
  openingCostRaw: bigint
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

export interface LiquidityBook extends OnNetwork {
  readonly connector: string
  readonly id: string
  readonly version: string | undefined
  /** And not the shares of a pool. */
  readonly isPosition: boolean
  /** Whose transactions changed it, by `addressKey`. */
  readonly wallets: Set<string>
  liquidity: DecimalParts
  /** By the chain, where it is open by its transactions: `emptied`, `burnt` or `given to` somebody. */
  ended?: string
  /** Why nobody knows that. */
  notCompared?: string
  /** Of one of its transactions nobody knows all that it moved. */
  lacksMovements: boolean
  /** A removal has paid out fees with the rest, and nothing tells how much. */
  lacksFees: boolean
  /** By token: what was paid in and taken out, and what of that was fees. */
  readonly tokens: Map<string, { paidRaw: bigint; receivedRaw: bigint; feesRaw: bigint }>
}

export interface Book {
  take(line: BookLine): void
  /** What no line has. It waits until the lines come to its time. */
  addFill(on: OnNetwork, fill: OrderTrade): void
  /** No more lines come: what was filled since the last of them counts, too. */
  finish(): void
  readonly pairs: ReadonlyMap<string, PairBook>
  readonly tokens: ReadonlyMap<string, TokenBook>
  readonly fees: ReadonlyMap<string, FeeBook>
  readonly perpetuals: ReadonlyMap<string, PerpetualBook>
  /** Made where there is none yet. */
  perpetualOf(name: PerpetualName): PerpetualBook
  readonly liquidity: ReadonlyMap<string, LiquidityBook>
  /** Transactions of which the sums lack something. */
  readonly lacking: { movements: number; coin: number; fills: number; fees: number }
}

const noAmount: DecimalParts = { digits: 0n, scale: 0 }

/**
 * @param isWhole it has all that its wallets ever did: else they may hold what they held before, or what others asked for
 * @param tokenOf the token in whose place a token is traded, as the wrapped coin for the coin
 */
export function createBook({
  isWhole = true,
  tokenOf = (_on, token) => token,
}: { readonly isWhole?: boolean; readonly tokenOf?: (on: OnNetwork, token: string) => string } = {}): Book {
  const pairs = new Map<string, PairBook>()
  const tokens = new Map<string, TokenBook>()
  const fees = new Map<string, FeeBook>()
  const perpetuals = createPerpetuals({ isWhole })
  const liquidity = new Map<string, LiquidityBook>()
  /** The last that was named of a position. */
  const versions = new Map<string, string | undefined>()
  const lacking = { movements: 0, coin: 0, fills: 0, fees: 0 }
  const fillQueue = createFillQueue()

  function takeTrade({ chain, network }: OnNetwork, trade: Trade, isOpening = false): void {
    const { venue, side, baseAmount, quoteAmount, otherFee } = trade
    const known = (token: string) => (venue === undefined ? tokenOf({ chain, network }, token) : token)
    const [base, quote] = [known(trade.base), known(trade.quote)]
    // A trade of the coin for its wrapped form, where both are one.
    if (addressKey(base) === addressKey(quote)) return
    const pair = at(pairs, [chain, network, addressKey(base), addressKey(quote), venue ?? ''], () => ({
      chain,
      network,
      base,
      quote,
      venue,
      trades: 0,
      otherFees: new Map(),
      baseDecimals: 0,
      quoteDecimals: 0,
      boughtRaw: 0n,
      spentRaw: 0n,
      soldRaw: 0n,
      receivedRaw: 0n,
      average: createPosition('average'),
      fifo: createPosition('fifo'),
      openingRaw: 0n,
      openingCostRaw: 0n,
    }))
    rescale(pair, Math.max(pair.baseDecimals, baseAmount.scale), Math.max(pair.quoteDecimals, quoteAmount.scale))
    const [baseRaw, quoteRaw] = [rawOf(baseAmount, pair.baseDecimals), rawOf(quoteAmount, pair.quoteDecimals)]
    if (isOpening) {
      pair.openingRaw += baseRaw
      pair.openingCostRaw += quoteRaw
      for (const position of [pair.average, pair.fifo]) position.buy(baseRaw, quoteRaw)
      return
    }
    pair.trades += 1
    if (otherFee) pair.otherFees.set(otherFee.token, plus(pair.otherFees.get(otherFee.token) ?? noAmount, otherFee.amount))
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

  function takeFill(on: OnNetwork, fill: OrderTrade): void {
    if (fill.perpetual) perpetuals.takeFill(on, fill, fill.perpetual)
    else takeTrade(on, fill.trade, fill.isOpening)
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
      if (change) addToPosition(positionOf({ chain, network }, change), token, raw, change)
    }
  }

  function positionOf({ chain, network }: OnNetwork, { connector, id, version, isPosition, address }: LiquidityChange): LiquidityBook {
    const name = [chain, network, connector, addressKey(id)].join(' ')
    const of = version ?? versions.get(name)
    versions.set(name, of)
    const book: LiquidityBook = at(liquidity, [name, of ?? ''], () => ({
      chain,
      network,
      connector,
      id,
      version: of,
      isPosition,
      wallets: new Set(),
      liquidity: noAmount,
      lacksMovements: false,
      lacksFees: false,
      tokens: new Map(),
    }))
    book.wallets.add(addressKey(address))
    return book
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
      // What orders filled before it was requested comes before it.
      for (const { on, fill } of fillQueue.takeUntil(line.atMs)) takeFill(on, fill)
      for (const fill of line.fills ?? []) fillQueue.add({ on: { chain, network }, fill })
      if (trade === 'unknown' || line.lacksFills) lacking.fills += 1
      if (trade && trade !== 'unknown') takeTrade(line, trade)
      if (perpetual) perpetuals.take(line, perpetual)
      if (line.withdrawal) perpetuals.takeWithdrawal(line, line.withdrawal)
      if (change) {
        const position = positionOf(line, change)
        position.liquidity = plus(position.liquidity, change.liquidity)
        if (!line.movements) position.lacksMovements = true
        if (change.fees === 'unknown') position.lacksFees = true
      }
      takeMovements(line)
    },
    addFill: (on, fill) => fillQueue.add({ on, fill }),
    finish() {
      for (const { on, fill } of fillQueue.takeUntil(Infinity)) takeFill(on, fill)
    },
    pairs,
    tokens,
    fees,
    perpetuals: perpetuals.all,
    perpetualOf: perpetuals.of,
    liquidity,
    lacking,
  }
}

function addToPosition({ tokens, id }: LiquidityBook, token: string, raw: bigint, { isCollect, fees }: LiquidityChange): void {
  // The position itself, or its shares.
  if (token.includes('/') || addressKey(token) === addressKey(id)) return
  const sum = tokens.get(token) ?? { paidRaw: 0n, receivedRaw: 0n, feesRaw: 0n }
  tokens.set(token, sum)
  if (raw < 0n) sum.paidRaw -= raw
  else sum.receivedRaw += raw
  if (raw > 0n && isCollect) sum.feesRaw += raw
  else if (fees !== undefined && fees !== 'unknown') sum.feesRaw += fees[token] ?? 0n
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
    openingRaw: pair.openingRaw * base,
    openingCostRaw: pair.openingCostRaw * quote,
  })
  for (const position of [pair.average, pair.fifo]) position.rescale(base, quote)
}
