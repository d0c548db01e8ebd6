// What trades earned, hour by hour, for a plot: `/books` has the amounts to the unit.
import { quoteTokenOf, type Transaction } from './transaction-words.ts'

/** A trade that has its fill, in shares for the eye. */
interface Trade {
  readonly pair: string
  readonly quote: string
  readonly at: number
  /** Above 0 it was bought. */
  readonly base: number
  readonly price: number
}

/**
 * The profit of each hour in each quote token: what was sold, or bought back, less what that had cost on average since the first trade here. Gas is
 * in none of it.
 * @param from the beginning of the first hour, in milliseconds
 */
export function profitByHour(
  trades: readonly Transaction[],
  { from, hours, hourMs }: { from: number; hours: number; hourMs: number },
): { readonly quote: string; readonly values: number[] }[] {
  const profits = new Map<string, number[]>()
  const held = new Map<string, { base: number; cost: number }>()
  const inOrder = trades.flatMap(tradeOf).toSorted((one, other) => one.at - other.at)
  for (const { pair, quote, at, base, price } of inOrder) {
    const position = held.get(pair) ?? { base: 0, cost: 0 }
    held.set(pair, position)
    const closed = position.base * base < 0 ? Math.sign(base) * Math.min(Math.abs(base), Math.abs(position.base)) : 0
    const hour = Math.floor((at - from) / hourMs)
    if (closed !== 0) {
      const average = position.cost / position.base
      const values = profits.get(quote) ?? Array.from({ length: hours }, () => 0)
      profits.set(quote, values)
      // What is closed of a long position is sold, and below 0.
      if (hour >= 0 && hour < hours) values[hour] = (values[hour] ?? 0) - closed * (price - average)
      position.cost += closed * average
    }
    position.cost += (base - closed) * price
    position.base += base
  }
  return [...profits].map(([quote, values]) => ({ quote, values }))
}

function tradeOf(transaction: Transaction): Trade[] {
  const { fill, request, chain, network, createdAt } = transaction
  const { base, side }: Readonly<Record<string, unknown>> = Object(request?.fields)
  const quote = quoteTokenOf(transaction)
  if (!fill || !('amountIn' in fill) || typeof base !== 'string' || quote === undefined) return []
  const [isBuy, price] = [side === 'BUY', Number(fill.price)]
  const amount = Number(isBuy ? fill.amountOut : fill.amountIn)
  if (!(amount > 0 && price > 0)) return []
  return [{ pair: [chain, network, base, quote].join(' '), quote, at: createdAt, base: isBuy ? amount : -amount, price }]
}
