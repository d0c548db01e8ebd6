import { Contract, parseUnits, type BaseContract } from 'ethers'
import type { DevnetSite, PerpOperator } from '../../core/contracts/devnet.ts'
import { artifactOf, contractsOf, type ExchangeContract } from './devnet-contracts.ts'
import { liquidateNow } from '../../core/kits/perp/devnet/liquidate.ts'
import { priceDecimals, type DevnetMarket } from '../../core/kits/perp/devnet/market.ts'
import { viewsAt } from '../../core/kits/perp/devnet/views.ts'
import { premiumSeconds } from '../../core/kits/perp/devnet/wire.ts'

/** Who deployed the exchange owns it. */
export async function operatorOf(site: DevnetSite, markets: readonly DevnetMarket[]): Promise<PerpOperator> {
  const placed = contractsOf(site.signer.address)
  const contract = async (name: ExchangeContract) => at(site, name, placed.exchange(name))
  const [house, vault, balances, exchange, config] = await Promise.all([
    contract('ClearingHouse'),
    contract('Vault'),
    contract('AccountBalance'),
    contract('Exchange'),
    contract('ClearingHouseConfig'),
  ])
  const find = (ticker: string) => {
    const index = markets.findIndex(({ base }) => ticker === `${base}USD`)
    const market = markets[index]
    if (!market) throw new Error(`There is no market ${ticker} on the devnet.`)
    return { ...market, ...placed.market(index) }
  }

  return {
    async views(owner, ticker, blockTag) {
      const token = await at(site, 'BaseToken', find(ticker).base.address)
      // What anvil is asked while it mines a block, it may answer by two blocks at once.
      for (;;) {
        const head: unknown = await site.provider.send('eth_blockNumber', [])
        const views = await viewsAt({ house, vault, balances, exchange, config, token }, owner, blockTag)
        if ((await site.provider.send('eth_blockNumber', [])) === head) return views
      }
    },
    async moveIndex(ticker, price) {
      const { aggregator, dispatcher } = find(ticker)
      await site.send(await at(site, 'TestAggregator', aggregator.address), 'set', parseUnits(price, priceDecimals))
      // As the exchange's keepers do: means over time are wrong as long as nobody has told of a change (CumulativeTwap._calculateTwap).
      await site.send(await at(site, 'PriceFeedDispatcher', dispatcher.address), 'dispatchPrice', premiumSeconds)
    },
    async setStatus(ticker, status) {
      const { base, maxTickCrossed } = find(ticker)
      // A base token that was paused is never opened again; where no tick may be crossed nothing is traded either.
      await site.send(exchange, 'setMaxTickCrossedWithinBlock', base.address, status === 'paused' ? 0 : maxTickCrossed)
      if (status !== 'closed') return
      const token = await at(site, 'BaseToken', base.address)
      await site.send(token, 'pause')
      await site.send(token, 'close(uint256)', await token.getFunction('getPausedIndexPrice').staticCall())
    },
    liquidate: (owner, ticker) => liquidateNow(site, { house, vault, balances }, owner, find(ticker).base.address),
  }
}

async function at(site: DevnetSite, name: string, address: string): Promise<BaseContract> {
  return new Contract(address, (await artifactOf(site, name)).abi, site.signer)
}
