import { parseEther, parseUnits } from 'ethers'
import type { DevnetPlugin, DevnetTokenSymbol, DevnetTokens } from '../../../core/contracts/devnet.ts'
import { fillPool } from '../../../core/kits/weighted/devnet/fill-pool.ts'
import { newPool, type WeightedPoolKind } from '../../../core/kits/weighted/devnet/new-pool.ts'
import { quoterOf } from '../../../core/kits/weighted/devnet/quoter.ts'
import { deployVault, vaultOf } from '../../../core/kits/weighted/devnet/vault.ts'

export interface WeightedPoolFilling {
  readonly kind: WeightedPoolKind
  /** Of the input: "0.003". */
  readonly swapFee: string
  /** `['WETH', '0.8', '1000']`: weight, and what lies in it in human units. */
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
      const place = await deployVault(site, site.tokens.WETH.address)
      // All of them first, so that their addresses do not follow from what is in them.
      const deployed = []
      for (const { kind, swapFee, tokens } of pools) {
        const contents = contentsOf(site.tokens, tokens)
        const terms = { name: contents.map(({ label }) => label).join(' '), tokens: contents.map(({ token }) => token.address) }
        const weights = contents.map(({ weight }) => weight)
        deployed.push({ contents, pool: await newPool(place, { kind, ...terms, weights, swapFee: parseEther(swapFee) }) })
      }
      for (const { contents, pool } of deployed) await fillPool(place, pool, contents)
    },
    quoter: ({ provider, deployer }) => quoterOf(provider, vaultOf(deployer)),
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
