import { id, Wallet } from 'ethers'
import { startSite, type Site } from '../../test/plugins/hyperliquid/site.ts'

const hourMs = 3_600_000

/** Everybody can know these keys: they are for nothing but this. The third wallet has portfolio margin. */
const wallets = [1, 2, 3].map((number) => new Wallet(id(`wallet ${number} of the simulator`)))

export interface Playground extends Site {
  /** It becomes the next full hour at the exchange: funding is paid, interest is due. */
  passHour(): void
}

/** The exchange with a market in each kind of book, wallets that are the same each time, and what a server needs to use them. */
export async function startPlayground(): Promise<Playground> {
  const site = await startSite({}, {}, wallets)
  const { exchange } = site
  exchange.setMode(site.wallets[2], 'portfolioMargin')
  exchange.setFunding('ETH', '0.0000125')
  return { ...site, passHour: () => exchange.clock.advance(hourMs - (exchange.clock.now() % hourMs) + 1) }
}
