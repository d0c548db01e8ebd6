// What the server and its hosts say to each other at the start. What a host says is checked where it is read.
import { connectorContract } from '../../contracts/answers/connector.ts'
import type { Contract } from '../../contracts/answers/contract.ts'
import type { Token, TradingType } from '../../contracts/index.ts'
import { isObject } from '../../base/json.ts'
import { maxKey } from '../code/parser.ts'
import type { HookUpdate } from '../code/hook.ts'
import type { Description } from '../instantiate.ts'
import type { Step } from '../refusal.ts'

/** Of a frame of a host. */
export const maxHostFrameBytes = 4 * 2 ** 20

export interface LoadRequest {
  /** The file that exports the plugin, as the host sees it. */
  readonly entry: string
  readonly news: HookUpdate
}

interface LoadRefusal {
  readonly refused: { readonly step: Step; readonly reason: string; readonly remedy: string }
}

export type LoadReply = LoadRefusal | { readonly description: Description }

/** A venue as data. */
export interface HostVenue {
  readonly chain: string
  readonly network: string
  readonly config: unknown
  readonly contracts: Readonly<Record<string, string>>
  readonly tokens: readonly Token[]
  readonly nativeCurrency: Token
  readonly tradingTypes: readonly TradingType[]
  /** What the family's reader knows without asking. */
  readonly facts: unknown
  /** The chain tells the events of its blocks. */
  readonly isFollowed: boolean
  /** `Chain.images`. */
  readonly images: boolean
}

export interface HostSettings {
  /** Of the plugin. */
  readonly name: string
  /** Of each venue, whether its network is a local one. */
  readonly local: readonly boolean[]
  readonly staleBlocks: number
  readonly staleBlockSeconds: number
  readonly checkSeconds: number
  readonly staleSeconds: number
  readonly cachedQuotes: number
}

/** What a connector has besides its methods. */
export interface VenueProperties {
  readonly spenders?: unknown
  readonly events?: unknown
  readonly refusals?: unknown
  readonly types: Readonly<Partial<Record<TradingType, TypeReport>>>
  /** Its prices can be followed. */
  readonly follows: boolean
  readonly starts: boolean
  readonly stops: boolean
  /** It takes signed actions itself. */
  readonly acts: boolean
}

/** What a connector has of a trading type: which of its methods are there, and its properties. */
export interface TypeReport {
  readonly methods: readonly string[]
  readonly properties: Readonly<Record<string, unknown>>
}

/** Of a trading type, the name of a method and its arguments; whether a signal is the last of these. */
export type CallArguments = readonly [type: TradingType, name: string, args: readonly unknown[], waits: boolean]

/** The methods and properties of a trading type that cross, as its contract declares them. What is followed in memory stays in the host. */
export function membersOf(type: TradingType): { readonly methods: readonly string[]; readonly properties: readonly string[] } {
  const { part } = connectorContract[type] as { readonly part: Contract<Record<string, object>> }
  const names = (kind: 'answer' | 'value') => Object.entries(part).flatMap(([name, member]) => (kind in member ? [name] : []))
  return { methods: names('answer'), properties: names('value') }
}

/** What any method may answer in the place of its answer: an error with its details. */
const errorBytes = 384 * 1024
/** A character that is more than one byte long is three at most where it is one of two that make a character. */
const bytesOfCharacter = 3
/** What JSON has around a value: quotes, a comma, a colon, brackets. */
const around = 6
const bytesOfNumber = 25
/** `decimal` in contract.ts: digits on both sides of the point, and a sign. */
const decimalLength = 202
/** Of a key that the parser takes. */
const keyBytes = maxKey * bytesOfCharacter + around

/** How long the answer of a method may be as JSON, by its contract. */
export function maxBytesOf(type: TradingType, name: string): number {
  const { part } = connectorContract[type] as { readonly part: Contract<Record<string, object>> }
  const answer: unknown = Reflect.get(part[name] ?? {}, 'answer')
  return Math.max(errorBytes, isObject(answer) ? maxBytes(answer) : 0)
}

/** Of a value of this schema; infinite where the schema has no bound. */
function maxBytes(schema: object): number {
  const keyword = (key: string): unknown => Reflect.get(schema, key)
  const count = (key: string): number => Number(keyword(key) ?? Number.POSITIVE_INFINITY)
  const partsOf = (key: string): object[] => Object.values(Object(keyword(key)))
  if (keyword('enum')) return JSON.stringify(keyword('enum')).length
  if (keyword('anyOf')) return Math.max(...partsOf('anyOf').map((each) => (each ? maxBytes(each) : 0)))
  if (keyword('properties'))
    return Object.entries(Object(keyword('properties'))).reduce(
      (sum, [key, of]) => sum + key.length + around + maxBytes(Object(of)),
      around,
    )
  switch (keyword('type') ?? keyword('crosses')) {
    case 'string':
      return (keyword('pattern') === undefined ? count('maxLength') * bytesOfCharacter : decimalLength) + around
    case 'words':
      return count('maxLength') * bytesOfCharacter + around
    case 'json':
      return count('maxCharacters') * bytesOfCharacter
    case 'bigint':
      return Math.ceil(count('bits') / 3) + around
    case 'array':
      return count('maxItems') * (maxBytes(Object(keyword('items'))) + 1) + around
    case 'object':
      return count('maxProperties') * (keyBytes + maxBytes(Object(keyword('additionalProperties')))) + around
    case 'bytes':
    case 'map':
    case 'stream':
      return Number.POSITIVE_INFINITY
  }
  return bytesOfNumber
}
