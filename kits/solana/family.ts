// The family, and the reader of its connectors that run in a process of their own: they ask by data for what they read, and the server's reader reads it.
import {
  SluiceError,
  type At,
  type Family,
  type Head,
  type IsolatedReading,
  type RemoteReading,
  type Token,
} from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { isAccountKey } from './account-keys.ts'
import { clockSysvar, maxPerCall, timeOf } from './accounts.ts'
import { canonicalAddress, type Solana, type SolanaAccount, type SolanaReader } from './types.ts'

interface Facts {
  readonly nativeCurrency: Token
}

type After = Pick<Head, 'number'>

type Request =
  | { readonly do: 'accounts'; readonly addresses: readonly string[]; readonly after?: After | undefined }
  | { readonly do: 'sets'; readonly sets: readonly (readonly string[])[]; readonly after?: After | undefined }
  | { readonly do: 'start'; readonly address: string; readonly length: number }

/** `data` in base64. */
type PlainAccount = Omit<SolanaAccount, 'data'> & { readonly data: string }
type Plain = PlainAccount | undefined

interface Reading {
  readonly slot: bigint
  /** Where the time of the slot is known: by the cluster's clock, or of the head that was named. */
  readonly head?: Head
  readonly sets: readonly (readonly Plain[])[]
}

const remote: RemoteReading<SolanaReader> = {
  facts: ({ nativeCurrency }): Facts => ({ nativeCurrency }),

  async answer(own, asked, at): Promise<Reading | { readonly account: Plain }> {
    const request = readRequest(asked)
    if (request.do === 'start') return { account: plain(await own.start(request.address, request.length, at)) }
    const { after } = request
    const { head, sets } = request.do === 'sets' ? await own.sets(request.sets, at, after) : await asSet(own, request.addresses, at, after)
    const known = after && isHead(after) ? { ...after, number: head.number } : headBy(head.number, request, sets)
    return { slot: head.number, ...(known && { head: known }), sets: sets.map((set) => set.map(plain)) }
  },

  isolated: (own, take): IsolatedReading<SolanaReader> => own.isolated?.(take) ?? { reader: own },

  // What is asked and answered is what `answer` of the same release takes and gives.
  connect(facts, ask) {
    const { nativeCurrency } = facts() as Facts
    const read = async (request: Request, at: At) => (await ask(request, at)) as Reading
    return {
      nativeCurrency,
      async accounts(addresses, at, after) {
        const { slot, sets } = await read({ do: 'accounts', addresses, after }, at)
        return { head: { number: slot }, accounts: (sets[0] ?? []).map(whole) }
      },
      async sets(sets, at, after) {
        const { slot, sets: found } = await read({ do: 'sets', sets, after }, at)
        return { head: { number: slot }, sets: found.map((set) => set.map(whole)) }
      },
      async start(address, length, at) {
        const { account } = (await ask({ do: 'start', address, length } satisfies Request, at)) as { account?: PlainAccount }
        return whole(account)
      },
    }
  },
}

export const solana: Family<Solana> = { name: 'solana', keys: 'ed25519', remote }

async function asSet(own: SolanaReader, addresses: readonly string[], at: At, after: After | undefined) {
  const { head, accounts } = await own.accounts(addresses, at, after)
  return { head, sets: [accounts] }
}

const plain = (account: SolanaAccount | undefined): Plain => account && { ...account, data: Buffer.from(account.data).toString('base64') }
const whole = (account: Plain): SolanaAccount | undefined => account && { ...account, data: Buffer.from(account.data, 'base64') }

const isHead = (after: After): after is Head => 'timestamp' in after

/** A head is told by its number and its time: a connector shows its quotes by the oldest clock that it reads beside them. */
function headBy(
  number: bigint,
  request: Exclude<Request, { do: 'start' }>,
  sets: readonly (readonly (SolanaAccount | undefined)[])[],
): Head | undefined {
  const asked = request.do === 'sets' ? request.sets : [request.addresses]
  const times = asked.flatMap((set, index) =>
    set.flatMap((address, place) => (address === clockSysvar ? (timeOf(sets[index]?.[place]) ?? []) : [])),
  )
  return times.length === 0 ? undefined : { number, timestamp: Math.min(...times) }
}

const maxSets = 5_000
/** As many accounts of one question as ten batches have of the longest kind. */
const maxAccounts = 10_000
/** The longest account that there can be: solana-sdk, MAX_PERMITTED_DATA_LENGTH. What is read at once is bounded by the answers of nodes. */
const maxLength = 10 * 1024 * 1024

/** @throws SluiceError UNSUPPORTED where it is no question of a reader */
function readRequest(asked: unknown): Request {
  if (isObject(asked)) {
    const { do: what, addresses, sets, address, length, after } = asked
    const since = isObject(after) && typeof after['number'] === 'bigint' ? { after: { ...after, number: after['number'] } } : {}
    if (what === 'accounts' && areAddresses(addresses, maxAccounts)) return { do: what, addresses, ...since }
    if (what === 'sets' && isListOfSets(sets)) return { do: what, sets, ...since }
    if (what === 'start' && isAddress(address) && Number.isSafeInteger(length) && Number(length) >= 0 && Number(length) <= maxLength)
      return { do: what, address, length: Number(length) }
  }
  throw new SluiceError('UNSUPPORTED', 'The plugin asked its chain for something that is not there.')
}

/** A node is put aside that refuses what is no address. */
const isAddress = (value: unknown): value is string => typeof value === 'string' && canonicalAddress(value) === value
const areAddresses = (value: unknown, most: number): value is readonly string[] =>
  Array.isArray(value) && value.length <= most && value.every(isAddress)

/** In sets there may be beginnings of accounts. */
const isSet = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= maxPerCall && value.every((each) => typeof each === 'string' && isAccountKey(each))

function isListOfSets(value: unknown): value is readonly (readonly string[])[] {
  if (!Array.isArray(value) || value.length > maxSets || !value.every(isSet)) return false
  return value.reduce((sum: number, set: readonly string[]) => sum + set.length, 0) <= maxAccounts
}
