import { SluiceError, type ErrorName } from '../../api/index.ts'
import type { Quote } from '../../contracts/index.ts'

/** A quote, or why the exchange gives none; undefined while nothing can be said of it. */
export type QuoteNews = Quote | SluiceError | undefined
export type QuoteChanged = (news: QuoteNews) => void

/** What is wrong with the way to the exchange, and not with the question. */
const passing: ReadonlySet<ErrorName> = new Set(['NETWORK', 'RATE_LIMIT', 'TIMEOUT', 'SERVICE_UNINITIALIZED'])

/** @param what failed, as a sentence begins */
export function newsOfFailure(error: unknown, what = 'The quote'): SluiceError | undefined {
  if (error instanceof DOMException && error.name === 'TimeoutError') return undefined
  if (error instanceof SluiceError) return passing.has(error.name) ? undefined : error
  return new SluiceError('UNKNOWN_ERROR', `${what} failed by a defect of the server. The server's log has the reason.`, { cause: error })
}

/** Whether the one says what the other says: at whatever block. */
export function isSameNews(one: QuoteNews, other: QuoteNews): boolean {
  if (one === other) return true
  if (one === undefined || other === undefined) return false
  if (one instanceof SluiceError || other instanceof SluiceError)
    return isSluiceError(one) && isSluiceError(other) && one.name === other.name && one.message === other.message
  return one.amountRaw === other.amountRaw && JSON.stringify(one.route) === JSON.stringify(other.route)
}

const isSluiceError = (news: Quote | SluiceError): news is SluiceError => news instanceof SluiceError
