import { SluiceError, type At, type PerpOrder } from '../../../contracts/index.ts'
import { revertReason } from '../../evm/rail/revert.ts'
import { curieAbi } from '../../../../kits/perp/abi.ts'
import { together } from '../../../../kits/perp/batch-read.ts'
import { readBy, type Curie, type CurieMarket } from '../../../../kits/perp/curie.ts'
import { closeCall, type CurieClosing } from '../../../../kits/perp/plan.ts'
import { accountNow } from '../reading/account.ts'
import { marketNow } from '../../../../kits/perp/state.ts'
import { positionNow, toPosition } from '../reading/position.ts'
import { meaningOf } from '../refusals.ts'
import { gasUnitsOf } from './gas.ts'
import { changeOf, debtsNow, missingAfter } from '../../../../kits/perp/margin.ts'
import { poolNow, reaches } from './pool.ts'
import { settled } from '../../../../kits/perp/quote.ts'
import { exchangeSize } from './swap.ts'
import { trialOf } from './trial.ts'

/**
 * A close as the exchange would carry it out: one batch. Where it would close a part only, since the price may move no further within
 * fifteen seconds, how much that is depends on what no view says, so that the exchange is asked to close it, too.
 */
export async function closingOf(curie: Curie, market: CurieMarket, owner: string, at: At): Promise<CurieClosing | undefined> {
  const { contracts, settlement } = curie
  for (const reach of reaches) {
    const { head, answer, terms } = await readBy(
      curie,
      (terms) =>
        together({
          now: marketNow(contracts, terms, market),
          account: accountNow(contracts, terms, settlement, owner),
          position: positionNow(contracts, market, owner),
          debts: debtsNow(curie, market, owner),
          pool: poolNow(contracts, market, reach, owner),
          refused: trialOf(contracts, market, { closingOf: owner }),
        }),
      at,
    )
    const { now, account, debts, pool, refused } = answer
    const { market: shown, prices, markRaw } = now
    const position = toPosition(answer.position, now)
    if (position.sizeRaw === 0n) return undefined
    const whole = closes(market, position.sizeRaw)
    const found = { market: shown, prices, head, account: account.account, position }
    if (shown.status !== 'open') return { ...found, order: whole, ...settled(whole.sizeRaw, markRaw) }
    if (refused !== undefined && refused !== 'EX_OPLAS') throw wouldFail(refused)
    const part = refused === undefined ? undefined : await closedAtOnce(curie, market, owner, at)
    // In between it became another position than the one that was read.
    if (part && part.sizeRaw > whole.sizeRaw) return closingOf(curie, market, owner, at)
    const order = part ? { ...whole, sizeRaw: part.sizeRaw } : whole
    const exchanged = pool.state && exchangeSize(pool.state, order.side, order.sizeRaw, pool.fees)
    if (!exchanged) throw wouldFail('UB_UOA')
    if ('atBestRaw' in exchanged) continue
    const { quoteRaw, feeRaw } = { ...exchanged, ...part }
    const missingRaw = missingAfter({ account, position: answer.position, debts, markRaw }, changeOf(order, quoteRaw), terms)
    const { sqrtPriceAfterX96 } = exchanged
    return { ...found, order, quoteRaw, feeRaw, missingRaw, sqrtPriceAfterX96, gasUnits: gasUnitsOf(exchanged) }
  }
  throw wouldFail('UB_UOA')
}

const closes = (market: CurieMarket, sizeRaw: bigint): PerpOrder =>
  sizeRaw > 0n ? { market, side: 'SHORT', sizeRaw } : { market, side: 'LONG', sizeRaw: -sizeRaw }

/** What the exchange says that it would close now, and for how much. */
async function closedAtOnce({ reader, contracts: { house } }: Curie, { id }: CurieMarket, owner: string, at: At) {
  const { ok, data } = await reader.call(
    { from: owner, to: house, data: closeCall({ baseToken: id, oppositeAmountBound: 0n, deadline: forEver, sqrtPriceLimitX96: 0n }) },
    at,
  )
  if (ok) {
    const [sizeRaw, quoteRaw] = curieAbi.decodeFunctionResult('closePosition', data)
    return { sizeRaw: BigInt(sizeRaw), quoteRaw: BigInt(quoteRaw) }
  }
  throw wouldFail(revertReason(data))
}

const wouldFail = (reason: string) =>
  new SluiceError('TRADE_FAILED', `The exchange would refuse to close the position: ${meaningOf(reason)}.`, { details: { reason } })

const forEver = 2n ** 256n - 1n
