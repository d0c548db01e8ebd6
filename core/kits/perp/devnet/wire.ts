import { MaxUint256, type BaseContract } from 'ethers'
import type { DevnetSite, DevnetTokens } from '../../../contracts/devnet.ts'
import { artifactOf, nextNonce, type ExchangeContract, type Placed } from '../../../../kits/perp/devnet-contracts.ts'

type Site = DevnetSite & { tokens: DevnetTokens }

// Shorter than the 30 and 15 minutes that it begins with (ClearingHouseConfig.initialize): who tries it out should see marks move,
// and its pools' oracles hold no more observations than that.
const markTwapSeconds = 60
export const premiumSeconds = 30
const fundingTwapSeconds = 60

export async function deployQuote(site: DevnetSite, { quote: { nonce } }: Placed): Promise<BaseContract> {
  await nextNonce(site, nonce)
  const quote = await site.deploy(await artifactOf(site, 'QuoteToken'))
  await site.send(quote, 'initialize', 'vUSD', 'vUSD')
  return quote
}

/** Tells the contracts of each other, in the order in which they ask for it. */
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

/** Takes wrapped ether as collateral beside the dollars, at nine tenths of its price. */
export async function takeEther(
  site: Site,
  { Vault, CollateralManager, ClearingHouseConfig }: Readonly<Record<ExchangeContract, BaseContract>>,
  priceFeed: string,
): Promise<void> {
  const { WETH, USDC } = site.tokens
  const dollar = 10n ** BigInt(USDC.decimals)
  const [config, vault] = [await ClearingHouseConfig.getAddress(), await Vault.getAddress()]
  // Tokens in an account; ratios of debt, liquidation, margin and fee; the most debt; what is too little to leave a part of it.
  const terms = [5, 750_000, 500_000, 5_000, 30_000, 10_000n * dollar, 500n * dollar]
  await site.send(CollateralManager, 'initialize', config, vault, ...terms)
  await site.send(Vault, 'setCollateralManager', await CollateralManager.getAddress())
  await site.send(Vault, 'setWETH9', WETH.address)
  const collateral = { priceFeed, collateralRatio: 900_000, discountRatio: 100_000, depositCap: MaxUint256 }
  await site.send(CollateralManager, 'addCollateral', WETH.address, collateral)
}
