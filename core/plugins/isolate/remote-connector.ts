// The server's side of a connector in a host: each member that its contract declares asks the host, and what comes back is parsed as any plugin's.
import { pause } from '../../base/async.ts'
import { integer, list, object, optional, positiveDecimal, signedDecimal, time } from '../../contracts/answers/contract.ts'
import { tradingMethods } from '../../contracts/plugin.ts'
import type { At, BookMarket, Connector, Level, Log, QuoteChoice, Swap, TradingType } from '../../contracts/index.ts'
import { isObject } from '../../base/json.ts'
import { noBook, type BookType, type BookView, type RemoteBooks } from '../../live-state/book-feed.ts'
import { readBook } from '../../live-state/chain-feed.ts'
import { updateOfFailure, type QuoteListener, type QuoteUpdate } from '../../live-state/pair-quoter.ts'
import { callPlugin, connectorBoundary } from '../code/boundary.ts'
import { requireMethods } from '../instantiate.ts'
import { parserOf } from '../code/parser.ts'
import { remedies, PluginFault } from '../refusal.ts'
import { messageOf } from '../code/thrown.ts'
import type { Broker } from './broker.ts'
import type { Host } from './host.ts'
import { maxBytesOf, membersOf } from './messages.ts'

/** The server's side of a connector in a host. */
export interface HostedConnector {
  readonly implementation: Partial<Connector>
  /** Absent where its prices cannot be followed. */
  readonly followPrice?: FollowPrice
  readonly books: HostedBooks
}

/** Calls back with the first quote and with each other one, until the returned function is called; `undefined` while there is none. */
export type FollowPrice = (swap: Swap, choice: QuoteChoice, listener: QuoteListener) => () => void

/** The books that the host keeps in memory. */
export type HostedBooks = Readonly<Partial<Record<BookType, RemoteBooks>>>

/** Computing asks nobody: a plan, a fill. */
const pureMs = 10_000

interface RemoteOptions {
  readonly host: Host
  /** Of the venue, among those of the host. */
  readonly index: number
  readonly tradingTypes: readonly TradingType[]
  /** From the host, unchecked. */
  readonly reported: unknown
  readonly broker: Broker
  readonly callee: { readonly plugin: string; readonly log: Log }
}

/** @throws PluginFault */
export function remoteConnector(options: RemoteOptions): HostedConnector {
  const { host, index, tradingTypes, reported, callee } = options
  const { spenders, events, refusals, types, starts, stops, follows } = isObject(reported) ? reported : {}
  const start = async (signal?: AbortSignal) => void (await host.ask('start', [index], signal))
  const members = {
    ...(spenders !== undefined && { spenders }),
    ...(events !== undefined && { events }),
    ...(refusals !== undefined && { refusals }),
    ...(starts === true && {
      async start(signal: AbortSignal) {
        await start(signal)
        host.atRestart(start)
      },
    }),
    ...(stops === true && { stop: async () => void (await host.ask('stop', [index])) }),
    ...Object.fromEntries(tradingTypes.map((type) => [type, remoteType(type, isObject(types) ? types[type] : undefined, options)])),
  }
  for (const type of tradingTypes) requireMethods(Object(Reflect.get(members, type)), type, tradingMethods[type])
  try {
    // Each member is checked by its contract; all of them answer later, which `isRemote` says.
    const implementation = connectorBoundary(members as unknown as Partial<Connector>, { ...callee, isRemote: true })
    const follow = createFollower(host, index)
    const bookTypes = tradingTypes.filter(isBookType)
    return {
      implementation,
      ...(follows === true && { followPrice: followPrice(implementation, follow) }),
      books: Object.fromEntries(bookTypes.map((type) => [type, remoteBooks(type, options, follow)])),
    }
  } catch (thrown) {
    throw new PluginFault('create', messageOf(thrown), remedies.methods)
  }
}

const isBookType = (type: TradingType): type is BookType & TradingType => type.endsWith('CLOB')

function remoteType(type: TradingType, report: unknown, { host, index, broker, callee }: RemoteOptions): object {
  const { methods, properties } = isObject(report) ? report : {}
  const has = (name: string) => Array.isArray(methods) && methods.includes(name)
  const declared = membersOf(type)

  async function call(name: string, args: readonly unknown[]): Promise<unknown> {
    const last = args.at(-1)
    const signal = isObject(last) && last.signal instanceof AbortSignal ? last.signal : undefined
    const asked = [index, type, name, signal ? args.slice(0, -1) : args, signal !== undefined]
    const pure = AbortSignal.timeout(pureMs)
    const answer = signal
      ? await host.ask('call', asked, signal, maxBytesOf(type, name))
      : await callPlugin(callee, `${type}.${name}`, () => host.ask('call', asked, pure, maxBytesOf(type, name)), pure)
    // The block as this server knows it: deadlines count from it.
    if (!isObject(answer) || answer.head === undefined) return answer
    return { ...answer, head: broker.accept(answer.head), ...(type === 'AMM' && { swap: args[0] }) }
  }

  return Object.fromEntries([
    ...declared.properties.flatMap((name) => (isObject(properties) && Object.hasOwn(properties, name) ? [[name, properties[name]]] : [])),
    ...declared.methods.flatMap((name) => (has(name) ? [[name, (...args: readonly unknown[]) => call(name, args)]] : [])),
  ])
}

/** How long what is followed may take. */
const followedMs = 30_000
/** What a host says of changes may be too much: each value is asked for again after so long at the earliest, the longer the more there are. */
const [restMs, restMsForEach] = [20, 2]
/** Of all venues of a server, so that a notice names one of them. */
let lastFollowed = 0

interface FollowedValue<T> {
  /** What the host is asked, after the id, to say from now on when the value may have changed. */
  readonly method: 'follow' | 'followBook'
  readonly args: readonly unknown[]
  compute(signal: AbortSignal): Promise<T>
  /** The value where there is none because of this. */
  failed(error: unknown): T
  /** The value while the host does not run. */
  readonly lost: T
  tell(value: T): void
}

type Follow = <T>(followed: FollowedValue<T>) => () => void

/** The host says when a value may have changed; the value itself is asked for, and checked, as any other. */
function createFollower(host: Host, index: number): Follow {
  const all = new Map<unknown, { refresh(): void; begin(): Promise<void>; lose(): void }>()
  host.onChanged((id) => all.get(id)?.refresh())
  host.atEnd(() => {
    for (const each of all.values()) each.lose()
  })
  host.atRestart(() => Promise.all([...all.values()].map((each) => each.begin())))
  return (followed) => {
    const id = (lastFollowed += 1)
    let [isComputing, isOutdated] = [false, false]
    const tell: typeof followed.tell = (value) => {
      if (all.has(id)) followed.tell(value)
    }
    async function refresh(): Promise<void> {
      isOutdated = isComputing
      if (isComputing) return
      isComputing = true
      do {
        isOutdated = false
        try {
          tell(await followed.compute(AbortSignal.timeout(followedMs)))
        } catch (error) {
          tell(followed.failed(error))
        }
        // Also where it has not changed yet: the next change comes soon.
        await pause(restMs + restMsForEach * all.size, undefined, { ref: false })
      } while (isOutdated)
      isComputing = false
    }
    const begin = async () => {
      try {
        await host.ask(followed.method, [index, id, ...followed.args], AbortSignal.timeout(followedMs))
      } catch (error) {
        tell(followed.failed(error))
      }
    }
    all.set(id, { begin, refresh: () => void refresh(), lose: () => tell(followed.lost) })
    void begin()
    return () => {
      all.delete(id)
      host.ask('unfollow', [index, id]).catch(() => {})
    }
  }
}

const followPrice =
  ({ AMM }: Partial<Connector>, follow: Follow): FollowPrice =>
  (swap, choice, listener) => {
    let last: QuoteUpdate | 'none yet' = 'none yet'
    return follow<QuoteUpdate>({
      method: 'follow',
      args: [swap, choice],
      compute: async (signal) => AMM?.quote(swap, choice, { signal }),
      failed: updateOfFailure,
      lost: undefined,
      tell(update) {
        if (update !== undefined || last !== undefined) listener((last = update))
      },
    })
  }

const maxLevels = 10_000
const levels = list(object<Level>({ price: positiveDecimal(), quantity: positiveDecimal() }), maxLevels)
const parseView = parserOf(
  object<BookView>({
    buys: levels,
    sells: levels,
    lastPrice: optional(signedDecimal()),
    volume24h: optional(signedDecimal()),
    sequence: integer(0),
    timestamp: time(),
    blockNumber: optional(integer(0)),
  }),
)

function remoteBooks(type: BookType, { host, index, broker, callee }: RemoteOptions, follow: Follow): RemoteBooks {
  const read = (market: BookMarket, { signal }: At): Promise<BookView> =>
    callPlugin(
      callee,
      `${type}.books`,
      async () => {
        const view = parseView(await host.ask('book', [index, type, market], signal), [])
        if (view.blockNumber !== undefined) broker.acceptNumber(BigInt(view.blockNumber))
        return { ...view, ...readBook(view) }
      },
      signal,
    )
  return {
    read,
    follow: (market, listener) =>
      follow({
        method: 'followBook',
        args: [type, market],
        async compute(signal) {
          const view = await read(market, { signal })
          return () => view
        },
        failed: () => noBook,
        lost: noBook,
        tell: listener,
      }),
  }
}
