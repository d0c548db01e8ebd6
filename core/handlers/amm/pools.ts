// The pools of a pair or of a token, over one connector or all of a network, and one pool by its address.
import type { AMMPoolResponse } from '../../api/index.ts'
import type { At, PoolsChoice, PoolView, Swap, Token } from '../../contracts/index.ts'
import { inTurns } from '../../base/fair-turns.ts'
import { fromRaw, parseDecimal, priceOf, rescale } from '../../base/decimal.ts'
import { DeepestPools } from '../../base/deepest-pools.ts'
import { badFields, SluiceError } from '../../base/errors.ts'
import { isOfOne, type ConnectorContext, type Handler, type Handlers, type Services } from '../context.ts'
import { badCursor, readLimit } from '../pages.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../../plugins/index.ts'
import { refuseChoice, showLeftOut } from './any.ts'
import { askEach, isLeftOut, venuesOf, withVersion } from './ask-each.ts'
import { requireVersion, toQuoteVenue } from './quote.ts'
import { addressKey, isSameAddress } from '../../base/addresses.ts'

type TokenPair = Pick<Swap, 'tokenIn' | 'tokenOut'>
type ShownPool = Omit<AMMPoolResponse, 'network' | 'timestamp' | 'latency'>

interface FoundPools {
  readonly blockNumber: bigint
  readonly source: 'memory' | 'rpc'
  readonly pools: readonly PoolView[]
}

const ammPools: Handler<'AMMPools'> = async (request, context) => {
  refuseChoice(request)
  const { network, services, signal } = context
  const { version } = request
  const at = { signal }
  const depths = readDepths(request.percents)
  const limit = readLimit(request.limit, services.settings)
  const start = readCursor(request.cursor)
  const pairs = await readPairs(request.base, request.quote, network, at)
  const venues = isOfOne(context) ? [context.venue] : withVersion(version, venuesOf(request.connectors, context), network)
  if (isOfOne(context)) requireVersion(version, tradingOf('AMM', context.venue), context.venue.connector)
  // One more than are shown tells whether there is a next page.
  const most = start + limit + 1
  const choice = { depths, most, ...(version !== undefined && { version }) }
  const findIn = async (venue: VenueEntry) => {
    const found = await findPools(pairs, choice, venue, context, at)
    return { ...found, missing: await missingPools(found, pairs, choice, venue) }
  }
  const answers = await askEach(venues, context, 'pools', findIn, at)
  const leftOut = answers.filter(isLeftOut)
  const [failed] = leftOut
  if (failed && leftOut.length === answers.length) throw failed.error
  const pairOf = pairsByTokens(pairs, network)
  const deepest = new DeepestPools<FoundPool>(most, ({ view }) => view)
  for (const each of answers) {
    if (isLeftOut(each)) continue
    await inTurns(
      each.answer.pools,
      (view) => {
        const pair = pairOf(view)
        if (pair && view.spot.denominator !== 0n && (version === undefined || view.version === version))
          deepest.add({ view, pair, found: each.answer, venue: each.venue })
      },
      at,
    )
  }
  const shown: ShownPool[] = []
  await inTurns(deepest.kept.slice(start, start + limit), (each) => shown.push(showPool(each)), at)
  const left = showLeftOut(leftOut, true)
  const unavailable = answers.flatMap((each) => (isLeftOut(each) ? [] : each.answer.missing))
  return {
    pools: shown,
    ...(unavailable.length > 0 && { unavailable }),
    ...(left.length > 0 && { leftOut: left }),
    ...(start + limit < deepest.kept.length && { nextCursor: String(start + limit) }),
  }
}

/** Pools of a connector's configuration that it did not find. Of more than are kept nobody knows which were left. */
async function missingPools({ pools }: FoundPools, pairs: readonly TokenPair[], choice: PoolsChoice, venue: VenueEntry) {
  if (pools.length >= choice.most) return []
  const found = new Set(pools.map(({ pool }) => addressKey(pool)))
  const listed = (await tradingOf('AMM', venue).listedPools?.(pairs, choice)) ?? []
  return listed
    .filter(({ pool }) => !found.has(addressKey(pool)))
    .map(({ pool, version }) => ({
      connector: venue.connector,
      pool,
      version,
      reason: 'it is gone, empty or paused, or does not answer as a pool',
    }))
}

/** A pool that was found, and whose. */
interface FoundPool {
  readonly view: PoolView
  readonly pair: TokenPair
  readonly found: FoundPools
  readonly venue: VenueEntry
}

/** The pair that a pool was found for. */
function pairsByTokens(pairs: readonly TokenPair[], { impl }: NetworkEntry): (view: PoolView) => TokenPair | undefined {
  const wrapped = impl.evm?.wrapped?.token
  const addressOf = (token: Token) => (token.native && wrapped ? wrapped.address : token.address)
  const byTokens = new Map(pairs.map((pair) => [`${addressOf(pair.tokenIn)} ${addressOf(pair.tokenOut)}`, pair]))
  return ({ tokenIn, tokenOut }) => byTokens.get(`${tokenIn} ${tokenOut}`)
}

const ammPool: Handler<'AMMPool'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const pair = await readPoolPair(request, context, at)
  const choice = { depths: readDepths(request.percents), most: 1, pool: request.pool }
  const found = await findPools([pair], choice, venue, context, at)
  const pairOf = pairsByTokens([pair], network)
  const view = found.pools.find((each) => isSameAddress(each.pool, request.pool) && pairOf(each) && each.spot.denominator !== 0n)
  if (view) return showPool({ view, pair, found, venue })
  throw new SluiceError(
    'PAIR_NOT_FOUND',
    `${venue.connector} has no pool ${request.pool} of ${pair.tokenIn.symbol} and ${pair.tokenOut.symbol} that holds liquidity and takes swaps now; GET /amm/pools lists those that do.`,
  )
}

/** Basis points, the smallest first. @throws SluiceError INCOMPLETE_PARAMS */
function readDepths(percents: readonly string[] = ['1', '2']): readonly number[] {
  const points = percents.map((percent, index) => {
    const { digits, scale } = parseDecimal(percent)
    const isWhole = scale <= 2 || digits % 10n ** BigInt(scale - 2) === 0n
    const found = isWhole ? rescale(digits, scale, 2) : 0n
    if (found > 0n && found < 10_000n) return Number(found)
    throw badFields([{ field: `percents[${index}]`, problem: 'must be above 0 and below 100, with at most two decimals, such as 0.5' }])
  })
  return [...new Set(points)].toSorted((one, other) => one - other)
}

/** The position in the list. @throws SluiceError INCOMPLETE_PARAMS */
function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (!/^\d{1,6}$/.test(cursor)) throw badCursor()
  return Number(cursor)
}

/** A pair, or a token with each other one of the list. */
async function readPairs(base: string, quote: string | undefined, { tokens, impl }: NetworkEntry, at: At): Promise<readonly TokenPair[]> {
  const tokenIn = await tokens.resolve(base, 'base', at)
  if (quote !== undefined) {
    const tokenOut = await tokens.resolve(quote, 'quote', at)
    if (tokenIn.address === tokenOut.address) throw badFields([{ field: 'quote', problem: 'is the same token as base' }])
    return [{ tokenIn, tokenOut }]
  }
  // In pools the native coin is the wrapped one.
  const own = tokenIn.native ? impl.evm?.wrapped?.token.address : tokenIn.address
  return tokens.listed.filter((each) => !each.native && each.address !== own).map((tokenOut) => ({ tokenIn, tokenOut }))
}

/** @throws SluiceError INCOMPLETE_PARAMS where tokens are missing and the pool does not say which it has */
async function readPoolPair(
  { pool, base, quote }: Parameters<Handler<'AMMPool'>>[0],
  { network, venue }: ConnectorContext,
  at: At,
): Promise<TokenPair> {
  const amm = tradingOf('AMM', venue)
  const isWhole = base !== undefined && quote !== undefined
  const addresses = isWhole ? [] : ((await amm.poolTokens?.(pool, at)) ?? [])
  const wrapped = network.impl.evm?.wrapped?.token.address
  /** The first of the pool's tokens that is not this one. In pools the native coin is the wrapped one. */
  const otherThan = (token: Token | undefined) => addresses.find((each) => each !== (token?.native ? wrapped : token?.address))
  const resolve = async (text: string | undefined, field: string) =>
    text === undefined ? undefined : network.tokens.resolve(text, field, at)
  const [given, wanted] = [await resolve(base, 'base'), await resolve(quote, 'quote')]
  const tokenIn = given ?? (await resolve(otherThan(wanted), 'base'))
  const tokenOut = wanted ?? (await resolve(otherThan(tokenIn), 'quote'))
  if (tokenIn === undefined || tokenOut === undefined)
    throw badFields([
      {
        field: base === undefined ? 'base' : 'quote',
        problem: `is required: ${pool} does not say which tokens it has. Give base and quote`,
      },
    ])
  if (tokenIn.address === tokenOut.address) throw badFields([{ field: 'quote', problem: 'is the same token as base' }])
  return { tokenIn, tokenOut }
}

/** From memory where a pair is followed there; else in one round trip. @throws SluiceError UNSUPPORTED */
export async function findPools(
  pairs: readonly TokenPair[],
  choice: PoolsChoice,
  venue: VenueEntry,
  { network, services }: { network: NetworkEntry; services: Pick<Services, 'quotes'> },
  at: At,
): Promise<FoundPools> {
  const [pair] = pairs
  const followed = toQuoteVenue(network, venue)
  if (pair && pairs.length === 1 && followed && !services.quotes.isCutOff(followed)) {
    const known = await services.quotes.pools(followed, pair, choice, at)
    if (known) return { blockNumber: known.head.number, source: known.isKnown ? 'memory' : 'rpc', pools: known.pools }
  }
  const amm = tradingOf('AMM', venue)
  if (!amm.pools) throw new SluiceError('UNSUPPORTED', `${venue.connector} does not list its pools.`)
  const { head, pools } = await amm.pools(pairs, choice, at)
  return { blockNumber: head.number, source: 'rpc', pools }
}

function showPool({ view, pair, found: { blockNumber, source }, venue: { connector } }: FoundPool): ShownPool {
  const { numerator, denominator } = view.spot
  const [base, quote] = [pair.tokenIn, pair.tokenOut]
  const depth = view.depth.map(({ basisPoints, sellRaw, buyRaw, atLeast }) => ({
    percent: basisPoints / 100,
    sell: fromRaw(sellRaw, base.decimals),
    buy: fromRaw(buyRaw, base.decimals),
    ...(atLeast === true && { atLeast }),
  }))
  return {
    connector,
    pool: view.pool,
    version: view.version,
    tokens: [...view.tokens],
    base: view.tokenIn,
    quote: view.tokenOut,
    fee: view.fee,
    price: priceOf({ raw: numerator, decimals: quote.decimals }, { raw: denominator, decimals: base.decimals }, 'down'),
    ...(view.reserveInRaw !== undefined && { baseReserve: fromRaw(view.reserveInRaw, base.decimals) }),
    ...(view.reserveOutRaw !== undefined && { quoteReserve: fromRaw(view.reserveOutRaw, quote.decimals) }),
    ...(view.liquidityRaw !== undefined && { liquidity: view.liquidityRaw.toString() }),
    ...(view.noLiquidityFor && { noLiquidityFor: [...view.noLiquidityFor] }),
    depth,
    blockNumber: Number(blockNumber),
    source,
  }
}

export const poolHandlers = { AMMPools: ammPools, AMMPool: ammPool } satisfies Partial<Handlers>
