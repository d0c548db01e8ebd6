import type { ActionOutcome, Json, OrderState } from '../../core/contracts/index.ts'
import { amountText, priceText } from './decimal.ts'
import { readMemo, type CancelMemo, type CreateMemo } from '../../core/kits/oasis/orders/memo.ts'
import { logsOf, type ParsedLog } from '../../core/kits/oasis/orders/receipt-logs.ts'

/** What became of an order or a cancel, as the market logged it in its own transaction. */
export function outcome(receipt: Json, memoJson: Json): readonly ActionOutcome[] {
  const memo = readMemo(memoJson)
  if (!memo) throw new Error('The memo of an order is none.')
  const logs = logsOf(receipt, memo.market)
  if (!logs) return [{ state: 'REJECTED', reason: 'the transaction failed' }]
  return ['id' in memo ? cancelled(logs, memo) : placed(logs, memo)]
}

function cancelled(logs: readonly ParsedLog[], { id }: CancelMemo): ActionOutcome {
  const isKilled = logs.some(({ name, args }) => name === 'LogKill' && BigInt(args['id']) === BigInt(id))
  return isKilled ? { orderId: id, state: 'CANCELED' } : { orderId: id, state: 'REJECTED', reason: 'the market logged no cancellation' }
}

function placed(logs: readonly ParsedLog[], memo: CreateMemo): ActionOutcome {
  const { owner, side, atOnce, base, quote, decimals, baseDecimals, amountRaw } = memo
  const isBuy = side === 'BUY'
  const [given, got] = isBuy ? [quote, base] : [base, quote]
  const ofPair = (pays: string, wants: string, { args }: ParsedLog) => args['pay_gem'] === pays && args['buy_gem'] === wants
  const takes = logs.filter((log) => log.name === 'LogTake' && log.args['taker'] === owner && ofPair(got, given, log))
  const made = logs.find((log) => log.name === 'LogMake' && log.args['maker'] === owner && ofPair(given, got, log))
  const sum = (of: 'take_amt' | 'give_amt') => takes.reduce((total, { args }) => total + BigInt(args[of]), 0n)
  const [filledRaw, quoteRaw] = isBuy ? [sum('take_amt'), sum('give_amt')] : [sum('give_amt'), sum('take_amt')]
  const filled = {
    filledAmount: amountText(filledRaw, baseDecimals),
    ...(filledRaw > 0n && {
      averagePrice: priceText({ numerator: quoteRaw, denominator: filledRaw }, decimals, isBuy ? 'up' : 'down'),
    }),
  }
  if (made) return { orderId: String(BigInt(made.args['id'])), state: filledRaw > 0n ? 'PARTIALLY_FILLED' : 'OPEN', ...filled }
  // Every take rounds down what is given, and what is worth less than the smallest unit of quote cannot be paid.
  const leftRaw = amountRaw - filledRaw
  const isRounding = leftRaw <= BigInt(takes.length) || (leftRaw * memo.quoteRaw) / amountRaw === 0n
  const state: OrderState = filledRaw > 0n && (atOnce || isRounding) ? 'FILLED' : 'CANCELED'
  return { state, ...filled }
}
