// Readings that take long and hold much: of each client one at a time and of the server a few, so that no client holds all places.
import { SluiceError } from '../base/errors.ts'

export interface LongReadings {
  /** @throws SluiceError OVERLOADED */
  of<T>(client: string, read: () => Promise<T>): Promise<T>
}

/** @param what is done, as the first words of a sentence @param most of all clients at a time */
export function createLongReadings(what: string, most: number): LongReadings {
  const reading = new Set<string>()
  return {
    async of(client, read) {
      if (reading.has(client) || reading.size >= most) {
        const whom = reading.has(client) ? `"${client}"` : `${most} other clients`
        throw new SluiceError('OVERLOADED', `${what} for ${whom} already: try again in a moment.`, { retryAfterSeconds: 1 })
      }
      reading.add(client)
      try {
        return await read()
      } finally {
        reading.delete(client)
      }
    },
  }
}
