// What each node says by itself of whether a position is there: that one is gone is not proven by what a single node says of its newest block.
import type { AMMRange } from '../../core/contracts/index.ts'
import { word } from '../evm/encoding.ts'
import type { CallResult, Evm, EvmReader } from '../evm/types.ts'
import { tokenOf, wordsOf } from './v3/position-manager.ts'

/** `ownerOf(uint256)`, https://eips.ethereum.org/EIPS/eip-721: it reverts for a token that there is not. */
const ownerOf = '0x6352211e'

/** @returns undefined where each node cannot be asked by itself */
export function positionWitnesses(
  positionManager: string,
  { readEach }: Pick<EvmReader, 'readEach'>,
): Pick<AMMRange<Evm>, 'positionWitnesses'> {
  if (!readEach) return {}
  return {
    async positionWitnesses({ tokenId }, block, at) {
      const token = tokenOf(tokenId)
      if (token === undefined) return []
      const readings = await readEach([{ to: positionManager, data: `${ownerOf}${word(token)}` }], block, at)
      return readings.flatMap(({ head: { number }, results: [owner] }) => {
        const exists = isThere(owner)
        return exists === undefined ? [] : [{ number, exists }]
      })
    },
  }
}

/** A contract that says nothing, as one that is not there or ran out of gas, is no witness. */
function isThere(owner: CallResult | undefined): boolean | undefined {
  if (wordsOf(owner, 1)) return true
  return owner?.ok === false && owner.data !== '0x' ? false : undefined
}
