import {
  getCreateAddress,
  toQuantity,
  type BaseContract,
  MaxUint256,
  Contract,
  keccak256,
  AbiCoder,
  parseUnits,
  toBeHex,
  zeroPadValue,
} from 'ethers'
import type { Artifact, DevnetSite, DevnetTokens } from '../../core/contracts/devnet.ts'
import { getSqrtRatioAtTick } from '../amm/v3/math.ts'

// Round nonces, so that addresses do not depend on the number of transactions in between.
const quoteFrom = 10
const exchangeFrom = 1000
const marketsFrom = 2000
const perMarket = 100
/** Where the search for a base's nonce begins, after the contracts of the market's price. */
const baseFrom = 10

// In the order of deployment.
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

export type DevnetAddresses = ReturnType<typeof perpDevnetContracts>

/**
 * The addresses of the exchange's contracts on the devnet. The exchange accepts only bases whose addresses sort below the quote's
 * (MarketRegistry.addPool), so each base has the first nonce that gives it such an address.
 */
export function perpDevnetContracts(deployer: string) {
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
      // In the order of deployment. The nonce between them is the price feed's.
      const contract = (nonce: number) => ({ nonce, address: at(nonce) })
      return { aggregator: contract(from), dispatcher: contract(from + 2), base }
    },
  }
}

/** Deploys the exchange's contracts without initializing them. */
export async function deployExchange(site: DevnetSite): Promise<Readonly<Record<ExchangeContract, BaseContract>>> {
  await nextNonce(site, exchangeFrom)
  const deployed: [string, BaseContract][] = []
  for (const name of exchangeContracts) deployed.push([name, await site.deploy(await artifactOf(site, name))])
  // The names are the keys.
  const named: unknown = Object.fromEntries(deployed)
  return named as Record<ExchangeContract, BaseContract>
}

/** Sets the nonce of the next transaction. */
async function nextNonce({ provider, signer }: DevnetSite, nonce: number): Promise<void> {
  await provider.send('anvil_setNonce', [signer.address, toQuantity(nonce)])
}

export function artifactOf(site: DevnetSite, name: string): Promise<Artifact> {
  const moduleUrl = name === 'UniswapV3Factory' ? new URL('../amm/v3/devnet.ts', import.meta.url).href : import.meta.url
  return site.artifact(name, moduleUrl)
}

type Site = DevnetSite & { tokens: DevnetTokens }

// Shorter than the defaults of 30 and 15 minutes (ClearingHouseConfig.initialize), so that mark prices visibly move, and since the pools'
// oracles do not store more observations.
const markTwapSeconds = 60
export const premiumSeconds = 30
const fundingTwapSeconds = 60

export async function deployQuote(site: DevnetSite, { quote: { nonce } }: DevnetAddresses): Promise<BaseContract> {
  await nextNonce(site, nonce)
  const quote = await site.deploy(await artifactOf(site, 'QuoteToken'))
  await site.send(quote, 'initialize', 'vUSD', 'vUSD')
  return quote
}

/** Initializes the contracts with each other's addresses, in the order that they require. */
export async function wire(site: Site, contracts: Readonly<Record<ExchangeContract, BaseContract>>, quote: BaseContract): Promise<void> {
  const at = (name: ExchangeContract) => contracts[name].getAddress()
  const send = (name: ExchangeContract, method: string, ...args: unknown[]) => site.send(contracts[name], method, ...args)
  const { USDC } = site.tokens
  const [factory, config, house, vault, book] = await Promise.all([
    at('UniswapV3Factory'),
    at('ClearingHouseConfig'),
    at('ClearingHouse'),
    at('Vault'),
    at('OrderBook'),
  ])
  const [exchange, balances, fund] = await Promise.all([at('Exchange'), at('AccountBalance'), at('InsuranceFund')])

  await send('ClearingHouseConfig', 'initialize')
  await send('MarketRegistry', 'initialize', factory, await quote.getAddress())
  await send('OrderBook', 'initialize', await at('MarketRegistry'))
  await send('InsuranceFund', 'initialize', USDC.address)
  await send('Exchange', 'initialize', await at('MarketRegistry'), book, config)
  await send('AccountBalance', 'initialize', config, book)
  await send('Vault', 'initialize', fund, config, balances, exchange)
  await send('ClearingHouse', 'initialize', config, vault, await quote.getAddress(), factory, exchange, balances, fund)
  await send('InsuranceFund', 'setVault', vault)
  await send('OrderBook', 'setExchange', exchange)
  await send('Exchange', 'setAccountBalance', balances)
  await send('AccountBalance', 'setVault', vault)
  for (const name of ['MarketRegistry', 'OrderBook', 'Exchange', 'AccountBalance', 'Vault'] as const)
    await send(name, 'setClearingHouse', house)
  await send('ClearingHouseConfig', 'setSettlementTokenBalanceCap', MaxUint256)
  await send('ClearingHouseConfig', 'setMarkPriceMarketTwapInterval', markTwapSeconds)
  await send('ClearingHouseConfig', 'setMarkPricePremiumInterval', premiumSeconds)
  await send('ClearingHouseConfig', 'setTwapInterval', fundingTwapSeconds)
  await site.send(quote, 'mintMaximumTo', house)
  await site.send(quote, 'addWhitelist', house)
}

/** Accepts wrapped ether as collateral at nine tenths of its price. */
export async function takeEther(
  site: Site,
  { Vault, CollateralManager, ClearingHouseConfig }: Readonly<Record<ExchangeContract, BaseContract>>,
  priceFeed: string,
): Promise<void> {
  const { WETH, USDC } = site.tokens
  const dollar = 10n ** BigInt(USDC.decimals)
  const [config, vault] = [await ClearingHouseConfig.getAddress(), await Vault.getAddress()]
  // Maximum number of tokens; ratios of debt, liquidation, margin and fee; maximum debt; value below which a liquidation takes all.
  const terms = [5, 750_000, 500_000, 5_000, 30_000, 10_000n * dollar, 500n * dollar]
  await site.send(CollateralManager, 'initialize', config, vault, ...terms)
  await site.send(Vault, 'setCollateralManager', await CollateralManager.getAddress())
  await site.send(Vault, 'setWETH9', WETH.address)
  const collateral = { priceFeed, collateralRatio: 900_000, discountRatio: 100_000, depositCap: MaxUint256 }
  await site.send(CollateralManager, 'addCollateral', WETH.address, collateral)
}

export interface DevnetMarket {
  /** ETH */
  readonly base: string
  /** In dollars. */
  readonly price: number
  /** By how many ticks the price may move within fifteen seconds: Exchange.setMaxTickCrossedWithinBlock. */
  readonly maxTickCrossed: number
  /** The amount of base, and of quote of the same value, that the maker provides between half and twice the price. */
  readonly depth: number
}

interface NewMarket {
  readonly addresses: DevnetAddresses
  readonly contracts: Readonly<Record<ExchangeContract, BaseContract>>
  readonly quote: BaseContract
  readonly index: number
  readonly market: DevnetMarket
}

/** The fee of the exchange's own pools, in hundredths of a basis point. Traders pay the exchange's ratio instead. */
export const poolFee = 10_000
const feeRatio = 1_000
const insuranceFundFeeRatio = 100_000
/** Decimals of the price source, as in Chainlink's dollar feeds. */
export const priceDecimals = 8
const sourceTimeoutSeconds = 3_600
const observations = 120

export const tickOf = (price: number) => Math.round(Math.log(price) / Math.log(1.0001))

/** Adds a base token with its price feed, its pool and a history of one day. Returns the address of the price feed. */
export async function addMarket(
  site: DevnetSite & { tokens: DevnetTokens },
  { addresses, contracts, quote, index, market }: NewMarket,
): Promise<string> {
  const { aggregator, base } = addresses.market(index)
  const dayAgo = ((await site.provider.getBlock('latest'))?.timestamp ?? 0) - 86_400
  const deploy = async (name: string, ...args: unknown[]) => site.deploy(await artifactOf(site, name), ...args)

  await nextNonce(site, aggregator.nonce)
  const source = await deploy('TestAggregator', priceDecimals, parseUnits(String(market.price), priceDecimals), dayAgo)
  const feed = await deploy('ChainlinkPriceFeedV3', await source.getAddress(), sourceTimeoutSeconds, premiumSeconds)
  const dispatcher = await deploy('PriceFeedDispatcher', await feed.getAddress())
  await site.send(dispatcher, 'dispatchPrice', premiumSeconds)
  await nextNonce(site, base.nonce)
  const token = await deploy('BaseToken')
  await site.send(token, 'initialize', `v${market.base}`, `v${market.base}`, await dispatcher.getAddress())

  const house = await contracts.ClearingHouse.getAddress()
  const factory = contracts.UniswapV3Factory
  await site.send(factory, 'createPool', base.address, addresses.quote.address, poolFee)
  const pool = String(await factory.getFunction('getPool').staticCall(base.address, addresses.quote.address, poolFee))
  const poolContract = new Contract(pool, ['function initialize(uint160)', 'function increaseObservationCardinalityNext(uint16)'])
  await site.send(poolContract, 'initialize', getSqrtRatioAtTick(tickOf(market.price)))
  await beginAt(site, pool, dayAgo)
  await site.send(poolContract, 'increaseObservationCardinalityNext', observations)

  await site.send(token, 'mintMaximumTo', house)
  for (const each of [house, pool]) await site.send(token, 'addWhitelist', each)
  await site.send(quote, 'addWhitelist', pool)
  await site.send(contracts.MarketRegistry, 'addPool', base.address, poolFee)
  await site.send(contracts.MarketRegistry, 'setFeeRatio', base.address, feeRatio)
  await site.send(contracts.MarketRegistry, 'setInsuranceFundFeeRatio', base.address, insuranceFundFeeRatio)
  await site.send(contracts.Exchange, 'setMaxTickCrossedWithinBlock', base.address, market.maxTickCrossed)
  await tradedSince(site, await contracts.Exchange.getAddress(), base.address, dayAgo)
  return dispatcher.getAddress()
}

/**
 * Dates the pool's first observation back: a pool's oracle begins with the pool, but the exchange needs a history as long as its intervals.
 * Nothing was traded before, so that the observation is also right for the earlier time. `observations[0]` is storage slot 8 of UniswapV3Pool
 * (@uniswap/v3-core@1.0.1): initialized (1 byte), two accumulators that are still 0, blockTimestamp (4 bytes).
 */
async function beginAt({ provider }: DevnetSite, pool: string, seconds: number): Promise<void> {
  await provider.send('anvil_setStorageAt', [pool, toBeHex(8, 32), zeroPadValue(toBeHex((1n << 248n) | BigInt(seconds)), 32)])
}

/** Slot of `_firstTradedTimestampMap` in Exchange (@perp/curie-contract@2.8.4, ExchangeStorageV1). Intervals do not reach back further. */
const firstTradedSlot = 209

async function tradedSince({ provider }: DevnetSite, exchange: string, base: string, seconds: number): Promise<void> {
  const slot = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [base, firstTradedSlot]))
  await provider.send('anvil_setStorageAt', [exchange, slot, toBeHex(seconds, 32)])
}
