import { getAddress } from 'ethers'
import type { Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import type { Rounding } from '../../../core/kits/stable/math/invariant.ts'

/** How a pool's contract is asked, and how it reckons. */
export interface PoolKind extends Rounding {
  /** Whether its amplification is moved over a time, or from one block to the next. */
  readonly ramps: boolean
  /** What `balances` and `coins` take. */
  readonly index: 'int128' | 'uint256'
}

/** Contracts of https://github.com/curvefi/curve-contract, contracts/pools: the versions of StableSwap without lending. */
export const poolKinds = {
  /** Vyper 0.1, susd/StableSwapSUSD.vy. */
  first: { aPrecision: 1n, guard: 1n, shy: 0n, mustSettle: false, keepsWhole: true, ramps: false, index: 'int128' },
  /** Vyper 0.2.4, 3pool/StableSwap3Pool.vy. */
  second: { aPrecision: 1n, guard: 0n, shy: 1n, mustSettle: false, keepsWhole: false, ramps: true, index: 'uint256' },
  /** Vyper 0.2.8, pool-templates/base/SwapTemplateBase.vy. */
  template: { aPrecision: 100n, guard: 0n, shy: 1n, mustSettle: true, keepsWhole: false, ramps: true, index: 'uint256' },
} as const satisfies Readonly<Record<string, PoolKind>>

/** Pools are not made by one factory, and none says which version it is: so they are listed. */
export interface StablePool {
  readonly address: string
  readonly kind: keyof typeof poolKinds
  /** In the pool's order. */
  readonly coins: readonly Coin[]
}

export interface Coin {
  readonly address: string
  readonly decimals: number
}

/** In what one exchange of such pools differs from another. */
export interface StableSwapOptions {
  /** The label of this protocol version in the configuration, where the exchange has several. */
  readonly version?: string
  /** By `<chain>/<network>`. */
  readonly pools: Readonly<Record<string, readonly StablePool[]>>
}

/** An exchange on one network. */
export interface StableExchange {
  readonly version: string
  readonly router: string
  readonly pools: readonly StablePool[]
}

/** Throws where the plugin or its configuration lacks the network, with what to do. */
export function exchangeAt({ chain, network, contracts }: Venue<Evm>, { version, pools }: StableSwapOptions): StableExchange {
  const here = pools[`${chain}/${network}`]
  if (!here) {
    throw new Error(`The plugin has no pools for ${chain}/${network}: add them, or take the network out of its available_networks.`)
  }
  const key = version ? `${version}RouterAddress` : 'routerAddress'
  const router = contracts[key]
  if (!router)
    throw new Error(`The configuration has no ${key} for ${chain}/${network}: add it to the network's entry of contractAddresses.`)
  return { version: version ?? 'stable', router, pools: here.map(checked) }
}

/** Tokens are told apart by their canonical spelling, and no contract reckons with more than 18 decimals. */
function checked({ address, kind, coins }: StablePool): StablePool {
  const wrong = coins.find(({ decimals }) => !Number.isInteger(decimals) || decimals < 0 || decimals > 18)
  if (wrong || coins.length < 2 || !Object.hasOwn(poolKinds, kind)) {
    const problem = wrong
      ? `the coin ${wrong.address} has ${wrong.decimals} decimals`
      : coins.length < 2
        ? 'it has fewer than two coins'
        : `its kind is ${kind}`
    throw new Error(`The pool ${address} cannot be reckoned with: ${problem}. Correct the plugin's pools.`)
  }
  return { address: getAddress(address), kind, coins: coins.map((coin) => ({ ...coin, address: getAddress(coin.address) })) }
}
