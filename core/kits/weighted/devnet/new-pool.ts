import { ZeroAddress, type BaseContract } from 'ethers'
import { pauseSeconds, type Place } from './vault.ts'

/**
 * The contract of a pool: that of the first deployment, the one of the same time for two tokens with an oracle, and that of
 * the third deployment.
 */
export type WeightedPoolKind = 'WeightedPool' | 'WeightedPool2Tokens' | 'WeightedPoolV3'

export interface PoolTerms {
  readonly kind: WeightedPoolKind
  readonly name: string
  /** Addresses, in rising order. */
  readonly tokens: readonly string[]
  /** With 18 decimals, together 1. */
  readonly weights: readonly bigint[]
  /** Of the input, with 18 decimals. */
  readonly swapFee: bigint
}

export async function newPool({ site, vault, feeProvider }: Place, terms: PoolTerms): Promise<BaseContract> {
  const { kind, name, tokens, weights, swapFee } = terms
  const [vaultAddress, owner] = [await vault.getAddress(), site.signer.address]
  const { window, buffer } = pauseSeconds
  const none = tokens.map(() => ZeroAddress)
  const constructorArguments = {
    WeightedPool: [vaultAddress, name, name, tokens, weights, swapFee, window, buffer, owner],
    WeightedPool2Tokens: [[vaultAddress, name, name, ...tokens, ...weights, swapFee, window, buffer, true, owner]],
    WeightedPoolV3: [[name, name, tokens, weights, none, none, swapFee], vaultAddress, feeProvider, window, buffer, owner, ''],
  }
  return site.deploy(await site.artifact(kind, new URL('../../../../kits/amm/weighted/devnet.ts', import.meta.url).href), ...constructorArguments[kind])
}
