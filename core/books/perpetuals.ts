// The perpetuals of a book: on a chain by what receipts say of each change, in order books by the average cost of what was filled, wallet by wallet. Pure.
import { addressKey } from '../base/addresses.ts'
import type { DecimalParts } from '../base/decimal.ts'
import type { OnNetwork, Perpetual } from './book-lines.ts'
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
}

interface FilledWallet {
  /** When one of its orders was filled first, milliseconds since the Unix epoch. */
  firstMs: number
  /** Of base: bought less sold. */
  net: DecimalParts
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
  takeFill(on: OnNetwork, fill: OrderTrade, perpetual: OrderPerpetual): void
  /** Made where there is none yet. */
  of(name: PerpetualName): PerpetualBook
  readonly all: ReadonlyMap<string, PerpetualBook>
}

const noAmount: DecimalParts = { digits: 0n, scale: 0 }

export function createPerpetuals(): Perpetuals {
  const all = new Map<string, PerpetualBook>()
  const positions = new Map<string, BookPosition>()

  function takeFill(on: OnNetwork, { atMs, trade }: OrderTrade, { connector, market, address, fee }: OrderPerpetual): void {
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
    const sum = take(on, { connector, market, fee, realizedProfit: plus(gained, { ...fee, digits: -fee.digits }) })
    const wallet = at(sum.wallets, [address], () => ({ firstMs: atMs, net: noAmount }))
    wallet.firstMs = Math.min(wallet.firstMs, atMs)
    wallet.net = plus(wallet.net, side === 'BUY' ? baseAmount : { ...baseAmount, digits: -baseAmount.digits })
  }

  function take({ chain, network }: OnNetwork, of: Perpetual): PerpetualBook {
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
    }))
  }

  return { take, takeFill, of: perpetualOf, all }
}

/** Each above 0 was received, each below 0 paid. */
export function addFunding(perpetual: PerpetualBook, amounts: readonly DecimalParts[]): void {
  for (const amount of amounts) {
    perpetual.funding = plus(perpetual.funding, amount)
    perpetual.realizedProfit = plus(perpetual.realizedProfit, amount)
  }
}
