// The pools of a pair or of a token, over one connector or all of a network, and one pool by its address.
import type { AMMPoolResponse } from '../../api/index.ts'
import type { At, PoolView, Swap, Token } from '../../contracts/index.ts'
import { fromRaw, priceOf } from '../../decimal.ts'
import { badFields, SluiceError } from '../../errors.ts'
import { isOfOne, type ConnectorContext, type ConnectorsContext, type Handler, type Handlers } from '../context.ts'
import { badCursor, readLimit } from '../pages.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../registry.ts'
import { askEach, isLeftOut, refuseChoice, showLeftOut, venuesOf, withVersion } from './any.ts'
import { requireVersion, toQuoteVenue } from './quote.ts'

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
  const limit = readLimit(request.limit, services.settings)
  const start = readCursor(request.cursor)
  const pairs = await readPairs(request.base, request.quote, network, at)
  const venues = isOfOne(context) ? [context.venue] : withVersion(version, venuesOf(request.connectors, context), network)
  if (isOfOne(context)) requireVersion(version, tradingOf('AMM', context.venue), context.venue.connector)
  const answers = await askEach(venues, context, 'pools', (venue) => findPools(pairs, venue, context, at))
  const leftOut = answers.filter(isLeftOut)
  const [failed] = leftOut
  if (failed && leftOut.length === answers.length) throw failed.error
  const found = answers
    .flatMap((each) =>
      isLeftOut(each) ? [] : each.answer.pools.flatMap((pool) => showPool(pool, each.answer, each.venue, pairs, network)),
    )
    .filter((each) => version === undefined || each.shown.version === version)
    .toSorted((one, other) =>
      one.depthRaw < other.depthRaw ? 1 : one.depthRaw > other.depthRaw ? -1 : one.shown.pool < other.shown.pool ? -1 : 1,
    )
  const shown = found.slice(start, start + limit).map((each) => each.shown)
  const left = showLeftOut(leftOut, true)
  return {
    pools: shown,
    ...(left.length > 0 && { leftOut: left }),
    ...(start + limit < found.length && { nextCursor: String(start + limit) }),
  }
}

const ammPool: Handler<'AMMPool'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const pair = await readPoolPair(request, context, at)
  const found = await findPools([pair], venue, context, at)
  const shown = found.pools
    .filter((each) => each.pool.toLowerCase() === request.pool.toLowerCase())
    .flatMap((each) => showPool(each, found, venue, [pair], network))[0]?.shown
  if (shown) return shown
  throw new SluiceError(
    'PAIR_NOT_FOUND',
    `${venue.connector} has no pool ${request.pool} with liquidity of ${pair.tokenIn.symbol} and ${pair.tokenOut.symbol}; GET /amm/pools lists those that it has.`,
  )
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
  const addresses = base === undefined || quote === undefined ? await amm.poolTokens?.(pool, at) : []
  const [first = base, ...others] = base === undefined ? (addresses ?? []) : [base]
  const resolved = first === undefined ? undefined : await network.tokens.resolve(first, 'base', at)
  const second = quote ?? (base === undefined ? others[0] : addresses?.find((each) => each !== resolved?.address))
  if (resolved === undefined || second === undefined)
    throw badFields([
      {
        field: base === undefined ? 'base' : 'quote',
        problem: `is required: ${pool} does not say which tokens it has. Give base and quote`,
      },
    ])
  const tokenOut = await network.tokens.resolve(second, 'quote', at)
  if (resolved.address === tokenOut.address) throw badFields([{ field: 'quote', problem: 'is the same token as base' }])
  return { tokenIn: resolved, tokenOut }
}

/** From memory where a pair is followed there; else in one round trip. @throws SluiceError UNSUPPORTED */
async function findPools(
  pairs: readonly TokenPair[],
  venue: VenueEntry,
  { network, services }: Pick<ConnectorsContext, 'network' | 'services'>,
  at: At,
): Promise<FoundPools> {
  const [pair] = pairs
  const followed = toQuoteVenue(network, venue)
  if (pair && pairs.length === 1 && followed && !services.quotes.isCutOff(followed)) {
    const known = await services.quotes.pools(followed, pair, at)
    if (known) return { blockNumber: known.head.number, source: 'memory', pools: known.pools }
  }
  const amm = tradingOf('AMM', venue)
  if (!amm.pools) throw new SluiceError('UNSUPPORTED', `${venue.connector} does not list its pools.`)
  const { head, pools } = await amm.pools(pairs, at)
  return { blockNumber: head.number, source: 'rpc', pools }
}

/** None for one of other tokens than were asked for, or without a price. */
function showPool(
  view: PoolView,
  { blockNumber, source }: FoundPools,
  { connector }: VenueEntry,
  pairs: readonly TokenPair[],
  { impl }: NetworkEntry,
): readonly { readonly shown: ShownPool; readonly depthRaw: bigint }[] {
  const wrapped = impl.evm?.wrapped?.token
  const isToken = (token: Token, address: string) => (token.native && wrapped ? wrapped.address : token.address) === address
  const pair = pairs.find(({ tokenIn, tokenOut }) => isToken(tokenIn, view.tokenIn) && isToken(tokenOut, view.tokenOut))
  const { numerator, denominator } = view.spot
  if (!pair || denominator === 0n) return []
  const [base, quote] = [pair.tokenIn, pair.tokenOut]
  const depth = view.depth.map(({ percent, sellRaw, buyRaw, atLeast }) => ({
    percent,
    sell: fromRaw(sellRaw, base.decimals),
    buy: fromRaw(buyRaw, base.decimals),
    ...(atLeast === true && { atLeast }),
  }))
  const shown = {
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
    depth,
    blockNumber: Number(blockNumber),
    source,
  }
  return [{ shown, depthRaw: view.depth.at(-1)?.sellRaw ?? 0n }]
}

export const poolHandlers = { AMMPools: ammPools, AMMPool: ammPool } satisfies Partial<Handlers>
