// "sluice/json": checks of values from outside, such as memos in the journal and answers of nodes and exchanges. A validator is type and check
// in one declaration. These few lines stand for a library because every server loads them with its plugins, and each library at
// hand takes longer to load than a plugin does.

/** An object with keys: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** undefined where the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const [quoteCode, backslashCode] = [0x22, 0x5c]
/** Of a colon, and of what begins a list or an object. */
const partCodes: readonly number[] = [0x3a, 0x5b, 0x7b]

/** Counts lists, objects and fields in JSON without making them: to make many small ones takes longer than their bytes tell. */
export function hasMoreParts(json: string, most: number): boolean {
  if (json.length <= most) return false
  let parts = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code === quoteCode) at = endOfText(json, at)
    else if (partCodes.includes(code) && (parts += 1) > most) return true
  }
  return false
}

/** @returns where the text ends that begins there; the end of all where it does not */
function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let before = end - 1
    while (json.charCodeAt(before) === backslashCode) before -= 1
    if ((end - before) % 2 === 1) return end
  }
  return json.length
}

/** So many parts an answer of a service may have, and one more for so many characters: what nodes and exchanges send has fewer. */
const partsOfAnswers = { ofAny: 30_000, perCharacter: 1 / 12 } as const

/** Whether an answer of this many characters has more parts than are made of it: to parse it would keep everybody waiting. */
export const isTooManyParts = (json: string): boolean =>
  hasMoreParts(json, partsOfAnswers.ofAny + Math.floor(json.length * partsOfAnswers.perCharacter))

/** Returns where a value is wrong, as a JSON pointer ('' for the value itself); undefined where it is right. */
export type Validator<T> = ((value: unknown) => string | undefined) & { readonly of?: T }
/** The type that a validator checks for. */
export type Infer<V> = V extends Validator<infer T> ? T : never

export const is = <T>(of: Validator<T>, value: unknown): value is T => of(value) === undefined

/** A validator of single values. */
export const validator =
  <T>(holds: (value: unknown) => boolean): Validator<T> =>
  (value) =>
    holds(value) ? undefined : ''

export const anything = validator<unknown>(() => true)
export const nothing = validator<null>((value) => value === null)
export const string = validator<string>((value) => typeof value === 'string')
export const boolean = validator<boolean>((value) => typeof value === 'boolean')
export const number = validator<number>((value) => typeof value === 'number')
/** A safe integer of 0 or more: ids, indices, milliseconds. */
export const natural = validator<number>((value) => Number.isSafeInteger(value) && Number(value) >= 0)
/** An integer of 0 or more as text, of any size: amounts in smallest units. */
export const digits = validator<string>((value) => typeof value === 'string' && /^\d+$/.test(value))

export const literal = <const T extends string>(...words: readonly T[]): Validator<T> =>
  validator<T>((value) => typeof value === 'string' && words.some((word) => word === value))

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
  <const V extends readonly Validator<unknown>[]>(...validators: V): Validator<Infer<V[number]>> =>
  (value) =>
    validators.some((each) => each(value) === undefined) ? undefined : ''

type Fields = Readonly<Record<string, Validator<unknown>>>
type Values<F extends Fields> = { readonly [K in keyof F]: Infer<F[K]> }
type Optional<F> = F extends Fields ? Partial<Values<F>> : unknown

/**
 * An object with these fields; others may be there, too.
 * @param optional fields that may be absent
 */
export function object<F extends Fields, O extends Fields | undefined = undefined>(
  fields: F,
  optional?: O,
): Validator<Values<F> & Optional<O>> {
  const required = Object.entries(fields)
  const others = Object.entries<Validator<unknown>>(optional ?? {})
  return (value) => {
    if (!isObject(value)) return ''
    for (const [name, of] of required) {
      const wrong = of(value[name])
      if (wrong !== undefined) return `/${name}${wrong}`
    }
    for (const [name, of] of others) {
      const wrong = value[name] === undefined ? undefined : of(value[name])
      if (wrong !== undefined) return `/${name}${wrong}`
    }
    return undefined
  }
}
