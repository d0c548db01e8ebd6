// Answers with all that there is: they are made as fast as they are taken, a page of records at a time, as NDJSON or CSV.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StreamFormat } from '../api/endpoint.ts'
import type { EndpointName } from '../api/index.ts'
import { csvWriter, type RecordStream } from '../base/csv.ts'
import { plainJson } from '../base/printable.ts'
import type { Caller, RequestFields, Services } from './context.ts'
import { bookStream } from './books.ts'
import { ledgerStream } from './ledger.ts'
import { transactionStream } from './transactions.ts'

/** Who asks for it, and when it ends: long before its own end where nobody takes it any more. */
export interface StreamContext {
  readonly services: Services
  readonly caller: Caller
  readonly signal: AbortSignal
}

type StreamHandler = (request: RequestFields, context: StreamContext, format: StreamFormat) => AsyncGenerator<string, void>

/** By the name of the endpoint, which has a `line`. */
export const streamHandlers: ReadonlyMap<EndpointName, StreamHandler> = new Map([
  // The request is what the reader of this endpoint's fields has checked.
  ['Transactions', (request, context, format) => streamText(transactionStream(request, context), format)],
  ['Books', (request, context, format) => streamText(bookStream(request, context), format)],
  ['Ledger', (request, context, format) => streamText(ledgerStream(request, context), format)],
] satisfies [EndpointName, StreamHandler][])

/** The text of each page, empty where a page has nothing. The first one has the header. */
export async function* streamText<T extends object>(
  { pages, columns }: RecordStream<T>,
  format: StreamFormat,
): AsyncGenerator<string, void> {
  const { header, lines } = format === 'csv' ? await csvWriter(columns) : ndjson
  let before = header
  for await (const page of pages) {
    yield `${before}${lines(page)}`
    before = ''
    await nextTurn()
  }
}

const ndjson = {
  header: '',
  lines: (records: readonly object[]) => records.map((record) => `${plainJson(JSON.stringify(record))}\n`).join(''),
}
