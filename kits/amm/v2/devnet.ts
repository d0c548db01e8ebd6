// "sluice/uniswap-v2/devnet". Loaded on the devnet only.
import { Contract, MaxUint256, getCreate2Address, getCreateAddress, parseUnits, solidityPackedKeccak256 } from 'ethers'
import type { DevnetPlugin, DevnetSite, DevnetTokenSymbol, Quoter, QuoterHop } from '../../../core/contracts/devnet.ts'
import { sortTokens } from '../deployment.ts'
import { tokensAlong } from '../../pools/route-parts.ts'

/** `['WETH', '10', 'USDC', '30000']`: a pool of two tokens, and what it holds in human units. */
export type PoolFilling = readonly [DevnetTokenSymbol, string, DevnetTokenSymbol, string]

export interface UniswapV2DevnetOptions {
  readonly name: string
  readonly pools: readonly PoolFilling[]
  /** A fork's own contracts, where it has some: names of artifacts in the folder of the module that asks. */
  readonly contracts?: { readonly factory: string; readonly router: string; readonly moduleUrl: string }
}

const uniswapContracts = { factory: 'UniswapV2Factory', router: 'UniswapV2Router02', moduleUrl: import.meta.url }
// The router is deployed by the second transaction of `deploy`.
const routerNonce = 1

/** Puts an exchange of the Uniswap v2 kind on the devnet: factory, router and filled pools. The router is the quoter. */
export function uniswapV2Devnet({ name, pools, contracts = uniswapContracts }: UniswapV2DevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      const factory = await site.deploy(await site.artifact(contracts.factory, contracts.moduleUrl), site.signer.address)
      const routerArtifact = await site.artifact(contracts.router, contracts.moduleUrl)
      const router = await site.deploy(routerArtifact, await factory.getAddress(), site.tokens.WETH.address)
      const spender = await router.getAddress()
      const approved = new Set<string>()
      for (const [symbolA, amountA, symbolB, amountB] of pools) {
        const [tokenA, tokenB] = [site.tokens[symbolA], site.tokens[symbolB]]
        const [rawA, rawB] = [parseUnits(amountA, tokenA.decimals), parseUnits(amountB, tokenB.decimals)]
        for (const [token, amountRaw] of [
          [tokenA, rawA],
          [tokenB, rawB],
        ] as const) {
          await token.mint(site.signer.address, amountRaw)
          if (!approved.has(token.address)) await approve(site, token.address, spender)
          approved.add(token.address)
        }
        await site.send(router, 'addLiquidity', tokenA.address, tokenB.address, rawA, rawB, 0n, 0n, site.signer.address, MaxUint256)
      }
    },
    quoter({ provider, deployer }) {
      const router = getCreateAddress({ from: deployer, nonce: routerNonce })
      return routerQuoter(new Contract(router, quoterAbi, provider))
    },
  }
}

/** keccak256 of the pair's creation code: UniswapV2Library of @uniswap/v2-periphery@1.1.0-beta.0. */
const initCodeHash = '0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f'

/** The pairs that Uniswap's factory makes of these tokens on the devnet, each two once. `sluice plugin new` writes such addresses. */
export function devnetAddresses(deployer: string, tokens: readonly string[]): readonly string[] {
  const factory = getCreateAddress({ from: deployer, nonce: 0 })
  return tokens.flatMap((one, index) =>
    tokens.slice(index + 1).map((other) => {
      const salt = solidityPackedKeccak256(['address', 'address'], sortTokens(one, other))
      return getCreate2Address(factory, salt, initCodeHash)
    }),
  )
}

async function approve(site: DevnetSite, token: string, spender: string): Promise<void> {
  // The ABI has no return value, because some tokens return none.
  await site.send(new Contract(token, ['function approve(address spender, uint256 value)']), 'approve', spender, MaxUint256)
}

const quoterAbi = [
  'function getAmountsOut(uint256 amountIn, address[] path) view returns (uint256[])',
  'function getAmountsIn(uint256 amountOut, address[] path) view returns (uint256[])',
]

function routerQuoter(router: Contract): Quoter {
  const quote = async (method: string, amountRaw: bigint, route: readonly QuoterHop[], blockTag: number, at: 0 | -1): Promise<bigint> => {
    const amounts: readonly bigint[] = await router.getFunction(method).staticCall(amountRaw, tokensAlong(route), { blockTag })
    const otherRaw = amounts.at(at)
    if (otherRaw === undefined) throw new Error('A route needs at least one hop.')
    return otherRaw
  }
  return {
    exactIn: (route, amountInRaw, block) => quote('getAmountsOut', amountInRaw, route, block, -1),
    exactOut: (route, amountOutRaw, block) => quote('getAmountsIn', amountOutRaw, route, block, 0),
  }
}
