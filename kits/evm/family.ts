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
import { isAddress, isBytes } from './encoding.ts'
import type { Call, CallResult, Evm, EvmReader, FoundLog, LogFilter, Probe } from './types.ts'

/** What a reader knows without asking the network. */
interface Facts {
  readonly chainId: number
  readonly nativeCurrency: Token
  readonly wrapped: Token
  readonly intermediates: readonly Token[]
  /** What is paid per gas beside the base fee, and whether there is a base fee. */
  readonly tipRaw: bigint
  readonly hasBaseFee: boolean
  /** Of a block whose base fee is not known. */
  readonly gasPriceRaw: bigint
}

interface Reading {
  /** Absent where the connector named it: what it says of a block is not told as the network's. */
  readonly head?: Head
  readonly results: readonly CallResult[]
}

interface ReadRequest {
  readonly do: 'read'
  readonly calls: readonly (Call | Probe)[]
  readonly after?: Head | undefined
}

type Request =
  | ReadRequest
  | { readonly do: 'call'; readonly call: { to?: string; from?: string; data: string } }
  | { readonly do: 'logs'; readonly filter: LogFilter }

const noBlock: Head = { number: 0n, timestamp: 0 }

const remote: RemoteReading<EvmReader> = {
  facts(reader, head = noBlock): Facts {
    const { chainId, nativeCurrency, wrapped, intermediates } = reader
    const { number, timestamp } = head
    const tipRaw = reader.gasPriceRaw({ number, timestamp, baseFeeRaw: 0n })
    const hasBaseFee = reader.gasPriceRaw({ number, timestamp, baseFeeRaw: 1n }) !== tipRaw
    return { chainId, nativeCurrency, wrapped, intermediates, tipRaw, hasBaseFee, gasPriceRaw: reader.gasPriceRaw({ number, timestamp }) }
  },

  async answer(own, asked, at) {
    const request = readRequest(asked)
    const reading = isolated.get(own) ?? isolate(own, () => {})
    isolated.set(own, reading)
    const { reader } = reading
    if (request.do === 'read') return readInParts(reading, request, at)
    return request.do === 'call' ? reader.call(request.call, at) : reader.logs(request.filter, at)
  },

  isolated: isolate,

  // What is asked and answered is what `answer` of the same release takes and gives.
  connect(facts, ask) {
    const newest = () => facts() as Facts
    const { chainId, nativeCurrency, wrapped, intermediates } = newest()
    return {
      chainId,
      nativeCurrency,
      wrapped,
      intermediates,
      async read(calls, at, after) {
        const { head = after, results } = (await ask({ do: 'read', calls, after } satisfies Request, at)) as Reading
        if (!head) throw new Error('The server read no block.')
        return { head, results }
      },
      call: async (call, at) => (await ask({ do: 'call', call } satisfies Request, at)) as CallResult,
      logs: async (filter, at) => (await ask({ do: 'logs', filter } satisfies Request, at)) as readonly FoundLog[],
      gasPriceRaw({ baseFeeRaw }) {
        const { tipRaw, hasBaseFee, gasPriceRaw } = newest()
        return baseFeeRaw === undefined ? gasPriceRaw : hasBaseFee ? baseFeeRaw + tipRaw : tipRaw
      },
    }
  },
}

export const evm: Family<Evm> = { name: 'evm', keys: 'secp256k1', remote }

/** Of one `eth_call`: geth's own default (`--rpc.gascap`). Nodes that are set up to give more give it to the server's plugins only. */
const maxGasUnits = 50_000_000n

interface IsolatedReader extends IsolatedReading<EvmReader> {
  readonly take: (calls: number) => void
}

/** The reader for hosts, by what is asked of: that may be the reader itself. */
const isolated = new WeakMap<EvmReader, IsolatedReader>()

function isolate(own: EvmReader, take: (calls: number) => void): IsolatedReader {
  const { reader, changes, close } = own.isolated?.({ gasUnits: maxGasUnits, take }) ?? { reader: own }
  const reading: IsolatedReader = {
    reader,
    take,
    ...(close && { close }),
    ...(changes && {
      async changes(after, to, interest, at) {
        if (interest.follow.every(isTopic) && interest.from?.()?.every(isAddress) !== false) return changes(after, to, interest, at)
        throw new SluiceError(
          'UNSUPPORTED',
          'A plugin follows events by their first topics, which are 32 bytes, and by the addresses of contracts.',
        )
      },
    }),
  }
  isolated.set(reader, reading)
  return reading
}

/** To pack contract calls and to read their results takes the server's time: so many count as one more call to a node, and others have their turn. */
const [callsOfOne, callsOfPart] = [20, 500]

/** All at one block: that of the first part. */
async function readInParts({ reader, take }: IsolatedReader, { calls, after }: ReadRequest, at: At): Promise<Reading> {
  if (calls.length >= callsOfOne) take(Math.floor(calls.length / callsOfOne))
  const first = await reader.read(calls.slice(0, callsOfPart), at, after)
  const results = [...first.results]
  for (let from = callsOfPart; from < calls.length; from += callsOfPart)
    results.push(...(await reader.read(calls.slice(from, from + callsOfPart), at, first.head)).results)
  return after ? { results } : { head: first.head, results }
}

/** Ten times what the kits read at once. */
const maxCalls = 5_000
const maxTopics = 4
const maxAlternatives = 1_000

/** @throws SluiceError UNSUPPORTED where it is no question of a reader */
function readRequest(asked: unknown): Request {
  if (isObject(asked)) {
    const { do: what, calls, after, call, filter } = asked
    if (what === 'read' && Array.isArray(calls) && calls.length <= maxCalls && calls.every(isCallOrProbe))
      return { do: what, calls, ...(after !== undefined && { after: readHead(after) }) }
    if (what === 'call' && isPlainCall(call)) {
      const { to, from, data } = call
      return { do: what, call: { data, ...(to !== undefined && { to }), ...(from !== undefined && { from }) } }
    }
    if (what === 'logs' && isFilter(filter)) return { do: what, filter }
  }
  throw new SluiceError('UNSUPPORTED', 'The plugin asked its reader for something that is not read, call or logs of an EVM chain.')
}

const isTopic = (value: unknown) => typeof value === 'string' && /^0x[\da-fA-F]{64}$/.test(value)

function isCallOrProbe(value: unknown): value is Call | Probe {
  if (!isObject(value)) return false
  const { to, data, code, args } = value
  return code === undefined ? isAddress(to) && isBytes(data) : isBytes(code) && (args === undefined || isBytes(args))
}

function isPlainCall(value: unknown): value is { to?: string; from?: string; data: string } {
  if (!isObject(value)) return false
  const { to, from, data } = value
  return isBytes(data) && [to, from].every((each) => each === undefined || isAddress(each))
}

function isFilter(value: unknown): value is LogFilter {
  if (!isObject(value)) return false
  const { address, topics, fromBlock } = value
  const isEntry = (entry: unknown) =>
    entry === null || isTopic(entry) || (Array.isArray(entry) && entry.length <= maxAlternatives && entry.every(isTopic))
  return (
    isAddress(address) && Array.isArray(topics) && topics.length <= maxTopics && topics.every(isEntry) && Number.isSafeInteger(fromBlock)
  )
}

/** @throws SluiceError UNSUPPORTED */
function readHead(value: unknown): Head {
  if (isObject(value)) {
    const { number, timestamp, hash, baseFeeRaw } = value
    if (typeof number === 'bigint' && typeof timestamp === 'number' && (hash === undefined || isTopic(hash)))
      return {
        number,
        timestamp,
        ...(typeof hash === 'string' && { hash }),
        ...(typeof baseFeeRaw === 'bigint' && { baseFeeRaw }),
      }
  }
  throw new SluiceError('UNSUPPORTED', 'The plugin named a block to its reader that is none.')
}
