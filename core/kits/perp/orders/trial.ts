import { AbiCoder } from 'ethers'
import { revertReason } from '../../evm/rail/revert.ts'
import artifact from '../../../../kits/perp/artifacts/PerpTrial.json' with { type: 'json' }
import type { Asked } from '../../../../kits/perp/batch-read.ts'
import type { Contracts, CurieMarket } from '../../../../kits/perp/curie.ts'

/** What the exchange looks at after it has traded, and so says nothing of the market. */
const aboutTheAccount = ['CH_NEFCI', 'CH_NEFCM', 'AB_MNE']

/**
 * Why the market would refuse an order, by its own code (contracts/PerpTrial.sol); undefined where it would not. A size below 0
 * sells; `closingOf` in its place stands for what closes that trader's position.
 */
export function trialOf(
  { house, balances }: Contracts,
  { id }: CurieMarket,
  order: { sizeRaw: bigint } | { closingOf: string },
): Asked<string | undefined> {
  const [trader, sizeRaw] = 'closingOf' in order ? [order.closingOf, 0n] : [house, order.sizeRaw]
  const args = AbiCoder.defaultAbiCoder().encode(
    ['address', 'address', 'address', 'address', 'int256'],
    [house, balances, id, trader, sizeRaw],
  )
  return {
    calls: [{ code: artifact.bytecode, args }],
    answer([result]) {
      // Two words: it was not refused, since somebody gave this code's address collateral. Nothing: there was not enough gas to try.
      if (!result?.ok || result.data.length === 2 + 2 * 64) return undefined
      const reason = revertReason(result.data)
      return aboutTheAccount.includes(reason) ? undefined : reason
    },
  }
}
