import { SluiceError } from 'sluice/plugin'
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/**
 * Reads an answer of the exchange: what is used of it must be there, what is more is left alone. The response schemas that
 * @nktkas/hyperliquid publishes are narrower than the exchange: they know healthy accounts only, and no order state that is new.
 */
export type Shape<T> = (answer: unknown, asked: string) => T

export function shape<T extends TSchema>(schema: T): Shape<Static<T>> {
  const compiled = once(() => Compile(schema))
  return (answer, asked) => {
    const validator = compiled()
    if (validator.Check(answer)) return answer
    const [first] = validator.Errors(answer)
    const what = first ? ` (${first.instancePath || 'all of it'}: ${first.message})` : ''
    throw new SluiceError('NETWORK', `Hyperliquid's answer to ${asked} is none that is understood${what}. Try again.`, {
      retryAfterSeconds: 5,
    })
  }
}

/** Compiling takes milliseconds: not for who never asks. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

export const decimal = Type.String({ pattern: '^-?\\d+(\\.\\d+)?$' })
/** Ids, indices and milliseconds. */
export const whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
