import { SluiceError } from '../../../api/index.ts'
import type { PerpMarketName } from '../../../contracts/index.ts'
import { fromRaw } from '../../../decimal.ts'
import { tickerOf } from '../../../handlers/perp/markets.ts'
import { liquidationsSince, type Where } from './liquidations-since.ts'

/** Nothing is there to close; where a liquidation took it since the wallet's last trade there, it is said. */
export async function noPosition(address: string, market: PerpMarketName, where: Where): Promise<SluiceError> {
  const ticker = tickerOf(market)
  const suffered = await liquidationsSince(address, market, where)
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
