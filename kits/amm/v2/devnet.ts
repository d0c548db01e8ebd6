import { Contract, MaxUint256, getCreateAddress, parseUnits } from 'ethers'
import type { DevnetPlugin, DevnetSite, DevnetToken, DevnetTokenSymbol, Quoter, QuoterHop } from '../../../core/contracts/devnet.ts'

/** `['WETH', '10', 'USDC', '30000']`: a pool of two tokens, with what lies in it in human units. */
type PoolFilling = readonly [DevnetTokenSymbol, string, DevnetTokenSymbol, string]

// The order of the first two transactions of `deploy` below.
const factoryNonce = 0
const routerNonce = 1

interface UniswapV2DevnetOptions {
  readonly name: string
  readonly pools: readonly PoolFilling[]
  /** A fork's own contracts, where it has some: names of artifacts in the folder of the module that asks. */
  readonly contracts?: { readonly factory: string; readonly router: string; readonly moduleUrl: string }
}

const original = { factory: 'UniswapV2Factory', router: 'UniswapV2Router02', moduleUrl: import.meta.url }

/** Puts an exchange of the Uniswap v2 kind on the devnet: factory, router, filled pools, and the router as the quoter. */
export function uniswapV2Devnet(exchange: UniswapV2DevnetOptions): DevnetPlugin {
  const { contracts = original } = exchange
  return {
    name: exchange.name,
    async deploy(site) {
      const factory = await site.deploy(await site.artifact(contracts.factory, contracts.moduleUrl), site.signer.address)
      const routerArtifact = await site.artifact(contracts.router, contracts.moduleUrl)
      const router = await site.deploy(routerArtifact, await factory.getAddress(), site.tokens.WETH.address)
      const approved = new Set<DevnetToken>()

      for (const [symbolA, amountA, symbolB, amountB] of exchange.pools) {
        const [tokenA, tokenB] = [site.tokens[symbolA], site.tokens[symbolB]]
        const [rawA, rawB] = [parseUnits(amountA, tokenA.decimals), parseUnits(amountB, tokenB.decimals)]
        const spender = await router.getAddress()
        for (const [token, amountRaw] of [
          [tokenA, rawA],
          [tokenB, rawB],
        ] as const) {
          await token.mint(site.signer.address, amountRaw)
          if (!approved.has(token)) await approve(site, token, spender)
          approved.add(token)
        }
        await site.send(router, 'addLiquidity', tokenA.address, tokenB.address, rawA, rawB, 0n, 0n, site.signer.address, MaxUint256)
      }
    },
    quoter: ({ provider, deployer }) => routerQuoter(new Contract(uniswapV2Addresses(deployer).router, routerAbi, provider)),
  }
}

/** Where the contracts of such an exchange lie on the devnet. */
function uniswapV2Addresses(deployer: string): { factory: string; router: string } {
  return {
    factory: getCreateAddress({ from: deployer, nonce: factoryNonce }),
    router: getCreateAddress({ from: deployer, nonce: routerNonce }),
  }
}

const routerAbi = [
  'function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[])',
  'function getAmountsIn(uint256 amountOut, address[] path) view returns (uint256[])',
]

function routerQuoter(router: Contract): Quoter {
  const ask = async (method: string, amountRaw: bigint, route: readonly QuoterHop[], blockTag: number): Promise<bigint[]> => {
    const path = [...route.slice(0, 1).map((hop) => hop.tokenIn), ...route.map((hop) => hop.tokenOut)]
    return [...(await router.getFunction(method).staticCall(amountRaw, path, { blockTag }))]
  }
  return {
    exactIn: async (route, amountInRaw, block) => last(await ask('getAmountsOut', amountInRaw, route, block)),
    exactOut: async (route, amountOutRaw, block) => first(await ask('getAmountsIn', amountOutRaw, route, block)),
  }
}

async function approve(site: DevnetSite, token: DevnetToken, spender: string): Promise<void> {
  // Without a return value in the ABI, since some tokens have none.
  const contract = new Contract(token.address, ['function approve(address spender, uint256 value)'])
  await site.send(contract, 'approve', spender, MaxUint256)
}

function first(amounts: readonly bigint[]): bigint {
  return present(amounts[0])
}

function last(amounts: readonly bigint[]): bigint {
  return present(amounts.at(-1))
}

function present(amount: bigint | undefined): bigint {
  if (amount === undefined) throw new Error('A route needs at least one hop.')
  return amount
}
