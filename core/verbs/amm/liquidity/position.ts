import type { Verb } from '../../../handlers/context.ts'
import { requireWallet } from '../../../handlers/caller.ts'
import { findPosition } from './position-of.ts'
import { orderOf, showPosition } from './show-position.ts'

/** A position is its owner's: who may not use that wallet does not see it. */
export const ammLiquidityPosition: Verb<'AMMLiquidityPosition'> = async ({ tokenId }, { network, venue, caller, signal }) => {
  const at = { signal }
  const { head, position } = await findPosition(tokenId, venue, at)
  requireWallet(caller, position.owner)
  return { ...showPosition(position, await orderOf(position, network, at)), blockNumber: Number(head.number) }
}
