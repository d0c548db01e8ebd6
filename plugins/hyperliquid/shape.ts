import { is, validator, type Validator } from 'sluice/json'
import { SluiceError } from 'sluice/plugin'

// The schemas for answers in @nktkas/hyperliquid are narrower than the exchange: they accept healthy accounts and known states of orders only.
export {
  anything,
  array,
  boolean as flag,
  is,
  literal,
  natural as integer,
  nothing,
  object,
  string as text,
  tuple,
  union,
} from 'sluice/json'
export type { Infer } from 'sluice/json'

/** A decimal number, with a minus sign where it is below 0. */
export const decimal = validator<string>((value) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))

/**
 * What stands in a list for an entry that cannot be read: core leaves out what lacks fields, and says so by its name. Only for lists in which nothing that
 * is missing is taken for what is not there.
 */
export function unread<T extends object>(named: Partial<T>): T {
  const entry: object = named
  return entry as T
}

/**
 * A list with what stands for its entries that cannot be read.
 * @throws SluiceError NETWORK where none can be read
 */
export function withUnread<T>(read: readonly T[], missing: readonly T[], query: string): readonly T[] {
  if (read.length > 0 || missing.length === 0) return [...read, ...missing]
  throw new SluiceError('NETWORK', `No entry of Hyperliquid's answer to ${query} has a known format. Try again.`, { retryAfterSeconds: 5 })
}

/** Checks the exchange's answer to a query. @throws SluiceError NETWORK */
export type Shape<T> = (answer: unknown, query: string) => T

export const shape =
  <T>(of: Validator<T>): Shape<T> =>
  (answer, query) => {
    if (is(of, answer)) return answer
    throw new SluiceError('NETWORK', `Hyperliquid's answer to ${query} has an unknown format (at ${of(answer) || 'its top'}). Try again.`, {
      retryAfterSeconds: 5,
    })
  }
