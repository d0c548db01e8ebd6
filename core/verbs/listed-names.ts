import { SluiceError } from '../api/index.ts'
import type { NetworkEntry } from '../handlers/registry.ts'

/**
 * Work that may miss a token: where the chain itself knows no symbol of it, so that the error has its address in the symbol's place, the
 * error says what the network's list calls it.
 */
export async function withListedNames<T>(work: Promise<T>, { tokens }: Pick<NetworkEntry, 'tokens'>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw named(error, tokens.listed)
  }
}

function named(error: unknown, listed: NetworkEntry['tokens']['listed']): unknown {
  if (!(error instanceof SluiceError) || error.name !== 'INSUFFICIENT_BALANCE') return error
  const { name, message, details } = error
  if (typeof details !== 'object' || details === null || !('token' in details)) return error
  const found = listed.find(({ address }) => address === details.token)
  if (!found) return error
  return new SluiceError(name, message.replaceAll(found.address, found.symbol), {
    details: { ...details, token: found.symbol },
    cause: error,
  })
}
