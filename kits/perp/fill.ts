import { getAddress } from 'ethers'
import type { Json, PerpFill, Ratio, PerpMarketName } from '../../core/contracts/index.ts'
import type { EvmLog, EvmReceipt } from '../evm/types.ts'
import { curieAbi } from './abi.ts'

const size = (raw: bigint) => (raw < 0n ? -raw : raw)
/** Of openNotional, which the exchange's own ratio of 18 decimals rounds. */
const roundedBy = 10n ** 12n

/** What a trade or a settlement did to the wallet's position, as the exchange logged it; undefined where the receipt shows none. */
export function readPerpFill({ status, logs }: EvmReceipt, memoJson: Json): PerpFill | undefined {
  const memo = status === 1 ? readMemo(memoJson) : undefined
  if (!memo) return undefined
  const changed = logged('PositionChanged', logs, memo)
  if (changed) {
    const [base, notional, feeRaw, after, realizedProfitRaw] = changed
    const quote = notional - feeRaw
    // Settled with the trade: AccountBalance.settleBalanceAndDeregister.
    const before = after - quote + realizedProfitRaw
    return {
      market: memo.market,
      sizeRaw: size(base),
      quoteRaw: size(quote),
      feeRaw,
      realizedProfitRaw,
      ...(memo.closing !== undefined && { closedRatio: closedRatio(size(base), before, after, memo.closing) }),
    }
  }
  const closed = logged('PositionClosed', logs, memo)
  if (!closed) return undefined
  const [base, notional, , realizedProfitRaw] = closed
  return {
    market: memo.market,
    sizeRaw: size(base),
    quoteRaw: size(notional),
    feeRaw: 0n,
    realizedProfitRaw,
    closedRatio: { numerator: 1n, denominator: 1n },
  }
}

/**
 * By the size that was planned where that is what was there, else by what is left of what the position was opened for: between plan and
 * block it may have become another one, and the log does not say its size.
 */
function closedRatio(closedRaw: bigint, before: bigint, after: bigint, plannedRaw: bigint): Ratio {
  const [whole, gone] = [size(before), size(before - after)]
  if (after === 0n || whole === 0n) return { numerator: 1n, denominator: 1n }
  const difference = size(closedRaw * whole - gone * plannedRaw)
  const asPlanned = closedRaw <= plannedRaw && difference * roundedBy <= plannedRaw * whole
  return asPlanned ? { numerator: closedRaw, denominator: plannedRaw } : { numerator: gone, denominator: whole }
}

/** The numbers of the last such log of the exchange about this trader and market. */
function logged(
  event: string,
  logs: readonly EvmLog[],
  { house, trader, market }: PerpMemo,
): readonly [bigint, bigint, bigint, bigint, bigint] | undefined {
  const wanted = curieAbi.encodeFilterTopics(event, [trader, market.id])
  const log = logs.findLast(
    ({ address, topics }) => same(address, house) && topics.length === wanted.length && topics.every((topic, i) => same(topic, wanted[i])),
  )
  const values: readonly unknown[] | undefined = log && curieAbi.parseLog({ topics: [...log.topics], data: log.data })?.args.toArray()
  const [a, b, c, d, e] = (values ?? []).slice(2).filter((value) => typeof value === 'bigint')
  return a === undefined || b === undefined || c === undefined || d === undefined || e === undefined ? undefined : [a, b, c, d, e]
}

const same = (a: string, b: unknown) => typeof b === 'string' && a.toLowerCase() === b.toLowerCase()

/** What the fill of a changed position is read by: in the journal, so that it outlives a restart. */
interface PerpMemo {
  readonly house: string
  readonly trader: string
  readonly market: PerpMarketName
  /** Of a close: what the position was expected to be, without sign. */
  readonly closing?: bigint
}

export const writeMemo = ({ house, trader, market: { id, base, quote, baseDecimals, quoteDecimals }, closing }: PerpMemo): Json => ({
  house,
  trader,
  market: { id, base, quote, baseDecimals, quoteDecimals },
  ...(closing !== undefined && { closing: closing.toString() }),
})

/** Undefined where it is none of these: a deposit has no fill. */
function readMemo(memo: Json): PerpMemo | undefined {
  if (typeof memo !== 'object' || memo === null || !('house' in memo)) return undefined
  const { house, trader, market, closing } = memo
  if (typeof house !== 'string' || typeof trader !== 'string' || typeof market !== 'object' || market === null || !('id' in market))
    return undefined
  const { id, base, quote, baseDecimals, quoteDecimals } = market
  if (typeof id !== 'string' || typeof base !== 'string' || typeof quote !== 'string') return undefined
  if (typeof baseDecimals !== 'number' || typeof quoteDecimals !== 'number') return undefined
  return {
    house: getAddress(house),
    trader: getAddress(trader),
    market: { id, base, quote, baseDecimals, quoteDecimals },
    ...(typeof closing === 'string' && { closing: BigInt(closing) }),
  }
}
