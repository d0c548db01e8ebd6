import type { Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { configuredAddress, deploymentOn, routerAddressKey } from '../deployment.ts'
import type { Deployment } from './pools.ts'
import { routerKinds, type RouterKind } from './router.ts'

/** How one exchange of this kind differs from another. */
export interface UniswapV3Options {
  /** The label of this protocol version: "v3" where it is absent. The keys of its addresses begin with it. */
  readonly version?: string
  /** By `<chain>/<network>`. */
  readonly deployments: Readonly<Record<string, Deployment>>
  /** Which of Uniswap's routers its router is, or copies: `SwapRouter02` where it is absent. */
  readonly router?: RouterKind
  /** The fee tiers by name, in hundredths of a basis point; Uniswap's where it is absent. */
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
  /** All fee tiers, in hundredths of a basis point. */
  readonly fees: readonly number[]
  /** The tiers that have names. */
  readonly feeTiers: Readonly<Record<string, number>>
  readonly mixedWith: { readonly version: string; readonly factory: string } | undefined
  /** The addresses of the network's token list: tokens that are known to be what they say. */
  readonly listed: ReadonlySet<string>
}

// UniswapV3Factory of @uniswap/v3-core@1.0.1, and 100, which was added later; names as in FeeAmount of @uniswap/v3-sdk.
const uniswapFeeTiers = { LOWEST: 100, LOW: 500, MEDIUM: 3000, HIGH: 10_000 }

/** Joins the plugin's constants and the configured addresses. @throws Error that says what to do where one is missing */
export function exchangeAt(venue: Venue<Evm>, options: UniswapV3Options): Exchange {
  const {
    version = 'v3',
    deployments,
    router: routerKind = 'SwapRouter02',
    feeTiers = uniswapFeeTiers,
    otherFees = [],
    mixedWith,
  } = options
  const deployment = deploymentOn(venue, deployments, `factory and init-code hash of ${version}`)
  const v2 = mixedWith?.deployments[`${venue.chain}/${venue.network}`]
  return {
    ...deployment,
    version,
    router: configuredAddress(venue, routerAddressKey(version)),
    routerKind,
    positionManager: configuredAddress(venue, 'positionManagerAddress'),
    fees: [...Object.values(feeTiers), ...otherFees],
    feeTiers,
    mixedWith: routerKinds[routerKind].mixes && mixedWith && v2 ? { version: mixedWith.version, factory: v2.factory } : undefined,
    listed: new Set(venue.tokens.map(({ address }) => address)),
  }
}
