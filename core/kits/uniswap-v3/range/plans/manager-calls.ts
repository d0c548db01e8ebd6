import type { EvmIntent } from '../../../../../kits/evm/types.ts'
import { managerAbi } from '../../../../../kits/amm/v3/position-manager.ts'

/** One transaction: the call itself, or several as one. */
export function managerStep(positionManager: string, calls: readonly [string, ...string[]], valueRaw = 0n): EvmIntent {
  const data = calls.length === 1 ? calls[0] : managerAbi.encodeFunctionData('multicall', [calls])
  return { to: positionManager, data, value: valueRaw.toString() }
}

const all = 2n ** 128n - 1n

/** Everything that is owed to the position. */
export function collectCall(tokenId: bigint, recipient: string): string {
  return managerAbi.encodeFunctionData('collect', [{ tokenId, recipient, amount0Max: all, amount1Max: all }])
}
