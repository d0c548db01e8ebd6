import { SluiceError } from '../api/index.ts'
import type { VenueEntry, NetworkEntry } from './registry.ts'
import { isObject } from '../json.ts'

/** Work of a connector's: where the exchange would refuse it by a code, the error says what that means. */
export async function explainRefusal<T>(work: Promise<T>, { impl }: Pick<VenueEntry, 'impl'>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw explained(error, { impl })
  }
}

/** What an exchange's code means, in its connector's words. */
export function refusalMeaning(code: string, { impl: { refusals = {} } }: Pick<VenueEntry, 'impl'>): string | undefined {
  return Object.hasOwn(refusals, code) ? refusals[code] : undefined
}

function explained(error: unknown, venue: Pick<VenueEntry, 'impl'>): unknown {
  if (!(error instanceof SluiceError) || error.name !== 'TRADE_FAILED') return error
  const { details } = error
  const reason = isObject(details) && 'reason' in details ? details.reason : undefined
  const meaning = typeof reason === 'string' ? refusalMeaning(reason, venue) : undefined
  if (meaning === undefined) return error
  const message = `The transaction would fail, so it was not signed: ${meaning} (${String(reason)}).`
  return new SluiceError('TRADE_FAILED', message, { details, cause: error })
}

/**
 * Work that may miss a token: where the chain itself knows no symbol of it, so that the error has its address in the symbol's place, the
 * error says what the network's list calls it.
 */
export async function nameListedTokens<T>(work: Promise<T>, { tokens }: Pick<NetworkEntry, 'tokens'>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw named(error, tokens.listed)
  }
}

function named(error: unknown, listed: NetworkEntry['tokens']['listed']): unknown {
  if (!(error instanceof SluiceError) || error.name !== 'INSUFFICIENT_BALANCE') return error
  const { name, message, details } = error
  if (!isObject(details) || !('token' in details)) return error
  const found = listed.find(({ address }) => address === details.token)
  if (!found) return error
  return new SluiceError(name, message.replaceAll(found.address, found.symbol), {
    details: { ...details, token: found.symbol },
    cause: error,
  })
}
