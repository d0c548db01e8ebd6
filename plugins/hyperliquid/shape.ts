import { SluiceError } from 'sluice/plugin'

/**
 * Returns the path of what is wrong in a value, empty for the value itself; undefined where it is valid. Fields that are not named are
 * ignored. This replaces a library: every server loads the plugin, and each candidate takes longer to load than the rest of the plugin. The
 * schemas for answers in @nktkas/hyperliquid are narrower than the exchange: they accept healthy accounts and known states of orders only.
 */
type Validator<T> = ((value: unknown) => string | undefined) & { readonly of?: T }
export type Infer<K> = K extends Validator<infer T> ? T : never

const validator =
  <T>(holds: (value: unknown) => boolean): Validator<T> =>
  (value) =>
    holds(value) ? undefined : ''

export const text = validator<string>((value) => typeof value === 'string')
export const flag = validator<boolean>((value) => typeof value === 'boolean')
export const nothing = validator<null>((value) => value === null)
export const anything = validator<unknown>(() => true)
/** A decimal number, with a minus sign where it is below 0. */
export const decimal = validator<string>((value) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
/** Ids, indices and milliseconds. */
export const integer = validator<number>((value) => Number.isSafeInteger(value) && Number(value) >= 0)

export const literal = <const T extends string>(...values: readonly T[]): Validator<T> =>
  validator<T>((value) => typeof value === 'string' && values.some((each) => each === value))

export const array =
  <T>(of: Validator<T>): Validator<readonly T[]> =>
  (value) => {
    if (!Array.isArray(value)) return ''
    for (let index = 0; index < value.length; index += 1) {
      const wrong = of(value[index])
      if (wrong !== undefined) return `/${index}${wrong}`
    }
    return undefined
  }

export const tuple =
  <A, B>(first: Validator<A>, second: Validator<B>): Validator<readonly [A, B]> =>
  (value) => {
    if (!Array.isArray(value) || value.length !== 2) return ''
    const [wrong, other] = [first(value[0]), second(value[1])]
    return wrong !== undefined ? `/0${wrong}` : other !== undefined ? `/1${other}` : undefined
  }

export const union =
  <const K extends readonly Validator<unknown>[]>(...validators: K): Validator<Infer<K[number]>> =>
  (value) =>
    validators.some((each) => each(value) === undefined) ? undefined : ''

type Fields = Readonly<Record<string, Validator<unknown>>>
type ValueOf<F extends Fields> = { readonly [K in keyof F]: Infer<F[K]> }

type Optional<O> = O extends Fields ? Partial<ValueOf<O>> : unknown

/** @param optional may be absent */
export function object<F extends Fields, O extends Fields | undefined = undefined>(
  fields: F,
  optional?: O,
): Validator<ValueOf<F> & Optional<O>> {
  const required = Object.entries(fields)
  const allowed = Object.entries<Validator<unknown>>(optional ?? {})
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return ''
    for (const [name, of] of required) {
      const wrong = of(Reflect.get(value, name))
      if (wrong !== undefined) return `/${name}${wrong}`
    }
    for (const [name, of] of allowed) {
      const field: unknown = Reflect.get(value, name)
      const wrong = field === undefined ? undefined : of(field)
      if (wrong !== undefined) return `/${name}${wrong}`
    }
    return undefined
  }
}

export const is = <T>(of: Validator<T>, value: unknown): value is T => of(value) === undefined

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
