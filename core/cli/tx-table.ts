// The list of transactions in a terminal of 100 columns: a row for each, and below it its hash, and what it was, brought and cost.
import type { JournaledTransaction } from '../api/index.ts'
import { isObject } from '../base/json.ts'
import { shortAddress, table } from './output.ts'

const columns = 100

/** With the full hash, which the other commands take. */
export function transactionTable(transactions: readonly JournaledTransaction[], nowMs: number): string {
  const rows = transactions.map((transaction) => {
    const { createdAt, txState, kind, connector, chain, network, address, nonce, client, txHash, reason, replacedBy } = transaction
    return {
      cells: [
        age(nowMs - createdAt),
        txState,
        connector === undefined ? kind : `${kind} (${connector})`,
        `${chain}/${network}`,
        shortAddress(address),
        String(nonce),
        client ?? '',
      ],
      below: [txHash ?? 'not signed', summaryOf(transaction), replacedBy && `replaced by ${replacedBy}`, reason].flatMap(
        (line) => line || [],
      ),
    }
  })
  return table([{ cells: ['AGE', 'STATE', 'WHAT', 'WHERE', 'WALLET', 'NONCE', 'CLIENT'] }, ...rows], columns)
}

/** "3 min", "2 d". */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

function summaryOf(transaction: JournaledTransaction): string {
  const { request, cost } = transaction
  const fee = cost && (cost.fee === undefined ? `${cost.rawFee} of the smallest unit` : `${cost.fee} ${cost.feeToken ?? ''}`)
  const was = tradeOf(transaction) ?? (request ? fieldsOf(request.fields) : '')
  return [was, fee === undefined ? '' : `cost ${fee}`].filter((part) => part !== '').join('; ')
}

/** What a trade filled, at which price, and how much worse than quoted that was; before that what was asked for. */
function tradeOf({ kind, request, planned, fill, slippage }: JournaledTransaction): string | undefined {
  if (kind !== 'trade') return undefined
  const fieldOf = (name: string) => textOf(request?.fields, name) ?? textOf(planned, name)
  const [side, base, quote, amount, price] = ['side', 'base', 'quote', 'amount', 'price'].map(fieldOf)
  if (side === undefined || base === undefined || quote === undefined) return undefined
  const [amountIn, amountOut, paid] = ['amountIn', 'amountOut', 'price'].map((name) => textOf(fill, name))
  if (amountIn === undefined || amountOut === undefined || paid === undefined)
    return `${side} ${amount ?? '?'} ${base} for ${quote}${price === undefined ? '' : `, quoted at ${price}`}`
  const [inBase, inQuote] = side === 'BUY' ? [amountOut, amountIn] : [amountIn, amountOut]
  return `${side} ${inBase} ${base} for ${inQuote} ${quote} at ${paid}${slippage ? `, slippage ${slippage.quote}` : ''}`
}

function textOf(fields: unknown, name: string): string | undefined {
  const value = isObject(fields) ? fields[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/** Without what stands in other lines. */
export function fieldsOf(fields: unknown): string {
  const shown = isObject(fields) ? Object.entries(fields) : []
  return shown
    .filter(([name]) => !['chain', 'network', 'address', 'connector'].includes(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
}
