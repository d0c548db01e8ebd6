import type { Json, PerpFill, Ratio, PerpMarketName } from '../../core/contracts/index.ts'
import * as json from '../../core/base/json.ts'
import type { EvmLog, EvmReceipt } from '../evm/types.ts'
import { curieAbi } from './abi.ts'

const size = (raw: bigint) => (raw < 0n ? -raw : raw)
/** The precision of openNotional, since the exchange rounds its ratio of 18 decimals. */
const openNotionalPrecision = 10n ** 12n

/** The effect of a trade or settlement on the wallet's position, from the exchange's events. Undefined where the receipt shows none. */
export function readPerpFill({ status, logs }: EvmReceipt, memo: Json): PerpFill | undefined {
  if (status !== 1 || !json.is(perpMemo, memo)) return undefined
  const changed = eventValues('PositionChanged', logs, memo)
  if (changed) {
    const [base, notional, feeRaw, after, realizedProfitRaw] = changed
    const quote = notional - feeRaw
    // The profit is settled with the trade: AccountBalance.settleBalanceAndDeregister.
    const before = after - quote + realizedProfitRaw
    return {
      market: memo.market,
      sizeRaw: size(base),
      quoteRaw: size(quote),
      feeRaw,
      realizedProfitRaw,
      fundingRaw: fundingIn(logs, memo),
      ...(memo.closing !== undefined && { closedRatio: closedRatio(size(base), before, after, BigInt(memo.closing)) }),
    }
  }
  const closed = eventValues('PositionClosed', logs, memo)
  if (!closed) return undefined
  const [base, notional, , realizedProfitRaw] = closed
  return {
    market: memo.market,
    sizeRaw: size(base),
    quoteRaw: size(notional),
    feeRaw: 0n,
    realizedProfitRaw,
    fundingRaw: fundingIn(logs, memo),
    closedRatio: { numerator: 1n, denominator: 1n },
  }
}

/**
 * The closed part of the planned size where the position was as planned, otherwise of the open notional: the position may have changed between
 * plan and block, and the event does not give its size.
 */
function closedRatio(closedRaw: bigint, before: bigint, after: bigint, plannedRaw: bigint): Ratio {
  const [whole, closedNotional] = [size(before), size(before - after)]
  if (after === 0n || whole === 0n) return { numerator: 1n, denominator: 1n }
  const difference = size(closedRaw * whole - closedNotional * plannedRaw)
  const isAsPlanned = closedRaw <= plannedRaw && difference * openNotionalPrecision <= plannedRaw * whole
  return isAsPlanned ? { numerator: closedRaw, denominator: plannedRaw } : { numerator: closedNotional, denominator: whole }
}

/** Above 0 where the trader received it: the event has what it paid. There is none where nothing was due. */
function fundingIn(logs: readonly EvmLog[], memo: PerpMemo): bigint {
  const paid = eventsOf('FundingPaymentSettled', logs, memo).flatMap(([payment]) => payment ?? [])
  return -paid.reduce((total, each) => total + each, 0n)
}

/** The numbers in the last such event of the exchange about this trader and market. */
function eventValues(
  event: string,
  logs: readonly EvmLog[],
  memo: PerpMemo,
): readonly [bigint, bigint, bigint, bigint, bigint] | undefined {
  const [a, b, c, d, e] = eventsOf(event, logs, memo).at(-1) ?? []
  return a === undefined || b === undefined || c === undefined || d === undefined || e === undefined ? undefined : [a, b, c, d, e]
}

/** The numbers of all of them. */
function eventsOf(event: string, logs: readonly EvmLog[], { house, trader, market }: PerpMemo): readonly (readonly bigint[])[] {
  const expected = curieAbi.encodeFilterTopics(event, [trader, market.id])
  return logs.flatMap(({ address, topics, data }) => {
    if (!isSame(address, house) || topics.length !== expected.length || !topics.every((topic, i) => isSame(topic, expected[i]))) return []
    const values: readonly unknown[] = curieAbi.parseLog({ topics: [...topics], data })?.args.toArray() ?? []
    return [values.slice(2).filter((value) => typeof value === 'bigint')]
  })
}

const isSame = (a: string, b: unknown) => typeof b === 'string' && a.toLowerCase() === b.toLowerCase()

/** What the journal keeps of a change of a position, so that its fill can be read after a restart. */
const perpMemo = json.object(
  {
    house: json.string,
    trader: json.string,
    market: json.object({
      id: json.string,
      base: json.string,
      quote: json.string,
      baseDecimals: json.number,
      quoteDecimals: json.number,
    }),
  },
  /** For a close: the expected size of the position, without sign. A deposit has a memo of its own, and no fill. */
  { closing: json.digits },
)
type PerpMemo = json.Infer<typeof perpMemo>

interface PositionChange {
  readonly house: string
  readonly trader: string
  readonly market: PerpMarketName
  readonly closing?: bigint
}

export const writeMemo = ({ house, trader, market: { id, base, quote, baseDecimals, quoteDecimals }, closing }: PositionChange): Json => ({
  house,
  trader,
  market: { id, base, quote, baseDecimals, quoteDecimals },
  ...(closing !== undefined && { closing: closing.toString() }),
})
