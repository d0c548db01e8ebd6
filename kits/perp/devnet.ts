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

/** Puts Perpetual Protocol v2 on the devnet, with its accounts in USDC, and somebody who makes its markets. */
export function perpDevnet({ name, markets }: PerpDevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      const placed = perpDevnetContracts(site.signer.address)
      const quote = await deployQuote(site, placed)
      const contracts = await deployExchange(site)
      await wire(site, contracts, quote)
      for (const [index, market] of markets.entries()) {
        const priceFeed = await addMarket(site, { placed, contracts, quote, index, market })
        if (market.base === 'ETH') await takeEther(site, contracts, priceFeed)
      }
      await provideLiquidity(site, contracts, placed, markets)
    },
    perpOperator: (site) => createPerpOperator(site, markets),
  }
}

// UniswapV3Factory of @uniswap/v3-core@1.0.1, by the fee.
const tickSpacings = { 10_000: 200 } as const
const dollars = '100000000'

/** Whoever deployed it makes its markets, with collateral for all that traders may want. */
async function provideLiquidity(
  site: DevnetSite & { tokens: DevnetTokens },
  { ClearingHouse, Vault }: Readonly<Record<ExchangeContract, BaseContract>>,
  placed: DevnetAddresses,
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
      baseToken: placed.market(index).base.address,
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
