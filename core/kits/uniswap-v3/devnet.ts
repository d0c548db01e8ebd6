import type { DevnetPlugin, DevnetSite } from '../../testing/devnet-plugin.ts'
import { contractsOf, mostGas, startingNonce, type Contracts } from './devnet/contracts.ts'
import { fillPools, type RangePoolFilling } from './devnet/pools.ts'
import { quoterOf } from './devnet/quoter.ts'

export type { RangePoolFilling } from './devnet/pools.ts'

/**
 * Puts an exchange of the Uniswap v3 kind on the devnet: factory, position manager, router, filled pools, and the
 * exchange's own quoters.
 * @param exchange.v2 its constant-product pools, which come first: routes may pass pools of both
 */
export function uniswapV3Devnet({ v2, pools }: { v2: DevnetPlugin; pools: readonly RangePoolFilling[] }): DevnetPlugin {
  return {
    name: v2.name,
    async deploy(site) {
      await v2.deploy?.(site)
      const contracts = contractsOf(site.signer.address)
      await deployContracts(site, contracts, site.tokens.WETH.address)
      await fillPools(site, contracts, pools)
    },
    quoter: (site) => quoterOf(site.provider, contractsOf(site.deployer), v2.quoter?.(site)),
  }
}

async function deployContracts(site: DevnetSite, contracts: Contracts, weth: string): Promise<void> {
  await startingNonce(site)
  const { v2Factory, factory, positionManager } = contracts
  // Nobody draws the pictures of positions here, and they are half of the code: there is no descriptor.
  const descriptor = '0x0000000000000000000000000000000000000000'
  const deploy = async (name: string, ...args: readonly string[]) =>
    site.deploy(await site.artifact(name, import.meta.url), ...args, { gasLimit: mostGas })

  // In the order of `contractsOf`.
  const v3Factory = await deploy('UniswapV3Factory')
  await deploy('NonfungiblePositionManager', factory, weth, descriptor)
  await deploy('SwapRouter02', v2Factory, factory, positionManager, weth)
  await deploy('QuoterV2', factory, weth)
  await deploy('MixedRouteQuoterV1', factory, v2Factory, weth)
  // As on mainnet, where it was added later: https://github.com/Uniswap/v3-core, proposal of November 2021.
  await site.send(v3Factory, 'enableFeeAmount', 100, 1)
}
