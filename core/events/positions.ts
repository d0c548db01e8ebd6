import type { Logger } from 'pino'
import { SluiceError, type PositionsNews } from '../api/index.ts'
import { withDeadline } from '../contracts/with-deadline.ts'
import { newsOfFailure } from '../market/quotes/quote-news.ts'
import type { VenueEntry } from '../handlers/registry.ts'
import { createBell } from '../http/events/bell.ts'
import type { Heads } from './blocks.ts'
import type { NamedPositions, Positions } from '../http/events/named-positions.ts'
import { createSharedNews, type SharedNews } from './topic.ts'

/** Positions as they were then, or why the exchange tells of none; undefined while nothing can be said of them. */
type State = { readonly held: Positions; readonly timestamp: number } | SluiceError | undefined

/** A network that is silent for so long is asked all the same: that it cannot answer is news. */
const silentMs = 10_000
/** An exchange without blocks is asked for so many wallets within so much time: it answers only so much a minute, and that is for orders before all. */
const pauseMs = 2_000
const mostInOne = 5

interface PositionNewsParts {
  heads: Heads
  /** Of one question. */
  timeoutMs: number
  log: Pick<Logger, 'warn'>
}

export function createPositionNews({ heads, timeoutMs, log }: PositionNewsParts): SharedNews<NamedPositions> {
  /** All that each exchange without blocks is asked for. */
  const asked = new Map<VenueEntry, Set<NamedPositions>>()

  /** Rings when it is to be asked again, but for its clock. */
  function begin(named: NamedPositions, ring: () => void): { waitMs(): number; end(): void } {
    const { network, venue } = named
    if (!venue.actions) return { waitMs: () => silentMs, end: heads.follow(network, ring).end }
    const here = asked.get(venue) ?? new Set()
    asked.set(venue, here.add(named))
    return { waitMs: () => pauseMs * Math.ceil(here.size / mostInOne), end: () => void here.delete(named) }
  }

  function follow(named: NamedPositions, changed: (state: State) => void, renewed: (state: State) => void): () => void {
    const bell = createBell()
    const { waitMs, end } = begin(named, bell.ring)
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
        return newsOfFailure(error, 'The question for positions')
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
      bell.ring()
    }
  }

  return createSharedNews<NamedPositions, State>({
    event: 'positions',
    keyOf: ({ network: { chain, network }, venue: { connector }, address, markets }) =>
      JSON.stringify([chain, network, connector, address, markets]),
    follow,
    show,
  })
}

/** The same while nothing but prices changed. */
function essenceOf({ lasting }: NamedPositions, state: State): string {
  if (state === undefined) return 'stale'
  if (state instanceof SluiceError) return `${state.name} ${state.message}`
  const each = state.held.positions.map((position) => JSON.stringify(lasting.map((field) => position[field])))
  return each.toSorted().join()
}

function show(
  { network: { chain, network }, venue: { connector }, address }: NamedPositions,
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
