import { SluiceError } from '../../api/index.ts'
import type { At, RangePosition, Token } from '../../contracts/index.ts'
import type { On, Verb } from '../context.ts'
import type { NetworkEntry } from '../registry.ts'
import { readAddress } from '../wallets.ts'
import { rangeOf } from '../../verbs/amm/liquidity/range-of.ts'
import { showPosition } from '../../verbs/amm/liquidity/show-position.ts'

export const ammLiquidityPositions: Verb<'AMMLiquidityPositions'> = async (request, { network, venue, signal }) =>
  rangePositions(readAddress(network, request.address), { network, venue }, { signal })

/** Anybody may send a wallet a position of tokens that tell nothing of themselves: that hides none of the others. */
export async function rangePositions(owner: string, { network, venue }: On<'connector'>, at: At) {
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
