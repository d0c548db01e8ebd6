import { getCreateAddress, toQuantity, type BaseContract } from 'ethers'
import type { Artifact, DevnetSite } from '../../core/contracts/devnet.ts'

// Round numbers, so that addresses stay where they are however many transactions there are in between.
const quoteFrom = 10
const exchangeFrom = 1000
const marketsFrom = 2000
const perMarket = 100
/** Where the bases' search begins, in a market's hundred: what its price comes from lies before. */
const baseFrom = 10

// In the order in which they are deployed.
const exchangeContracts = [
  'UniswapV3Factory',
  'ClearingHouseConfig',
  'MarketRegistry',
  'OrderBook',
  'InsuranceFund',
  'Exchange',
  'AccountBalance',
  'Vault',
  'ClearingHouse',
  'CollateralManager',
] as const
export type ExchangeContract = (typeof exchangeContracts)[number]

export type Placed = ReturnType<typeof contractsOf>

/**
 * Where the contracts of the exchange lie on the devnet. The exchange takes only bases whose addresses sort below the quote's
 * (MarketRegistry.addPool), so each of these lies at the first nonce that makes it so.
 */
export function contractsOf(deployer: string) {
  const at = (nonce: number) => getCreateAddress({ from: deployer, nonce })
  const first = (from: number, fits: (address: string) => boolean) => {
    let nonce = from
    while (!fits(at(nonce).toLowerCase())) nonce += 1
    return { nonce, address: at(nonce) }
  }
  const quote = first(quoteFrom, (address) => address > '0xf')
  const addresses = Object.fromEntries(exchangeContracts.map((name, index) => [name, at(exchangeFrom + index)]))
  return {
    quote,
    exchange: (name: ExchangeContract) => addresses[name] ?? '',
    market(index: number) {
      const from = marketsFrom + index * perMarket
      const base = first(from + baseFrom, (address) => address < quote.address.toLowerCase())
      // In the order in which they are deployed: what answers a price, what keeps its past, what is asked for it.
      const placed = (nonce: number) => ({ nonce, address: at(nonce) })
      return { aggregator: placed(from), dispatcher: placed(from + 2), base }
    },
  }
}

/** Deploys the exchange's contracts, none of them initialised yet. */
export async function deployExchange(site: DevnetSite): Promise<Readonly<Record<ExchangeContract, BaseContract>>> {
  await nextNonce(site, exchangeFrom)
  const deployed: [string, BaseContract][] = []
  for (const name of exchangeContracts) deployed.push([name, await site.deploy(await artifactOf(site, name))])
  // The names are the keys.
  const named: unknown = Object.fromEntries(deployed)
  return named as Record<ExchangeContract, BaseContract>
}

/** The next transaction has this nonce. */
export async function nextNonce({ provider, signer }: DevnetSite, nonce: number): Promise<void> {
  await provider.send('anvil_setNonce', [signer.address, toQuantity(nonce)])
}

export function artifactOf(site: DevnetSite, name: string): Promise<Artifact> {
  const of = name === 'UniswapV3Factory' ? '../../uniswap-v3/devnet.ts' : '../devnet.ts'
  return site.artifact(name, new URL(of, import.meta.url).href)
}
