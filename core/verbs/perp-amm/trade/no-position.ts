import { SluiceError } from '../../../api/index.ts'
import type { PerpMarketName } from '../../../contracts/index.ts'
import { fromRaw } from '../../amounts.ts'
import type { Call, On, Services } from '../../context.ts'
import { perpOf, tickerOf } from '../market.ts'
import { readAboutPosition } from './about-position.ts'

type Context = Call & { services: Services } & On<'connector'>

/** Nothing is there to close; where a liquidation took it since the wallet's last trade there, it is said. */
export async function noPosition(address: string, market: PerpMarketName, context: Context): Promise<SluiceError> {
  const ticker = tickerOf(market)
  const block = await lastTradeBlock(address, ticker, context)
  const suffered = block === undefined ? [] : await perpOf(context.venue).liquidations(address, market, block, { signal: context.signal })
  if (suffered.length === 0)
    return new SluiceError('UNKNOWN_POSITION', `${address} has no position in ${ticker}: there is nothing to close.`)
  const liquidations = suffered.map(({ txHash, blockNumber, sizeRaw }) => {
    return { txHash, blockNumber, size: fromRaw(sizeRaw, market.baseDecimals) }
  })
  const hashes = liquidations.map(({ txHash }) => txHash).join(', ')
  return new SluiceError(
    'UNKNOWN_POSITION',
    `${address} has no position in ${ticker} any more: it was liquidated in ${hashes}. There is nothing to close.`,
    { details: { liquidations } },
  )
}

/** Where the wallet's last trade in a market landed; of trades by other ways, and very old ones, nothing is known. */
async function lastTradeBlock(address: string, ticker: string, { network, venue, services }: Context): Promise<number | undefined> {
  const { entries } = await services.transactions.list({ chain: network.chain, network: network.network, address, limit: 500 })
  const isTrade = (entry: (typeof entries)[number]) => entry.kind === 'position' && entry.connector === venue.connector
  const last = entries.find((each) => isTrade(each) && each.landed?.ok === true && readAboutPosition(each.about).ticker === ticker)
  return last?.landed?.blockNumber
}
