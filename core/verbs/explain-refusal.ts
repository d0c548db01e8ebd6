import { SluiceError } from '../api/index.ts'
import type { VenueEntry } from './directory.ts'

/** Work of a connector's: where the exchange would refuse it by a code, the error says what that means. */
export async function withMeaning<T>(work: Promise<T>, { impl }: Pick<VenueEntry, 'impl'>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw explained(error, impl.refusals ?? {})
  }
}

function explained(error: unknown, refusals: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof SluiceError) || error.name !== 'TRADE_FAILED') return error
  const { details } = error
  const reason = typeof details === 'object' && details !== null && 'reason' in details ? details.reason : undefined
  if (typeof reason !== 'string' || !Object.hasOwn(refusals, reason)) return error
  const message = `The transaction would fail, so it was not signed: ${refusals[reason]} (${reason}).`
  return new SluiceError('TRADE_FAILED', message, { details, cause: error })
}
