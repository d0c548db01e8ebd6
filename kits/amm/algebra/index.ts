// "sluice/algebra": exchanges of Algebra Integral, and of Algebra 1.0.
import { id } from 'ethers'
import { SluiceError, type Venue } from '../../../core/contracts/index.ts'
import type { CallResult, Evm } from '../../evm/types.ts'
import { configuredAddress, deploymentOn, isLeftOut, requireAddresses, requireNoRevert, routerAddressKey } from '../deployment.ts'
import type { PoolExchange, Router } from '../protocol.ts'
import { v3Router, type RouterKind } from '../v3/router.ts'
import { algebraProtocol, type AlgebraKind, type Deployment } from './pools.ts'

export type { AlgebraKind, Deployment }

/** How one exchange of this kind differs from another. */
export interface AlgebraOptions {
  /** "integral" unless given. */
  readonly kind?: AlgebraKind
  /** The label of this protocol version, where the exchange has several. The key of its router's address begins with it. */
  readonly version?: string
  /** By `<chain>/<network>`. */
  readonly deployments: Readonly<Record<string, Deployment>>
}

const routerKindOf: Readonly<Record<AlgebraKind, RouterKind>> = { integral: 'AlgebraRouter', '1.0': 'AlgebraV1Router' }

/**
 * The factory's own pools, behind the SwapRouter of Algebra Integral 1.2 or of Algebra 1.0. Pools of custom deployers are left out.
 * @throws Error where the plugin or its configuration lacks the network
 */
export function algebra(venue: Venue<Evm>, { kind = 'integral', version, deployments }: AlgebraOptions): PoolExchange {
  if (isLeftOut(venue, version)) return { protocols: [], routers: [] }
  const deployment = deploymentOn(venue, deployments, 'factory, pool deployer and init-code hash')
  const label = version ?? (kind === 'integral' ? kind : 'v1')
  const router = configuredAddress(venue, routerAddressKey(version))
  const listed = new Set(venue.tokens.map(({ address }) => address))
  const whole = v3Router(
    { version: label, factory: deployment.factory, router, routerKind: routerKindOf[kind], mixedWith: undefined, listed },
    venue.reader.wrapped.address,
  )
  return {
    protocols: [algebraProtocol({ version: label, kind, deployment })],
    routers: [{ ...whole, check: checkOf(whole, kind, deployment) }],
  }
}

/** That of the router, and that the factory makes its pools where they are looked for. */
function checkOf(
  { address, check }: Router,
  kind: AlgebraKind,
  { factory, poolDeployer, initCodeHash }: Deployment,
): NonNullable<Router['check']> {
  const deployerOf = (to: string) => ({ to, data: id('poolDeployer()').slice(0, 10) })
  return {
    get calls() {
      // Factories of 1.0 keep the hash to themselves.
      const hash = kind === 'integral' ? [{ to: factory, data: id('POOL_INIT_CODE_HASH()').slice(0, 10) }] : []
      return [...(check?.calls ?? []), deployerOf(address), deployerOf(factory), ...hash]
    },
    verify(answers: readonly CallResult[]) {
      const calls = check?.calls ?? []
      check?.verify(answers.slice(0, calls.length))
      const [ofRouter, ofFactory, hash] = answers.slice(calls.length)
      const view = 'poolDeployer()'
      requireAddresses([{ contract: `The configured router ${address}`, view, address: poolDeployer }], [ofRouter])
      const remedy = 'Correct the deployments of the plugin'
      requireAddresses([{ contract: `The factory ${factory}`, view, address: poolDeployer, remedy }], [ofFactory])
      if (kind !== 'integral') return
      requireNoRevert(`The factory ${factory}`, 'POOL_INIT_CODE_HASH()', hash, remedy)
      const found = hash?.ok && hash.data.length === 66 ? hash.data.toLowerCase() : 'nothing'
      if (found === initCodeHash.toLowerCase()) return
      throw new SluiceError(
        'SERVICE_UNINITIALIZED',
        `The factory ${factory} makes other pools than those that are looked for: its POOL_INIT_CODE_HASH() is ${found}, not ${initCodeHash}. Correct the deployments of the plugin.`,
      )
    },
  }
}

/** The events of the pools: IAlgebraPoolEvents of @cryptoalgebra/integral-core@1.2.10 and @1.2.1. Those of @cryptoalgebra/v1-core@1.0.0 are among them. */
export const algebraEvents = [
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 price, uint128 liquidity, int24 tick)',
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 price, uint128 liquidity, int24 tick, uint24 overrideFee, uint24 pluginFee)',
  'event Fee(uint16 fee)',
  'event PluginConfig(uint8 newPluginConfig)',
] as const
