import type { Evm } from 'sluice/evm'
import { badFields, SluiceError } from 'sluice/plugin'
import type { At, BookAction, BookMarket, CLOB, MarginCLOB, MarginMove, PerpCLOB, VenuePlan } from 'sluice/plugin'
import { isShared, readMode, requireMargin } from './accounts/account-mode.ts'
import { activeAsset } from './accounts/account-answers.ts'
import { readPayments } from './accounts/funding.ts'
import { readMarginAccount } from './accounts/margin-account.ts'
import { amountAt, refuseDeposit, spotWithdrawal, withdrawal } from './accounts/moves.ts'
import { perpAccountOf, perpBalancesOf, readPerpState, readPositions } from './accounts/perp-account.ts'
import { readPerpPrices } from './accounts/perp-prices.ts'
import { readSpotState, spotBalancesOf } from './accounts/spot-balances.ts'
import type { Exchange } from './exchange.ts'
import type { Listed } from './markets/markets.ts'
import { listedOf, plansOf, venuePlan } from './orders/act.ts'
import type { VenueActions } from './orders/act.ts'
import { readOrders } from './orders/book-orders.ts'
import { readTrades } from './orders/book-trades.ts'
import { outcomeOf } from './orders/outcome.ts'

type Book = Omit<CLOB<Evm>, 'move' | 'balances'>

/** What is the same for all markets of the exchange. */
function bookOf(
  exchange: Exchange,
  kind: Listed['kind'],
  before: (owner: string, actions: readonly BookAction[], at: At) => Promise<void>,
): Book {
  const { ask, listing, ownerOf, signerOf, clock, ttlMs } = exchange
  const own = async (at: At) => new Map([...(await listing(at)).byId].filter(([, listed]) => listed.kind === kind))
  return {
    markets: async (at) => [...(await own(at)).values()].map(({ market }) => market),
    books: exchange.books,
    orders: async (owner, { market, names }, at) =>
      readOrders(ask, { owner: ownerOf(owner), markets: await own(at), ...(market && { market }), ...(names && { names }) }, at),
    trades: ({ owner, ...query }, at) => readTrades(ask, { ...query, ...(owner !== undefined && { user: ownerOf(owner).user }) }, at),
    async act(owner, actions, at): Promise<readonly VenueActions[]> {
      const [listed] = await Promise.all([listing(at), clock.aheadMs(at), before(owner, actions, at)])
      const signer = signerOf(owner)
      const expiresAfter = clock.nowMs() + ttlMs
      return plansOf(actions, { owner: ownerOf(owner), ...(signer !== undefined && { signer }), listing: listed, expiresAfter })
    },
    outcome: outcomeOf,
  }
}

export function spot(exchange: Exchange): CLOB<Evm> {
  const { ask, ownerOf, network } = exchange
  return {
    ...bookOf(exchange, 'spot', async (_, actions) => refuseLeverage(actions)),
    balances: async (owner, at) => spotBalancesOf(await readSpotState(ask, ownerOf(owner).user, at)),
    async move(token, amountRaw, how, owner, at) {
      if (how === 'deposit') refuseDeposit(network)
      const { user } = ownerOf(owner)
      return isShared(await readMode(ask, user, at)) ? withdrawal(token, amountRaw, user) : spotWithdrawal(token, amountRaw, user)
    },
  }
}

export function perpetual(exchange: Exchange): PerpCLOB<Evm> {
  const { ask, ownerOf, network, listing, clock } = exchange
  return {
    ...bookOf(exchange, 'perp', (owner, actions, at) => requireLeverage(exchange, owner, actions, at)),
    balances: async (owner, at) => perpBalancesOf(await readPerpState(ask, ownerOf(owner).user, at)),
    async move(token, amountRaw, how, owner) {
      return how === 'deposit' ? refuseDeposit(network) : withdrawal(token, amountRaw, ownerOf(owner).user)
    },
    positions: async (owner, at) => readPositions(ask, ownerOf(owner).user, await listing(at), at),
    account: async (owner, at) => perpAccountOf(await readPerpState(ask, ownerOf(owner).user, at)),
    leverage: (market, leverage, marginMode, owner, at) => leveragePlan(exchange, market, leverage, marginMode, owner, at),
    prices: (market, at) => readPerpPrices(ask, market, clock.nowMs(), at),
    fundingPayments: async (owner, query, at) => readPayments(ask, await listing(at), { user: ownerOf(owner).user, ...query }, at),
  }
}

export function margin(exchange: Exchange): MarginCLOB<Evm> {
  const { ask, ownerOf, listing } = exchange
  return {
    ...bookOf(exchange, 'spot', async (owner, actions, at) => {
      refuseLeverage(actions)
      await requireMargin(ask, ownerOf(owner).user, at)
    }),
    balances: async (owner, at) => spotBalancesOf(await readSpotState(ask, ownerOf(owner).user, at)),
    account: async (owner, at) => readMarginAccount(ask, ownerOf(owner).user, await listing(at), at),
    async move(token, amountRaw, how, owner, at) {
      const { user } = ownerOf(owner)
      const [listed] = await Promise.all([listing(at), requireMargin(ask, user, at)])
      const { of, amount } = amountAt(token, amountRaw, listed)
      const operation = operations[how]
      const trace = { of: 'borrowLend', operation, token: of.name, amount } as const
      return planOf(exchange, owner, { action: { type: 'borrowLend', operation, token: of.index, amount }, trace }, at)
    },
  }
}

const operations = { deposit: 'supply', withdraw: 'withdraw', borrow: 'borrow', repay: 'repay' } as const satisfies Record<
  MarginMove,
  string
>

async function planOf(
  { ownerOf, signerOf, clock, ttlMs }: Exchange,
  owner: string,
  what: Parameters<typeof venuePlan>[0],
  at: At,
): Promise<VenuePlan> {
  await clock.aheadMs(at)
  const signer = signerOf(owner)
  return venuePlan(what, { owner: ownerOf(owner), ...(signer !== undefined && { signer }), expiresAfter: clock.nowMs() + ttlMs }, null)
}

function refuseLeverage(actions: readonly BookAction[]): void {
  const some = actions.find(
    (action) => action.do === 'create' && (action.order.leverage !== undefined || action.order.reduceOnly !== undefined),
  )
  if (some)
    throw new SluiceError(
      'UNSUPPORTED',
      'Spot orders of Hyperliquid have no leverage and are not reduce-only: leave both out, or use /clob/perp.',
    )
}

/** Leverage belongs to a wallet's market there, and not to an order: one that is meant must be set. */
async function requireLeverage({ ask, ownerOf }: Exchange, owner: string, actions: readonly BookAction[], at: At): Promise<void> {
  const meant = new Map<string, string>()
  for (const action of actions)
    if (action.do === 'create' && action.order.leverage !== undefined) meant.set(action.market.id, action.order.leverage)
  const { user } = ownerOf(owner)
  await Promise.all(
    [...meant].map(async ([coin, leverage]) => {
      const { leverage: set } = await ask({ type: 'activeAssetData', user, coin }, activeAsset, at)
      if (String(set.value) === leverage) return
      throw new SluiceError(
        'TRADE_FAILED',
        `The leverage of ${coin} is ${set.value} for this wallet, and the order means ${leverage}: set it by POST /clob/perp/leverage first, or leave leverage out.`,
        { details: { reason: 'leverage', leverage: String(set.value) } },
      )
    }),
  )
}

async function leveragePlan(
  exchange: Exchange,
  { id }: BookMarket,
  leverage: string,
  marginMode: 'cross' | 'isolated' | undefined,
  owner: string,
  at: At,
): Promise<VenuePlan> {
  const { ask, listing, ownerOf } = exchange
  if (!/^[1-9]\d{0,3}$/.test(leverage)) throw badFields([{ field: 'leverage', problem: 'is a whole number at Hyperliquid, 1 or more' }])
  const [listed, set] = await Promise.all([
    listing(at),
    ask({ type: 'activeAssetData', user: ownerOf(owner).user, coin: id }, activeAsset, at),
  ])
  const { asset, onlyIsolated } = listedOf(id, listed)
  if (onlyIsolated && marginMode === 'cross') throw badFields([{ field: 'marginMode', problem: `${id} takes isolated margin only` }])
  const isCross = marginMode === undefined ? !onlyIsolated && set.leverage.type === 'cross' : marginMode === 'cross'
  const value = Number(leverage)
  return planOf(
    exchange,
    owner,
    {
      action: { type: 'updateLeverage', asset, isCross, leverage: value },
      trace: { of: 'leverage', coin: id, isCross, leverage: value },
    },
    at,
  )
}
