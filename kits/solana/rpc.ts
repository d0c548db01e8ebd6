import type { Json } from '../../core/contracts/index.ts'
import type { Dialect, Fault, NodeError, ReportedHead, RpcAnswer, RpcCall, SplitCall } from '../nodes/dialect.ts'
import { beginningOf, lacksMethod, sizeFaultOf, speaksOfLimit, textOf, troubleOf } from '../nodes/faults.ts'
import { slotSeconds } from './network.ts'
import { canonicalAddress, isTransactionSignature } from './types.ts'
import { isObject } from '../../core/base/json.ts'

// Codes of agave `rpc-client-api/src/custom_error.rs`; https://solana.com/docs/rpc has the methods.

// Providers give their limits the same codes, so texts and statuses count before codes.

/** Signed bytes that no node takes, and messages whose lookup tables are wrong: agave's own words. Each working node says the same. */
const verdictTexts =
  /\btransaction simulation failed\b|\bsignature verification failure\b|\bprecompile verification failure\b|\bsignature length mismatch\b/i
/** A node that has not seen the blockhash yet, or has forgotten it, fails the simulation of bytes that others take. */
const lacksBlockhash = /\bblockhash not found\b/i
/** The errors of a message's lookup tables, as invalid parameters: solana-transaction-error, impl Display. */
export const speaksOfTables = (message: string): boolean => /\baddress table (?:account|lookup)\b/i.test(message)

/** What a node does not know of the past, which another one may know. Callers tell these apart. */
interface HistoryGap {
  readonly codes: readonly number[]
  readonly says: RegExp
  /** The methods that can answer so. To any other question the same code is somebody else's. */
  readonly methods: readonly string[]
}

/** TransactionHistoryNotAvailable: a node without `--enable-rpc-transaction-history`. */
const noHistory: HistoryGap = {
  codes: [-32011],
  says: /\btransaction history is not available\b/i,
  methods: ['getSignatureStatuses', 'getTransaction', 'getBlock', 'getBlocks', 'getBlocksWithLimit', 'getSignaturesForAddress'],
}
/** UnsupportedTransactionVersion. */
const unknownVersion: HistoryGap = {
  codes: [-32015],
  says: /\btransaction version \(.{1,20}\) is not supported\b/i,
  methods: ['getTransaction', 'getBlock'],
}
/** There is no block in this slot: SlotSkipped, LongTermStorageSlotSkipped. */
const skippedSlot: HistoryGap = { codes: [-32007, -32009], says: /\bslot \d+ was skipped\b/i, methods: ['getBlock', 'getBlockTime'] }

const isUntold = ({ codes, says, methods }: HistoryGap, error: NodeError, method: string | undefined): boolean => {
  if (says.test(beginningOf(error.message))) return true
  const other = troubleOf(error)
  return codes.includes(error.code) && methods.includes(method ?? '') && !(other.is === 'trouble' && other.ofNode)
}

const saysUntold = (what: HistoryGap, method: string, error: RpcAnswer['error']): boolean =>
  error?.fault?.is === 'verdict' && isUntold(what, error, method)

/** Whether the node keeps no history of transactions. Its status of the last minutes may still be known. */
export const saysNoHistory = (method: string, answer: RpcAnswer | undefined): boolean => saysUntold(noHistory, method, answer?.error)
/** Whether it cannot return a transaction of this version. */
export const saysUnknownVersion = (method: string, answer: RpcAnswer | undefined): boolean =>
  saysUntold(unknownVersion, method, answer?.error)

/** What the node says of itself: it cannot serve for now, so other calls fail, too. */
const nodeUnhealthy = -32005
const ofNode: ReadonlySet<number> = new Set([
  nodeUnhealthy,
  -32016, // MinContextSlotNotReached
])
/** JSON-RPC 2.0. */
const [methodNotFound, invalidParams] = [-32601, -32602]
/** KeyExcludedFromSecondaryIndex: the method is there, and unavailable for this key. */
const notIndexed = /\bsecondary indexes\b/

/**
 * What the error of a node means, by its text first. What is the word of the chain has to be recognised; everything that is not is the node's own trouble, and
 * another one is asked.
 */
function judge(error: NodeError, method: string | undefined): Fault {
  const { code, message } = error
  const words = beginningOf(message)
  if (speaksOfTables(words)) return { is: 'verdict' }
  if (verdictTexts.test(words)) return lacksBlockhash.test(words) ? { is: 'trouble', kind: 'unreachable' } : { is: 'verdict' }
  if ([noHistory, unknownVersion, skippedSlot].some((each) => isUntold(each, error, method))) return { is: 'verdict' }
  const said = textOf(error)
  if (ofNode.has(code) && !speaksOfLimit(said))
    return { is: 'trouble', kind: 'unreachable', ofNode: true, ...(method === 'getHealth' && saysStalled(error) && { unfit: true }) }
  const size = sizeFaultOf(error, method === undefined ? 'batch' : 'text')
  if (size?.of === 'batch') return size
  if (method === accountsMethod && tooManyAccounts.test(words)) return { is: 'too-large', of: 'call' }
  const text = said.toLowerCase()
  if (!speaksOfLimit(said)) {
    if (code === methodNotFound || (lacksMethod(text) && !notIndexed.test(text))) return { is: 'unsupported', lacks: 'method' }
    if (code === invalidParams) return { is: 'unsupported' }
  }
  return troubleOf(error)
}

/**
 * As agave says it: "Node is behind by 153 slots" or "Node is unhealthy", with the number beside it. Gateways use the same code for limits and overload: the
 * node behind such a one may know more than all others, and is waited for.
 */
const saysStalled = ({ code, message, data }: NodeError): boolean =>
  code === nodeUnhealthy && ((isObject(data) && 'numSlotsBehind' in data) || /\bnode is (behind|unhealthy)\b/i.test(message))

const accountsMethod = 'getMultipleAccounts'
/** "Too many inputs provided; max 100" (agave `rpc/src/rpc.rs`), and plans that give fewer: "… is limited to 10 accounts on the free plan". */
const tooManyAccounts =
  /\btoo many (inputs|accounts|pubkeys|addresses)\b|\b(max\w*|limit\w*|up to|more than|at most|exceed\w*)\b.*\b(accounts|pubkeys|addresses)\b/i

/** The answers of some plans have fewer accounts at once. Each piece may be of another slot: the joined answer says the oldest, and that of each beside it. */
function splitAccounts({ method, params: [addresses, ...options] }: RpcCall, maxSize: number): SplitCall | undefined {
  if (method !== accountsMethod || !Array.isArray(addresses) || addresses.length <= 1 || maxSize < 1) return undefined
  const keys: readonly unknown[] = addresses
  const count = Math.min(Math.floor(maxSize), keys.length - 1)
  const calls = Array.from({ length: Math.ceil(keys.length / count) }, (_, part) => {
    const own = keys.slice(part * count, (part + 1) * count)
    return { method, params: [own, ...options], size: own.length }
  })
  return {
    calls,
    join(results) {
      const slots = results.map(slotsOf)
      // Of another form: the caller finds out.
      if (!slots.every((each) => each !== undefined)) return undefined
      const joined = slots.flat()
      return { context: { slot: Math.min(...joined), [slotsOfValues]: joined }, value: results.flatMap(valueOf) }
    },
  }
}

/** No node says it: it is of answers that were joined from several. */
const slotsOfValues = 'slotsOfValues'

/** The slot of each value of an answer that has several. Undefined where it is of another form. */
export function slotsOf(result: unknown): readonly number[] | undefined {
  const [slot, values] = [contextSlotOf(result), valueOf(result)]
  if (slot === undefined || !Array.isArray(values)) return undefined
  const joined = isObject(result) && isObject(result['context']) ? result['context'][slotsOfValues] : undefined
  return values.map((_value, index) => (Array.isArray(joined) ? numberOf(joined[index]) : undefined) ?? slot)
}

/** agave `rpc/src/rpc_service.rs`, MAX_REQUEST_BODY_SIZE. */
const maxBodyBytes = 50 * 1024

/** How to talk to nodes of Solana. Forks are not detected: confirmed slots are on one fork. */
export function solanaDialect(genesisHash: string | undefined): Dialect {
  return {
    identity: {
      call: { method: 'getGenesisHash', params: [] },
      fault(result) {
        const theirs = typeof result === 'string' ? canonicalAddress(result) : undefined
        if (theirs === undefined) return { is: 'garbage', what: 'answered getGenesisHash with something that is no hash' }
        if (genesisHash === undefined || theirs === genesisHash) return undefined
        return { is: 'other', what: `has the genesis hash ${theirs}, not ${genesisHash}` }
      },
    },
    headCall: { method: 'getSlot', params: [confirmed] },
    headIn,
    sendCall: (raw) => ({ method: 'sendTransaction', params: [raw, { encoding: 'base64', skipPreflight: true, maxRetries: 0 }] }),
    isPlausible,
    judge,
    split: splitAccounts,
    maxBodyBytes,
    parse: parseNodeJson,
  }
}

/** Heads are confirmed slots, so answers for another commitment contain none. */
function headIn(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): ReportedHead | undefined {
  for (const [index, { method, params }] of calls.entries()) {
    const options = params.at(-1)
    if (!isObject(options) || options['commitment'] !== confirmed.commitment) continue
    const result = answers[index]?.result
    const number = method === 'getSlot' ? numberOf(result) : contextSlotOf(result)
    if (number !== undefined) return { number, timestamp: number * slotSeconds }
  }
  return undefined
}

/** The commitment for reading: two thirds of the stake have voted for it, and such a block was never rolled back so far. */
export const confirmed = { commitment: 'confirmed' } as const
/** The commitment at which a transaction, or its absence, is final. */
export const finalized = { commitment: 'finalized' } as const

type Form = (result: unknown, params: readonly unknown[]) => boolean

const listOf = (value: unknown, length: number | undefined) => Array.isArray(value) && (length === undefined || value.length === length)
const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const inContext =
  (holds: Form): Form =>
  (result, params) =>
    contextSlotOf(result) !== undefined && holds(valueOf(result), params)
const isInteger: Form = (result) => integerOf(result) !== undefined

/** Base58 of 32 bytes. A message with anything else is invalid. */
const isBlockhash = (value: unknown) => typeof value === 'string' && canonicalAddress(value) !== undefined

/** The form of the result of a method from any working node. For other methods the caller checks. */
const forms: ReadonlyMap<string, Form> = new Map<string, Form>([
  ['getSlot', isInteger],
  ['getBlockHeight', isInteger],
  ['getFirstAvailableBlock', isInteger],
  ['getMinimumBalanceForRentExemption', isInteger],
  ['getEpochInfo', (result) => isObject(result) && isInteger(result['absoluteSlot'], []) && isInteger(result['blockHeight'], [])],
  ['getBalance', inContext(isInteger)],
  ['getAccountInfo', inContext((value) => value === null || isObject(value))],
  ['getMultipleAccounts', inContext((value, [keys]) => listOf(value, lengthOf(keys)))],
  ['getSignatureStatuses', inContext((value, [signatures]) => listOf(value, lengthOf(signatures)))],
  ['isBlockhashValid', inContext((value) => typeof value === 'boolean')],
  [
    'getLatestBlockhash',
    inContext((value) => isObject(value) && isBlockhash(value['blockhash']) && numberOf(value['lastValidBlockHeight']) !== undefined),
  ],
  ['simulateTransaction', inContext(isObject)],
  ['getTransaction', (result) => result === null || isObject(result)],
  ['sendTransaction', (result) => typeof result === 'string' && isTransactionSignature(result)],
])

/** Whether a node may have meant this result; one that did not is broken, and another is asked in its place. */
export function isPlausible({ method, params }: RpcCall, result: unknown): boolean {
  return forms.get(method)?.(result, params) ?? true
}

/** A text or a number, so that digits within texts are left alone. */
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const longInteger = /^-?\d{16,}$/

/** Where a long integer may be: also in a text, or as the beginning of another number. */
const maybeLongInteger = /(^|[[,:])(\s*)(-?\d{16,})(?=(.?))/g
/** Before a colon. In a text there is none: each quote there has a backslash before it. */
const nameBefore = /"\w+"$/
/** Longer names are not recognised, which costs time alone. */
const maxName = 64

/**
 * Parses a node's JSON. Lamports and token amounts may exceed 2^53, so long integers become decimal strings. Every account has one, its `rentEpoch`, and
 * to look at each text of a thousand accounts takes three times as long as to parse them: that is done only where one is not the value of a name.
 */
export function parseNodeJson(body: string): unknown {
  let areNamed = true
  const named = body.replace(maybeLongInteger, (_whole, before: string, space: string, digits: string, next: string, at: number) => {
    areNamed &&= before === ':' && (next === ',' || next === '}') && nameBefore.test(body.slice(Math.max(0, at - maxName), at))
    return `${before}${space}"${digits}"`
  })
  if (areNamed) return JSON.parse(named)
  return JSON.parse(body.replaceAll(textOrNumber, (token) => (longInteger.test(token) ? `"${token}"` : token)))
}

/** A non-negative integer of a node's answer. Undefined for anything else. */
export function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  return typeof value === 'string' && /^\d{1,39}$/.test(value) ? BigInt(value) : undefined
}

/** The same where it fits a number: slots, heights, times. */
export function numberOf(value: unknown): number | undefined {
  const integer = integerOf(value)
  return integer === undefined || integer > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(integer)
}

/** The slot of an answer with a context. */
export function contextSlotOf(result: unknown): number | undefined {
  return isObject(result) && isObject(result['context']) ? numberOf(result['context']['slot']) : undefined
}

/** The value of such an answer. */
export function valueOf(result: unknown): unknown {
  return isObject(result) ? result['value'] : undefined
}

/** Amounts that may be large in one answer and small in another. They always become decimal strings. */
const amounts: ReadonlySet<string> = new Set(['fee', 'lamports', 'preBalances', 'postBalances', 'amount', 'rentEpoch'])
/** Floats of amounts that are also given as a string. */
const dropped: ReadonlySet<string> = new Set(['uiAmount'])

/** A node's value as JSON for people and the journal. */
export function jsonOfNode(value: unknown, key = ''): Json {
  if (Array.isArray(value)) return value.map((each) => jsonOfNode(each, key))
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !dropped.has(name))
        .map(([name, field]) => [name, jsonOfNode(field, name)]),
    )
  if (typeof value === 'number') return amounts.has(key) ? String(value) : value
  return typeof value === 'string' || typeof value === 'boolean' ? value : null
}
