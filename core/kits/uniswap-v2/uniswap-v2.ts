import { SluiceError, type AMM, type Venue } from '../../contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import { exchangeAt, type UniswapV2Options } from './exchange.ts'
import { readFill } from './fill.ts'
import { planSwap } from './plan.ts'
import { quoter } from './quote.ts'

/**
 * An exchange of constant-product pools behind a router, as Uniswap v2 and its forks are. `router` is what moves tokens.
 * Throws where the plugin or its configuration lacks the network.
 */
export function uniswapV2(venue: Venue<Evm>, options: UniswapV2Options): AMM<Evm> & { readonly router: string } {
  const exchange = exchangeAt(venue, options)
  const quote = quoter(exchange, venue.reader)
  const versions = exchange.version ? [exchange.version] : []
  return {
    router: exchange.router,
    versions,
    async quote(swap, { version }, at) {
      if (version !== undefined && version !== exchange.version) {
        throw new SluiceError(
          'UNSUPPORTED',
          `This connector has no version ${version}: leave it out${versions.length > 0 ? ` or give ${versions.join(', ')}` : ''}.`,
        )
      }
      return quote(swap, at)
    },
    swap: (quote, terms) => planSwap(quote, terms, exchange.abi),
    fill: readFill,
  }
}
