import type { BaseContract } from 'ethers'
import type { DevnetPlugin, DevnetSite, DevnetTokens } from '../../../core/contracts/devnet.ts'
import { contractsOf, mostGas, startingNonce, type Contracts } from '../../../core/kits/uniswap-v3/devnet/contracts.ts'
import { enableFees, fillPools, type RangePoolFilling } from '../../../core/kits/uniswap-v3/devnet/pools.ts'
import { quoterOf } from '../../../core/kits/uniswap-v3/devnet/quoter.ts'
import type { RouterKind } from '../../../core/kits/uniswap-v3/router/router-kinds.ts'

export type { RangePoolFilling } from '../../../core/kits/uniswap-v3/devnet/pools.ts'

export interface UniswapV3DevnetOptions {
  /** Its constant-product pools, which come first: routes may pass pools of both kinds. */
  readonly v2: DevnetPlugin
  readonly pools: readonly RangePoolFilling[]
  /** `SwapRouter02` where it is absent. */
  readonly router?: RouterKind
}

/**
 * Puts an exchange of the Uniswap v3 kind on the devnet: factory, position manager, router, filled pools, and the
 * exchange's own quoters.
 */
export function uniswapV3Devnet({ v2, pools, router = 'SwapRouter02' }: UniswapV3DevnetOptions): DevnetPlugin {
  return {
    name: v2.name,
    async deploy(site) {
      await v2.deploy?.(site)
      const contracts = contractsOf(site.signer.address)
      const v3Factory = await deployContracts(site, contracts, router)
      await enableFees(site, v3Factory, pools)
      await fillPools(site, contracts, pools)
    },
    quoter: (site) => quoterOf(site.provider, contractsOf(site.deployer), v2.quoter?.(site)),
  }
}

async function deployContracts(
  site: DevnetSite & { tokens: DevnetTokens },
  contracts: Contracts,
  router: RouterKind,
): Promise<BaseContract> {
  const weth = site.tokens.WETH.address
  await startingNonce(site)
  const { v2Factory, factory, positionManager } = contracts
  // Nobody draws the pictures of positions here, and they are half of the code: there is no descriptor.
  const descriptor = '0x0000000000000000000000000000000000000000'
  const deploy = async (name: string, ...args: readonly string[]) =>
    site.deploy(await site.artifact(name, import.meta.url), ...args, { gasLimit: mostGas })

  // In the order of `contractsOf`.
  const v3Factory = await deploy('UniswapV3Factory')
  await deploy('NonfungiblePositionManager', factory, weth, descriptor)
  await deploy(router, ...(router === 'SwapRouter02' ? [v2Factory, factory, positionManager, weth] : [factory, weth]))
  await deploy('QuoterV2', factory, weth)
  if (router === 'SwapRouter02') await deploy('MixedRouteQuoterV1', factory, v2Factory, weth)
  return v3Factory
}
