import { Contract, MaxUint256, parseUnits, type BaseContract } from 'ethers'
import type { DevnetSite, DevnetToken, DevnetTokens, DevnetTokenSymbol } from '../../../contracts/devnet.ts'
import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'
import { mostGas, type Contracts } from './contracts.ts'

/** A pool and what lies in it; prices are human units of the second token for one of the first. */
export interface RangePoolFilling {
  readonly pair: readonly [DevnetTokenSymbol, DevnetTokenSymbol]
  /** Hundredths of a basis point. */
  readonly fee: keyof typeof tickSpacings
  readonly price: number
  /** Between two prices, at most so much of the first token, and what it is worth of the second. */
  readonly positions: readonly (readonly [lowerPrice: number, upperPrice: number, amount: string])[]
}

// UniswapV3Factory of @uniswap/v3-core@1.0.1 begins with some tiers, and others are added later: 100 on mainnet
// (https://github.com/Uniswap/v3-core, proposal of November 2021), 2500 as PancakeSwap has it (@pancakeswap/v3-sdk@3.10.2).
const tickSpacings = { 100: 1, 500: 10, 2500: 50, 3000: 60, 10000: 200 } as const
const firstFees: readonly number[] = [500, 3000, 10000]

// A pool's first swap of a block writes an observation: with one in every second, the oracle holds that many seconds.
const observations = 120

const managerAbi = [
  'function multicall(bytes[] data) payable',
  'function createAndInitializePoolIfNecessary(address token0, address token1, uint24 fee, uint160 sqrtPriceX96) payable',
  'function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline) params) payable',
]
const factoryAbi = ['function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)']
const poolAbi = ['function increaseObservationCardinalityNext(uint16 observationCardinalityNext)']
// Without a return value, since some tokens have none.
const tokenAbi = ['function approve(address spender, uint256 value)']

/** Adds the tiers of these pools that the factory does not begin with. */
export async function enableFees(site: DevnetSite, factory: BaseContract, pools: readonly RangePoolFilling[]): Promise<void> {
  const fees = new Set(pools.map(({ fee }) => fee).filter((fee) => !firstFees.includes(fee)))
  for (const fee of fees) await site.send(factory, 'enableFeeAmount', fee, tickSpacings[fee])
}

/** One transaction makes a pool with all its positions. */
export async function fillPools(
  site: DevnetSite & { tokens: DevnetTokens },
  { factory, positionManager }: Contracts,
  pools: readonly RangePoolFilling[],
): Promise<void> {
  const manager = new Contract(positionManager, managerAbi)
  const sorted = pools.map((pool) => inPoolOrder(pool, site.tokens))
  for (const token of new Set(sorted.flatMap(({ token0, token1 }) => [token0, token1]))) {
    await token.mint(
      site.signer.address,
      sorted.map((pool) => needed(pool, token)).reduce((a, b) => a + b, 0n),
    )
    await site.send(new Contract(token.address, tokenAbi), 'approve', positionManager, MaxUint256)
  }
  for (const { token0, token1, fee, tick, positions } of sorted) {
    const [address0, address1] = [token0.address, token1.address]
    const calls = [
      manager.interface.encodeFunctionData('createAndInitializePoolIfNecessary', [address0, address1, fee, getSqrtRatioAtTick(tick)]),
      ...positions.map(({ tickLower, tickUpper, amount0Raw, amount1Raw }) => {
        const mint = [address0, address1, fee, tickLower, tickUpper, amount0Raw, amount1Raw, 0n, 0n, site.signer.address, MaxUint256]
        return manager.interface.encodeFunctionData('mint', [mint])
      }),
    ]
    await site.send(manager, 'multicall', calls, { gasLimit: mostGas })
    const pool = await new Contract(factory, factoryAbi, site.provider).getFunction('getPool').staticCall(address0, address1, fee)
    await site.send(new Contract(pool, poolAbi), 'increaseObservationCardinalityNext', observations, { gasLimit: mostGas })
  }
}

/** The pool as its contract has it: tokens by address, prices as ticks. */
function inPoolOrder({ pair: [base, quote], fee, price, positions }: RangePoolFilling, tokens: DevnetTokens) {
  const forward = tokens[base].address.toLowerCase() < tokens[quote].address.toLowerCase()
  const [token0, token1] = forward ? [tokens[base], tokens[quote]] : [tokens[quote], tokens[base]]
  // Floats will do: the devnet's prices are about what is asked for.
  const tickOf = (price: number, spacing = 1) => {
    const rawPrice = price * 10 ** (tokens[quote].decimals - tokens[base].decimals)
    return Math.round(((forward ? 1 : -1) * Math.log(rawPrice)) / Math.log(1.0001) / spacing) * spacing
  }
  return {
    token0,
    token1,
    fee,
    tick: tickOf(price),
    positions: positions.map(([lowerPrice, upperPrice, amount]) => {
      const bounds = [tickOf(lowerPrice, tickSpacings[fee]), tickOf(upperPrice, tickSpacings[fee])]
      const baseRaw = parseUnits(amount, tokens[base].decimals)
      const quoteRaw = parseUnits((Number(amount) * price).toFixed(tokens[quote].decimals), tokens[quote].decimals)
      const [amount0Raw, amount1Raw] = forward ? [baseRaw, quoteRaw] : [quoteRaw, baseRaw]
      return { tickLower: Math.min(...bounds), tickUpper: Math.max(...bounds), amount0Raw, amount1Raw }
    }),
  }
}

function needed({ token0, token1, positions }: ReturnType<typeof inPoolOrder>, token: DevnetToken): bigint {
  return positions
    .map(({ amount0Raw, amount1Raw }) => (token === token0 ? amount0Raw : token === token1 ? amount1Raw : 0n))
    .reduce((a, b) => a + b, 0n)
}
