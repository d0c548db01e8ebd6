// The perpetuals of a book: on a chain by what receipts say of each change, in order books by the average cost of what was filled, wallet by wallet. Pure.
import { addressKey } from '../base/addresses.ts'
import type { DecimalParts } from '../base/decimal.ts'
import type { OnNetwork, Perpetual, Withdrawal } from './book-lines.ts'
import { createPosition, type Position } from './profit.ts'
import { at, plus, rawOf, type OrderPerpetual, type OrderTrade } from './trades.ts'

export interface PerpetualBook extends OnNetwork {
  readonly connector: string
  readonly market: string
  fills: number
  fee: DecimalParts
  /** Below 0 more was paid than received. */
  funding: DecimalParts
  /** Why `funding` lacks something. */
  noFunding: string | undefined
  /** Fees and funding included. */
  realizedProfit: DecimalParts
  /** Why `fills` and with them the profit lack something. */
  lacksFills: string | undefined
  /** Of order books: whose orders were filled. */
  readonly wallets: Map<string, FilledWallet>
  /** Of changes on a chain, by wallet. */
  readonly changed: Map<string, ChangedWallet>
  /** Of `fills`: what the exchange liquidated. */
  liquidations: number
}

interface ChangedWallet {
  /** Of the first change. */
  readonly blockNumber: number
  /** Of base, bought less sold; undefined where a change does not tell it. */
  net: DecimalParts | undefined
  /** Of which blocks it is not known what the exchange liquidated. */
  unsearched?: string | undefined
}

/** What an exchange on a chain liquidated of a wallet's position. */
export type Liquidation = Required<Pick<Perpetual, 'fee' | 'realizedProfit' | 'funding'>> & {
  readonly change: { readonly side: 'LONG' | 'SHORT'; readonly size: DecimalParts }
}

interface FilledWallet {
  /** When one of its orders was filled first, milliseconds since the Unix epoch. */
  firstMs: number
  /** Of base: bought less sold. */
  net: DecimalParts
  /** Why it is not known what the exchange liquidated. */
  unknownLiquidations?: string | undefined
}

export type PerpetualName = OnNetwork & Pick<PerpetualBook, 'connector' | 'market'>

/** A wallet's position in a perpetual of order books, by what its orders filled. */
interface BookPosition {
  readonly position: Position
  baseDecimals: number
  quoteDecimals: number
}

export interface Perpetuals {
  take(on: OnNetwork, perpetual: Perpetual): void
  takeWithdrawal(on: OnNetwork, of: Withdrawal): void
  takeFill(on: OnNetwork, fill: OrderTrade, perpetual: OrderPerpetual): void
  /** Made where there is none yet. */
  of(name: PerpetualName): PerpetualBook
  readonly all: ReadonlyMap<string, PerpetualBook>
}

const settledByWithdrawal = 'a withdrawal of collateral settled what was due until then, and no receipt that the book reads tells how much'
const walletOf = ({ chain, network }: OnNetwork, { connector, address }: Withdrawal): string =>
  [chain, network, connector, addressKey(address)].join(' ')

const noAmount: DecimalParts = { digits: 0n, scale: 0 }

/** @param isWhole as of the book */
export function createPerpetuals({ isWhole }: { readonly isWhole: boolean }): Perpetuals {
  /** Wallets of which collateral was withdrawn. */
  const withdrawn = new Set<string>()
  const all = new Map<string, PerpetualBook>()
  const positions = new Map<string, BookPosition>()

  function takeFill(on: OnNetwork, { atMs, trade }: OrderTrade, { connector, market, address, fee, isLiquidation }: OrderPerpetual): void {
    const { side, baseAmount, quoteAmount } = trade
    const of = at(positions, [on.chain, on.network, connector, market, addressKey(address)], () => ({
      position: createPosition('average'),
      baseDecimals: 0,
      quoteDecimals: 0,
    }))
    const [baseDecimals, quoteDecimals] = [Math.max(of.baseDecimals, baseAmount.scale), Math.max(of.quoteDecimals, quoteAmount.scale)]
    of.position.rescale(10n ** BigInt(baseDecimals - of.baseDecimals), 10n ** BigInt(quoteDecimals - of.quoteDecimals))
    Object.assign(of, { baseDecimals, quoteDecimals })
    const beforeRaw = of.position.realizedRaw
    const [baseRaw, quoteRaw] = [rawOf(baseAmount, baseDecimals), rawOf(quoteAmount, quoteDecimals)]
    if (side === 'BUY') of.position.buy(baseRaw, quoteRaw)
    else of.position.sell(baseRaw, quoteRaw)
    const gained = { digits: of.position.realizedRaw - beforeRaw, scale: quoteDecimals }
    const sum = add(on, { connector, market, fee, realizedProfit: plus(gained, { ...fee, digits: -fee.digits }) })
    if (isLiquidation) sum.liquidations += 1
    const wallet = at(sum.wallets, [address], (): FilledWallet => ({ firstMs: atMs, net: noAmount }))
    wallet.firstMs = Math.min(wallet.firstMs, atMs)
    wallet.net = plus(wallet.net, side === 'BUY' ? baseAmount : { ...baseAmount, digits: -baseAmount.digits })
  }

  function take(on: OnNetwork, of: Perpetual): void {
    const sum = add(on, of)
    // What is older than the book was settled by a withdrawal before its first change in it.
    if (!isWhole && withdrawn.has(walletOf(on, of))) sum.noFunding ??= settledByWithdrawal
    const wallet = at(sum.changed, [of.address], () => ({ blockNumber: of.blockNumber, net: noAmount }))
    wallet.net &&= of.change && changedBy(wallet.net, of.change)
  }

  function takeWithdrawal(on: OnNetwork, of: Withdrawal): void {
    withdrawn.add(walletOf(on, of))
    for (const perpetual of all.values()) {
      if (perpetual.chain !== on.chain || perpetual.network !== on.network || perpetual.connector !== of.connector) continue
      const wallet = perpetual.changed.get(of.address)
      // Nothing is due of what is closed.
      if (wallet && !(isWhole && wallet.net?.digits === 0n)) perpetual.noFunding ??= settledByWithdrawal
    }
  }

  function add({ chain, network }: OnNetwork, of: Omit<Perpetual, 'address' | 'change' | 'blockNumber'>): PerpetualBook {
    const { connector, market, fee, realizedProfit, funding = noAmount } = of
    const sum = perpetualOf({ chain, network, connector, market })
    sum.fills += 1
    sum.fee = plus(sum.fee, fee)
    sum.realizedProfit = plus(sum.realizedProfit, realizedProfit)
    addFunding(sum, [funding])
    if (of.lacksFunding) sum.noFunding = 'an earlier version has not kept what some of its transactions settled'
    return sum
  }

  function perpetualOf({ chain, network, connector, market }: PerpetualName): PerpetualBook {
    return at(all, [chain, network, connector, market], () => ({
      chain,
      network,
      connector,
      market,
      fills: 0,
      fee: noAmount,
      funding: noAmount,
      noFunding: undefined,
      realizedProfit: noAmount,
      lacksFills: undefined,
      wallets: new Map(),
      changed: new Map(),
      liquidations: 0,
    }))
  }

  return { take, takeWithdrawal, takeFill, of: perpetualOf, all }
}

/** Undefined where it closed what others opened. */
function changedBy(net: DecimalParts, { side, size }: NonNullable<Perpetual['change']>): DecimalParts | undefined {
  if (side === 'close' && net.digits === 0n) return undefined
  return plus(net, side === 'LONG' || (side === 'close' && net.digits < 0n) ? size : { ...size, digits: -size.digits })
}

/** Each above 0 was received, each below 0 paid. */
export function addFunding(perpetual: PerpetualBook, amounts: readonly DecimalParts[]): void {
  for (const amount of amounts) {
    perpetual.funding = plus(perpetual.funding, amount)
    perpetual.realizedProfit = plus(perpetual.realizedProfit, amount)
  }
}

export function addLiquidation(
  perpetual: PerpetualBook,
  wallet: ChangedWallet,
  { change, fee, realizedProfit, funding }: Liquidation,
): void {
  perpetual.fills += 1
  perpetual.liquidations += 1
  perpetual.fee = plus(perpetual.fee, fee)
  perpetual.realizedProfit = plus(perpetual.realizedProfit, realizedProfit)
  addFunding(perpetual, [funding])
  wallet.net &&= changedBy(wallet.net, change)
}
