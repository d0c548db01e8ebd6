import {
  type At,
  type BookBalance,
  type PerpBookAccount,
  type PerpBookPosition,
  type MarginAccount,
  type MarginToken,
  SluiceError,
  type BookMarket,
  type FundingPayment,
  type IndexPrice,
  type PerpMarketPrices,
} from 'sluice/plugin'
import type { QueryInfo } from './api.ts'
import { compare, divide, subtract, normalize, add, sum, multiply } from 'sluice/decimal'
import { named, perpMeta, type Listing } from './markets.ts'
import {
  anything,
  decimal,
  is,
  union,
  array,
  nothing,
  object,
  tuple,
  shape,
  text,
  integer,
  unread,
  withUnread,
  type Infer,
} from './shape.ts'

const summary = object({ accountValue: decimal, totalNtlPos: decimal, totalMarginUsed: decimal })
const position = object({
  coin: text,
  /** Below 0 for a short position. */
  szi: decimal,
  leverage: object({ type: text, value: integer }),
  entryPx: union(decimal, nothing),
  positionValue: decimal,
  unrealizedPnl: decimal,
  liquidationPx: union(decimal, nothing),
  maxLeverage: integer,
})
type WirePosition = Infer<typeof position>

/** Each position is checked by itself. */
const positionList = shape(object({ assetPositions: array(anything) }))
const heldPosition = object({ position })
const namedPosition = object({ position: object({ coin: text }) })

const perpStateShape = object({
  marginSummary: summary,
  crossMaintenanceMarginUsed: decimal,
  withdrawable: decimal,
  assetPositions: array(object({ position })),
})
type PerpState = Infer<typeof perpStateShape>
export const perpState = shape(perpStateShape)

/** Each balance is checked by itself. */
const balanceList = shape(object({ balances: array(anything) }))
const spotBalance = object({ coin: text, total: decimal, hold: decimal })
const namedBalance = object({ coin: text })

const spotStateShape = object(
  {
    balances: array(
      object(
        { coin: text, token: integer, total: decimal, hold: decimal },
        {
          /** The part of the total that is lent, with portfolio margin. */
          supplied: decimal,
        },
      ),
    ),
  },
  {
    /** Of accounts with portfolio margin. */
    portfolioMarginRatio: decimal,
    tokenToAvailableAfterMaintenance: array(tuple(integer, decimal)),
  },
)
type SpotState = Infer<typeof spotStateShape>
const spotState = shape(spotStateShape)

const owed = object({ value: decimal })
/** Accepts any `health`: the client library's schema knows healthy accounts only. */
const lendingShape = object({ tokenToState: array(tuple(integer, object({ borrow: owed, supply: owed }))) })
export const lending = shape(lendingShape)

const reservesShape = array(tuple(integer, object({ borrowYearlyRate: decimal, oraclePx: decimal, ltv: decimal })))
const reserves = shape(reservesShape)

/** How the exchange keeps a wallet's balances: "default", "disabled", "unifiedAccount", "portfolioMargin", or a mode that is new. */
const abstraction = shape(union(text, nothing))

export const activeAsset = shape(
  object({
    leverage: object({ type: text, value: integer }),
    /** In dollars, to buy for and to sell for. */
    availableToTrade: tuple(decimal, decimal),
  }),
)

/** Each market's is checked by itself. */
const perpContexts = shape(tuple(perpMeta, array(anything)))
const perpContext = shape(object({ markPx: decimal, oraclePx: decimal, funding: decimal }))

const funding = object({ time: integer, delta: object({ coin: text, usdc: decimal, fundingRate: decimal }) })
type WireFunding = Infer<typeof funding>
/** Each payment is checked by itself. */
const fundings = shape(array(anything))
const timedFunding = object({ time: integer })
const namedFunding = object({ delta: object({ coin: text }) })

/** What perpetual positions are settled in, and what the exchange values accounts in. */
const dollar = 'USDC'
/** Decimals of figures that the exchange does not give and that are the result of a division. */
const scale = 12

export const readPerpState = (queryInfo: QueryInfo, user: string, at: At): Promise<PerpState> =>
  queryInfo({ type: 'clearinghouseState', user }, perpState, at)

export async function readPositions(queryInfo: QueryInfo, user: string, { byId }: Listing, at: At): Promise<readonly PerpBookPosition[]> {
  const { assetPositions } = await queryInfo({ type: 'clearinghouseState', user }, positionList, at)
  const missing: PerpBookPosition[] = []
  const leaveOut = (coin: string, market: Pick<BookMarket, 'base' | 'quote'> = { base: coin, quote: 'USD' }) => {
    missing.push(unread<PerpBookPosition>({ market: unread<BookMarket>(market) }))
    return []
  }
  const read = assetPositions.flatMap((held, index): readonly PerpBookPosition[] => {
    const coin = is(namedPosition, held) ? held.position.coin : `position ${index}`
    const entry = byId.get(coin)
    if (!is(heldPosition, held)) return leaveOut(coin, entry?.market)
    const { position } = held
    const size = normalize(position.szi.replace('-', ''))
    if (size === '0') return []
    if (!entry) return leaveOut(coin)
    return [
      {
        market: entry.market,
        side: compare(position.szi, '0') > 0 ? 'LONG' : 'SHORT',
        amount: size,
        entryPrice: normalize(position.entryPx ?? '0'),
        // Derived from the position's value, since the query for all mark prices has ten times the weight.
        markPrice: normalize(divide(position.positionValue, size, scale, 'down')),
        unrealizedProfit: normalize(position.unrealizedPnl),
        // The exchange pays funding every hour and leaves none pending.
        pendingFunding: '0',
        leverage: String(position.leverage.value),
        marginMode: position.leverage.type === 'isolated' ? 'isolated' : 'cross',
        ...(position.liquidationPx !== null && { liquidationPrice: normalize(position.liquidationPx) }),
      },
    ]
  })
  return withUnread(read, missing, 'clearinghouseState')
}

export function perpAccountOf({ marginSummary, crossMaintenanceMarginUsed, withdrawable, assetPositions }: PerpState): PerpBookAccount {
  const positions = assetPositions.map(({ position }) => position)
  const isolated = positions.filter(({ leverage }) => leverage.type === 'isolated')
  return {
    accountValue: normalize(marginSummary.accountValue),
    freeCollateral: normalize(withdrawable),
    collateral: subtract(marginSummary.accountValue, sum(positions.map(({ unrealizedPnl }) => unrealizedPnl))),
    initialMargin: normalize(marginSummary.totalMarginUsed),
    maintenanceMargin: add(crossMaintenanceMarginUsed, sum(isolated.map(maintenanceOf))),
    notional: normalize(marginSummary.totalNtlPos),
  }
}

/** Half of the initial margin at the highest leverage: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margining. The exchange sums it for cross margin only. */
const maintenanceOf = ({ positionValue, maxLeverage }: WirePosition): string => divide(positionValue, String(2 * maxLeverage), scale, 'up')

/** The free part can be withdrawn. Positions and orders lock the rest. */
export function perpBalancesOf({ marginSummary: { accountValue }, withdrawable }: PerpState): readonly BookBalance[] {
  if (compare(accountValue, '0') === 0) return []
  return [
    { symbol: dollar, total: normalize(accountValue), available: normalize(withdrawable), locked: subtract(accountValue, withdrawable) },
  ]
}

export const readSpotState = (queryInfo: QueryInfo, user: string, at: At): Promise<SpotState> =>
  queryInfo({ type: 'spotClearinghouseState', user }, spotState, at)

export async function readSpotBalances(queryInfo: QueryInfo, user: string, at: At): Promise<readonly BookBalance[]> {
  const { balances } = await queryInfo({ type: 'spotClearinghouseState', user }, balanceList, at)
  const missing: BookBalance[] = []
  const read = balances.flatMap((balance, index): readonly BookBalance[] => {
    if (!is(spotBalance, balance)) {
      missing.push(unread<BookBalance>({ symbol: is(namedBalance, balance) ? balance.coin : `balance ${index}` }))
      return []
    }
    const { coin, total, hold } = balance
    if (compare(total, '0') === 0 && compare(hold, '0') === 0) return []
    return [{ symbol: coin, total: normalize(total), available: subtract(total, hold), locked: normalize(hold) }]
  })
  return withUnread(read, missing, 'spotClearinghouseState')
}

const dollarDecimals = 6

/** The account with portfolio margin, in dollars, by the exchange's own figures. One round trip. */
export async function readMarginAccount(queryInfo: QueryInfo, user: string, { tokens: listed }: Listing, at: At): Promise<MarginAccount> {
  const [mode, spot, perp, loans, rates] = await Promise.all([
    readMode(queryInfo, user, at),
    readSpotState(queryInfo, user, at),
    readPerpState(queryInfo, user, at),
    queryInfo({ type: 'borrowLendUserState', user }, lending, at),
    queryInfo({ type: 'allBorrowLendReserveStates' }, reserves, at),
  ])
  const reserveOf = new Map(rates)
  const loanOf = new Map(loans.tokenToState)
  const freeOf = new Map(spot.tokenToAvailableAfterMaintenance ?? [])
  const balanceOf = new Map(spot.balances.map((balance) => [balance.token, balance]))
  const perps = perpAccountOf(perp)
  const nameOf = new Map(listed.map(({ index, name }) => [index, name]))

  const indices = [...new Set([...reserveOf.keys(), ...loanOf.keys()])]
  const holdings = indices.map((index) => {
    const { total = '0', hold = '0' } = balanceOf.get(index) ?? {}
    const { supply, borrow } = loanOf.get(index) ?? { supply: { value: '0' }, borrow: { value: '0' } }
    const symbol = nameOf.get(index) ?? String(index)
    const reserve = reserveOf.get(index)
    const token: MarginToken = {
      symbol,
      deposited: normalize(supply.value),
      borrowed: normalize(borrow.value),
      available: normalize(freeOf.get(index) ?? atLeastZero(subtract(total, hold))),
      borrowRate: normalize(reserve?.borrowYearlyRate ?? '0'),
    }
    const price = symbol === dollar ? '1' : (reserve?.oraclePx ?? '0')
    return {
      token,
      value: divide(multiply(total, price), '1', dollarDecimals, 'down'),
      owed: divide(multiply(borrow.value, price), '1', dollarDecimals, 'up'),
      isCollateral: compare(reserve?.ltv ?? '0', '0') > 0,
    }
  })
  const borrowed = sum(holdings.map(({ owed }) => owed))
  const value = sum(holdings.map((each) => each.value))
  return {
    mode,
    sharedWith: isShared(mode) ? ['perpetual positions'] : [],
    equity: subtract(isShared(mode) ? value : add(value, perps.accountValue), borrowed),
    collateral: sum(holdings.filter(({ isCollateral }) => isCollateral).map((each) => each.value)),
    borrowed,
    freeCollateral: normalize(freeOf.get(listed.find(({ name }) => name === dollar)?.index ?? 0) ?? perps.freeCollateral),
    initialMargin: perps.initialMargin,
    maintenanceMargin: perps.maintenanceMargin,
    ...(spot.portfolioMarginRatio !== undefined && { marginRatio: normalize(spot.portfolioMarginRatio) }),
    tokens: holdings.map(({ token }) => token),
  }
}

const atLeastZero = (amount: string) => (compare(amount, '0') < 0 ? '0' : amount)

const portfolioMargin = 'portfolioMargin'
/** Modes in which spot balances are the collateral of perpetual positions. */
const sharedModes: ReadonlySet<string> = new Set([portfolioMargin, 'unifiedAccount'])

/** The exchange's name of the mode in which it keeps a wallet's balances. */
export async function readMode(queryInfo: QueryInfo, user: string, at: At): Promise<string> {
  return (await queryInfo({ type: 'userAbstraction', user }, abstraction, at)) ?? 'default'
}

export const isShared = (mode: string): boolean => sharedModes.has(mode)

/** Checks that the wallet's owner has opted in to portfolio margin. @throws SluiceError UNSUPPORTED */
export async function requireMode(queryInfo: QueryInfo, user: string, at: At): Promise<void> {
  const mode = await readMode(queryInfo, user, at)
  if (mode === portfolioMargin) return
  throw new SluiceError(
    'UNSUPPORTED',
    `The account of ${user} at Hyperliquid is in the mode "${mode}", but margin needs the mode "${portfolioMargin}". Its owner switches it on at the exchange; Sluice never does. Without it, use /clob and /clob/perp.`,
    { details: { mode, needed: portfolioMargin } },
  )
}

const hourMs = 3_600_000
const firstSpanMs = 48 * hourMs
/** Nobody was paid before: the exchange opened in February 2023. */
const openedMs = Date.UTC(2023, 0, 1)
/** The exchange returns at most so many payments, the oldest of the requested time first. */
const pageSize = 500
const maxPages = 40

interface FundingPaymentsQuery {
  readonly user: string
  readonly market?: BookMarket
  readonly limit: number
  readonly from?: number
  readonly before: number
}

/**
 * Newest first. The exchange pages forward from a time. So the time before is read in ever longer spans until there are enough payments.
 * @throws SluiceError UNSUPPORTED where it takes too many pages: what was read of a span are its oldest, so a list of them would have a gap
 */
export async function readPayments(
  queryInfo: QueryInfo,
  { byId }: Listing,
  { user, market, limit, from = openedMs, before }: FundingPaymentsQuery,
  at: At,
): Promise<readonly FundingPayment[]> {
  /** By time and coin: pages overlap by a moment. */
  const found = new Map<string, WireFunding>()
  const missing: FundingPayment[] = []
  const isRequested = (coin: string) => (market === undefined ? byId.has(coin) : coin === market.id)
  const leaveOut = (payment: unknown) => {
    const coin = is(namedFunding, payment) ? payment.delta.coin : undefined
    if (coin !== undefined && !isRequested(coin)) return
    const of = byId.get(coin ?? '')?.market ?? { base: coin ?? `payment ${missing.length}`, quote: 'USD' }
    missing.push(unread<FundingPayment>({ market: unread<BookMarket>(of) }))
  }
  const tooMany = () =>
    new SluiceError(
      'UNSUPPORTED',
      `Hyperliquid has paid ${user} funding more often than ${maxPages * pageSize} times in all markets until these: read a shorter time, or fewer at once.`,
    )
  let pages = 0
  let end = before - 1
  for (let spanMs = firstSpanMs; found.size < limit && end >= from; spanMs *= 4) {
    const start = Math.max(from, end - spanMs)
    for (let next = start; ;) {
      pages += 1
      if (pages > maxPages) throw tooMany()
      const page = await queryInfo({ type: 'userFunding', user, startTime: next, endTime: end }, fundings, at)
      for (const each of page) {
        if (!is(funding, each)) leaveOut(each)
        else if (each.time <= end && isRequested(each.delta.coin)) found.set(`${each.time}/${each.delta.coin}`, each)
      }
      if (page.length < pageSize) break
      const last = Math.max(...page.map((each) => (is(timedFunding, each) ? each.time : 0)))
      if (last <= next) throw tooMany()
      next = last
    }
    end = start - 1
  }
  const payments = [...found.values()]
    .toSorted((a, b) => b.time - a.time)
    .slice(0, limit)
    .flatMap(({ time, delta }) => {
      const of = byId.get(delta.coin)?.market
      return of ? [{ market: of, amount: normalize(delta.usdc), rate: normalize(delta.fundingRate), timestamp: time }] : []
    })
  return withUnread(payments, missing.slice(0, limit), 'userFunding')
}

/** Of spot markets whose tokens can be collateral: the exchange values these by prices that its validators publish. */
export async function readIndexPrices(queryInfo: QueryInfo, { byId }: Listing, at: At): Promise<readonly IndexPrice[]> {
  const priceOf = new Map(await queryInfo({ type: 'allBorrowLendReserveStates' }, reserves, at))
  return [...byId.values()].flatMap(({ market, pair }): readonly IndexPrice[] => {
    const [base, quote] = pair?.map((index) => priceOf.get(index)?.oraclePx ?? '0') ?? []
    if (base === undefined || quote === undefined || compare(base, '0') <= 0 || compare(quote, '0') <= 0) return []
    return [{ market: market.id, price: normalize(divide(base, quote, scale, 'down')) }]
  })
}

/** The exchange pays funding at every full hour, at the rate of that moment. */
export async function readPerpPrices(queryInfo: QueryInfo, { id }: BookMarket, nowMs: number, at: At): Promise<PerpMarketPrices> {
  const [{ universe }, contexts] = await queryInfo({ type: 'metaAndAssetCtxs' }, perpContexts, at)
  const found = contexts[universe.findIndex((entry) => is(named, entry) && entry.name === id)]
  if (found === undefined) throw new SluiceError('UNKNOWN_ORDER', `Hyperliquid does not list the market ${id} any more.`)
  const context = perpContext(found, 'metaAndAssetCtxs')
  return {
    indexPrice: normalize(context.oraclePx),
    markPrice: normalize(context.markPx),
    fundingRate: normalize(context.funding),
    nextFundingTimestamp: (Math.floor(nowMs / hourMs) + 1) * hourMs,
  }
}
