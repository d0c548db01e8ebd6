import type { Logger } from 'pino'
import { SluiceError, type PositionsNews, badFields, type EventsRequest } from '../api/index.ts'
import { withDeadline, createNotifier } from '../async.ts'
import type { At } from '../contracts/index.ts'
import { rangePositions } from '../handlers/amm/range-positions.ts'
import { showPosition as showBookPosition } from '../handlers/clob/accounts.ts'
import { bookOf, marketsOf } from '../handlers/clob/markets.ts'
import type { TargetContext } from '../handlers/context.ts'
import { showPosition } from '../handlers/perp/account.ts'
import { findMarket, perpOf, tickerOf } from '../handlers/perp/markets.ts'
import type { VenueEntry, Registry } from '../handlers/registry.ts'
import { readAddress } from '../handlers/wallets.ts'
import { updateOfFailure } from '../live-state/pair-quoter.ts'
import type { BlockTopic } from './blocks.ts'
import { createSharedFeed, type SharedFeed, onEachNetwork } from './topic.ts'

/** Positions as they were then, or why the exchange tells of none; undefined while nothing can be said of them. */
type State = { readonly held: Positions; readonly timestamp: number } | SluiceError | undefined

/** A network that is silent for so long is asked all the same: that it cannot answer is news. */
const silentMs = 10_000
/** An exchange without blocks is asked for so many wallets within so much time: it answers only so much a minute, and that is for orders before all. */
const pauseMs = 2_000
const mostInOne = 5

interface PositionNewsParts {
  heads: BlockTopic
  /** Of one question. */
  timeoutMs: number
  log: Pick<Logger, 'warn'>
}

export function createPositionTopic({ heads, timeoutMs, log }: PositionNewsParts): SharedFeed<PositionsRequest> {
  /** All that each exchange without blocks is asked for. */
  const asked = new Map<VenueEntry, Set<PositionsRequest>>()

  /** Rings when it is to be asked again, but for its clock. */
  function begin(named: PositionsRequest, ring: () => void): { waitMs(): number; end(): void } {
    const { network, venue } = named
    if (!venue.actions) return { waitMs: () => silentMs, end: heads.follow(network, ring).end }
    const here = asked.get(venue) ?? new Set()
    asked.set(venue, here.add(named))
    return { waitMs: () => pauseMs * Math.ceil(here.size / mostInOne), end: () => void here.delete(named) }
  }

  function follow(named: PositionsRequest, changed: (state: State) => void, renewed: (state: State) => void): () => void {
    const bell = createNotifier()
    const { waitMs, end } = begin(named, bell.notify)
    let told: string | undefined
    let isFailing = false
    let isOver = false

    async function read(): Promise<State> {
      try {
        const held = await withDeadline(undefined, timeoutMs, (signal) => named.read({ signal }))
        isFailing = false
        return { held, timestamp: Date.now() }
      } catch (error) {
        const {
          network: { chain, network },
          venue: { connector },
        } = named
        if (!isFailing && !isOver)
          log.warn(
            { chain, network, connector, err: error },
            'the positions of a wallet could not be read for who follows them; it is tried again',
          )
        isFailing = true
        return updateOfFailure(error, 'The question for positions')
      }
    }

    async function watch(): Promise<void> {
      while (!isOver) {
        const state = await read()
        if (isOver) return
        const says = essenceOf(named, state)
        if (says === told) renewed(state)
        else changed(state)
        told = says
        await bell.wait(waitMs())
      }
    }

    void watch()
    return () => {
      isOver = true
      end()
      bell.notify()
    }
  }

  return createSharedFeed<PositionsRequest, State>({
    event: 'positions',
    keyOf: ({ network: { chain, network }, venue: { connector }, address, markets }) =>
      JSON.stringify([chain, network, connector, address, markets]),
    follow,
    show,
  })
}

/** The same while nothing but prices changed. */
function essenceOf({ lasting }: PositionsRequest, state: State): string {
  if (state === undefined) return 'stale'
  if (state instanceof SluiceError) return `${state.name} ${state.message}`
  const each = state.held.positions.map((position) => JSON.stringify(lasting.map((field) => position[field])))
  return each.toSorted().join()
}

function show(
  { network: { chain, network }, venue: { connector }, address }: PositionsRequest,
  state: State,
): Omit<PositionsNews, 'positions' | 'unshown'> {
  const of = { chain, network, connector, address }
  if (state === undefined) return { ...of, stale: true, timestamp: Date.now() }
  if (state instanceof SluiceError) {
    const { code: errorCode, name, message } = state
    return { ...of, error: { errorCode, name, message }, timestamp: Date.now() }
  }
  return { ...of, ...state.held, timestamp: state.timestamp }
}

/** What there is to say of the positions of a wallet, as the endpoints show them. */
interface Positions {
  readonly positions: readonly Readonly<Record<string, unknown>>[]
  /** Those whose tokens cannot be read. */
  readonly unshown?: readonly object[]
  readonly blockNumber?: number
}

/** The positions of a wallet that somebody wants to hear of. */
interface PositionsRequest extends TargetContext<'connector'> {
  /** As the chain spells it. */
  readonly address: string
  /** All that they are narrowed to. */
  readonly markets: readonly string[] | undefined
  /** Which fields are of the wallet's doing, and not of prices alone. */
  readonly lasting: readonly string[]
  read(at: At): Promise<Positions>
}

type Asked = (
  place: TargetContext<'connector'>,
  owner: string,
  request: EventsRequest,
  at: At,
) => Promise<Pick<PositionsRequest, 'markets' | 'read'>>

/** How each kind of exchange is asked. */
const kinds: Readonly<Record<string, { asked: Asked; lasting: readonly string[] }>> = {
  PERP_CLOB: {
    lasting: ['market', 'positionSide', 'positionAmt', 'entryPrice', 'leverage', 'marginMode'],
    asked: async ({ venue }, owner, { market: names }, at) => {
      const listed = await marketsOf('PERP_CLOB', venue, at)
      const markets = names && [...new Set(names.map((name) => listed.find(name).id))].toSorted()
      return {
        markets,
        async read(now) {
          const held = await bookOf('PERP_CLOB', venue).positions(owner, now)
          return { positions: held.filter(({ market }) => markets?.includes(market.id) ?? true).map(showBookPosition) }
        },
      }
    },
  },
  PERP_AMM: {
    // Its leverage is what the position is worth by what the account is.
    lasting: ['tickerSymbol', 'positionSide', 'positionAmt', 'entryPrice'],
    asked: async ({ venue }, owner, request, at) => {
      const perp = perpOf(venue)
      const one = await marketNamed(request, venue, at)
      return {
        markets: one && [tickerOf(one)],
        async read(now) {
          const all = one ? undefined : await perp.funding(owner, now)
          const markets = all?.funding.map(({ market }) => market) ?? (one ? [one] : [])
          const held = await Promise.all(markets.map((market) => perp.position(owner, market, now)))
          const open = held.filter(({ position }) => position.sizeRaw !== 0n)
          return {
            positions: open.map(({ position, account }) => showPosition(position, account)),
            // The oldest that something of it is of.
            blockNumber: Math.min(...[...held, ...(all ? [all] : [])].map(({ head }) => Number(head.number))),
          }
        },
      }
    },
  },
  AMM_RANGE: {
    lasting: ['tokenId', 'liquidity', 'inRange'],
    asked: async (place, owner) => ({ markets: undefined, read: (now) => rangePositions(owner, place, now) }),
  },
}

/** The positions that a request names, on all networks that it does not rule out. @throws SluiceError as the endpoints of positions do */
export async function findPositions(directory: Registry, request: EventsRequest, at: At): Promise<readonly PositionsRequest[]> {
  const { connector, address } = request
  if (connector === undefined) throw missing('connector', 'where the positions are that the topic positions is to tell of')
  if (address === undefined) throw missing('address', 'whose positions the topic positions is to tell of')
  const { name, trading_type } = directory.connector(connector)
  const kind = Object.entries(kinds).find(([type]) => trading_type.includes(type))?.[1]
  if (!kind) {
    const types = Object.keys(kinds).join(', ')
    throw new SluiceError(
      'UNSUPPORTED',
      `The connector ${name} has no positions: that is, none of ${types}; GET /plugins shows what it has.`,
    )
  }
  return onEachNetwork(directory, name, request, async (network, venue) => {
    const owner = readAddress(network, address)
    const asked = await kind.asked({ network, venue }, owner, request, at)
    return [{ network, venue, address: owner, lasting: kind.lasting, ...asked }]
  })
}

async function marketNamed({ base, quote }: EventsRequest, venue: TargetContext<'connector'>['venue'], at: At) {
  if (base === undefined && quote === undefined) return undefined
  if (base === undefined) throw missing('base', 'with quote which market is meant')
  if (quote === undefined) throw missing('quote', 'with base which market is meant')
  return findMarket({ base, quote }, venue, at)
}

const missing = (field: string, says: string) => badFields([{ field, problem: `is missing: it says ${says}` }])
