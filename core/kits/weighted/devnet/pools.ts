import { AbiCoder, Contract, MaxUint256, ZeroAddress, parseEther, parseUnits, type BaseContract } from 'ethers'
import type { DevnetSite, DevnetTokenSymbol, DevnetTokens } from '../../../testing/devnet-plugin.ts'

/**
 * The contract of a pool: that of the first deployment, the one of the same time for two tokens with an oracle, and that of
 * the third deployment.
 */
export type WeightedPoolKind = 'WeightedPool' | 'WeightedPool2Tokens' | 'WeightedPoolV3'

export interface WeightedPoolFilling {
  readonly kind: WeightedPoolKind
  /** Of the input: "0.003". */
  readonly swapFee: string
  /** `['WETH', '0.8', '1000']`: weight, and what lies in it in human units. */
  readonly tokens: readonly (readonly [symbol: DevnetTokenSymbol, weight: string, amount: string])[]
}

export interface Place {
  readonly site: DevnetSite & { readonly tokens: DevnetTokens }
  readonly vault: BaseContract
  readonly feeProvider: string
  readonly pauseSeconds: { readonly window: number; readonly buffer: number }
}

export async function deployPool({ site, vault, feeProvider, pauseSeconds }: Place, filling: WeightedPoolFilling): Promise<BaseContract> {
  const contents = contentsOf(site.tokens, filling)
  const name = contents.map(({ symbol, weight }) => `${weight}${symbol}`).join(' ')
  const rest = { vault: await vault.getAddress(), ...pauseSeconds, owner: site.signer.address }
  const pool = { name, tokens: contents.map(({ address }) => address), weights: contents.map(({ weight }) => parseEther(weight)) }
  const artifact = await site.artifact(filling.kind, new URL('../devnet.ts', import.meta.url).href)
  return site.deploy(artifact, ...constructorArguments[filling.kind](pool, parseEther(filling.swapFee), rest, feeProvider))
}

interface PoolTerms {
  readonly name: string
  readonly tokens: readonly string[]
  readonly weights: readonly bigint[]
}

interface Rest {
  readonly vault: string
  readonly window: number
  readonly buffer: number
  readonly owner: string
}

const constructorArguments: Record<
  WeightedPoolKind,
  (pool: PoolTerms, fee: bigint, rest: Rest, feeProvider: string) => readonly unknown[]
> = {
  WeightedPool: ({ name, tokens, weights }, fee, { vault, window, buffer, owner }) => [
    vault,
    name,
    name,
    tokens,
    weights,
    fee,
    window,
    buffer,
    owner,
  ],
  WeightedPool2Tokens: ({ name, tokens, weights }, fee, { vault, window, buffer, owner }) => [
    [vault, name, name, ...tokens, ...weights, fee, window, buffer, true, owner],
  ],
  WeightedPoolV3: ({ name, tokens, weights }, fee, { vault, window, buffer, owner }, feeProvider) => {
    const none = tokens.map(() => ZeroAddress)
    return [[name, name, tokens, weights, none, none, fee], vault, feeProvider, window, buffer, owner, '']
  },
}

// JoinKind.INIT of WeightedPoolUserDataHelpers.
const init = 0

export async function fillPool({ site, vault }: Place, filling: WeightedPoolFilling, pool: BaseContract): Promise<void> {
  const contents = contentsOf(site.tokens, filling)
  const [vaultAddress, owner] = [await vault.getAddress(), site.signer.address]
  for (const { symbol, address, amountRaw } of contents) {
    await site.tokens[symbol].mint(owner, amountRaw)
    const token = new Contract(address, tokenAbi, site.signer)
    // Some refuse to change an allowance that is there.
    if ((await token.getFunction('allowance')(owner, vaultAddress)) === 0n) await site.send(token, 'approve', vaultAddress, MaxUint256)
  }
  const amounts = contents.map(({ amountRaw }) => amountRaw)
  const userData = AbiCoder.defaultAbiCoder().encode(['uint256', 'uint256[]'], [init, amounts])
  const assets = contents.map(({ address }) => address)
  await site.send(vault, 'joinPool', await pool.getFunction('getPoolId')(), owner, owner, [assets, amounts, userData, false])
}

// Without a return value of approve, since some tokens have none.
const tokenAbi = ['function approve(address spender, uint256 value)', 'function allowance(address, address) view returns (uint256)']

/** In the order in which the Vault wants tokens. */
function contentsOf(tokens: DevnetTokens, filling: WeightedPoolFilling) {
  return filling.tokens
    .map(([symbol, weight, amount]) => {
      const { address, decimals } = tokens[symbol]
      return { symbol, weight, address, amountRaw: parseUnits(amount, decimals) }
    })
    .toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))
}
