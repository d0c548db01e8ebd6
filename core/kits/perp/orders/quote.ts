import { SluiceError, type At, type PerpOrder, type PerpQuote } from '../../../contracts/index.ts'
import { together } from '../asked.ts'
import { readBy, type Curie, type CurieMarket } from '../curie.ts'
import { accountNow } from '../reading/account.ts'
import { marketNow } from '../reading/market.ts'
import { positionNow, toPosition } from '../reading/position.ts'
import { meaningOf } from '../refusals.ts'
import { gasUnitsOf } from './gas.ts'
import { changeOf, debtsNow, missingAfter } from './margin-after.ts'
import { poolNow, reaches } from './pool.ts'
import { exchangeSize } from './swap.ts'
import { trialOf } from './trial.ts'

/** An order as the exchange would carry it out: one batch, two where it goes further into the pool than was read. */
export async function quoteOrder(
  curie: Curie,
  market: CurieMarket,
  order: PerpOrder,
  owner: string | undefined,
  at: At,
): Promise<PerpQuote> {
  const { contracts, settlement } = curie
  for (const reach of reaches) {
    const { head, answer, terms } = await readBy(
      curie,
      (terms) =>
        together({
          now: marketNow(contracts, terms, market),
          pool: poolNow(contracts, market, reach, owner),
          ...(owner !== undefined && {
            account: accountNow(contracts, terms, settlement, owner),
            position: positionNow(contracts, market, owner),
            debts: debtsNow(curie, market, owner),
          }),
          // The last: it may leave something behind.
          refused: trialOf(contracts, market, { sizeRaw: order.side === 'LONG' ? order.sizeRaw : -order.sizeRaw }),
        }),
      at,
    )
    const { now, pool, account, position, debts, refused } = answer
    const { market: shown, prices } = now
    // That it is not open is for who asked to say.
    if (refused !== undefined && shown.status === 'open') throw noPrice(refused)
    const exchanged = pool.state && exchangeSize(pool.state, order.side, order.sizeRaw, pool.fees)
    if (!exchanged) throw noPrice('UB_UOA')
    if ('atBestRaw' in exchanged) continue
    const { quoteRaw, feeRaw } = exchanged
    if (quoteRaw <= 0n) throw noPrice('CH_F0S')
    return {
      order,
      market: shown,
      quoteRaw,
      feeRaw,
      prices,
      gasUnits: gasUnitsOf(exchanged),
      head,
      ...(account &&
        position &&
        debts && {
          account: account.account,
          position: toPosition(position, now),
          missingRaw: missingAfter({ account, position, debts, markRaw: now.markRaw }, changeOf(order, quoteRaw), terms),
        }),
    }
  }
  throw noPrice('UB_UOA')
}

export const noPrice = (reason: string) =>
  new SluiceError('PRICE_FAILED', `The exchange would refuse the order: ${meaningOf(reason)}.`, { details: { reason } })
