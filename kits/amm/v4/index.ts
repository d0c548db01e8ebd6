// "sluice/uniswap-v4": pools that one contract keeps, traded by the Universal Router.
import type { AMMRange, Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { configuredAddress, deploymentOn, isLeftOut, routerAddressKey } from '../deployment.ts'
import type { PoolExchange } from '../protocol.ts'
import { configuredKeys } from './keys.ts'
import { poolsBetweenOf, v4Protocol } from './pools.ts'
import { v4Range } from './range.ts'
import { universalRouter } from './router.ts'

interface UniswapV4Options {
  /** The label of this protocol version: "v4" where it is absent. The key of its router's address begins with it. */
  readonly version?: string
  /** By `<chain>/<network>`; networks without an entry have no pools of this version. */
  readonly deployments: Readonly<Record<string, { readonly poolManager: string }>>
  /** The labels of the exchange's other pools, which routes may pass too: the router has to be made for their factories. */
  readonly mixedWith?: { readonly constantProduct: string; readonly range: string }
}

/** Names as in FeeAmount of @uniswap/v3-sdk, for the standard fees of v4. */
const feeTiers = { LOWEST: 100, LOW: 500, MEDIUM: 3000, HIGH: 10_000 }

/**
 * Pools of Uniswap v4: those of the standard fees without hooks, and those whose keys are configured (`v4Pools`). Tokens are taken by Permit2.
 * Positions in them are where the configuration has the position manager (`v4PositionManagerAddress`).
 * @returns undefined where the exchange has none on the network, or where the configuration leaves them out
 * @throws Error where the configuration lacks an address
 */
export function uniswapV4(
  venue: Venue<Evm>,
  { version = 'v4', deployments, mixedWith }: UniswapV4Options,
): (PoolExchange & { readonly range: AMMRange<Evm> | undefined }) | undefined {
  if (isLeftOut(venue, version) || deployments[`${venue.chain}/${venue.network}`] === undefined) return undefined
  const { poolManager: manager } = deploymentOn(venue, deployments, `pool manager of ${version}`)
  const wrapped = venue.reader.wrapped.address
  const { followed, asked } = configuredKeys(venue)
  const poolsBetween = poolsBetweenOf(manager, wrapped, { configured: [...followed, ...asked] })
  const logged = v4Protocol({ version, manager, poolsBetween: poolsBetweenOf(manager, wrapped, { configured: followed }) })
  const between = poolsBetweenOf(manager, wrapped, { configured: asked, standard: false })
  const tried = v4Protocol({ version, manager, poolsBetween: between, isAsked: true })
  const permit2 = configuredAddress(venue, 'permit2Address')
  const positionManager = venue.contracts[`${version}PositionManagerAddress`]
  return {
    range:
      positionManager === undefined
        ? undefined
        : v4Range({ version, positionManager, poolManager: manager, permit2, wrapped, poolsBetween }, feeTiers, venue.reader),
    protocols: asked.length > 0 ? [logged, tried] : [logged],
    routers: [
      universalRouter({
        version,
        router: configuredAddress(venue, routerAddressKey(version)),
        permit2,
        manager,
        wrapped,
        poolsBetween,
        ...mixedWith,
      }),
    ],
  }
}

export { poolKeysSchema } from './keys.ts'

/** JSON Schema of the setting `signedPermits`. The signer reads it by itself, as it is written in conf. */
export const signedPermitsSchema = {
  type: 'boolean',
  description: 'Sign a permit of exactly the amount for a trade by the Universal Router whose wallet has no allowance by Permit2',
} as const

/** The events of the contracts: IPoolManager of @uniswap/v4-core@1.0.2. */
export const v4Events = [
  'event Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)',
  'event ModifyLiquidity(bytes32 indexed id, address indexed sender, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32 salt)',
  'event Donate(bytes32 indexed id, address indexed sender, uint256 amount0, uint256 amount1)',
] as const
