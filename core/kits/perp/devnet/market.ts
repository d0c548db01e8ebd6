import { Contract, keccak256, AbiCoder, parseUnits, toBeHex, zeroPadValue, type BaseContract } from 'ethers'
import type { DevnetSite, DevnetTokens } from '../../../contracts/devnet.ts'
import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'
import { artifactOf, nextNonce, type ExchangeContract, type Placed } from '../../../../kits/perp/devnet-contracts.ts'
import { premiumSeconds } from './wire.ts'

export interface DevnetMarket {
  /** ETH */
  readonly base: string
  /** Dollars for one. */
  readonly price: number
  /** Ticks by which the price may move within fifteen seconds: Exchange.setMaxTickCrossedWithinBlock. */
  readonly maxTickCrossed: number
  /** Base and its worth in quote, each, that the maker puts in between half and twice the price. */
  readonly depth: number
}

interface Adding {
  readonly placed: Placed
  readonly contracts: Readonly<Record<ExchangeContract, BaseContract>>
  readonly quote: BaseContract
  readonly index: number
  readonly market: DevnetMarket
}

/** As of the exchange's own pools: hundredths of a basis point. What traders pay is the exchange's ratio. */
export const poolFee = 10_000
const feeRatio = 1_000
const insuranceFundFeeRatio = 100_000
/** Of the price's source, as Chainlink's in dollars. */
export const priceDecimals = 8
const sourceTimeoutSeconds = 3_600
const observations = 120

export const tickOf = (price: number) => Math.round(Math.log(price) / Math.log(1.0001))

/** A base token with its price, its pool, and a past: as if it had been there for a day. Returns where its price is read. */
export async function addMarket(
  site: DevnetSite & { tokens: DevnetTokens },
  { placed, contracts, quote, index, market }: Adding,
): Promise<string> {
  const { aggregator, base } = placed.market(index)
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
  await site.send(factory, 'createPool', base.address, placed.quote.address, poolFee)
  const pool = String(await factory.getFunction('getPool').staticCall(base.address, placed.quote.address, poolFee))
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
 * A pool's oracle begins with its pool, and the exchange cannot do with less of it than its intervals: nothing was traded before
 * the first observation, so it holds as well for an earlier time. `observations[0]` is storage slot 8 of UniswapV3Pool
 * (@uniswap/v3-core@1.0.1): initialized (1 byte), two accumulators that are 0 yet, blockTimestamp (4 bytes).
 */
async function beginAt({ provider }: DevnetSite, pool: string, seconds: number): Promise<void> {
  await provider.send('anvil_setStorageAt', [pool, toBeHex(8, 32), zeroPadValue(toBeHex((1n << 248n) | BigInt(seconds)), 32)])
}

/** Slot of `_firstTradedTimestampMap` in Exchange (@perp/curie-contract@2.8.4, ExchangeStorageV1): before, intervals are shorter. */
const firstTradedSlot = 209

async function tradedSince({ provider }: DevnetSite, exchange: string, base: string, seconds: number): Promise<void> {
  const slot = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [base, firstTradedSlot]))
  await provider.send('anvil_setStorageAt', [exchange, slot, toBeHex(seconds, 32)])
}
