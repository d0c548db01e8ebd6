// What a request to a contained interface may change: one process serves all callers, so a transaction has to be in the words of the caller for whom
// it is signed, and so has what is for people.
import { decimalPattern } from '../../api/endpoint.ts'
import { normalize } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import { readQuery } from '../../config/field-reader.ts'
import { leavesOpen } from '../../transactions/deliveries.ts'
import { useOfEndpoint } from '../interface-rights.ts'

/** Fields that the interface may fill in by itself: where and how, not whose, what or how much. `allowedSlippage` is only ever tighter. */
const chosen: ReadonlySet<string> = new Set([
  'chain',
  'network',
  'fromChain',
  'connector',
  'connectors',
  'version',
  'side',
  'orderType',
  'timeInForce',
  'marginMode',
  'allowedSlippage',
])

/** The transactions of one request. */
export interface SentWords {
  /**
   * To be called before a transaction is asked for.
   * @param key of its request; equal ones are one transaction
   * @returns what is to be called with an error, where it was refused
   * @throws SluiceError FORBIDDEN
   */
  begin(endpoint: string, fields: Readonly<Record<string, unknown>>, key: string | undefined): (thrown: unknown) => void
}

/** @param sent fields of the caller's request; a text: its query */
export function sentWords(path: string, sent: string | Readonly<Record<string, unknown>>): SentWords {
  let said: SentValues | undefined
  /** By endpoint: the key of its transaction, and how many calls with it were not refused. */
  const begun = new Map<string, { readonly key: string | undefined; calls: number }>()

  return {
    begin(endpoint, fields, key) {
      // To say nothing may mean all of it.
      if (useOfEndpoint(endpoint) === 'governs' && leavesOf(fields).next().done) throw notSent(path, endpoint, 'anything')
      const { words, times, longestList } = (said ??= readValues(typeof sent === 'string' ? readQuery(sent) : sent))
      /** How often each amount is there. */
      const amounts = new Map<string, number>()
      let count = 0
      // Without an amount an allowance is unlimited.
      if (endpoint === 'EVMApprove' && leavesOf(fields['amount']).next().done) throw notSent(path, endpoint, 'amount')
      for (const [field, value] of leavesOf(fields))
        if (!chosen.has(field) && typeof value !== 'boolean') {
          const word = plain(String(value))
          if (!words.has(word)) throw notSent(path, endpoint, field)
          if (field !== 'amount') continue
          amounts.set(word, (amounts.get(word) ?? 0) + 1)
          count += 1
        }
      // One transaction may have a thousand orders: they are as many as were sent, each amount as often.
      const isMore = ([amount, often]: [string, number]) => often > (times.get(amount) ?? 0)
      if (count > Math.max(1, longestList) || (count > 1 && [...amounts].some(isMore))) throw notSent(path, endpoint, 'amount')
      const known = begun.get(endpoint)
      if (known && (key === undefined || known.key !== key)) throw anotherOne(path, endpoint)
      const own = known ?? { key, calls: 0 }
      begun.set(endpoint, own)
      own.calls += 1
      return (thrown) => {
        if (!(thrown instanceof SluiceError) || leavesOpen.has(thrown.name)) return
        own.calls -= 1
        // Another call with the key may sign it yet.
        if (own.calls === 0) begun.delete(endpoint)
      }
    },
  }
}

/** What a caller sent. */
interface SentValues {
  /** Each value, and the words in it that are no numbers: a pair has two tokens, and the number in an id is no amount. */
  readonly words: ReadonlySet<string>
  /** How often each value is there. */
  readonly times: ReadonlyMap<string, number>
  readonly longestList: number
}

function readValues(sent: Readonly<Record<string, unknown>>): SentValues {
  const words = new Set<string>()
  const times = new Map<string, number>()
  for (const [, value] of leavesOf(sent)) {
    const text = String(value)
    words.add(plain(text))
    times.set(plain(text), (times.get(plain(text)) ?? 0) + 1)
    for (const word of text.split(/[^\p{L}\p{N}.]+/u)) if (!decimal.test(word)) words.add(plain(word))
  }
  return { words, times, longestList: longestListOf(sent) }
}

function longestListOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value).reduce<number>((most, each) => Math.max(most, longestListOf(each)), 0)
  return Array.isArray(value) ? Math.max(value.length, inner) : inner
}

const decimal = new RegExp(decimalPattern)

/** 0.10 is 0.1, and an address may have its letters in another case. */
const plain = (text: string): string => (decimal.test(text) ? normalize(text) : text.toLowerCase())

const remedy = 'The author of the plugin names the path in `decides` of its manifest, and the operator allows the plugin anew.'

const notSent = (path: string, endpoint: string, field: string) =>
  new SluiceError(
    'FORBIDDEN',
    `The caller of ${path} did not send the value of ${field} for ${endpoint}, and a contained interface acts in its caller's words alone. ${remedy}`,
    { details: { field } },
  )

const anotherOne = (path: string, endpoint: string) =>
  new SluiceError('FORBIDDEN', `A request to ${path} makes one transaction of ${endpoint}, and made it. ${remedy}`)

/** The texts, numbers and booleans of fields, each with the name of the innermost field that has it. */
export function* leavesOf(value: unknown, field = ''): Generator<readonly [field: string, value: string | number | bigint | boolean]> {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    yield [field, value]
  else if (Array.isArray(value)) for (const each of value) yield* leavesOf(each, field)
  else if (typeof value === 'object' && value !== null) for (const [name, each] of Object.entries(value)) yield* leavesOf(each, name)
}
