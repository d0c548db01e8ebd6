// From the schema of what a plugin answers to its parser: reads every property once, and returns a frozen copy within bounds. Only the copy is
// used: a plugin's own object could say something else to the next reader.
import { types } from 'node:util'
import type { TSchema } from 'typebox'
import { noteLeftOut, type eachOf, type LeftOutItem, type Schema } from '../../contracts/answers/contract.ts'
import { isObject } from '../../base/json.ts'
import { messageOf } from './thrown.ts'

/** @param args of the call whose answer it is @throws Mismatch */
export type Parser<T> = (value: unknown, args: readonly unknown[], owner?: object) => T
type Parse = Parser<unknown>

/** What is wrong with an answer, in words for the plugin's author. */
export class Mismatch extends Error {
  readonly #path: string
  readonly #problem: string

  /** @param problem as words that follow the path, such as 'must be text' */
  constructor(problem: string, path = '') {
    super(`${path === '' ? 'the answer' : path} ${problem}`)
    this.#path = path
    this.#problem = problem
  }

  /** Of the value that holds it. What was thrown instead is a plugin's, thrown while the property was read. */
  static in(key: string | number, thrown: unknown): Mismatch {
    const step = typeof key === 'number' ? `[${key}]` : shown(key)
    if (typeof thrown !== 'object' || thrown === null || !(#path in thrown))
      return new Mismatch(`cannot be read: ${messageOf(thrown)}`, step)
    const inner = thrown.#path
    return new Mismatch(thrown.#problem, inner === '' || inner.startsWith('[') ? `${step}${inner}` : `${step}.${inner}`)
  }
}

const maxShown = 60
const shown = (key: string) => (key.length > maxShown ? `${key.slice(0, maxShown)}…` : key)

const parsers = new WeakMap<object, Parse>()

// What the schema says is what its parser returns.
export const parserOf = <T>(schema: Schema<T>): Parser<T> => parserFor(schema) as Parser<T>

/** The keywords that contracts are written with. */
interface Keywords {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean' | 'bigint' | 'undefined'
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: TSchema | false
  readonly maxProperties?: number
  readonly items?: TSchema
  readonly values?: TSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly is?: string
  readonly minimum?: number | bigint
  readonly maximum?: number
  readonly bits?: number
  readonly enum?: readonly (string | boolean)[]
  readonly anyOf?: readonly TSchema[]
  readonly given?: number
  readonly apart?: Parameters<typeof eachOf<unknown>>[2]
  readonly crosses?: 'json' | 'bytes' | 'map' | 'opaque' | 'nothing' | 'stream' | 'function' | 'words'
  readonly maxCharacters?: number
}

/** Made once for each schema. */
function parserFor(schema: TSchema): Parse {
  let parse = parsers.get(schema)
  if (!parse) parsers.set(schema, (parse = compile(schema)))
  return parse
}

function compile(keywords: Keywords): Parse {
  const { given, ...own } = keywords
  if (given === undefined) return compileValue(keywords)
  const parse = compileValue(own)
  return (value, args) => (value !== undefined && value === args[given] ? value : parse(value, args))
}

function compileValue(keywords: Keywords): Parse {
  if (keywords.enum) return oneOfParser(keywords.enum)
  if (keywords.anyOf) return eitherParser(keywords.anyOf)
  switch (keywords.crosses ?? keywords.type) {
    case 'object':
      return keywords.additionalProperties ? recordParser(keywords) : objectParser(keywords)
    case 'array':
      return keywords.apart ? apartParser(keywords, keywords.apart) : arrayParser(keywords)
    case 'string':
      return textParser(keywords)
    case 'integer':
    case 'number':
      return numberParser(keywords)
    case 'bigint':
      return bigintParser(keywords)
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? value : refuse('true or false', value))
    case 'json':
      return (value) => copyJson(value, { characters: keywords.maxCharacters ?? 0 }, 0)
    case 'words':
      return (value) => (typeof value === 'string' ? value.slice(0, keywords.maxLength).toWellFormed() : refuse('text', value))
    case 'bytes':
      return bytesParser(keywords)
    case 'map':
      return mapParser(keywords)
    case 'opaque':
      return (value) => value
    case 'stream':
      return streamParser(keywords)
    case 'function':
      return (value, _, owner) =>
        typeof value === 'function' ? (...args: unknown[]) => Reflect.apply(value, owner, args) : refuse('a function', value)
    case 'nothing':
      return () => undefined
    default:
      throw new Error(`No parser is known for ${JSON.stringify(keywords)}`)
  }
}

/** @param expected as words that follow 'must be' */
function refuse(expected: string, value: unknown): never {
  throw new Mismatch(`must be ${expected}, and is ${kindOf(value)}`)
}

/** Never the value itself, which may be of any size. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'bigint') return value < 0n ? 'a bigint below 0' : 'another bigint'
  if (typeof value === 'string') return value.length > maxShown ? `text of ${value.length} characters` : `'${value}'`
  return typeof value === 'object' ? (types.isProxy(value) || !Array.isArray(value) ? 'an object' : 'an array') : `a ${typeof value}`
}

function textParser({
  minLength = 0,
  maxLength = 250,
  pattern,
  is = `text of ${minLength > 0 ? `${minLength} to` : 'at most'} ${maxLength} characters`,
}: Keywords): Parse {
  const form = pattern === undefined ? undefined : new RegExp(pattern)
  return (value) => {
    if (typeof value !== 'string' || value.length < minLength || value.length > maxLength) return refuse(is, value)
    if (form ? !form.test(value) : !value.isWellFormed()) return refuse(form ? is : 'text without half characters (lone surrogates)', value)
    return value
  }
}

function numberParser({ type, minimum = -Infinity, maximum = Infinity }: Keywords): Parse {
  const isWhole = type === 'integer'
  const is = `${isWhole ? 'a whole number' : 'a finite number'}${minimum > Number.MIN_SAFE_INTEGER ? ` of ${minimum} or more` : ''}`
  const expected = maximum < Number.MAX_SAFE_INTEGER ? `${is}, at most ${maximum}` : is
  return (value) => {
    if (
      typeof value !== 'number' ||
      !(isWhole ? Number.isSafeInteger(value) : Number.isFinite(value)) ||
      value < minimum ||
      value > maximum
    )
      return refuse(expected, value)
    // -0 becomes 0.
    return value + 0
  }
}

function bigintParser({ minimum, bits = 256 }: Keywords): Parse {
  const most = 2n ** BigInt(bits)
  const least = minimum ?? -most
  const expected = minimum === undefined ? 'a bigint' : minimum > 0 ? 'a bigint above 0' : 'a bigint of 0 or more'
  return (value) => {
    if (typeof value === 'bigint' && value >= least && value < most) return value
    throw new Mismatch(`must be ${expected}, of at most ${bits} bits, and is ${kindOf(value)}${asBigint(value)}`)
  }
}

/** How to write what an author took for an amount. */
function asBigint(value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return `, a number: write ${value}n, or BigInt(…)`
  return typeof value === 'string' && /^\d{1,78}$/.test(value) ? ', text: write BigInt(…)' : ''
}

const listed = (known: readonly unknown[]) => known.map((each) => (typeof each === 'string' ? `'${each}'` : String(each))).join(' or ')

function oneOfParser(known: readonly unknown[]): Parse {
  const expected = listed(known)
  return (value) => (known.includes(value) ? value : refuse(expected, value))
}

/** Proxies are told by Node, not by a trap of theirs. */
const requireObject = (value: unknown): Record<string, unknown> => (isObject(value) ? value : refuse('an object', value))

/** A field that was read already, to tell one object from another. */
interface KnownField {
  readonly key: string
  readonly value: unknown
}

type ObjectParser = (value: Record<string, unknown>, args: readonly unknown[], known?: KnownField) => unknown

function objectParser(keywords: Keywords): Parse {
  const { properties = {}, additionalProperties } = keywords
  const parse = fieldsParser(keywords)
  if (additionalProperties !== false) return (value, args) => parse(requireObject(value), args)
  return (value, args) => {
    const fields = requireObject(value)
    const unknown = Object.keys(fields).find((key) => !Object.hasOwn(properties, key))
    if (unknown !== undefined) throw new Mismatch('is unknown', shown(unknown))
    return parse(fields, args)
  }
}

function fieldsParser({ properties = {}, required = [] }: Keywords): ObjectParser {
  // Lists beside one another, because every quote comes this way.
  const keys = Object.keys(properties)
  const parsers = Object.values(properties).map((each) => parserFor(each))
  const optionals = keys.map((key) => !required.includes(key))
  return (value, args, known) => {
    const copy: Record<string, unknown> = {}
    let index = 0
    try {
      for (; index < keys.length; index += 1) {
        const key = keys[index] ?? ''
        const found = known?.key === key ? known.value : value[key]
        if (found !== undefined || !optionals[index]) copy[key] = parsers[index]?.(found, args, value)
      }
    } catch (thrown) {
      throw Mismatch.in(keys[index] ?? '', thrown)
    }
    return Object.freeze(copy)
  }
}

function recordParser({ additionalProperties, maxProperties = 0 }: Keywords): Parse {
  const parse = parserFor(additionalProperties || {})
  return (value, args) => {
    const entries = requireObject(value)
    const keys = Object.keys(entries)
    if (keys.length > maxProperties) throw new Mismatch(`must have at most ${maxProperties} entries, and has ${keys.length}`)
    const copy: Record<string, unknown> = {}
    for (const key of keys) {
      try {
        requireKey(key)
        copy[key] = parse(entries[key], args)
      } catch (thrown) {
        throw Mismatch.in(key, thrown)
      }
    }
    return Object.freeze(copy)
  }
}

export const maxKey = 200

/** `__proto__` would not become a key. */
function requireKey(key: string): void {
  if (key.length > maxKey || key === '__proto__' || !key.isWellFormed()) throw new Mismatch('is not a key that is allowed')
}

function arrayParser({ items = {}, minItems = 0, maxItems = 0 }: Keywords): Parse {
  const parse = parserFor(items)
  const parseList: Parse = (value, args) => copyList(value, minItems, maxItems, (each) => parse(each, args))
  if (isOfText(items)) return onceWhereConstant(parseList, isText)
  return holdsTextOnly(items) ? onceWhereConstant(parseList, isConstantOfText) : parseList
}

/** Text, whatever the arguments of the call are. */
const isOfText = ({ type, given }: Keywords): boolean => type === 'string' && given === undefined

/** Objects of it. */
const holdsTextOnly = ({ type, properties, additionalProperties, given, apart }: Keywords): boolean =>
  type === 'object' &&
  properties !== undefined &&
  additionalProperties === undefined &&
  given === undefined &&
  apart === undefined &&
  Object.values(properties).every(isOfText)

/** A connector answers with the same route again and again: what cannot change is copied once. */
function onceWhereConstant(parse: Parse, isConstantItem: (item: unknown) => boolean): Parse {
  const copies = new WeakMap<object, unknown>()
  return (value, args) => {
    if (!Array.isArray(value) || types.isProxy(value) || !Object.isFrozen(value)) return parse(value, args)
    const known = copies.get(value)
    if (known !== undefined) return known
    const copy = parse(value, args)
    if (isConstantOf(value, Array.prototype, isConstantItem)) copies.set(value, copy)
    return copy
  }
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isConstantOfText = (value: unknown): boolean => isConstantOf(value, Object.prototype, isText)

/** Whether an object is frozen plain data, of which nothing is read by code. */
function isConstantOf(value: unknown, prototype: object, isConstantItem: (item: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null || types.isProxy(value)) return false
  if (!Object.isFrozen(value) || Object.getPrototypeOf(value) !== prototype) return false
  return Object.entries(Object.getOwnPropertyDescriptors(value)).every(
    ([key, { value: own, get }]) => get === undefined && (key === 'length' || isConstantItem(own)),
  )
}

/** More of them are counted only. */
const maxLeftOut = 100

/** Whether an answer, a field of it, or one of its kinds is a list that leaves entries out. */
export function mayLeaveOut(schema: TSchema): boolean {
  const { apart, properties = {}, anyOf = [] }: Keywords = schema
  return apart !== undefined || [...Object.values(properties), ...anyOf].some(mayLeaveOut)
}

/** Leaves out what does not fit, and what has a name that was there before. Where nothing fits, it is the list that is wrong. */
function apartParser({ items, maxItems = 0 }: Keywords, { nameOf, sameName }: NonNullable<Keywords['apart']>): Parse {
  const parse = parserFor(items ?? {})
  return (value, args) => {
    const leftOut: LeftOutItem[] = []
    const known = new Map<string, string>()
    let count = 0
    let first: unknown
    const leaveOut = (name: string, reason: string): undefined => {
      count += 1
      if (leftOut.length < maxLeftOut) leftOut.push(Object.freeze({ name: shown(name), reason }))
    }
    const entries = copyList(value, 0, maxItems, (item) => {
      let entry: unknown
      try {
        entry = parse(item, args)
      } catch (thrown) {
        first ??= thrown
        return leaveOut(wordOf(() => nameOf(item)) ?? '?', messageOf(thrown))
      }
      if (sameName === undefined) return entry
      const name = nameOf(entry)
      const key = sameName === 'in any letter case' ? name.toUpperCase() : name
      const before = known.get(key)
      if (before !== undefined)
        return leaveOut(name, before === name ? 'is there twice' : `has the name of ${shown(before)} in other letter case`)
      known.set(key, name)
      return entry
    })
    const copy = entries.filter((entry) => entry !== undefined)
    if (copy.length === 0 && first !== undefined) throw Mismatch.in(0, first)
    if (count > leftOut.length) leftOut.push(Object.freeze({ name: '…', reason: `${count - leftOut.length} more` }))
    return noteLeftOut(Object.freeze(copy), Object.freeze(leftOut))
  }
}

/** Of what a plugin answered, whatever it is. */
function wordOf(read: () => unknown): string | undefined {
  try {
    const word = read()
    return typeof word === 'string' ? word.toWellFormed() : undefined
  } catch {
    return undefined
  }
}

function copyList(value: unknown, minItems: number, maxItems: number, copyOf: (item: unknown) => unknown): readonly unknown[] {
  if (!Array.isArray(value)) return refuse('an array', value)
  const length: unknown = value.length
  // A proxy may say anything.
  if (typeof length !== 'number' || !(length >= minItems && length <= maxItems))
    throw new Mismatch(
      `must have ${minItems > 0 ? `${minItems} to` : 'at most'} ${maxItems} entries, and has ${typeof length === 'number' ? length : 'none that is a number'}`,
    )
  const copy: unknown[] = []
  let index = 0
  try {
    for (; index < length; index += 1) copy.push(copyOf(value[index]))
  } catch (thrown) {
    throw Mismatch.in(index, thrown)
  }
  return Object.freeze(copy)
}

/** Of several kinds of values: told by their type, and objects by a key that is read once. */
function eitherParser(all: readonly TSchema[]): Parse {
  const variants: readonly Keywords[] = all.flatMap((each: Keywords) => each.anyOf ?? [each])
  const others = variants
    .filter(({ properties, type }) => !properties && type !== 'undefined')
    .map((each) => ({ ...each, parse: parserFor(each) }))
  const objects = variants.filter(({ properties }) => properties)
  const parseObject = objects.length > 0 ? objectsParser(objects) : undefined
  const mayBeNothing = variants.some(({ type }) => type === 'undefined')
  return (value, args) => {
    if (value === undefined && mayBeNothing) return undefined
    for (const { enum: words, type, parse } of others)
      if (words ? typeof value === 'string' : type === 'array' ? Array.isArray(value) : !parseObject) return parse(value, args)
    return parseObject ? parseObject(requireObject(value), args) : refuse('what the interface says', value)
  }
}

/** Objects differ in the word of a key that all of them have, or each has a required key that the later ones do not have. */
function objectsParser(objects: readonly Keywords[]): ObjectParser {
  const variants = objects.map((keywords, index) => {
    const { required = [], properties = {} } = keywords
    const later = objects.slice(index + 1)
    const mark = later.length > 0 ? required.find((key) => later.every((each) => !each.properties?.[key])) : undefined
    return { mark, properties, parse: fieldsParser(keywords) }
  })
  const wordsOf = (of: Readonly<Record<string, Keywords>>, key: string): readonly unknown[] => of[key]?.enum ?? []
  const tag = objects[0]?.required?.find((key) =>
    objects.every(({ required, properties = {} }) => required?.includes(key) && wordsOf(properties, key).length > 0),
  )
  if (tag === undefined || variants.length === 1)
    return (value, args) => {
      for (const { mark, parse } of variants) {
        if (mark === undefined) return parse(value, args)
        const found = readOnce(value, mark)
        if (found !== undefined) return parse(value, args, { key: mark, value: found })
      }
      return refuse('an object', value)
    }
  const byWord = new Map(variants.flatMap(({ properties, parse }) => wordsOf(properties, tag).map((word) => [word, parse] as const)))
  const expected = listed([...byWord.keys()])
  return (value, args) => {
    const found = readOnce(value, tag)
    const parse = byWord.get(found)
    if (parse) return parse(value, args, { key: tag, value: found })
    throw new Mismatch(`must be ${expected}, and is ${kindOf(found)}`, tag)
  }
}

function readOnce(value: Record<string, unknown>, key: string): unknown {
  try {
    return value[key]
  } catch (thrown) {
    throw Mismatch.in(key, thrown)
  }
}

const byteLengthOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'byteLength')?.get

function bytesParser({ maxItems = 0 }: Keywords): Parse {
  return (value) => {
    if (!types.isUint8Array(value)) return refuse('bytes (Uint8Array)', value)
    // The length that the bytes have, not one that was put on the object.
    const length = Number(byteLengthOf && Reflect.apply(byteLengthOf, value, []))
    if (!(length <= maxItems)) throw new Mismatch(`must be at most ${maxItems} bytes, and is ${length}`)
    return new Uint8Array(value)
  }
}

function mapParser({ values, maxItems = 0 }: Keywords): Parse {
  const parse = parserFor(values ?? {})
  return (value, args) => {
    if (!types.isMap(value)) return refuse('a Map', value)
    const copy = new Map<string, unknown>()
    Map.prototype.forEach.call(value, (each, key) => {
      if (typeof key !== 'string' || key.length > maxKey) refuse('a Map with keys of text', key)
      if (copy.size >= maxItems) throw new Mismatch(`must have at most ${maxItems} entries`)
      try {
        copy.set(key, parse(each, args))
      } catch (thrown) {
        throw Mismatch.in(key, thrown)
      }
    })
    return copy
  }
}

function streamParser({ items }: Keywords): Parse {
  const parse = parserFor(items ?? {})
  return (value, args) => {
    if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return refuse('an async iterable', value)
    const source = value as AsyncIterable<unknown>
    return (async function* parsed() {
      for await (const each of source) yield parse(each, args)
    })()
  }
}

const maxDepth = 32
/** What an entry counts besides its text. */
const entryCharacters = 4

/** @param left how many characters may still follow */
function copyJson(value: unknown, left: { characters: number }, depth: number): unknown {
  left.characters -= entryCharacters + (typeof value === 'string' ? value.length : 0)
  if (left.characters < 0) throw new Mismatch('is more JSON than is kept')
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : refuse('text without half characters (lone surrogates)', value)
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value + 0 : refuse('a finite number', value)
    case 'object':
      break
    default:
      return refuse('JSON; null where there is nothing to keep', value)
  }
  if (value === null) return null
  if (depth >= maxDepth) throw new Mismatch(`is nested more than ${maxDepth} deep`)
  if (Array.isArray(value)) return copyList(value, 0, left.characters, (each) => copyJson(each, left, depth + 1))
  const entries = requireObject(value)
  if (typeof readOnce(entries, 'toJSON') === 'function') throw new Mismatch('must be plain data, and has a method toJSON')
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(entries)) {
    try {
      left.characters -= key.length
      requireKey(key)
      const found = entries[key]
      // As JSON has it.
      if (found !== undefined) copy[key] = copyJson(found, left, depth + 1)
    } catch (thrown) {
      throw Mismatch.in(key, thrown)
    }
  }
  return Object.freeze(copy)
}

/** Freezes plain data to its leaves. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
