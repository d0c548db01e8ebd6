// How the interfaces that plugins implement are declared: for each type that crosses a schema, for each interface a contract. Neither compiles
// where it differs from its type, and every field and method is linked to it, so that an editor goes from a call to its check.
import * as Type from 'typebox'
import type { TSchema } from 'typebox'
import type { Json } from '../family.ts'

/** A schema of values of exactly this type: neither of a wider nor of a narrower one. */
export interface Schema<T> extends TSchema {
  readonly '~unsafe': T
  readonly '~exactly'?: (value: T) => void
}

/** Of a field that may be absent. */
interface OptionalSchema<T> extends Schema<T> {
  readonly '~optional': true
}

type Fields<T> = { readonly [K in keyof T]-?: Field<T[K]> }
type Field<V> = unknown extends V ? Schema<unknown> : undefined extends V ? OptionalSchema<Exclude<V, undefined>> : Schema<V>

const schema = <T>(keywords: object): Schema<T> => Type.Unsafe<T>({ ...keywords })

/** An object. What else it has is dropped. */
export const object = <T extends object>(fields: Fields<T>): Schema<T> => schema(Type.Object({ ...fields }))
/** An object that is refused where it has anything else. */
export const closed = <T extends object>(fields: Fields<T>): Schema<T> =>
  schema(Type.Object({ ...fields }, { additionalProperties: false }))
/** The same, where no more than these fields must be there. */
export const requiring = <T>(of: Schema<T>, ...required: readonly (keyof T & string)[]): Schema<T> => schema({ ...of, required })
export const optional = <T>(of: Schema<T>): OptionalSchema<T> => Type.Optional(of)

// Everything has a bound: what a plugin answers is copied, shown and journaled.

export const text = (maxLength = 200): Schema<string> => schema(Type.String({ maxLength }))
/** Words of others, such as nodes and exchanges, for people: cut where they are too long, never refused. */
export const words = (maxLength = 10_000): Schema<string> => schema({ crosses: 'words', maxLength })
/** Text that is not empty. */
export const word = (maxLength = 200): Schema<string> => schema(Type.String({ minLength: 1, maxLength }))
export const flag = (): Schema<boolean> => schema(Type.Boolean())
export const oneOf = <const T extends readonly (string | boolean)[]>(...values: T): Schema<T[number]> => schema({ enum: values })
export const integer = (minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER): Schema<number> =>
  schema(Type.Integer({ minimum, maximum }))
/** A number that need not be whole, such as a rate. */
export const number = (): Schema<number> => schema(Type.Number())
/** Decimals of a token: 10 to the power of 77 is the highest that 256 bits hold. */
export const decimals = (): Schema<number> => integer(0, 77)
/** Seconds or milliseconds since the Unix epoch. */
export const time = (): Schema<number> => integer(0)
/** Smallest units, 0 or more. Chains count them in 256 bits. */
export const amount = (bits = 256): Schema<bigint> => schema({ type: 'bigint', minimum: 0n, bits })
export const positiveAmount = (bits = 256): Schema<bigint> => schema({ type: 'bigint', minimum: 1n, bits })
export const signedAmount = (bits = 256): Schema<bigint> => schema({ type: 'bigint', bits })

const digits = String.raw`\d{1,100}(\.\d{1,100})?$`
/** Digits with at most one point. Text with an exponent, or that is not a number, would be shown and computed with as it is. */
export const decimal = (): Schema<string> => schema({ type: 'string', pattern: `^${digits}`, is: 'a decimal string of 0 or more' })
export const positiveDecimal = (): Schema<string> =>
  schema({ type: 'string', pattern: String.raw`^(?=[\d.]*[1-9])${digits}`, is: 'a decimal string above 0' })
export const signedDecimal = (): Schema<string> => schema({ type: 'string', pattern: `^-?${digits}`, is: 'a decimal string' })

export const list = <T>(items: Schema<T>, maxItems: number, minItems = 0): Schema<readonly T[]> =>
  schema(Type.Array(items, { maxItems, minItems }))
/**
 * A list whose entries stand for themselves: one that is not what it should be is left out, and so is the later of two with one name. What was
 * left out is told by `leftOutOf`. Only where nobody takes what is missing for what is not there: not for orders.
 */
export const eachOf = <T>(items: Schema<T>, maxItems: number, apart: Apart<T>): Schema<readonly T[]> =>
  schema(Type.Array(items, { maxItems, apart }))

interface Apart<T> {
  /** What people call an entry. */
  readonly nameOf: (entry: T) => string
  /** Names that count as one; absent: all may be the same. */
  readonly sameName?: 'in any letter case' | 'letter by letter'
}

/** An entry of a list that was left out. */
export interface LeftOutItem {
  readonly name: string
  readonly reason: string
}

const leftOutBy = new WeakMap<readonly unknown[], readonly LeftOutItem[]>()

/** What was left out of a list that a plugin answered. */
export const leftOutOf = (entries: readonly unknown[]): readonly LeftOutItem[] => leftOutBy.get(entries) ?? []

/** Says what was left out of a list. */
export function noteLeftOut<L extends readonly unknown[]>(entries: L, leftOut: readonly LeftOutItem[]): L {
  if (leftOut.length > 0) leftOutBy.set(entries, leftOut)
  return entries
}

export const someOf = <T>(items: Schema<T>, maxItems: number): Schema<readonly [T, ...T[]]> =>
  schema(Type.Array(items, { minItems: 1, maxItems }))
export const record = <T>(values: Schema<T>, maxProperties: number): Schema<Readonly<Record<string, T>>> =>
  schema({ type: 'object', additionalProperties: values, maxProperties })
/** One of these. Objects differ in the value of a key that all of them have, or the first ones have a key that the later ones do not have. */
export const either = <A, B, C = never, D = never, E = never>(
  ...anyOf: readonly [Schema<A>, Schema<B>, Schema<C>?, Schema<D>?, Schema<E>?]
): Schema<A | B | C | D | E> => schema({ anyOf })
/** Undefined says that there is no answer. */
export const orNothing = <T>(of: Schema<T>): Schema<T | undefined> => schema({ anyOf: [of, Type.Undefined()] })

/** JSON of any form: memos, steps, receipts. A transaction of an EVM chain has up to 128 KiB, twice as many hexadecimal digits. */
export const json = (maxCharacters = 500_000): Schema<Json> => schema({ crosses: 'json', maxCharacters })
export const bytes = (maxItems = 1_000_000): Schema<Uint8Array> => schema({ crosses: 'bytes', maxItems })
export const map = <V>(values: Schema<V>, maxItems: number): Schema<ReadonlyMap<string, V>> => schema({ crosses: 'map', values, maxItems })
/** Read one by one, each parsed. */
export const stream = <T>(of: Schema<T>): Schema<AsyncIterable<T>> => schema({ crosses: 'stream', items: of })
/** A function within an answer, called as a method of it. */
export const callback = <F extends (...args: never[]) => unknown>(): Schema<F> => schema({ crosses: 'function' })
/** An object of JSON that is only shown. */
export const shown = (): Schema<Readonly<Record<string, unknown>>> => schema({ crosses: 'json', maxCharacters: 256_000 })
/** The object itself: a state that is followed, which only its own plugin reads. */
export const opaque = <T>(): Schema<T> => schema({ crosses: 'opaque' })
/** Whatever it is, nobody reads it. */
export const nothing = (): Schema<void> => schema({ crosses: 'nothing' })
/** The argument of the call where it comes back as it was: it is the server's own. Anything else is copied. */
export const given = <T>(argument: number, of: Schema<T>): Schema<T> => schema({ ...of, given: argument })

/** A method, and what it answers. */
export interface Method<Args extends readonly unknown[], Answer> {
  readonly answer: Schema<Answer>
  /** It returns what it knows at once, or a promise: its deadline counts only for the promise. */
  readonly atOnce?: true
  /** The same object again is the same answer. */
  readonly isCached?: true
  /** The list in the answer that may be long: others have their turn while it is parsed. */
  readonly longList?: { readonly name: keyof Answer & string; readonly most: number }
  /** What is wrong with an answer to these arguments, as words that follow the name of the method. */
  mismatch?(answer: Answer, args: Args): string | undefined
}

/** A property that is read once. */
interface Property<T> {
  readonly value: Schema<T>
}

/** An interface within an interface. */
interface Part<T> {
  readonly part: Contract<T>
}

/** What is not behind the boundary: its caller expects anything of it. */
interface Direct {
  readonly direct: true
  /** Where it has `watch`: what that gives its listener, one by one, and the answer of its `snapshot`. */
  readonly streamed?: { readonly update: TSchema; readonly snapshot: TSchema }
}

/** A member for each member of the interface. */
export type Contract<T> = { readonly [K in keyof T]-?: Member<NonNullable<T[K]>> }
type Member<V> =
  | Direct
  | ([V] extends [(...args: infer Args) => infer Answer]
      ? Method<Args, Awaited<Answer>>
      : Property<V> | ([V] extends [object] ? Part<V> : never))

export const answers = <Args extends readonly unknown[], Answer>(
  answer: Schema<Answer>,
  mismatch?: (answer: Answer, args: Args) => string | undefined,
): Method<Args, Answer> => ({ answer, ...(mismatch && { mismatch }) })
export const property = <T>(value: Schema<T>): Property<T> => ({ value })
export const part = <T>(contract: Contract<T>): Part<T> => ({ part: contract })
export const direct: Direct = { direct: true }
/** A stream of updates, each parsed, or what is followed in memory. */
export const streamed = (update: TSchema, snapshot: TSchema): Direct => ({ direct: true, streamed: { update, snapshot } })
