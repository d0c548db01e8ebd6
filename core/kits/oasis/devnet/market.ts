import { Contract, getCreateAddress, parseUnits, type BaseContract } from 'ethers'
import { devnetTokenSymbols } from '../../../contracts/devnet.ts'
import type { Artifact, DevnetSite, DevnetTokens, DevnetTokenSymbol } from '../../../contracts/devnet.ts'

// The first transaction of the deployment.
const marketNonce = 0

/** What an offer must pay at least, by token and in human units. */
export type LeastAmounts = Readonly<Partial<Record<DevnetTokenSymbol, string>>>

/** Where the market lies on the devnet. */
export const marketOf = (deployer: string): string => getCreateAddress({ from: deployer, nonce: marketNonce })

export async function deployMarket(site: DevnetSite & { readonly tokens: DevnetTokens }, least: LeastAmounts): Promise<BaseContract> {
  const market = await site.deploy(await artifactOf(site))
  for (const symbol of devnetTokenSymbols) {
    const amount = least[symbol]
    const { address, decimals } = site.tokens[symbol]
    if (amount !== undefined) await site.send(market, 'setMinSell', address, parseUnits(amount, decimals))
  }
  return market
}

export const marketAt = async (site: DevnetSite): Promise<Contract> =>
  new Contract(marketOf(site.signer.address), (await artifactOf(site)).abi, site.signer)

const artifactOf = (site: DevnetSite): Promise<Artifact> => site.artifact('TestOasisDex', new URL('../../../../kits/oasis/devnet.ts', import.meta.url).href)
