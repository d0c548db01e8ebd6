import { Contract, MaxUint256, parseUnits, type BaseContract } from 'ethers'
import type { DevnetPlugin, DevnetSite, DevnetTokens } from '../../core/contracts/devnet.ts'
import {
  deployExchange,
  perpDevnetContracts,
  addMarket,
  type DevnetMarket,
  deployQuote,
  takeEther,
  wire,
  type ExchangeContract,
  type DevnetAddresses,
  poolFee,
  tickOf,
} from './devnet-contracts.ts'
import { createPerpOperator } from './devnet-operator.ts'

export type { DevnetMarket } from './devnet-contracts.ts'
export { perpDevnetContracts } from './devnet-contracts.ts'

export interface PerpDevnetOptions {
  readonly name: string
  readonly markets: readonly DevnetMarket[]
}

/** Deploys Perpetual Protocol v2 on the devnet, settled in USDC, with a market maker. */
export function perpDevnet({ name, markets }: PerpDevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      const addresses = perpDevnetContracts(site.signer.address)
      const quote = await deployQuote(site, addresses)
      const contracts = await deployExchange(site)
      await wire(site, contracts, quote)
      for (const [index, market] of markets.entries()) {
        const priceFeed = await addMarket(site, { addresses, contracts, quote, index, market })
        if (market.base === 'ETH') await takeEther(site, contracts, priceFeed)
      }
      await provideLiquidity(site, contracts, addresses, markets)
    },
    perpOperator: (site) => createPerpOperator(site, markets),
  }
}

/** The addresses that plugins name. `sluice plugin new` writes them. */
export function devnetAddresses(deployer: string): readonly string[] {
  const { exchange, market } = perpDevnetContracts(deployer)
  return [exchange('ClearingHouse'), exchange('Vault'), market(0).base.address, market(1).base.address]
}

// By fee: UniswapV3Factory of @uniswap/v3-core@1.0.1.
const tickSpacings = { 10_000: 200 } as const
const dollars = '100000000'

/** The deployer makes the markets, with enough collateral for whatever traders want. */
async function provideLiquidity(
  site: DevnetSite & { tokens: DevnetTokens },
  { ClearingHouse, Vault }: Readonly<Record<ExchangeContract, BaseContract>>,
  addresses: DevnetAddresses,
  markets: readonly DevnetMarket[],
): Promise<void> {
  const { USDC } = site.tokens
  const collateralRaw = parseUnits(dollars, USDC.decimals)
  await USDC.mint(site.signer.address, collateralRaw)
  await site.send(new Contract(USDC.address, ['function approve(address, uint256)']), 'approve', await Vault.getAddress(), MaxUint256)
  await site.send(Vault, 'deposit', USDC.address, collateralRaw)
  const spacing = tickSpacings[poolFee]
  for (const [index, { price, depth }] of markets.entries()) {
    const bound = (times: number) => Math.round(tickOf(price * times) / spacing) * spacing
    await site.send(ClearingHouse, 'addLiquidity', {
      baseToken: addresses.market(index).base.address,
      base: parseUnits(String(depth), 18),
      quote: parseUnits(String(depth * price), 18),
      lowerTick: bound(1 / 2),
      upperTick: bound(2),
      minBase: 0n,
      minQuote: 0n,
      useTakerBalance: false,
      deadline: MaxUint256,
    })
  }
}
