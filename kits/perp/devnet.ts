import type { DevnetPlugin } from '../../core/contracts/devnet.ts'
import { deployExchange, contractsOf } from './devnet-contracts.ts'
import { provideLiquidity } from '../../core/kits/perp/devnet/maker.ts'
import { addMarket, type DevnetMarket } from '../../core/kits/perp/devnet/market.ts'
import { operatorOf } from './devnet-operator.ts'
import { deployQuote, takeEther, wire } from '../../core/kits/perp/devnet/wire.ts'

export type { DevnetMarket } from '../../core/kits/perp/devnet/market.ts'
export { contractsOf as perpDevnetContracts } from './devnet-contracts.ts'

export interface PerpDevnetOptions {
  readonly name: string
  readonly markets: readonly DevnetMarket[]
}

/** Puts Perpetual Protocol v2 on the devnet, with its accounts in USDC, and somebody who makes its markets. */
export function perpDevnet({ name, markets }: PerpDevnetOptions): DevnetPlugin {
  return {
    name,
    async deploy(site) {
      const placed = contractsOf(site.signer.address)
      const quote = await deployQuote(site, placed)
      const contracts = await deployExchange(site)
      await wire(site, contracts, quote)
      for (const [index, market] of markets.entries()) {
        const priceFeed = await addMarket(site, { placed, contracts, quote, index, market })
        if (market.base === 'ETH') await takeEther(site, contracts, priceFeed)
      }
      await provideLiquidity(site, contracts, placed, markets)
    },
    perpOperator: (site) => operatorOf(site, markets),
  }
}
