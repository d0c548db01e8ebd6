import { SluiceError } from '../../api/index.ts'
import type { At, RangePosition, Token, Head } from '../../contracts/index.ts'
import { fromRaw } from '../../decimal.ts'
import { requireWallet } from '../caller.ts'
import type { TargetContext, Handler } from '../context.ts'
import type { NetworkEntry, VenueEntry } from '../registry.ts'
import { readAddress } from '../wallets.ts'
import { rangeOf, type OrderedPair, showBounds, showPrice } from './range-pools.ts'

export const ammLiquidityPositions: Handler<'AMMLiquidityPositions'> = async (request, { network, venue, signal }) =>
  rangePositions(readAddress(network, request.address), { network, venue }, { signal })

/** Anybody may send a wallet a position of tokens that tell nothing of themselves: that hides none of the others. */
export async function rangePositions(owner: string, { network, venue }: TargetContext<'connector'>, at: At) {
  const { head, positions } = await rangeOf(venue).positions(owner, at)
  const tokens = await tokensOf(positions, network, at)
  const unshown = positions.flatMap(({ tokenId, pool }) => {
    const unknown = [pool.token0, pool.token1].find((address) => !tokens.has(address))
    return unknown === undefined ? [] : [{ tokenId: tokenId.toString(), reason: `${unknown} does not say its symbol and decimals.` }]
  })
  const shown = positions.flatMap((position) => {
    const [token0, token1] = [tokens.get(position.pool.token0), tokens.get(position.pool.token1)]
    return token0 && token1 ? [showPosition(position, { pair: [token0, token1], reversed: false })] : []
  })
  return { positions: shown, ...(unshown.length > 0 && { unshown }), blockNumber: Number(head.number) }
}

/** Each asked for once, without those that are unknown. */
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

/** A position is its owner's: who may not use that wallet does not see it. */
export const ammLiquidityPosition: Handler<'AMMLiquidityPosition'> = async ({ tokenId }, { network, venue, caller, signal }) => {
  const at = { signal }
  const { head, position } = await findPosition(tokenId, venue, at)
  requireWallet(caller, position.owner)
  return { ...showPosition(position, await orderOf(position, network, at)), blockNumber: Number(head.number) }
}

interface PositionAtBlock {
  head: Head
  position: RangePosition
}

/** Ids are words of 256 bits. */
const idsEnd = 2n ** 256n

/** @throws SluiceError UNKNOWN_POSITION */
async function findPosition(idText: string, venue: VenueEntry, at: At): Promise<PositionAtBlock> {
  const range = rangeOf(venue)
  const tokenId = BigInt(idText)
  const found = tokenId < idsEnd ? await range.position(tokenId, at) : undefined
  if (found) return found
  throw new SluiceError(
    'UNKNOWN_POSITION',
    `There is no position ${tokenId} on ${venue.connector}, or none any more (burnt); GET /amm/liquidity/positions lists a wallet's.`,
  )
}

/** One that the wallet may do something with. @throws SluiceError UNKNOWN_POSITION */
export async function findOwnPosition(
  { tokenId, address }: { tokenId: string; address: string },
  venue: VenueEntry,
  { impl }: NetworkEntry,
  at: At,
): Promise<PositionAtBlock> {
  const found = await findPosition(tokenId, venue, at)
  const { owner } = found.position
  if (impl.address(owner) === address) return found
  throw new SluiceError(
    'UNKNOWN_POSITION',
    `The position ${found.position.tokenId} on ${venue.connector} belongs to ${owner}, not to ${address}: nothing was sent.`,
    { details: { owner } },
  )
}

/** A position's tokens in its pool's order, which is how it is shown. */
export async function orderOf({ pool }: RangePosition, { tokens }: NetworkEntry, at: At): Promise<OrderedPair> {
  const pair = await Promise.all([tokens.resolve(pool.token0, 'token0', at), tokens.resolve(pool.token1, 'token1', at)])
  return { pair, reversed: false }
}

function showPosition(position: RangePosition, order: OrderedPair) {
  const { pool, amounts, unclaimed } = position
  const [token0, token1] = order.pair
  return {
    tokenId: position.tokenId.toString(),
    token0: token0.address,
    token1: token1.address,
    fee: pool.fee,
    ...showBounds(position, order),
    amount0: fromRaw(amounts.amount0Raw, token0.decimals),
    amount1: fromRaw(amounts.amount1Raw, token1.decimals),
    unclaimedToken0: fromRaw(unclaimed.amount0Raw, token0.decimals),
    unclaimedToken1: fromRaw(unclaimed.amount1Raw, token1.decimals),
    liquidity: position.liquidity.toString(),
    inRange: position.inRange,
    poolPrice: showPrice(pool.price, order, 'down'),
    pool: pool.address,
    owner: position.owner,
  }
}
