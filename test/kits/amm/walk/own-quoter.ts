import { Interface, solidityPacked, toQuantity } from 'ethers'
import { maxSqrtRatioX96, minSqrtRatioX96 } from '../../../../kits/amm/v3/math.ts'
import { maxReserveRaw } from '../../../../kits/amm/v2/pools.ts'
import type { TestChain } from '../../evm/test-chain.ts'
import { maxGas } from './walk-fixture.ts'
import type { WalkRoute } from './walk-pools.ts'

const abi = new Interface([
  'function quoteExactInput(bytes path, uint256 amount) returns (uint256 amountRaw, uint160[] pricesAfter, uint32[], uint256)',
  'function quoteExactOutput(bytes path, uint256 amount) returns (uint256 amountRaw, uint160[] pricesAfter, uint32[], uint256)',
  'function getAmountsOut(uint256 amount, address[] path) view returns (uint256[] amounts)',
  'function getAmountsIn(uint256 amount, address[] path) view returns (uint256[] amounts)',
  'function balanceOf(address) view returns (uint256 heldRaw)',
])
// Stands for the fee of a v2 pool: MixedRouteQuoterV1 of @uniswap/swap-router-contracts@1.3.1, `flagBitmask`.
const pairFlag = 0x800000
const limits = [minSqrtRatioX96 + 1n, maxSqrtRatioX96 - 1n]

export interface QuoterContracts {
  readonly quoter: string
  readonly mixedQuoter: string
  readonly v2Router: string
}

/** The quote of the exchange's own contracts along a route; undefined where they or the pools revert. */
export type OwnQuoter = (route: WalkRoute, exact: 'in' | 'out', amountRaw: bigint, block: bigint) => Promise<bigint | undefined>

/** Router02 for pairs, QuoterV2 for pools of concentrated liquidity, MixedRouteQuoterV1 for routes through both. */
export function ownQuoter({ quoter, mixedQuoter, v2Router }: QuoterContracts, rpc: TestChain['rpc']): OwnQuoter {
  const call = async (to: string, name: string, args: readonly unknown[], block: bigint) => {
    const asked = { to, data: abi.encodeFunctionData(name, args), gas: toQuantity(maxGas) }
    try {
      return abi.decodeFunctionResult(name, String(await rpc('eth_call', asked, toQuantity(block))))
    } catch (error) {
      if (error instanceof Error && /execution reverted/.test(error.message)) return undefined
      throw error
    }
  }
  /** The router's library does not check that v2 pools keep reserves in 112 bits. */
  const overflows = async ({ tokens: [tokenIn = ''], pools: [first] }: WalkRoute, amountInRaw: bigint, block: bigint): Promise<boolean> => {
    if (first?.version !== 'v2') return false
    const held = await call(tokenIn, 'balanceOf', [first.address], block)
    return BigInt(held?.getValue('heldRaw') ?? 0) + amountInRaw > maxReserveRaw
  }

  return async (route, exact, amountRaw, block) => {
    const { tokens, pools } = route
    const forward = exact === 'in'
    if (pools.every(({ version }) => version === 'v2')) {
      const answer = await call(v2Router, forward ? 'getAmountsOut' : 'getAmountsIn', [amountRaw, tokens], block)
      const amounts: readonly bigint[] = answer?.getValue('amounts') ?? []
      const [inRaw, outRaw] = [amounts[0], amounts.at(-1)]
      if (inRaw === undefined || outRaw === undefined || (await overflows(route, inRaw, block))) return undefined
      return forward ? outRaw : inRaw
    }
    const mixed = pools.some(({ version }) => version === 'v2')
    if (mixed && (!forward || (await overflows(route, amountRaw, block)))) return undefined
    const types = tokens.flatMap((_, index) => (index === 0 ? ['address'] : ['uint24', 'address']))
    const feeAt = (index: number) => (pools[index]?.version === 'v2' ? pairFlag : pools[index]?.fee)
    const path = tokens.flatMap((token, index) => (index === 0 ? [token] : [feeAt(index - 1), token]))
    const packed = solidityPacked(types, forward ? path : path.toReversed())
    const answer = await call(mixed ? mixedQuoter : quoter, forward ? 'quoteExactInput' : 'quoteExactOutput', [packed, amountRaw], block)
    if (!answer) return undefined
    // It does not say that it did not take all of an input; a price at its limit does.
    const pricesAfter: readonly bigint[] = answer.getValue('pricesAfter')
    return forward && pricesAfter.some((price) => limits.includes(price)) ? undefined : answer.getValue('amountRaw')
  }
}
