import type { At, Head, PositionsQuery, RangePosition, RangePositions, Token } from '../../contracts/index.ts'
import { leftOutOf } from '../../contracts/answers/contract.ts'
import { after } from '../../base/async.ts'
import { fromRaw } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import { hasPermission, LazySignal, requireWallet, type Handler, type Handlers, type Services, type TargetContext } from '../context.ts'
import { tradingOf, type NetworkEntry } from '../../plugins/index.ts'
import { readAddress } from '../wallets.ts'
import { readVersion, resolvePair, showBounds, showPrice, type OrderedPair } from './range-pools.ts'
import { isProvenGone, noteAbsent, noteListed, notePresent } from './absent-positions.ts'
import { followPosition, positionFromMemory } from './position-memory.ts'
import { journaledIds } from './journaled-positions.ts'

/** Only callers that may use the owner's wallet see a position. */
const ammLiquidityPosition: Handler<'AMMLiquidityPosition'> = (request, context) => {
  const { network, venue, caller } = context
  const at = new LazySignal(context)
  return after(findPosition(request, context, at, positionFromMemory), ({ head, position }: FoundPosition) => {
    requireWallet(caller, position.owner)
    followPosition(position.tokenId, readVersion(request.version, venue), { venue })
    const blockNumber = Number(head.number)
    const before = shownPositions.get(position)
    if (before?.blockNumber === blockNumber) return before
    // One that no block has changed since is the same object.
    const fields = before ?? orderOf(position, network, at).then((order) => showPosition(position, order))
    return after<ShownPosition, ShownAtBlock>(fields, (shown) => showAt(position, shown, blockNumber))
  })
}

type ShownPosition = ReturnType<typeof showPosition>
type ShownAtBlock = Readonly<ShownPosition & { blockNumber: number }>

/** Of those in memory, which are asked for many times in a block. */
const shownPositions = new WeakMap<RangePosition, ShownAtBlock>()

function showAt(position: RangePosition, shown: ShownPosition, blockNumber: number): ShownAtBlock {
  const atBlock = Object.freeze({ ...shown, blockNumber })
  shownPositions.set(position, atBlock)
  return atBlock
}

const ammLiquidityPositions: Handler<'AMMLiquidityPositions'> = async (request, { network, venue, services, signal }) => {
  const owner = readAddress(network, request.address)
  const version = request.version === undefined ? undefined : readVersion(request.version, venue)
  return rangePositions({ owner, ...(version !== undefined && { version }) }, { network, venue }, services, { signal })
}

/** Anybody can send a wallet a position of tokens without symbol and decimals: it is in `unavailable`, and the others are shown. */
export async function rangePositions(
  query: PositionsQuery,
  { network, venue }: TargetContext<'connector'>,
  services: Pick<Services, 'registry' | 'transactions'>,
  at: At,
) {
  const { head, positions, unread = [], ...search } = await readPositions(query, { network, venue }, services, at)
  for (const position of positions) noteListed(position, head, { venue })
  const tokens = await tokensOf(positions, network, at)
  const unknown = positions.flatMap(({ tokenId, pool }) => {
    const token = [pool.token0, pool.token1].find((address) => !tokens.has(address))
    return token === undefined ? [] : [{ tokenId, version: pool.version, reason: `${token} does not say its symbol and decimals.` }]
  })
  const unavailable = [...unknown, ...unread, ...leftOutOf(positions).map(({ name, reason }) => ({ tokenId: name, reason }))]
  const shown = positions.flatMap((position) => {
    const [token0, token1] = [tokens.get(position.pool.token0), tokens.get(position.pool.token1)]
    return token0 && token1 ? [showPosition(position, { pair: [token0, token1], reversed: false })] : []
  })
  const { searchedFromBlock, notSearched, missing } = search
  return {
    positions: shown,
    ...(unavailable.length > 0 && { unavailable }),
    ...(searchedFromBlock !== undefined && { searchedFromBlock }),
    ...(notSearched !== undefined && { notSearched }),
    ...(missing !== undefined && { missing }),
    blockNumber: Number(head.number),
  }
}

/** Where the exchange does not find all of them, those that this server's journal knows are looked for, too. */
async function readPositions(
  query: PositionsQuery,
  target: TargetContext<'connector'>,
  services: Pick<Services, 'registry' | 'transactions'>,
  at: At,
): Promise<RangePositions> {
  const range = tradingOf('AMM_RANGE', target.venue)
  if (!range.positionsOf) return range.positions(query.owner, at)
  const found = await range.positionsOf(query, at)
  if (found.missing === undefined) return found
  const known = await journaledIds(query.owner, target, services)
  return known.length === 0 ? found : range.positionsOf({ ...query, known }, at)
}

/** The tokens of positions by address, without the unknown ones. Each is asked for once. */
async function tokensOf(positions: readonly RangePosition[], network: NetworkEntry, at: At): Promise<ReadonlyMap<string, Token>> {
  const addresses = new Set(positions.flatMap(({ pool }) => [pool.token0, pool.token1]))
  const found = await Promise.all(
    [...addresses].map(async (address): Promise<[string, Token][]> => {
      try {
        return [[address, await network.tokens.resolve(address, 'address', at)]]
      } catch (error) {
        if (error instanceof SluiceError && error.name === 'TOKEN_NOT_SUPPORTED') return []
        throw error
      }
    }),
  )
  return new Map(found.flat())
}

interface FoundPosition {
  head: Head
  position: RangePosition
}

type PositionContext = TargetContext<'connector'> & { readonly services: Pick<Services, 'following' | 'settings' | 'transactions'> }

/** A number is an id without zeros in front. In base58 there is no 0 at all. */
const readTokenId = (text: string): string => (/^\d+$/.test(text) ? BigInt(text).toString() : text)

/** At once where it is known. @throws SluiceError UNKNOWN_POSITION, with `details.final` once it is final that there is none */
function findPosition(
  request: { tokenId: string; version?: string },
  context: PositionContext,
  at: At,
  known?: typeof positionFromMemory,
): FoundPosition | Promise<FoundPosition> {
  const named = { tokenId: readTokenId(request.tokenId), version: readVersion(request.version, context.venue) }
  return after(known?.(named, context, at), (inMemory: FoundPosition | undefined) => {
    if (!inMemory) return askForPosition(named, context, at)
    notePresent(named, inMemory.head, context)
    return inMemory
  })
}

/** Of its exchange. */
async function askForPosition(
  { tokenId, version }: { readonly tokenId: string; readonly version: string | undefined },
  { network, venue, services }: PositionContext,
  at: At,
): Promise<FoundPosition> {
  const target = { network, venue }
  const range = tradingOf('AMM_RANGE', venue)
  const found = await (range.positionOf
    ? range.positionOf({ tokenId, ...(version !== undefined && { version }) }, at)
    : range.position(tokenId, at))
  if (found?.position) {
    notePresent({ tokenId, version }, found.head, target)
    return { head: found.head, position: found.position }
  }
  const isFinal =
    found !== undefined &&
    (await noteAbsent({ tokenId, version }, found.head, target, services)) &&
    (await isProvenGone({ tokenId, version }, found.head, target, services, at))
  // Ids of each version are its own.
  const [of, each] = version === undefined ? ['', ''] : [` of ${version}`, ', with their version, which such a request has to name']
  throw new SluiceError(
    'UNKNOWN_POSITION',
    `There is no position ${tokenId}${of} on ${venue.connector}, or it was burnt. GET /amm/liquidity/positions lists a wallet's${each}.`,
    { details: { final: isFinal } },
  )
}

/** A position that the wallet owns. @throws SluiceError UNKNOWN_POSITION */
export async function findOwnPosition(
  { address, ...named }: { tokenId: string; version?: string; address: string },
  { network, venue, services }: PositionContext,
  at: At,
): Promise<FoundPosition> {
  const found = await findPosition(named, { network, venue, services }, at)
  const { owner } = found.position
  if (network.impl.address(owner) === address) return found
  throw new SluiceError(
    'UNKNOWN_POSITION',
    `The position ${found.position.tokenId} of ${found.position.pool.version} on ${venue.connector} belongs to ${owner}, not to ${address}: nothing was sent.`,
    { details: { owner } },
  )
}

/** A position is shown in its pool's order. */
export const orderOf = async ({ pool }: RangePosition, network: NetworkEntry, at: At): Promise<OrderedPair> => ({
  pair: await resolvePair(pool, network, at),
  reversed: false,
})

function showPosition(position: RangePosition, ordered: OrderedPair) {
  const { pool, amounts, unclaimed } = position
  const [token0, token1] = ordered.pair
  return {
    tokenId: position.tokenId,
    version: pool.version,
    token0: token0.address,
    token1: token1.address,
    fee: pool.fee,
    ...showBounds(position, ordered),
    ...(position.tickLower !== undefined && { tickLower: position.tickLower }),
    ...(position.tickUpper !== undefined && { tickUpper: position.tickUpper }),
    amount0: fromRaw(amounts.amount0Raw, token0.decimals),
    amount1: fromRaw(amounts.amount1Raw, token1.decimals),
    unclaimedToken0: fromRaw(unclaimed.amount0Raw, token0.decimals),
    unclaimedToken1: fromRaw(unclaimed.amount1Raw, token1.decimals),
    liquidity: position.liquidity.toString(),
    inRange: position.inRange,
    poolPrice: showPrice(pool.price, ordered, 'down'),
    pool: pool.address,
    owner: position.owner,
  }
}

const ammLiquidityRefused: Handler<'AMMLiquidityRefused'> = async (_request, { services, caller }) => ({
  positions: (await services.refusedPositions.list())
    .filter(({ client }) => client === caller.id || hasPermission(caller, 'admin'))
    .map(({ token_id: tokenId, refused_at: refusedAt, error, ...position }) => ({
      ...position,
      tokenId,
      refusedAt,
      ...(error !== null && { error }),
    })),
})

export const rangePositionHandlers = {
  AMMLiquidityPosition: ammLiquidityPosition,
  AMMLiquidityPositions: ammLiquidityPositions,
  AMMLiquidityRefused: ammLiquidityRefused,
} satisfies Partial<Handlers>
