import type { Verb } from '../../context.ts'
import { readAddress } from '../../wallets.ts'
import { rangeOf } from './range-of.ts'
import { showPosition } from './show-position.ts'

export const ammLiquidityPositions: Verb<'AMMLiquidityPositions'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const range = rangeOf(venue)
  const { head, positions } = await range.positions(readAddress(network, request.address), at)
  const shown = await Promise.all(positions.map((position) => showPosition(position, network, at)))
  return { positions: shown, blockNumber: Number(head.number) }
}
