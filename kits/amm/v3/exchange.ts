import type { Venue, AMMRange } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import type { PoolExchange } from '../index.ts'
import { v3Protocol } from './pools.ts'
import { v3Range } from './range.ts'
import { routerKinds, type RouterKind, v3Router } from './router.ts'

/** Where an exchange's pools come from, on one network. */
export interface Deployment {
  readonly factory: string
  /** Makes the pools: the factory itself where it is absent. */
  readonly deployer?: string
  /** keccak256 of the pool's creation code: with who makes them it gives every pool's address. */
  readonly initCodeHash: string
}

/** In what one exchange of this kind differs from another. */
export interface UniswapV3Options {
  /** The label of this protocol version: "v3" where it is absent. The keys of its addresses begin with it. */
  readonly version?: string
  /** By `<chain>/<network>`. */
  readonly deployments: Readonly<Record<string, Deployment>>
  /** Which of Uniswap's routers its router is, or is made after: `SwapRouter02` where it is absent. */
  readonly router?: RouterKind
  /** What the names of fee tiers stand for, in hundredths of a basis point; Uniswap's where it is absent. */
  readonly feeTiers?: Readonly<Record<string, number>>
  /** Further tiers, which have no names. */
  readonly otherFees?: readonly number[]
  /** The same exchange's constant-product pools, where routes may pass both kinds: SwapRouter02 takes them. */
  readonly mixedWith?: { readonly version: string; readonly deployments: Readonly<Record<string, { readonly factory: string }>> }
}

/** An exchange on one network. */
export interface Exchange extends Deployment {
  readonly version: string
  readonly router: string
  readonly routerKind: RouterKind
  readonly positionManager: string
  /** All tiers, in hundredths of a basis point. */
  readonly fees: readonly number[]
  readonly feeTiers: Readonly<Record<string, number>>
  readonly mixedWith: { readonly version: string; readonly factory: string } | undefined
  /** The network's token list: addresses of tokens that are known to be what they say. */
  readonly listed: ReadonlySet<string>
}

// UniswapV3Factory of @uniswap/v3-core@1.0.1, and 100, which was added later; names as in FeeAmount of @uniswap/v3-sdk.
const uniswapFeeTiers = { LOWEST: 100, LOW: 500, MEDIUM: 3000, HIGH: 10_000 }

/** Puts the plugin's constants and the configured addresses together; throws where one is missing, with what to do. */
export function exchangeAt({ chain, network, contracts, tokens }: Venue<Evm>, options: UniswapV3Options): Exchange {
  const {
    version = 'v3',
    deployments,
    router: routerKind = 'SwapRouter02',
    feeTiers = uniswapFeeTiers,
    otherFees = [],
    mixedWith,
  } = options
  const here = `${chain}/${network}`
  const deployment = deployments[here]
  if (!deployment) {
    const known = Object.keys(deployments).join(', ')
    throw new Error(
      `The plugin has no factory and init-code hash of ${version} for ${here} (it has ${known || 'none'}): add them to its deployments, or take the network out of its available_networks.`,
    )
  }
  const configured = (key: string): string => {
    const address = contracts[key]
    if (!address) throw new Error(`The configuration has no ${key} for ${here}: add it to the network's entry of contractAddresses.`)
    return address
  }
  const v2 = mixedWith?.deployments[here]
  return {
    ...deployment,
    version,
    router: configured(`${version}RouterAddress`),
    routerKind,
    positionManager: configured('positionManagerAddress'),
    fees: [...Object.values(feeTiers), ...otherFees],
    feeTiers,
    mixedWith: routerKinds[routerKind].mixes && mixedWith && v2 ? { version: mixedWith.version, factory: v2.factory } : undefined,
    listed: new Set(tokens.map(({ address }) => address)),
  }
}

/**
 * Pools of concentrated liquidity behind a router, and positions in them, as Uniswap v3 and its forks have them. Throws
 * where the plugin or its configuration lacks the network.
 */
export function uniswapV3(venue: Venue<Evm>, options: UniswapV3Options): PoolExchange & { readonly range: AMMRange<Evm> } {
  const exchange = exchangeAt(venue, options)
  return {
    protocols: [v3Protocol(exchange)],
    routers: [v3Router(exchange, venue.reader.wrapped.address)],
    range: v3Range(exchange, venue.reader),
  }
}

// What the contracts emit: IUniswapV3PoolEvents and IUniswapV3Factory of @uniswap/v3-core@1.0.1, and
// INonfungiblePositionManager of @uniswap/v3-periphery@1.4.4.
export const v3Events = [
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
  // PancakeSwap's has what the protocol keeps, too.
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1)',
  'event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)',
  'event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)',
  'event Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1)',
  'event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'event DecreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)',
  'event Collect(uint256 indexed tokenId, address recipient, uint256 amount0, uint256 amount1)',
] as const
