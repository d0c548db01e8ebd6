import type { Logger } from 'pino'
import type { PositionsEvent, TopicRequest } from '../api/events.ts'
import { createNotifier, withDeadline } from '../base/async.ts'
import { leftOutOf, type LeftOutItem } from '../contracts/answers/contract.ts'
import type { At } from '../contracts/index.ts'
import { SluiceError } from '../base/errors.ts'
import { rangePositions } from '../handlers/amm/range-positions.ts'
import { showBookPosition } from '../handlers/clob/accounts.ts'
import { marketsOf } from '../handlers/clob/markets.ts'
import type { Services, TargetContext } from '../handlers/context.ts'
import { showKnownPosition } from '../handlers/perp/account.ts'
import { findMarket, tickerOf } from '../handlers/perp/markets.ts'
import { tradingOf, type VenueEntry } from '../plugins/index.ts'
import { readAddress } from '../handlers/wallets.ts'
import { updateOfFailure } from '../live-state/pair-quoter.ts'
import type { BlockFeed } from './blocks.ts'
import { createSharedFeed, missingField, onEachNetwork, type SharedFeed, type Topic } from './topic.ts'

type Target = TargetContext<'connector'>

/** The positions of a wallet, as the endpoints show them. */
interface Positions {
  readonly positions: readonly Readonly<Record<string, unknown>>[]
  /** Positions whose tokens cannot be read. */
  readonly unavailable?: readonly object[]
  /** How many more there are, which nobody has found. */
  readonly missing?: number
  readonly blockNumber?: number
}

/** The positions of a wallet that a request follows. */
interface PositionsRequest extends Target {
  /** In the chain's spelling. */
  readonly address: string
  /** Only positions in these markets; undefined: all. */
  readonly markets: readonly string[] | undefined
  /** The fields that change by what the wallet does, and not by prices alone. */
  readonly ownFields: readonly string[]
  read(at: At): Promise<Positions>
}

type PositionServices = Pick<Services, 'registry' | 'transactions'>

interface PositionTopicOptions {
  services: PositionServices
  blocks: BlockFeed
  /** Of one question to an exchange. */
  timeoutMs: number
  log: Pick<Logger, 'warn'>
}

/** The topic `positions`: a wallet's positions on a connector, told when a position changed and not when only its price did. */
export function createPositionTopic(options: PositionTopicOptions): Topic<'positions'> {
  const feed = createPositionFeed(options)
  return {
    find: async (request, at) => (await findPositions(options.services, request, at)).map(feed.subscriber),
  }
}

/** The positions, or why the exchange gives none; undefined while neither is known. */
type State = { readonly held: Positions; readonly timestamp: number } | SluiceError | undefined

/** A network without blocks for so long is asked all the same: that it does not answer is worth an event. */
const maxSilenceMs = 10_000
/**
 * An exchange without blocks is asked for up to five wallets every two seconds, and less often for more: exchanges limit requests per minute,
 * and orders need them most.
 */
const pollMs = 2_000
const walletsPerPoll = 5

function createPositionFeed({ blocks, timeoutMs, log }: PositionTopicOptions): SharedFeed<PositionsRequest> {
  /** What each exchange without blocks is asked for. */
  const polled = new Map<VenueEntry, Set<PositionsRequest>>()

  /** When to ask next: at each block, or by the clock. */
  function schedule(request: PositionsRequest, notify: () => void): { waitMs(): number; end(): void } {
    const { network, venue } = request
    if (!venue.actions) return { waitMs: () => maxSilenceMs, end: blocks.follow(network, notify).end }
    const requests = polled.get(venue) ?? new Set()
    polled.set(venue, requests.add(request))
    return { waitMs: () => pollMs * Math.ceil(requests.size / walletsPerPoll), end: () => void requests.delete(request) }
  }

  function follow(request: PositionsRequest, changed: (state: State) => void, renewed: (state: State) => void): () => void {
    const { network, venue } = request
    const notifier = createNotifier()
    const { waitMs, end } = schedule(request, notifier.notify)
    let known: string | undefined
    let isFailing = false
    let isStopped = false

    async function read(): Promise<State> {
      try {
        const held = await withDeadline(undefined, timeoutMs, (signal) => request.read({ signal }))
        isFailing = false
        return { held, timestamp: Date.now() }
      } catch (error) {
        const labels = { chain: network.chain, network: network.network, connector: venue.connector }
        if (!isFailing && !isStopped) log.warn({ ...labels, err: error }, 'reading the positions of a followed wallet failed; retrying')
        isFailing = true
        return updateOfFailure(error, 'The question for positions')
      }
    }

    async function watch(): Promise<void> {
      while (!isStopped) {
        const state = await read()
        if (isStopped) return
        const now = identityOf(request, state)
        if (now === known) renewed(state)
        else changed(state)
        known = now
        await notifier.wait(waitMs())
      }
    }

    void watch()
    return () => {
      isStopped = true
      end()
      notifier.notify()
    }
  }

  return createSharedFeed<PositionsRequest, State>({
    event: 'positions',
    keyOf: ({ network: { chain, network }, venue: { connector }, address, markets }) =>
      JSON.stringify([chain, network, connector, address, markets]),
    follow,
    show: showState,
  })
}

/** Equal for states that differ only by prices. */
function identityOf({ ownFields }: PositionsRequest, state: State): string {
  if (state === undefined) return 'stale'
  if (state instanceof SluiceError) return `${state.name} ${state.message}`
  const each = state.held.positions.map((position) => JSON.stringify(ownFields.map((field) => position[field])))
  return [...each.toSorted(), state.held.missing ?? 0].join()
}

function showState(
  { network: { chain, network }, venue: { connector }, address }: PositionsRequest,
  state: State,
): Omit<PositionsEvent, 'positions' | 'unavailable'> {
  const about = { chain, network, connector, address }
  if (state === undefined) return { ...about, stale: true, timestamp: Date.now() }
  if (state instanceof SluiceError) {
    const { code: errorCode, name, message } = state
    return { ...about, error: { errorCode, name, message }, timestamp: Date.now() }
  }
  return { ...about, ...state.held, timestamp: state.timestamp }
}

async function findPositions(services: PositionServices, request: TopicRequest<'positions'>, at: At): Promise<readonly PositionsRequest[]> {
  const { registry } = services
  const { connector, address } = request
  if (connector === undefined) throw missingField('connector', 'the exchange of the topic positions')
  if (address === undefined) throw missingField('address', 'the wallet of the topic positions')
  const { name, trading_type } = registry.connector(connector)
  const kind = Object.entries(kinds).find(([type]) => trading_type.includes(type))?.[1]
  if (!kind) {
    const types = Object.keys(kinds).join(', ')
    throw new SluiceError('UNSUPPORTED', `The connector ${name} has no positions: it has none of ${types}; GET /plugins shows what it has.`)
  }
  return onEachNetwork(registry, name, request, async (network, venue) => {
    const owner = readAddress(network, address)
    const { markets, read } = await kind.find({ network, venue }, owner, request, { ...at, services })
    return [{ network, venue, address: owner, ownFields: kind.ownFields, markets, read }]
  })
}

interface PositionKind {
  ownFields: readonly string[]
  find(
    target: Target,
    owner: string,
    request: TopicRequest<'positions'>,
    at: At & { services: PositionServices },
  ): Promise<Pick<PositionsRequest, 'markets' | 'read'>>
}

/** How each kind of exchange is asked, by trading type. */
const kinds: Readonly<Record<string, PositionKind>> = {
  PERP_CLOB: {
    ownFields: ['market', 'positionSide', 'positionAmt', 'entryPrice', 'leverage', 'marginMode'],
    async find({ venue }, owner, { market: names }, at) {
      const listed = await marketsOf('PERP_CLOB', venue, at)
      const markets = names && [...new Set(names.map((name) => listed.find(name).id))].toSorted()
      return {
        markets,
        async read(now) {
          const held = await tradingOf('PERP_CLOB', venue).positions(owner, now)
          // One that is left out would be told as closed.
          requireAll(venue, leftOutOf(held))
          return { positions: held.filter(({ market }) => markets?.includes(market.id) ?? true).map(showBookPosition) }
        },
      }
    },
  },
  PERP_AMM: {
    // Not the leverage: it is the position's value by the account's, and both move with prices.
    ownFields: ['tickerSymbol', 'positionSide', 'positionAmt', 'entryPrice'],
    async find({ venue }, owner, request, at) {
      const perp = tradingOf('PERP_AMM', venue)
      const market = await findRequestedMarket(request, venue, at)
      return {
        markets: market && [tickerOf(market)],
        async read(now) {
          const all = market ? undefined : await perp.funding(owner, now)
          if (all?.unread) {
            // What the connector does not list was never told.
            const listed = new Set((await perp.listMarkets(now)).markets.map(tickerOf))
            const failed = all.unread.filter((each) => listed.has(each.market))
            requireAll(
              venue,
              failed.map(({ market: name, reason }) => ({ name, reason })),
            )
          }
          const markets = all?.funding.map((each) => each.market) ?? (market ? [market] : [])
          const held = await Promise.all(markets.map((each) => perp.position(owner, each, now)))
          const open = held.filter(({ position }) => position.sizeRaw !== 0n)
          return {
            positions: open.map(({ position, account }) => showKnownPosition(position, account)),
            // The oldest block of all answers.
            blockNumber: Math.min(...[...held, ...(all ? [all] : [])].map(({ head }) => Number(head.number))),
          }
        },
      }
    },
  },
  AMM_RANGE: {
    ownFields: ['version', 'tokenId', 'liquidity', 'inRange'],
    find: async (target, owner, _request, { services }) => ({
      markets: undefined,
      read: (now) => rangePositions({ owner }, target, services, now),
    }),
  },
}

/** @throws SluiceError NETWORK where positions are missing: what is there is told when all can be read again */
function requireAll({ connector }: VenueEntry, [missing]: readonly LeftOutItem[]): void {
  if (missing) throw new SluiceError('NETWORK', `A position at ${connector} cannot be read now: ${missing.name}: ${missing.reason}.`)
}

async function findRequestedMarket({ base, quote }: TopicRequest<'positions'>, venue: VenueEntry, at: At) {
  if (base === undefined && quote === undefined) return undefined
  if (base === undefined) throw missingField('base', 'the market, together with quote')
  if (quote === undefined) throw missingField('quote', 'the market, together with base')
  return findMarket({ base, quote }, venue, at)
}
