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
