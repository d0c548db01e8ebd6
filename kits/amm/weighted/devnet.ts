// "sluice/weighted/devnet". Loaded on the devnet only.
import {
  parseEther,
  parseUnits,
  getCreateAddress,
  type BaseContract,
  ZeroAddress,
  AbiCoder,
  Contract,
  MaxUint256,
  type Provider,
} from 'ethers'
import type {
  DevnetPlugin,
  DevnetTokenSymbol,
  DevnetTokens,
  DevnetSite,
  DevnetToken,
  Quoter,
  QuoterHop,
} from '../../../core/contracts/devnet.ts'
import { tokensAlong } from '../../pools/route-parts.ts'

export interface WeightedPoolFilling {
  readonly kind: WeightedPoolKind
  /** Of the input: "0.003". */
  readonly swapFee: string
  /** `['WETH', '0.8', '1000']`: weight, and balance in human units. */
  readonly tokens: readonly (readonly [symbol: DevnetTokenSymbol, weight: string, amount: string])[]
}

export interface WeightedDevnetOptions {
  readonly name: string
  readonly pools: readonly WeightedPoolFilling[]
}

/** Puts an exchange of weighted pools on the devnet: a Vault, filled pools, and the Vault's own query as the quoter. */
export function weightedDevnet({ name, pools }: WeightedDevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      const deployment = await deployVault(site, site.tokens.WETH.address)
      // All pools first, so that their addresses do not depend on what they hold.
      const deployed = []
      for (const { kind, swapFee, tokens } of pools) {
        const contents = contentsOf(site.tokens, tokens)
        const terms = { name: contents.map(({ label }) => label).join(' '), tokens: contents.map(({ token }) => token.address) }
        const weights = contents.map(({ weight }) => weight)
        deployed.push({ contents, pool: await newPool(deployment, { kind, ...terms, weights, swapFee: parseEther(swapFee) }) })
      }
      for (const { contents, pool } of deployed) await fillPool(deployment, pool, contents)
    },
    shares: { noDeadline: true, noAllowance: true },
    quoter: ({ provider, deployer }) => quoterOf(provider, getCreateAddress({ from: deployer, nonce: vaultNonce })),
  }
}

/** In the order in which the Vault wants tokens. */
function contentsOf(all: DevnetTokens, tokens: WeightedPoolFilling['tokens']) {
  return tokens
    .map(([symbol, weight, amount]) => {
      const token = all[symbol]
      return { label: `${weight}${symbol}`, token, weight: parseEther(weight), amountRaw: parseUnits(amount, token.decimals) }
    })
    .toSorted((a, b) => (a.token.address.toLowerCase() < b.token.address.toLowerCase() ? -1 : 1))
}

interface VaultDeployment {
  readonly site: DevnetSite
  readonly vault: BaseContract
  readonly feeProvider: string
}

// The Vault is deployed by the second transaction of `deployVault`.
const vaultNonce = 1

// The longest that the contracts allow: TemporarilyPausable of npm @balancer-labs/v2-solidity-utils 4.0.0.
export const pauseSeconds = { window: 90 * 86_400, buffer: 30 * 86_400 }
// The most that the protocol may keep of yields and of assets under management: half of each. It keeps nothing of swaps.
const maxProtocolFees = [10n ** 18n / 2n, 10n ** 18n / 2n] as const

/** What a pool's contracts need. Comes before every other transaction of the signer. */
export async function deployVault(site: DevnetSite, weth: string): Promise<VaultDeployment> {
  const artifact = (contract: string) => site.artifact(contract, import.meta.url)
  const authorizer = await site.deploy(await artifact('Authorizer'), site.signer.address)
  const { window, buffer } = pauseSeconds
  const vault = await site.deploy(await artifact('Vault'), await authorizer.getAddress(), weth, window, buffer)
  const feeProvider = await site.deploy(await artifact('ProtocolFeePercentagesProvider'), await vault.getAddress(), ...maxProtocolFees)
  return { site, vault, feeProvider: await feeProvider.getAddress() }
}

/**
 * The contract of a pool: of the first deployment, of the same time for two tokens with an oracle, and of the third deployment.
 */
export type WeightedPoolKind = 'WeightedPool' | 'WeightedPool2Tokens' | 'WeightedPoolV3'

interface PoolTerms {
  readonly kind: WeightedPoolKind
  readonly name: string
  /** Addresses, in rising order. */
  readonly tokens: readonly string[]
  /** With 18 decimals; their sum is 1. */
  readonly weights: readonly bigint[]
  /** Of the input, with 18 decimals. */
  readonly swapFee: bigint
}

/** Deploys a pool without balances. */
export async function newPool({ site, vault, feeProvider }: VaultDeployment, terms: PoolTerms): Promise<BaseContract> {
  const { kind, name, tokens, weights, swapFee } = terms
  const [vaultAddress, owner] = [await vault.getAddress(), site.signer.address]
  const { window, buffer } = pauseSeconds
  const none = tokens.map(() => ZeroAddress)
  const constructorArguments = {
    WeightedPool: [vaultAddress, name, name, tokens, weights, swapFee, window, buffer, owner],
    WeightedPool2Tokens: [[vaultAddress, name, name, ...tokens, ...weights, swapFee, window, buffer, true, owner]],
    WeightedPoolV3: [[name, name, tokens, weights, none, none, swapFee], vaultAddress, feeProvider, window, buffer, owner, ''],
  }
  return site.deploy(await site.artifact(kind, import.meta.url), ...constructorArguments[kind])
}

interface Content {
  readonly token: DevnetToken
  readonly amountRaw: bigint
}

// JoinKind.INIT of WeightedPoolUserDataHelpers, npm @balancer-labs/v2-pool-weighted 2.0.1.
const init = 0
// `approve` has no return value in this ABI, because some tokens return none.
const tokenAbi = ['function approve(address spender, uint256 value)', 'function allowance(address, address) view returns (uint256)']

/** Puts the first liquidity in. @param contents in the order of the pool's tokens */
export async function fillPool({ site, vault }: VaultDeployment, pool: BaseContract, contents: readonly Content[]): Promise<void> {
  const [vaultAddress, owner] = [await vault.getAddress(), site.signer.address]
  for (const { token, amountRaw } of contents) {
    await token.mint(owner, amountRaw)
    const contract = new Contract(token.address, tokenAbi, site.signer)
    // Some tokens refuse to change an allowance that is not 0.
    if ((await contract.getFunction('allowance')(owner, vaultAddress)) === 0n)
      await site.send(contract, 'approve', vaultAddress, MaxUint256)
  }
  const amounts = contents.map(({ amountRaw }) => amountRaw)
  const userData = AbiCoder.defaultAbiCoder().encode(['uint256', 'uint256[]'], [init, amounts])
  const assets = contents.map(({ token }) => token.address)
  await site.send(vault, 'joinPool', await pool.getFunction('getPoolId')(), owner, owner, [assets, amounts, userData, false])
}

const vaultAbi = [
  `function queryBatchSwap(
    uint8 kind,
    (bytes32 poolId, uint256 assetInIndex, uint256 assetOutIndex, uint256 amount, bytes userData)[] swaps,
    address[] assets,
    (address sender, bool fromInternalBalance, address recipient, bool toInternalBalance) funds
  ) returns (int256[])`,
]
const poolAbi = ['function getPoolId() view returns (bytes32)']
const funds = [ZeroAddress, false, ZeroAddress, false]

/** Asks the Vault itself about a batch of swaps: it carries them out and reverts. */
function quoterOf(provider: Provider, vault: string): Quoter {
  const contract = new Contract(vault, vaultAbi, provider)
  const deltas = async (kind: 0 | 1, route: readonly QuoterHop[], amountRaw: bigint, blockTag: number): Promise<readonly bigint[]> => {
    const ids = await Promise.all(route.map(({ pool }) => new Contract(pool, poolAbi, provider).getFunction('getPoolId')()))
    const given = kind === 0 ? 0 : route.length - 1
    const swaps = ids.map((id, index) => [id, index, index + 1, index === given ? amountRaw : 0n, '0x'])
    const inSwapOrder = kind === 0 ? swaps : swaps.toReversed()
    return contract.getFunction('queryBatchSwap').staticCall(kind, inSwapOrder, tokensAlong(route), funds, { blockTag })
  }
  return {
    exactIn: async (route, amountInRaw, block) => -((await deltas(0, route, amountInRaw, block)).at(-1) ?? 0n),
    exactOut: async (route, amountOutRaw, block) => (await deltas(1, route, amountOutRaw, block)).at(0) ?? 0n,
  }
}
