import { evm, type Evm } from 'sluice/evm'
import {
  defineConnector,
  payerOf,
  SluiceError,
  type At,
  type BookAction,
  type CLOB,
  type MarginCLOB,
  type PerpCLOB,
  type VenuePlan,
} from 'sluice/plugin'
import {
  requireMode,
  readPayments,
  readMarginAccount,
  perpAccountOf,
  perpBalancesOf,
  readPerpState,
  readIndexPrices,
  readPositions,
  readPerpPrices,
  readSpotBalances,
  isShared,
  readMode,
} from './accounts.ts'
import { agentKind, userSignedDomain, userSignedKinds } from './actions.ts'
import { schema, createExchange, type Exchange } from './exchange.ts'
import { readLiquidations } from './liquidations.ts'
import type { MarketEntry } from './markets.ts'
import {
  leverageAction,
  outcomeOf,
  planActions,
  requireLeverage,
  requireMargin,
  requireSpotFunds,
  venuePlan,
  type VenueActions,
} from './order-plans.ts'
import { readOrders, readTrades } from './orders.ts'
import { amountAt, loan, depositFromEvm, depositOverBridge, withdrawal } from './transfers.ts'

const { withdraw3, usdClassTransfer } = userSignedKinds

export default defineConnector({
  family: evm,
  manifest: {
    name: 'hyperliquid',
    apiVersion: '1.0',
    trading_type: ['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'],
    available_networks: [{ chain: 'hyperliquid', networks: ['mainnet', 'testnet', 'local'] }],
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

type OrderBook = Omit<CLOB<Evm>, 'transferCollateral'> & Required<Pick<CLOB<Evm>, 'depositFrom'>>

/** What the exchange's three trading types have in common. `check` refuses orders that the account cannot pay for. */
function orderBook(
  exchange: Exchange,
  kind: MarketEntry['kind'],
  check: (user: string, actions: readonly BookAction[], at: At) => Promise<unknown>,
): OrderBook {
  const { queryInfo, listing, ownerOf, signerOf, clock, ttlMs } = exchange
  return {
    markets: async (at) => (await listing(at)).markets[kind],
    unlisted: async (at) => (await listing(at)).unlisted[kind],
    books: exchange.books,
    orders: async (owner, { market, names }, at) => {
      const query = { owner: ownerOf(owner), kind, listing: await listing(at), ...(market && { market }), ...(names && { names }) }
      return readOrders(queryInfo, query, at)
    },
    trades: ({ owner, ...query }, at) =>
      readTrades(
        queryInfo,
        {
          ...query,
          ...(owner !== undefined && { user: ownerOf(owner).user }),
          // Whoever asks for them wants those of now.
          ...(payerOf(at.signal) === undefined && { knownFills: exchange.knownFills }),
        },
        at,
      ),
    async balances(owner, at) {
      const { user } = ownerOf(owner)
      return kind === 'perp' ? perpBalancesOf(await readPerpState(queryInfo, user, at)) : readSpotBalances(queryInfo, user, at)
    },
    async act(owner, actions, at): Promise<readonly VenueActions[]> {
      const orderOwner = ownerOf(owner)
      const [markets] = await Promise.all([listing(at), clock.aheadMs(at), check(orderOwner.user, actions, at)])
      const signer = signerOf(owner)
      const expiresAfter = clock.nowMs() + ttlMs
      return planActions(actions, { owner: orderOwner, ...(signer !== undefined && { signer }), listing: markets, expiresAfter })
    },
    outcome: outcomeOf,
    async depositFrom(chain, token, amountRaw, owner, at) {
      requireDeposits(exchange)
      const { user, chain: own } = ownerOf(owner)
      if (chain !== own) return depositOverBridge({ queryInfo, user, kind }, token, amountRaw, at)
      return depositFromEvm({ queryInfo, user, kind }, token, amountRaw, exchange, at)
    },
  }
}

function requireDeposits({ network }: Exchange): void {
  if (network.takesNoDeposits)
    throw new SluiceError(
      'UNSUPPORTED',
      'Nothing can be deposited at this simulator: the wallets of the devnet have money there from the start.',
    )
}

/** Deposits by a transaction of the chain, withdraws by a signed action. */
function movesOf(exchange: Exchange, kind: MarketEntry['kind']): CLOB<Evm>['transferCollateral'] {
  const { queryInfo, ownerOf, clock, ttlMs, tokens } = exchange
  return async (token, amountRaw, how, owner, at) => {
    const { user } = ownerOf(owner)
    if (how === 'deposit') requireDeposits(exchange)
    if (how === 'deposit') return depositFromEvm({ queryInfo, user, kind }, token, amountRaw, exchange, at)
    await clock.aheadMs(at)
    const deadline = Math.ceil((clock.nowMs() + ttlMs) / 1000)
    return withdrawal(queryInfo, kind, token, amountRaw, { user, deadline, tokens }, at)
  }
}

function spot(exchange: Exchange): CLOB<Evm> {
  return {
    ...orderBook(exchange, 'spot', (user, actions, at) => requireSpotFunds(exchange.queryInfo, user, actions, at)),
    transferCollateral: movesOf(exchange, 'spot'),
    indexPrices: async (at) => readIndexPrices(exchange.queryInfo, await exchange.listing(at), at),
    sharesMargin: async (owner, at) => isShared(await readMode(exchange.queryInfo, exchange.ownerOf(owner).user, at)),
  }
}

function perpetual(exchange: Exchange): PerpCLOB<Evm> {
  const { queryInfo, ownerOf, listing, clock } = exchange
  return {
    ...orderBook(exchange, 'perp', (user, actions, at) =>
      Promise.all([requireLeverage(queryInfo, user, actions, at), requireMargin(queryInfo, user, actions, at)]),
    ),
    transferCollateral: movesOf(exchange, 'perp'),
    positions: async (owner, at) => readPositions(queryInfo, ownerOf(owner).user, await listing(at), at),
    account: async (owner, at) => perpAccountOf(await readPerpState(queryInfo, ownerOf(owner).user, at)),
    async leverage(market, leverage, marginMode, owner, at) {
      const context = { queryInfo, user: ownerOf(owner).user, markets: listing }
      return actionPlan(exchange, owner, await leverageAction(market, leverage, marginMode, context, at), at)
    },
    prices: (market, at) => readPerpPrices(queryInfo, market, clock.nowMs(), at),
    async fundingPayments(owner, query, at) {
      const [markets, nowMs] = await Promise.all([listing(at), clock.sync(at)])
      return readPayments(queryInfo, markets, { ...query, user: ownerOf(owner).user, before: query.before ?? nowMs + 1 }, at)
    },
    liquidations: async (owner, from, before, at) =>
      readLiquidations(queryInfo, await listing(at), { user: ownerOf(owner).user, from, before }, at),
  }
}

function margin(exchange: Exchange): MarginCLOB<Evm> {
  const { queryInfo, ownerOf, listing, tokens } = exchange
  const book = orderBook(exchange, 'spot', (user, actions, at) =>
    Promise.all([requireMode(queryInfo, user, at), requireSpotFunds(queryInfo, user, actions, at)]),
  )
  return {
    ...book,
    async depositFrom(chain, token, amountRaw, owner, at) {
      await requireMode(queryInfo, ownerOf(owner).user, at)
      return book.depositFrom(chain, token, amountRaw, owner, at)
    },
    account: async (owner, at) => readMarginAccount(queryInfo, ownerOf(owner).user, await listing(at), at),
    async transferCollateral(token, amountRaw, how, owner, at) {
      const { user } = ownerOf(owner)
      const [markets] = await Promise.all([listing(at), requireMode(queryInfo, user, at)])
      return actionPlan(exchange, owner, await loan(queryInfo, user, amountAt(token, amountRaw, markets, tokens), how, at), at)
    },
  }
}

/** A plan of one action that is not an order. */
async function actionPlan(
  { ownerOf, signerOf, clock, ttlMs }: Exchange,
  owner: string,
  content: Parameters<typeof venuePlan>[0],
  at: At,
): Promise<VenuePlan> {
  await clock.sync(at)
  const signer = signerOf(owner)
  return venuePlan(content, { owner: ownerOf(owner), ...(signer !== undefined && { signer }), expiresAfter: clock.nowMs() + ttlMs }, null)
}
