import { SluiceError, type At, type PerpOrder, type PerpQuote } from '../../core/contracts/index.ts'
import { together } from './batch-read.ts'
import { readBy, type Curie, type CurieMarket } from './curie.ts'
import { accountNow } from '../../core/kits/perp/reading/account.ts'
import { marketNow } from './state.ts'
import { positionNow, toPosition, valueOf } from '../../core/kits/perp/reading/position.ts'
import { meaningOf } from '../../core/kits/perp/refusals.ts'
import { gasUnitsOf, typicalGasUnits } from '../../core/kits/perp/orders/gas.ts'
import { changeOf, debtsNow, missingAfter, positionAfter } from './margin.ts'
import { poolNow, reaches } from '../../core/kits/perp/orders/pool.ts'
import { exchangeSize } from '../../core/kits/perp/orders/swap.ts'
import { trialOf } from '../../core/kits/perp/orders/trial.ts'

/** Liquidity has 128 bits. */
const moreThanAny = 2n ** 128n

/** An order as the exchange would carry it out: one batch, two where it goes further into the pool than was read. */
export async function quoteOrder(
  curie: Curie,
  market: CurieMarket,
  order: PerpOrder,
  owner: string | undefined,
  at: At,
): Promise<PerpQuote> {
  const { contracts, settlement } = curie
  if (order.sizeRaw >= moreThanAny) throw noPrice('UB_UOA')
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
    const found = {
      order,
      market: shown,
      prices,
      head,
      ...(account && position && { account: account.account, position: toPosition(position, now) }),
    }
    // Nothing is traded there, which is for who asked to say.
    if (shown.status !== 'open') return { ...found, ...settled(order.sizeRaw, now.markRaw) }
    if (refused !== undefined) throw noPrice(refused)
    const exchanged = pool.state && exchangeSize(pool.state, order.side, order.sizeRaw, pool.fees)
    if (!exchanged) throw noPrice('UB_UOA')
    if ('atBestRaw' in exchanged) continue
    const { quoteRaw, feeRaw } = exchanged
    const quoted = { ...found, quoteRaw, feeRaw, gasUnits: gasUnitsOf(exchanged) }
    if (!account || !position || !debts) return quoted
    const change = changeOf(order, quoteRaw)
    const missingRaw = missingAfter({ account, position, debts, markRaw: now.markRaw }, change, terms)
    return { ...quoted, after: positionAfter(position, change), missingRaw }
  }
  throw noPrice('UB_UOA')
}

/** What a size is paid out at where nothing is traded: at one price, and without a fee. */
export function settled(sizeRaw: bigint, markRaw: bigint) {
  const worthRaw = valueOf(sizeRaw, markRaw)
  return { quoteRaw: worthRaw > 0n ? worthRaw : 1n, feeRaw: 0n, gasUnits: typicalGasUnits }
}

export const noPrice = (reason: string) =>
  new SluiceError('PRICE_FAILED', `The exchange would refuse the order: ${meaningOf(reason)}.`, { details: { reason } })
