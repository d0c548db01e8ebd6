import { Contract, solidityPacked, type Provider } from 'ethers'
import type { Quoter, QuoterHop } from '../../../contracts/devnet.ts'
import type { Contracts } from './contracts.ts'

const quoterAbi = [
  'function quoteExactInput(bytes path, uint256 amountIn) returns (uint256 amountOut, uint160[], uint32[], uint256)',
  'function quoteExactOutput(bytes path, uint256 amountOut) returns (uint256 amountIn, uint160[], uint32[], uint256)',
]
const poolAbi = ['function fee() view returns (uint24)']
// What stands for the fee of a constant-product pool: MixedRouteQuoterV1 of @uniswap/swap-router-contracts@1.3.1, `flagBitmask`.
const constantProduct = 0x800000n

/** The exchange's quoters: the one of concentrated liquidity, the one of constant-product pools, and the one of routes through both. */
export function quoterOf(provider: Provider, { quoter, mixedQuoter }: Contracts, v2: Quoter | undefined): Quoter {
  const feeOf = async ({ pool, version }: QuoterHop): Promise<bigint> =>
    version === 'v2' ? constantProduct : new Contract(pool, poolAbi, provider).getFunction('fee').staticCall()
  const ask = async (
    address: string,
    method: string,
    tokens: readonly string[],
    fees: readonly bigint[],
    raw: bigint,
    blockTag: number,
  ) => {
    const types = tokens.flatMap((_, index) => (index === 0 ? ['address'] : ['uint24', 'address']))
    const path = solidityPacked(
      types,
      tokens.flatMap((token, index) => (index === 0 ? [token] : [fees[index - 1], token])),
    )
    const [amountRaw] = await new Contract(address, quoterAbi, provider).getFunction(method).staticCall(path, raw, { blockTag })
    return BigInt(amountRaw)
  }

  return {
    async exactIn(route, amountInRaw, block) {
      if (v2 && all(route, 'v2')) return v2.exactIn(route, amountInRaw, block)
      const fees = await Promise.all(route.map(feeOf))
      return ask(all(route, 'v3') ? quoter : mixedQuoter, 'quoteExactInput', tokensAlong(route), fees, amountInRaw, block)
    },
    async exactOut(route, amountOutRaw, block) {
      if (v2 && all(route, 'v2')) return v2.exactOut(route, amountOutRaw, block)
      if (!all(route, 'v3')) throw new Error('The exchange quotes no exact output of a route through pools of several versions.')
      const fees = await Promise.all(route.map(feeOf))
      return ask(quoter, 'quoteExactOutput', tokensAlong(route).toReversed(), fees.toReversed(), amountOutRaw, block)
    },
  }
}

const all = (route: readonly QuoterHop[], version: string) => route.every((hop) => hop.version === version)

const tokensAlong = (route: readonly QuoterHop[]) => [
  ...route.slice(0, 1).map(({ tokenIn }) => tokenIn),
  ...route.map(({ tokenOut }) => tokenOut),
]
