import { evm, type Evm } from 'sluice/evm'
import {
  defineConnector,
  badFields,
  SluiceError,
  type At,
  type BookAction,
  type BookMarket,
  type CLOB,
  type MarginCLOB,
  type PerpCLOB,
  type VenuePlan,
} from 'sluice/plugin'
import {
  requireMode,
  activeAsset,
  readPayments,
  readMarginAccount,
  perpAccountOf,
  perpBalancesOf,
  readPerpState,
  readPositions,
  readPerpPrices,
  readSpotState,
  spotBalancesOf,
} from './accounts.ts'
import { agentKind, userSignedDomain, userSignedKinds } from './actions.ts'
import { schema, createExchange, type Exchange } from './exchange.ts'
import type { MarketEntry } from './markets.ts'
import { marketEntryOf, planActions, venuePlan, type VenueActions, outcomeOf, requireMargin, requireSpotFunds } from './order-plans.ts'
import { readOrders, readTrades } from './orders.ts'
import { amountAt, loan, depositFromEvm, depositOverBridge, withdrawal } from './transfers.ts'

const { withdraw3, usdClassTransfer } = userSignedKinds

export default defineConnector({
  family: evm,
  manifest: {
    name: 'hyperliquid',
    apiVersion: '1.0',
    trading_type: ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'],
    available_networks: [{ chain: 'hyperliquid', networks: ['mainnet', 'testnet'] }],
    schema,
    signs: [
      agentKind,
      { domain: userSignedDomain, primaryType: withdraw3.primaryType, own: ['destination'] },
      { domain: userSignedDomain, primaryType: usdClassTransfer.primaryType },
    ],
  },
  create(venue: Parameters<typeof createExchange>[0]) {
    const exchange = createExchange(venue)
    const { actions, start, stop } = exchange
    const spenders = { hyperliquid: exchange.coreDepositWallet }
    return { CLOB: spot(exchange), MARGIN_CLOB: margin(exchange), PERP_CLOB: perpetual(exchange), spenders, actions, start, stop }
  },
})

type Book = Omit<CLOB<Evm>, 'move' | 'balances'> & Required<Pick<CLOB<Evm>, 'depositFrom'>>

/** What is the same for all markets of the exchange. */
function bookOf(
  exchange: Exchange,
  kind: MarketEntry['kind'],
  before: (owner: string, actions: readonly BookAction[], at: At) => Promise<void>,
): Book {
  const { ask, listing, ownerOf, signerOf, clock, ttlMs } = exchange
  return {
    markets: async (at) => (await listing(at)).markets[kind],
    books: exchange.books,
    orders: async (owner, { market, names }, at) =>
      readOrders(ask, { owner: ownerOf(owner), kind, listing: await listing(at), ...(market && { market }), ...(names && { names }) }, at),
    trades: ({ owner, ...query }, at) => readTrades(ask, { ...query, ...(owner !== undefined && { user: ownerOf(owner).user }) }, at),
    async act(owner, actions, at): Promise<readonly VenueActions[]> {
      const [listed] = await Promise.all([listing(at), clock.aheadMs(at), before(owner, actions, at)])
      const signer = signerOf(owner)
      const expiresAfter = clock.nowMs() + ttlMs
      return planActions(actions, { owner: ownerOf(owner), ...(signer !== undefined && { signer }), listing: listed, expiresAfter })
    },
    outcome: outcomeOf,
    async depositFrom(chain, token, amountRaw, owner, at) {
      const { user, chain: own } = ownerOf(owner)
      if (chain !== own) return depositOverBridge({ ask, user, kind }, token, amountRaw, at)
      return depositFromEvm({ ask, user, kind }, token, amountRaw, exchange, at)
    },
  }
}

function spot(exchange: Exchange): CLOB<Evm> {
  const { ask, ownerOf } = exchange
  return {
    ...bookOf(exchange, 'spot', (owner, actions, at) => requireSpotFunds(ask, ownerOf(owner).user, actions, at)),
    balances: async (owner, at) => spotBalancesOf(await readSpotState(ask, ownerOf(owner).user, at)),
    async move(token, amountRaw, how, owner, at) {
      const { user } = ownerOf(owner)
      if (how === 'deposit') return depositFromEvm({ ask, user, kind: 'spot' }, token, amountRaw, exchange, at)
      return withdrawal(ask, 'spot', token, amountRaw, await leaving(exchange, owner, at), at)
    },
  }
}

function perpetual(exchange: Exchange): PerpCLOB<Evm> {
  const { ask, ownerOf, listing, clock } = exchange
  return {
    ...bookOf(exchange, 'perp', async (owner, actions, at) => {
      await Promise.all([requireLeverage(exchange, owner, actions, at), requireMargin(ask, ownerOf(owner).user, actions, at)])
    }),
    balances: async (owner, at) => perpBalancesOf(await readPerpState(ask, ownerOf(owner).user, at)),
    async move(token, amountRaw, how, owner, at) {
      const { user } = ownerOf(owner)
      if (how === 'deposit') return depositFromEvm({ ask, user, kind: 'perp' }, token, amountRaw, exchange, at)
      return withdrawal(ask, 'perp', token, amountRaw, await leaving(exchange, owner, at), at)
    },
    positions: async (owner, at) => readPositions(ask, ownerOf(owner).user, await listing(at), at),
    account: async (owner, at) => perpAccountOf(await readPerpState(ask, ownerOf(owner).user, at)),
    leverage: (market, leverage, marginMode, owner, at) => leveragePlan(exchange, market, leverage, marginMode, owner, at),
    prices: (market, at) => readPerpPrices(ask, market, clock.nowMs(), at),
    async fundingPayments(owner, query, at) {
      const [listed, nowMs] = await Promise.all([listing(at), clock.sync(at)])
      return readPayments(ask, listed, { ...query, user: ownerOf(owner).user, before: query.before ?? nowMs + 1 }, at)
    },
  }
}

function margin(exchange: Exchange): MarginCLOB<Evm> {
  const { ask, ownerOf, listing } = exchange
  const book = bookOf(exchange, 'spot', async (owner, actions, at) => {
    const { user } = ownerOf(owner)
    await Promise.all([requireMode(ask, user, at), requireSpotFunds(ask, user, actions, at)])
  })
  return {
    ...book,
    async depositFrom(chain, token, amountRaw, owner, at) {
      await requireMode(ask, ownerOf(owner).user, at)
      return book.depositFrom(chain, token, amountRaw, owner, at)
    },
    balances: async (owner, at) => spotBalancesOf(await readSpotState(ask, ownerOf(owner).user, at)),
    account: async (owner, at) => readMarginAccount(ask, ownerOf(owner).user, await listing(at), at),
    async move(token, amountRaw, how, owner, at) {
      const { user } = ownerOf(owner)
      const [listed] = await Promise.all([listing(at), requireMode(ask, user, at)])
      return planOf(exchange, owner, await loan(ask, user, amountAt(token, amountRaw, listed, exchange.tokens), how, at), at)
    },
  }
}

async function leaving({ ownerOf, clock, ttlMs, tokens }: Exchange, owner: string, at: At) {
  await clock.aheadMs(at)
  return { user: ownerOf(owner).user, deadline: Math.ceil((clock.nowMs() + ttlMs) / 1000), tokens }
}

async function planOf(
  { ownerOf, signerOf, clock, ttlMs }: Exchange,
  owner: string,
  what: Parameters<typeof venuePlan>[0],
  at: At,
): Promise<VenuePlan> {
  await clock.sync(at)
  const signer = signerOf(owner)
  return venuePlan(what, { owner: ownerOf(owner), ...(signer !== undefined && { signer }), expiresAfter: clock.nowMs() + ttlMs }, null)
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
  const { asset, onlyIsolated } = marketEntryOf(id, listed)
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
