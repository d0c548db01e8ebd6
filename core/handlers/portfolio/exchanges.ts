// What a wallet has on the exchanges of a network: liquidity, shares, balances and orders, accounts of margin and of perpetuals.
import type { PortfolioResponse } from '../../api/index.ts'
import type { BookMarket, KnownPerpAccount, SharesPosition, Token } from '../../contracts/index.ts'
import { fromRaw, isZero, normalize, parseDecimal, rescale } from '../../base/decimal.ts'
import { tokensOfMarket } from '../../market/book-tokens.ts'
import { tradingOf, type VenueEntry } from '../../plugins/index.ts'
import { rangePositions } from '../amm/range-positions.ts'
import { showBookPosition } from '../clob/accounts.ts'
import type { Entry } from '../../transactions/entry.ts'
import { newestEntries } from '../../transactions/newest-entries.ts'
import { missingIn } from '../pages.ts'
import type { WalletReading } from './reading.ts'
import type { Worth } from './values.ts'

type Wallet = PortfolioResponse['networks'][number]['wallets'][number]
type ValuedItem<K extends 'liquidity' | 'shares' | 'exchangeBalances'> = { readonly shown: Wallet[K][number]; readonly worth: Worth }

const connectorOf = (part: string, { connector }: VenueEntry) => ({ part, connector })

/** Positions of concentrated liquidity, with the fees that they have earned. */
export async function readLiquidity(venue: VenueEntry, of: WalletReading): Promise<ValuedItem<'liquidity'>[]> {
  if (!venue.impl.AMM_RANGE) return []
  const { network, owner, services, signal, values } = of
  const named = connectorOf('liquidity', venue)
  const read = async () => rangePositions({ owner }, { network, venue }, services, { signal })
  const found = await of.part(named, read, undefined)
  if (!found) return []
  for (const { tokenId, reason } of found.unavailable ?? [])
    of.miss(named, tokenId === undefined ? reason : `position ${tokenId}: ${reason}`)
  if (found.notSearched !== undefined) of.miss(named, found.notSearched)
  if (found.missing !== undefined) of.miss(named, `${found.missing} older positions are not known to this server`)
  return found.positions.map((position) => {
    const { version, tokenId, pool, token0, token1, amount0, amount1, unclaimedToken0, unclaimedToken1, inRange } = position
    const amounts = [
      { token: token0, all: [amount0, unclaimedToken0] },
      { token: token1, all: [amount1, unclaimedToken1] },
    ].flatMap(({ token, all }) => all.map((text) => ({ token, raw: digitsOf(text) })))
    const shown = {
      connector: venue.connector,
      version,
      tokenId,
      pool,
      token0,
      token1,
      amount0,
      amount1,
      unclaimedToken0,
      unclaimedToken1,
      inRange,
    }
    return { shown, worth: values.worth(amounts, 'held') }
  })
}

/** `fromRaw` undone: the amounts have all decimals of their token. */
const digitsOf = (text: string): bigint => BigInt(text.replace('.', ''))

/** The newest changes of shares of a wallet that are read. */
const maxChanges = 2_000
const maxPages = 20
/** Of one connector. */
const maxPools = 20

/** Of pools to which the wallet added by this server: a connector has no list of a wallet's shares. */
export async function readShares(of: WalletReading): Promise<ValuedItem<'shares'>[]> {
  const venues = of.venues.filter(({ impl }) => impl.AMM_SHARES)
  if (venues.length === 0) return []
  const changes = await of.part({ part: 'shares' }, () => changesOf(venues, of), [])
  return (await Promise.all(venues.map((venue) => readSharesOn(venue, changes, of)))).flat()
}

/** Of all connectors at once: the archive is read through for a wallet, however few of its entries are of one of them. */
async function changesOf(venues: readonly VenueEntry[], { network, owner, services, signal, miss }: WalletReading) {
  const filter = {
    chain: network.chain,
    network: network.network,
    address: owner,
    kind: 'liquidity',
    connectors: new Set(venues.map(({ connector }) => connector)),
    archived: true,
    limit: maxChanges,
  }
  const { entries, isCut } = await newestEntries(services.transactions.list, filter, { maxPages, signal })
  if (isCut)
    miss(
      { part: 'shares' },
      `pools that only older changes than the newest ${maxChanges}, or than ${maxPages} pages of the archive, named are not read`,
    )
  return entries
}

async function readSharesOn(venue: VenueEntry, changes: readonly Entry[], of: WalletReading): Promise<ValuedItem<'shares'>[]> {
  const { network, owner, signal, values } = of
  const named = connectorOf('shares', venue)
  const lists = changes.flatMap(({ connector, request }) => (connector === venue.connector ? tokensIn(request?.fields['tokens']) : []))
  const pools = [...new Map(lists.map((list) => [list.toSorted().join(' '), list])).values()]
  if (pools.length > maxPools) of.miss(named, `the wallet added to more than ${maxPools} pools: those of older changes are not read`)
  const positions = await Promise.all(
    pools.slice(0, maxPools).map((names) =>
      of.part(named, async () => {
        const tokens = await network.tokens.resolveAll(names, 'tokens', { signal })
        const found = await tradingOf('AMM_SHARES', venue).sharePositions(tokens, owner, { signal })
        const decimalsOf = (address: string) => tokens.find((token) => token.address === address)?.decimals ?? coinDecimals(tokens)
        return found.positions.filter(({ sharesRaw }) => sharesRaw > 0n).map((each) => ({ each, decimalsOf }))
      }, []),
    ),
  )
  const seen = new Map(positions.flat().map((found) => [found.each.pool.address, found]))
  return [...seen.values()].map(({ each, decimalsOf }) => ({
    shown: showShares(each, venue, decimalsOf),
    worth: values.worth(amountsIn(each), 'held'),
  }))
}

/** Pools name the wrapped coin where a request names the coin: it has the same decimals. */
const coinDecimals = (tokens: readonly Token[]): number => tokens.find(({ native }) => native)?.decimals ?? 0

const tokensIn = (value: unknown): string[][] => (Array.isArray(value) && value.every((each) => typeof each === 'string') ? [value] : [])

const amountsIn = ({ pool, amountsRaw }: SharesPosition) => pool.tokens.map((token, index) => ({ token, raw: amountsRaw[index] ?? 0n }))

const showShares = (
  { pool, sharesRaw, amountsRaw }: SharesPosition,
  { connector }: VenueEntry,
  decimalsOf: (address: string) => number,
) => ({
  connector,
  pool: pool.address,
  shares: fromRaw(sharesRaw, pool.shareDecimals),
  tokens: [...pool.tokens],
  amounts: pool.tokens.map((token, index) => fromRaw(amountsRaw[index] ?? 0n, decimalsOf(token))),
})

/** Balances in an exchange, and what open orders lock of them. */
export async function readExchangeBalances(venue: VenueEntry, of: WalletReading): Promise<ValuedItem<'exchangeBalances'>[]> {
  if (!venue.impl.CLOB) return []
  const { owner, signal, values } = of
  const named = connectorOf('balances and orders', venue)
  const trading = tradingOf('CLOB', venue)
  const balances = await of.part(named, async () => trading.balances(owner, { signal }), [])
  missed(
    missingIn(balances, (token) => ({ token })),
    ({ token }) => token,
    named,
    of,
  )
  const held = balances.filter(({ total }) => !isZero(total))
  // The word of a plugin on which token a symbol stands for is not taken.
  const markets = held.length === 0 || !venue.builtIn ? [] : await of.part(named, async () => trading.markets({ signal }), [])
  return held.map(({ symbol, total, available, locked }) => {
    const token = tokenOf(symbol, markets, of)
    return {
      shown: { connector: venue.connector, symbol, total: normalize(total), available: normalize(available), locked: normalize(locked) },
      worth: token
        ? values.worth([{ token: token.address, raw: rawOf(total, token.decimals) }], 'held')
        : { noValue: `${symbol} of ${venue.connector} is no token of the network's list` },
    }
  })
}

/** Where all markets agree on it. */
function tokenOf(symbol: string, markets: readonly BookMarket[], { network }: WalletReading): Token | undefined {
  const found = markets.flatMap((market) =>
    (['base', 'quote'] as const).flatMap((side) => (market[side] === symbol ? tokensOfMarket(market, side, network.tokens.listed) : [])),
  )
  return new Set(found.map(({ address }) => address)).size === 1 ? found[0] : undefined
}

/** Rounded down. */
function rawOf(text: string, decimals: number): bigint {
  const { digits, scale } = parseDecimal(text)
  return rescale(digits, scale, decimals)
}

function missed<T extends { reason: string }>(
  { unavailable = [] }: { unavailable?: T[] },
  nameOf: (entry: T) => string,
  named: { part: string; connector: string },
  of: WalletReading,
): void {
  for (const entry of unavailable) of.miss(named, `${nameOf(entry)}: ${entry.reason}`)
}

/** An account that lends and borrows. Not one that was never used. */
export async function readMargin(venue: VenueEntry, of: WalletReading): Promise<Wallet['margin']> {
  if (!venue.impl.MARGIN_CLOB) return []
  const named = connectorOf('margin', venue)
  const account = await of.part(named, async () => tradingOf('MARGIN_CLOB', venue).account(of.owner, { signal: of.signal }), undefined)
  if (!account || [account.equity, account.collateral, account.borrowed].every(isZero)) return []
  missed(
    missingIn(account.tokens, (token) => ({ token })),
    ({ token }) => token,
    named,
    of,
  )
  const debts = account.tokens.filter(({ borrowed }) => !isZero(borrowed))
  return [
    {
      connector: venue.connector,
      mode: account.mode,
      equity: normalize(account.equity),
      collateral: normalize(account.collateral),
      borrowed: normalize(account.borrowed),
      freeCollateral: normalize(account.freeCollateral),
      maintenanceMargin: normalize(account.maintenanceMargin),
      debts: debts.map(({ symbol, borrowed, borrowRate }) => ({
        symbol,
        borrowed: normalize(borrowed),
        borrowRate: normalize(borrowRate),
      })),
    },
  ]
}

export const readPerpetuals = async (venue: VenueEntry, of: WalletReading): Promise<Wallet['perpetuals']> =>
  (await Promise.all([readPerpAmm(venue, of), readPerpBook(venue, of)])).flat()

async function readPerpAmm(venue: VenueEntry, of: WalletReading): Promise<Wallet['perpetuals']> {
  if (!venue.impl.PERP_AMM) return []
  const at = { signal: of.signal }
  const perp = tradingOf('PERP_AMM', venue)
  const named = connectorOf('perpetuals', venue)
  const read = async () => Promise.all([perp.listMarkets(at), perp.account(of.owner, at)])
  const found = await of.part(named, read, undefined)
  if (!found) return []
  const [{ settlement }, { account, unread = [] }] = found
  const figures = ['notionalRaw', 'valueRaw', 'collateralRaw', 'freeCollateralRaw', 'maintenanceMarginRaw'] as const
  if (figures.every((name) => account[name] === 0n)) return []
  for (const { market, reason } of unread) of.miss(named, `${market}: ${reason}`)
  const show = (name: (typeof figures)[number], as: string) => showFigure(account, name, as)
  return [
    {
      connector: venue.connector,
      unit: settlement.symbol,
      ...show('notionalRaw', 'exposure'),
      ...show('valueRaw', 'accountValue'),
      ...show('collateralRaw', 'collateral'),
      ...show('freeCollateralRaw', 'freeCollateral'),
      ...show('maintenanceMarginRaw', 'maintenanceMargin'),
    },
  ]
}

type Figure = Exclude<keyof KnownPerpAccount, 'decimals'>
const showFigure = (account: KnownPerpAccount, name: Figure, as: string): Record<string, string> => {
  const raw = account[name]
  return raw === undefined ? {} : { [as]: fromRaw(raw, account.decimals) }
}

async function readPerpBook(venue: VenueEntry, of: WalletReading): Promise<Wallet['perpetuals']> {
  if (!venue.impl.PERP_CLOB) return []
  const at = { signal: of.signal }
  const perp = tradingOf('PERP_CLOB', venue)
  const named = connectorOf('perpetuals', venue)
  const read = async () => Promise.all([perp.account(of.owner, at), perp.positions(of.owner, at)])
  const found = await of.part(named, read, undefined)
  if (!found) return []
  const [account, positions] = found
  missed(
    missingIn(positions, (market) => ({ market })),
    ({ market }) => market,
    named,
    of,
  )
  if (positions.length === 0 && isZero(account.accountValue) && isZero(account.collateral)) return []
  return [
    {
      connector: venue.connector,
      exposure: normalize(account.notional),
      accountValue: normalize(account.accountValue),
      collateral: normalize(account.collateral),
      freeCollateral: normalize(account.freeCollateral),
      maintenanceMargin: normalize(account.maintenanceMargin),
      positions: positions.map(showBookPosition).map((each) => ({
        market: each.market,
        side: each.positionSide,
        amount: each.positionAmt,
        entryPrice: each.entryPrice,
        markPrice: each.markPrice,
        unrealizedProfit: each.unrealizedProfit,
        ...(!isZero(each.liquidationPrice) && { liquidationPrice: each.liquidationPrice }),
        marginMode: each.marginMode,
      })),
    },
  ]
}
