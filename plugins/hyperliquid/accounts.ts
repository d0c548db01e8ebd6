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
  type PerpMarketPrices,
} from 'sluice/plugin'
import type { QueryInfo } from './api.ts'
import { compare, divide, subtract, normalize, add, sum, multiply } from 'sluice/decimal'
import { perpMeta, type Listing } from './markets.ts'
import { decimal, union, array, nothing, object, tuple, shape, text, integer, type Infer } from './shape.ts'

const summary = object({ accountValue: decimal, totalNtlPos: decimal, totalMarginUsed: decimal })
const position = object({
  coin: text,
  /** Below 0 of a short one. */
  szi: decimal,
  leverage: object({ type: text, value: integer }),
  entryPx: union(decimal, nothing),
  positionValue: decimal,
  unrealizedPnl: decimal,
  liquidationPx: union(decimal, nothing),
  maxLeverage: integer,
})
type WirePosition = Infer<typeof position>

const perpStateShape = object({
  marginSummary: summary,
  crossMaintenanceMarginUsed: decimal,
  withdrawable: decimal,
  assetPositions: array(object({ position })),
})
type PerpState = Infer<typeof perpStateShape>
export const perpState = shape(perpStateShape)

const spotStateShape = object(
  {
    balances: array(
      object(
        { coin: text, token: integer, total: decimal, hold: decimal },
        {
          /** What of the total is lent, with portfolio margin. */
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
/** Whatever `health` says: the client library's schema knows healthy accounts only. */
const lendingShape = object({ tokenToState: array(tuple(integer, object({ borrow: owed, supply: owed }))) })
type Lending = Infer<typeof lendingShape>
export const lending = shape(lendingShape)

const reservesShape = array(tuple(integer, object({ borrowYearlyRate: decimal, oraclePx: decimal, ltv: decimal })))
type Reserves = Infer<typeof reservesShape>
const reserves = shape(reservesShape)

/** How a wallet's balances are kept: "default", "disabled", "unifiedAccount", "portfolioMargin" or what may come. */
const abstraction = shape(union(text, nothing))

export const activeAsset = shape(
  object({
    leverage: object({ type: text, value: integer }),
    /** In dollars: to buy for, and to sell for. */
    availableToTrade: tuple(decimal, decimal),
  }),
)

const perpContexts = shape(tuple(perpMeta, array(object({ markPx: decimal, oraclePx: decimal, funding: decimal }))))

const fundingShape = array(object({ time: integer, delta: object({ coin: text, usdc: decimal, fundingRate: decimal }) }))
type WireFunding = Infer<typeof fundingShape>[number]
const fundings = shape(fundingShape)

/** What perpetual positions are paid in. */
const collateralToken = 'USDC'
/** Of figures that the exchange does not give and that come out of a division. */
const scale = 12

export const readPerpState = (ask: QueryInfo, user: string, at: At): Promise<PerpState> =>
  ask({ type: 'clearinghouseState', user }, perpState, at)

export async function readPositions(ask: QueryInfo, user: string, { byId }: Listing, at: At): Promise<readonly PerpBookPosition[]> {
  const { assetPositions } = await readPerpState(ask, user, at)
  return assetPositions.flatMap(({ position }) => {
    const listed = byId.get(position.coin)
    const size = normalize(position.szi.replace('-', ''))
    if (!listed || size === '0') return []
    return [
      {
        market: listed.market,
        side: compare(position.szi, '0') > 0 ? 'LONG' : 'SHORT',
        amount: size,
        entryPrice: normalize(position.entryPx ?? '0'),
        // What it is valued at; the list of all marks is ten times the weight.
        markPrice: normalize(divide(position.positionValue, size, scale, 'down')),
        unrealizedProfit: normalize(position.unrealizedPnl),
        // The exchange moves funding every hour, and keeps none back.
        pendingFunding: '0',
        leverage: String(position.leverage.value),
        marginMode: position.leverage.type === 'isolated' ? 'isolated' : 'cross',
        ...(position.liquidationPx !== null && { liquidationPrice: normalize(position.liquidationPx) }),
      },
    ]
  })
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

/** Half of what the highest leverage asks for: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margining. The exchange adds up those of cross margin only. */
const maintenanceOf = ({ positionValue, maxLeverage }: WirePosition): string => divide(positionValue, String(2 * maxLeverage), scale, 'up')

/** What is free to leave, and what positions and orders hold. */
export function perpBalancesOf({ marginSummary: { accountValue }, withdrawable }: PerpState): readonly BookBalance[] {
  if (compare(accountValue, '0') === 0) return []
  return [
    {
      symbol: collateralToken,
      total: normalize(accountValue),
      available: normalize(withdrawable),
      locked: subtract(accountValue, withdrawable),
    },
  ]
}

export const readSpotState = (ask: QueryInfo, user: string, at: At): Promise<SpotState> =>
  ask({ type: 'spotClearinghouseState', user }, spotState, at)

export const spotBalancesOf = ({ balances }: SpotState): readonly BookBalance[] =>
  balances
    .filter(({ total, hold }) => compare(total, '0') !== 0 || compare(hold, '0') !== 0)
    .map(({ coin, total, hold }) => ({ symbol: coin, total: normalize(total), available: subtract(total, hold), locked: normalize(hold) }))

/** The token that the exchange counts in, and to how many decimals. */
const unit = 'USDC'
const dollarDecimals = 6

/** The account with portfolio margin, in dollars, as the exchange tells it. One round trip. */
export async function readMarginAccount(ask: QueryInfo, user: string, { tokens: listed }: Listing, at: At): Promise<MarginAccount> {
  const [mode, spot, perp, loans, rates] = await Promise.all([
    readMode(ask, user, at),
    readSpotState(ask, user, at),
    readPerpState(ask, user, at),
    ask({ type: 'borrowLendUserState', user }, lending, at),
    ask({ type: 'allBorrowLendReserveStates' }, reserves, at),
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
      available: normalize(freeOf.get(index) ?? lowest(subtract(total, hold))),
      borrowRate: normalize(reserve?.borrowYearlyRate ?? '0'),
    }
    const price = symbol === unit ? '1' : (reserve?.oraclePx ?? '0')
    return {
      token,
      worth: divide(multiply(total, price), '1', dollarDecimals, 'down'),
      owed: divide(multiply(borrow.value, price), '1', dollarDecimals, 'up'),
      isCollateral: compare(reserve?.ltv ?? '0', '0') > 0,
    }
  })
  const borrowed = sum(holdings.map(({ owed }) => owed))
  const worth = sum(holdings.map((each) => each.worth))
  return {
    mode,
    sharedWith: isShared(mode) ? ['perpetual positions'] : [],
    equity: subtract(isShared(mode) ? worth : add(worth, perps.accountValue), borrowed),
    // What may be borrowed against.
    collateral: sum(holdings.filter(({ isCollateral }) => isCollateral).map((each) => each.worth)),
    borrowed,
    freeCollateral: normalize(freeOf.get(indexOf(unit, listed)) ?? perps.freeCollateral),
    initialMargin: perps.initialMargin,
    maintenanceMargin: perps.maintenanceMargin,
    ...(spot.portfolioMarginRatio !== undefined && { marginRatio: normalize(spot.portfolioMarginRatio) }),
    tokens: holdings.map(({ token }) => token),
  }
}

const lowest = (amount: string) => (compare(amount, '0') < 0 ? '0' : amount)
const indexOf = (name: string, tokens: Listing['tokens']) => tokens.find((each) => each.name === name)?.index ?? 0

const withMargin = 'portfolioMargin'
/** In these, what is in spot is what perpetual positions are backed by. */
const shared: ReadonlySet<string> = new Set([withMargin, 'unifiedAccount'])

/** How the exchange keeps a wallet's balances: its own word. */
export async function readMode(ask: QueryInfo, user: string, at: At): Promise<string> {
  return (await ask({ type: 'userAbstraction', user }, abstraction, at)) ?? 'default'
}

export const isShared = (mode: string): boolean => shared.has(mode)

/** @throws SluiceError UNSUPPORTED where the wallet did not opt in: nothing does it for it */
export async function requireMode(ask: QueryInfo, user: string, at: At): Promise<void> {
  const mode = await readMode(ask, user, at)
  if (mode === withMargin) return
  throw new SluiceError(
    'UNSUPPORTED',
    `The account of ${user} at Hyperliquid is in the mode "${mode}", and margin is there in "${withMargin}" only. Its owner switches it on at the exchange; Sluice never does. Without it, use /clob and /clob/perp.`,
    { details: { mode, needed: withMargin } },
  )
}

const hourMs = 3_600_000
const firstSpanMs = 48 * hourMs
const longestMs = 400 * 24 * hourMs
/** The exchange gives so many at once, the oldest of the asked time first. */
const pageSize = 500
const mostPages = 40

interface FundingPaymentsQuery {
  readonly user: string
  readonly market?: BookMarket
  readonly limit: number
  readonly before: number
}

/** Newest first. The exchange counts forward from a time: so ever longer spans are asked for, backwards, until there are enough. */
export async function readPayments(
  ask: QueryInfo,
  { byId }: Listing,
  { user, market, limit, before }: FundingPaymentsQuery,
  at: At,
): Promise<readonly FundingPayment[]> {
  const found: WireFunding[] = []
  const isWanted = ({ delta }: WireFunding) => (market === undefined ? byId.has(delta.coin) : delta.coin === market.id)
  let pages = 0
  let end = before - 1
  for (let spanMs = firstSpanMs; found.length < limit && end > before - longestMs; spanMs *= 4) {
    const start = Math.max(0, end - spanMs)
    let from = start
    for (;;) {
      pages += 1
      const page = await ask({ type: 'userFunding', user, startTime: from, endTime: end }, fundings, at)
      found.push(...page.filter((each) => each.time <= end && isWanted(each)))
      const last = Math.max(...page.map(({ time }) => time))
      if (page.length < pageSize || last <= from || pages >= mostPages) break
      from = last
    }
    if (pages >= mostPages || start === 0) break
    end = start - 1
  }
  return [...unique(found)]
    .toSorted((a, b) => b.time - a.time)
    .slice(0, limit)
    .flatMap(({ time, delta }) => {
      const of = byId.get(delta.coin)?.market
      return of ? [{ market: of, amount: normalize(delta.usdc), rate: normalize(delta.fundingRate), timestamp: time }] : []
    })
}

/** Pages overlap by a moment. */
const unique = (all: readonly WireFunding[]) => new Map(all.map((each) => [`${each.time}/${each.delta.coin}`, each])).values()

const hourMsOfPerpPrices = 3_600_000

/** Funding is paid at every full hour, at the rate of then. */
export async function readPerpPrices(ask: QueryInfo, { id }: BookMarket, nowMs: number, at: At): Promise<PerpMarketPrices> {
  const [{ universe }, contexts] = await ask({ type: 'metaAndAssetCtxs' }, perpContexts, at)
  const context = contexts[universe.findIndex(({ name }) => name === id)]
  if (!context) throw new SluiceError('UNKNOWN_ORDER', `Hyperliquid has no market ${id} any more.`)
  return {
    indexPrice: normalize(context.oraclePx),
    markPrice: normalize(context.markPx),
    fundingRate: normalize(context.funding),
    nextFundingTimestamp: (Math.floor(nowMs / hourMsOfPerpPrices) + 1) * hourMsOfPerpPrices,
  }
}
