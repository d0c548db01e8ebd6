// A transaction as a row of a spreadsheet: flat, in the words of the interface.
import type { JournaledTransaction, TransactionsLine } from '../api/index.ts'
import type { CsvColumn } from '../base/csv.ts'
import { isObject } from '../base/json.ts'

type Cell = string | number | undefined

/** A field of an object whose fields are not known. */
const fieldOf = (object: unknown, name: string): Cell => {
  const value = isObject(object) ? object[name] : undefined
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}

const timeOf = (ms: number) => new Date(ms).toISOString()

/** In its own words, or as it was planned. */
const asked = ({ request, planned }: JournaledTransaction, name: string): Cell => fieldOf(request?.fields, name) ?? fieldOf(planned, name)

/** Of a market such as WETH-USDC. */
function tokenOf(transaction: JournaledTransaction, name: 'base' | 'quote'): Cell {
  const market = fieldOf(transaction.request?.fields, 'market')
  const [base, quote, ...more] = typeof market === 'string' ? market.split('-') : []
  return asked(transaction, name) ?? (more.length === 0 ? { base, quote }[name] : undefined)
}

const isWhole = (line: TransactionsLine): line is JournaledTransaction => !('unavailable' in line)

/** A column of what cannot be told of a damaged row. */
const column = (name: string, value: (transaction: JournaledTransaction) => Cell): CsvColumn<TransactionsLine> => [
  name,
  (line) => (isWhole(line) ? value(line) : undefined),
]

/** The id is the last one: a line that has it is whole. */
export const transactionColumns: readonly CsvColumn<TransactionsLine>[] = [
  column('time', ({ createdAt }) => timeOf(createdAt)),
  column('client', ({ client }) => client),
  column('wallet', ({ address }) => address),
  column('chain', ({ chain }) => chain),
  column('network', ({ network }) => network),
  column('connector', ({ connector }) => connector),
  column('kind', ({ kind }) => kind),
  column('side', (transaction) => asked(transaction, 'side')),
  column('base', (transaction) => tokenOf(transaction, 'base')),
  column('quote', (transaction) => tokenOf(transaction, 'quote')),
  column('amount', (transaction) => asked(transaction, 'amount')),
  column('price', ({ fill }) => fieldOf(fill, 'price')),
  column('quotedPrice', ({ planned }) => fieldOf(planned, 'price')),
  column('marketPrice', ({ quote }) => quote?.marketPrice),
  column('amountIn', ({ fill }) => fieldOf(fill, 'amountIn')),
  column('amountOut', ({ fill }) => fieldOf(fill, 'amountOut')),
  column('fee', ({ cost }) => cost?.fee),
  column('feeToken', ({ cost }) => cost?.feeToken),
  column('rawFee', ({ cost }) => cost?.rawFee),
  column('feeInQuote', ({ cost }) => cost?.feeInQuote),
  column('slippage', ({ slippage }) => slippage?.quote),
  column('marketSlippage', ({ slippage }) => slippage?.market),
  ['state', (line) => (isWhole(line) ? line.txState : 'UNAVAILABLE')],
  ['reason', (line) => (isWhole(line) ? line.reason : line.unavailable)],
  column('ended', ({ final, updatedAt }) => (final ? timeOf(updatedAt) : undefined)),
  column('txHash', ({ txHash }) => txHash ?? undefined),
  column('block', ({ txBlock }) => (txBlock < 0 ? undefined : txBlock)),
  column('nonce', ({ nonce }) => nonce),
  column('requestId', ({ requestId }) => requestId),
  column('idempotencyKey', ({ idempotencyKey }) => idempotencyKey),
  ['id', ({ id }) => id],
]
