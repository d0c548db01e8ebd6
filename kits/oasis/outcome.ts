import type { LogDescription } from 'ethers'
import type { ActionOutcome, Json, OrderState } from '../../core/contracts/index.ts'
import * as json from '../../core/base/json.ts'
import { oasisAbi, topicOf } from './contract.ts'
import { isSameAddress } from '../evm/encoding.ts'
import { bookPriceOf, formatRaw } from '../../core/base/decimal.ts'

/** The outcome of an order or a cancel, from the market's events in its transaction. @throws where memo or receipt are not of an order */
export function outcome(receipt: Json, memo: Json): readonly ActionOutcome[] {
  if (!json.is(actionMemo, memo)) throw new Error("The journal's entry is not an order of a matching market.")
  const logs = logsOf(receipt, memo.market)
  if (!logs) return [{ state: 'REJECTED', reason: 'the transaction failed' }]
  return ['id' in memo ? cancelled(logs, memo) : placed(logs, memo)]
}

function cancelled(logs: readonly ParsedLog[], { id }: CancelMemo): ActionOutcome {
  const isCancelled = logs.some(({ name, args }) => name === 'LogKill' && BigInt(args['id']) === BigInt(id))
  return isCancelled ? { orderId: id, state: 'CANCELED' } : { orderId: id, state: 'REJECTED', reason: 'the market logged no cancellation' }
}

function placed(logs: readonly ParsedLog[], memo: CreateMemo): ActionOutcome {
  const { owner, side, atOnce, base, quote, decimals, baseDecimals } = memo
  const amountRaw = BigInt(memo.amountRaw)
  const isBuy = side === 'BUY'
  const [given, got] = isBuy ? [quote, base] : [base, quote]
  const ofPair = (pays: string, wants: string, { args }: ParsedLog) => args['pay_gem'] === pays && args['buy_gem'] === wants
  const takes = logs.filter((log) => log.name === 'LogTake' && log.args['taker'] === owner && ofPair(got, given, log))
  const made = logs.find((log) => log.name === 'LogMake' && log.args['maker'] === owner && ofPair(given, got, log))
  const sum = (of: 'take_amt' | 'give_amt') => takes.reduce((total, { args }) => total + BigInt(args[of]), 0n)
  const [filledRaw, quoteRaw] = isBuy ? [sum('take_amt'), sum('give_amt')] : [sum('give_amt'), sum('take_amt')]
  const filled = {
    filledAmount: formatRaw(filledRaw, baseDecimals),
    ...(filledRaw > 0n && {
      averagePrice: bookPriceOf(
        { raw: quoteRaw, decimals: decimals + baseDecimals },
        { raw: filledRaw, decimals: baseDecimals },
        isBuy ? 'up' : 'down',
      ),
    }),
  }
  if (made) return { orderId: String(BigInt(made.args['id'])), state: filledRaw > 0n ? 'PARTIALLY_FILLED' : 'OPEN', ...filled }
  // Every take rounds down what is paid. A rest that is worth less than the smallest unit of quote cannot be paid.
  const leftRaw = amountRaw - filledRaw
  const isRounding = leftRaw <= BigInt(takes.length) || (leftRaw * BigInt(memo.quoteRaw)) / amountRaw === 0n
  const state: OrderState = filledRaw > 0n && (atOnce || isRounding) ? 'FILLED' : 'CANCELED'
  return { state, ...filled }
}

/** The contract, and who ordered. */
const actionFields = { market: json.string, owner: json.string }

const cancelMemo = json.object({ ...actionFields, id: json.string })
type CancelMemo = json.Infer<typeof cancelMemo>

/** What the journal keeps of an order, so that its outcome can be read after a restart. */
const createMemo = json.object({
  ...actionFields,
  side: json.literal('BUY', 'SELL'),
  /** Whether it must be filled whole or not at all. */
  atOnce: json.boolean,
  base: json.string,
  quote: json.string,
  /** Decimals of the quote minus those of the base. */
  decimals: json.number,
  baseDecimals: json.number,
  amountRaw: json.digits,
  /** The amount's value at the order's price. */
  quoteRaw: json.digits,
})
type CreateMemo = json.Infer<typeof createMemo>

const actionMemo = json.union(cancelMemo, createMemo)

type NewOrder = Omit<CreateMemo, 'amountRaw' | 'quoteRaw'> & Record<'amountRaw' | 'quoteRaw', bigint>

export const writeCreate = ({ amountRaw, quoteRaw, ...memo }: NewOrder): Json => ({
  ...memo,
  amountRaw: String(amountRaw),
  quoteRaw: String(quoteRaw),
})

export const writeCancel = ({ market, owner, id }: CancelMemo): Json => ({ market, owner, id })

const offerTopics: ReadonlySet<string> = new Set(['LogMake', 'LogTake', 'LogKill'].map(topicOf))

type ParsedLog = Pick<LogDescription, 'name' | 'args'>

/** A contract's events of offers in a transaction, in their order. Undefined where the transaction failed. */
function logsOf(receipt: Json, market: string): readonly ParsedLog[] | undefined {
  if (!json.isObject(receipt) || !Array.isArray(receipt['logs'])) throw new Error('The receipt of the order has no logs.')
  if (receipt['status'] !== 1) return undefined
  return receipt['logs'].flatMap((log: Json) => {
    if (!json.isObject(log)) return []
    const { address, topics, data } = log
    if (typeof address !== 'string' || typeof data !== 'string' || !Array.isArray(topics) || !isSameAddress(address, market)) return []
    // The market's other events repeat the same information.
    if (!offerTopics.has(String(topics[0]))) return []
    const parsed = oasisAbi.parseLog({ topics: topics.map(String), data })
    return parsed ? [parsed] : []
  })
}
