import { SluiceError } from 'sluice/plugin'

/**
 * Says where in a value it is not of a kind, empty for at its top; undefined where it is. What is used of an answer must be there, what is more is left alone. These few lines
 * stand for a library since every server loads the plugin, and each of those at hand takes longer to load than everything else of it. The
 * schemas that @nktkas/hyperliquid publishes for answers are narrower than the exchange besides: they know healthy accounts only, and no state
 * of an order that is new.
 */
type Validator<T> = ((value: unknown) => string | undefined) & { readonly of?: T }
export type Infer<K> = K extends Validator<infer T> ? T : never

const kind =
  <T>(holds: (value: unknown) => boolean): Validator<T> =>
  (value) =>
    holds(value) ? undefined : ''

export const text = kind<string>((value) => typeof value === 'string')
export const flag = kind<boolean>((value) => typeof value === 'boolean')
export const nothing = kind<null>((value) => value === null)
export const anything = kind<unknown>(() => true)
/** A number as people write it, with a minus where it is below 0. */
export const decimal = kind<string>((value) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
/** Ids, indices and milliseconds. */
export const integer = kind<number>((value) => Number.isSafeInteger(value) && Number(value) >= 0)

export const literal = <const T extends string>(...words: readonly T[]): Validator<T> =>
  kind<T>((value) => typeof value === 'string' && words.some((each) => each === value))

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
  <const K extends readonly Validator<unknown>[]>(...kinds: K): Validator<Infer<K[number]>> =>
  (value) =>
    kinds.some((each) => each(value) === undefined) ? undefined : ''

type Fields = Readonly<Record<string, Validator<unknown>>>
type Shown<F extends Fields> = { readonly [K in keyof F]: Infer<F[K]> }

type Added<O> = O extends Fields ? Partial<Shown<O>> : unknown

/** @param optional may be absent */
export function object<F extends Fields, O extends Fields | undefined = undefined>(
  fields: F,
  optional?: O,
): Validator<Shown<F> & Added<O>> {
  const needed = Object.entries(fields)
  const possible = Object.entries<Validator<unknown>>(optional ?? {})
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return ''
    for (const [name, of] of needed) {
      const wrong = of(Reflect.get(value, name))
      if (wrong !== undefined) return `/${name}${wrong}`
    }
    for (const [name, of] of possible) {
      const one: unknown = Reflect.get(value, name)
      const wrong = one === undefined ? undefined : of(one)
      if (wrong !== undefined) return `/${name}${wrong}`
    }
    return undefined
  }
}

export const is = <T>(of: Validator<T>, value: unknown): value is T => of(value) === undefined

/** Reads an answer of the exchange to a question. */
export type Shape<T> = (answer: unknown, asked: string) => T

export const shape =
  <T>(of: Validator<T>): Shape<T> =>
  (answer, asked) => {
    if (is(of, answer)) return answer
    throw new SluiceError(
      'NETWORK',
      `Hyperliquid's answer to ${asked} is none that is understood (at ${of(answer) || 'its top'}). Try again.`,
      { retryAfterSeconds: 5 },
    )
  }
