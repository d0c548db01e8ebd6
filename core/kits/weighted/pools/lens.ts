import { AbiCoder } from 'ethers'
import { SluiceError } from '../../../contracts/index.ts'
import type { CallResult, Probe } from '../../../../kits/evm/types.ts'
import type { Pool } from '../../../../kits/amm/index.ts'
import artifact from '../../../../kits/amm/weighted/artifacts/WeightedLens.json' with { type: 'json' }
import { poolAddress } from '../pool-id.ts'
import type { WeightedState } from './weighted-pool.ts'

const coder = AbiCoder.defaultAbiCoder()
const answerTypes = [
  'tuple(address[] tokens, uint256[] balances, uint256[] weights, uint256[] decimals, uint256 swapFee, bool hasScalingFactors)[]',
]
const mostDecimals = 18n

/** Reads pools of a Vault: contracts/WeightedLens.sol. */
export function lensProbe(vault: string, ids: readonly string[]): Probe {
  return { code: artifact.bytecode, args: coder.encode(['address', 'bytes32[]'], [vault, ids]) }
}

/**
 * What the lens saw of each pool, in order: undefined where there is none that swaps.
 * @throws SluiceError NETWORK where the node did not run it to its end
 */
export function readLens(result: CallResult, ids: readonly string[]): readonly (Pool<WeightedState> | undefined)[] {
  const seen = seenIn(result)
  if (seen?.length !== ids.length) {
    const cure = 'try again, and see in rpcUrls that the node allows calls of 50 million gas if this stays'
    throw new SluiceError('NETWORK', `The node did not read the pools to the end: ${cure}.`)
  }
  return ids.map((id, index) => seen[index] && poolOf(id, seen[index]))
}

function seenIn({ ok, data }: CallResult): readonly Seen[] | undefined {
  if (!ok) return undefined
  try {
    const [seen] = coder.decode(answerTypes, data)
    return [...seen]
  } catch {
    // No answer of the lens: the calls that it makes have reasons of their own, which come back in its place.
    return undefined
  }
}

interface Seen {
  readonly tokens: readonly string[]
  readonly balances: readonly bigint[]
  readonly weights: readonly bigint[]
  readonly decimals: readonly bigint[]
  readonly swapFee: bigint
  readonly hasScalingFactors: boolean
}

/** One whose token lacks or has too many decimals is none of these pools, and nor is one without a weight for each token. */
function poolOf(id: string, { tokens, balances, weights, decimals, swapFee, hasScalingFactors }: Seen): Pool<WeightedState> | undefined {
  const holdings = [...tokens].flatMap((_, index) => {
    const [balanceRaw = 0n, weight = 0n, decimal = mostDecimals + 1n] = [balances[index], weights[index], decimals[index]]
    return balanceRaw > 0n && weight > 0n && decimal <= mostDecimals ? [{ balanceRaw, weight, scale: 10n ** (mostDecimals - decimal) }] : []
  })
  if (holdings.length === 0 || holdings.length < tokens.length) return undefined
  return { address: poolAddress(id), tokens: [...tokens], state: { holdings, swapFee, squares: hasScalingFactors } }
}
