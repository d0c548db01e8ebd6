import { SluiceError } from 'sluice/plugin'
import type { At, BookAction, BookMarket, NewOrder } from 'sluice/plugin'
import { activeAsset } from '../accounts.ts'
import { readPerpState } from '../accounts/perp-account.ts'
import { readSpotState } from '../accounts/spot-balances.ts'
import type { Ask } from '../api.ts'
import { compare, divided, minus, plus, times } from '../decimal.ts'

const scale = 12

type Create = Extract<BookAction, { do: 'create' }>
const created = (actions: readonly BookAction[]): readonly Create[] => actions.flatMap((action) => (action.do === 'create' ? [action] : []))

/**
 * That the wallet has what the orders pay with, at the worst price that each allows: the exchange may fill them at it.
 * @throws SluiceError INSUFFICIENT_BALANCE
 */
export async function requireSpotFunds(ask: Ask, user: string, actions: readonly BookAction[], at: At): Promise<void> {
  const needed = new Map<string, string>()
  const atBounds = new Set<string>()
  for (const { market, order } of created(actions)) {
    const [token, amount] = order.side === 'BUY' ? [market.quote, times(order.price, order.amount)] : [market.base, order.amount]
    needed.set(token, plus(needed.get(token) ?? '0', amount))
    if (order.orderType === 'MARKET' && order.side === 'BUY') atBounds.add(token)
  }
  if (needed.size === 0) return
  const { balances } = await readSpotState(ask, user, at)
  for (const [token, amount] of needed) {
    const { total = '0', hold = '0' } = balances.find(({ coin }) => coin === token) ?? {}
    const current = minus(total, hold)
    if (compare(amount, current) <= 0) continue
    const bound = atBounds.has(token) ? ', for a MARKET order at its limitPrice' : ''
    throw new SluiceError(
      'INSUFFICIENT_BALANCE',
      `The wallet has ${current} ${token} free at Hyperliquid, and ${amount} are needed${bound}.`,
      { details: { token, current, needed: amount } },
    )
  }
}

/**
 * That there can be margin enough. What is free tells a cheap question for the most usual; where that is too little even at the market's
 * highest leverage, the exchange is asked how much this very side of the market may have.
 * @throws SluiceError INSUFFICIENT_MARGIN
 */
export async function requireMargin(ask: Ask, user: string, actions: readonly BookAction[], at: At): Promise<void> {
  const orders = created(actions).filter(({ order }) => order.reduceOnly !== true)
  if (orders.length === 0) return
  const { marginSummary, withdrawable } = await readPerpState(ask, user, at)
  const unused = minus(marginSummary.accountValue, marginSummary.totalMarginUsed)
  const free = compare(unused, withdrawable) > 0 ? unused : withdrawable
  const doubtful = orders.filter(({ market, order }) => compare(marginAt(market.maxLeverage ?? '1', order), free) > 0)
  await Promise.all(doubtful.map(({ market, order }) => requireSide(ask, user, market, order, at)))
}

async function requireSide(ask: Ask, user: string, { id }: BookMarket, order: NewOrder, at: At): Promise<void> {
  const { leverage, availableToTrade } = await ask({ type: 'activeAssetData', user, coin: id }, activeAsset, at)
  const [buys, sells] = availableToTrade
  const free = order.side === 'BUY' ? buys : sells
  const needed = marginAt(String(leverage.value), order)
  if (compare(needed, free) <= 0) return
  throw new SluiceError(
    'INSUFFICIENT_MARGIN',
    `The order needs ${needed} of margin at a leverage of ${leverage.value}, and ${free} is free.`,
    {
      details: { free, needed },
    },
  )
}

const marginAt = (leverage: string, { price, amount }: NewOrder): string => divided(times(price, amount), leverage, scale, 'up')
