import { anyConnector } from '../api/endpoint.ts'
import type { PriceEvent, TopicRequest } from '../api/events.ts'
import type { At } from '../contracts/index.ts'
import { fromRaw } from '../base/decimal.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { askConnectors, refuseChoice, showCost } from '../handlers/amm/any.ts'
import { answerMs, venuesOf } from '../handlers/amm/ask-each.ts'
import type { Candidate } from '../handlers/amm/candidates.ts'
import { readSwapRequest, requireVersion, swapPrice, toQuoteChoice, toQuoteVenue, toSwap, type SwapRequest } from '../handlers/amm/quote.ts'
import type { Services } from '../handlers/context.ts'
import { findNetworks, tradingOf, type FollowPrice, type NetworkEntry, type Registry, type VenueEntry } from '../plugins/index.ts'
import { updateOfFailure, type QuoteUpdate } from '../live-state/pair-quoter.ts'
import type { Quotes } from '../live-state/quotes.ts'
import { createSharedFeed, missingField, onEachNetwork, onNetworks, type Topic } from './topic.ts'

/** What is told of a price. */
interface PriceUpdate {
  readonly update: QuoteUpdate
  /** Of any: whose it is, and its gas. */
  readonly best?: Candidate
}

/** A price that a request follows. */
interface PriceRequest {
  readonly venue: VenueName
  readonly follow: (changed: (update: PriceUpdate) => void) => () => void
  readonly swap: SwapRequest
  readonly version: string | undefined
  /** Of any, where the request names them. */
  readonly connectors?: readonly string[] | undefined
  /** The price as the caller wrote it; events repeat it. */
  readonly asked: string
  /** What every event of this price says. */
  readonly about: PriceInfo
}

type VenueName = Record<'chain' | 'network' | 'connector', string>

type PriceInfo = Pick<PriceEvent, 'asked' | 'chain' | 'network' | 'connector' | 'version' | 'base' | 'quote' | 'side' | 'amount'>

/** The topic `price`: the prices that a request names, on each network that it allows. */
export function createPriceTopic(services: PriceServices): Topic<'price'> {
  const feed = createSharedFeed<PriceRequest, PriceUpdate>({
    event: 'price',
    keyOf: ({ venue: { chain, network, connector }, connectors = [], version = '', asked }) =>
      JSON.stringify([chain, network, connector, connectors, version, asked]),
    follow: ({ follow }, changed) => follow(changed),
    show: ({ about, swap }, { update, best }) => ({
      ...about,
      ...(best && { connector: best.venue.connector, ...showCost(best, swap) }),
      ...showPrice(swap, update),
    }),
  })
  return {
    find: async (request, at) => (await findPrices(services, request, at)).map(feed.subscriber),
  }
}

type PriceServices = Pick<Services, 'registry' | 'turns'> & {
  readonly quotes: Pick<Quotes, 'follow' | 'quote' | 'bound' | 'version' | 'isCutOff'>
}

async function findPrices(services: PriceServices, request: TopicRequest<'price'>, at: At): Promise<readonly PriceRequest[]> {
  const { registry, quotes } = services
  const { connector, connectors, version } = request
  if (connector === undefined) throw missingField('connector', 'the exchange of the prices of the topic price')
  refuseChoice({ connector, connectors })
  const questions = questionsOf(request)
  const pricesOn = async (network: NetworkEntry, followOf: (swap: SwapRequest) => PriceRequest['follow']) => {
    const venue = { chain: network.chain, network: network.network, connector }
    return Promise.all(
      questions.map(async (question) => {
        const { asked } = question
        const swap = { ...(await readSwap(question, network, at)), ...(version !== undefined && { version }) }
        return { venue, follow: followOf(swap), swap, version, connectors, asked, about: infoOf(venue, swap, version, asked) }
      }),
    )
  }
  if (connector === anyConnector) {
    return onNetworks(networksWithAny(registry, request), async ({ chain, network }) => {
      registry.use(chain, network)
      await registry.wake(chain, network)
      const entry = registry.network(chain, network)
      return pricesOn(entry, bestFollower(entry, connectors, version, services))
    })
  }
  const { name, trading_type } = registry.connector(connector)
  if (!trading_type.includes('AMM'))
    throw new SluiceError('UNSUPPORTED', `The connector ${name} has no trading type AMM; GET /plugins shows what it has.`)
  return onEachNetwork(registry, name, request, async (network, venue) => {
    requireVersion(version, tradingOf('AMM', venue), name)
    const follow = followerOf(network, venue, quotes)
    if (!follow)
      throw new SluiceError(
        'UNSUPPORTED',
        `Prices of ${name} on ${network.chain}/${network.network} cannot be followed; ask GET /amm/price once a block.`,
      )
    return pricesOn(network, (swap) => (changed) => follow(toSwap(swap), toQuoteChoice(version), (update) => changed({ update })))
  })
}

/** Those that the request allows, and that have a connector to follow. @throws SluiceError UNKNOWN_CHAIN_ERROR, UNSUPPORTED */
function networksWithAny(registry: Registry, { chain, network }: TopicRequest<'price'>): readonly NetworkEntry[] {
  const found = findNetworks(registry, { chain, network }).filter((each) =>
    registry.venuesOn(each.chain, each.network).some(({ impl }) => impl.AMM),
  )
  if (found.length > 0) return found
  throw new SluiceError('UNSUPPORTED', `No connector on ${[chain, network].filter(Boolean).join('/')} has the trading type AMM.`)
}

/**
 * Follows the price of each connector, and tells the best whenever one of them changes: by one block, as `/amm/price` has it.
 * @throws SluiceError UNSUPPORTED where none can be followed
 */
function bestFollower(
  network: NetworkEntry,
  connectors: readonly string[] | undefined,
  version: string | undefined,
  services: PriceServices,
): (swap: SwapRequest) => PriceRequest['follow'] {
  const venues = venuesOf(connectors, { network, services }).filter(
    ({ impl }) => version === undefined || impl.AMM?.versions.includes(version),
  )
  const followed = venues.flatMap((venue) => {
    const follow = venue.notReady() === undefined ? followerOf(network, venue, services.quotes) : undefined
    return follow ? [{ venue, follow }] : []
  })
  if (followed.length === 0)
    throw new SluiceError(
      'UNSUPPORTED',
      `No connector on ${network.chain}/${network.network} has prices that can be followed; ask GET /amm/price once a block.`,
    )
  return (swap) => (changed) => {
    const updates = new Map<string, QuoteUpdate>()
    const ended = new AbortController()
    let told: Candidate | undefined
    let [isPatient, isChanged, isTelling] = [true, false, false]
    // One that is late is not waited for.
    const patience = setTimeout(() => {
      isPatient = false
      tell()
    }, answerMs)

    /** Those that change with one block come one after the other, and are told of together. */
    function tell(): void {
      isChanged = true
      if (isTelling) return
      isTelling = true
      setImmediate(() => void tellAll())
    }
    async function tellAll(): Promise<void> {
      while (isChanged && !ended.signal.aborted) {
        isChanged = false
        await tellBest()
      }
      isTelling = false
    }
    async function tellBest(): Promise<void> {
      if (isPatient && updates.size < followed.length) return
      const all = [...updates.values()]
      const having = [...updates].flatMap(([name, update]) => (update && !(update instanceof SluiceError) ? [name] : []))
      if (having.length === 0) {
        told = undefined
        return changed({ update: all.includes(undefined) ? undefined : all[0] })
      }
      try {
        const asked = await askConnectors(
          { swap, connectors: having, allowedSlippage: undefined, onlyBest: true },
          { network, services },
          ended,
        )
        const [best] = asked.candidates
        if (ended.signal.aborted || (told && isSameBest(told, best))) return
        told = best
        changed({ update: best.sourced.quote, best })
      } catch (error) {
        told = undefined
        if (!ended.signal.aborted) changed({ update: updateOfFailure(error) })
      }
    }

    const ends: (() => void)[] = []
    const end = () => {
      ended.abort()
      clearTimeout(patience)
      for (const each of ends) each()
    }
    try {
      for (const { venue, follow } of followed)
        ends.push(
          follow(toSwap(swap), toQuoteChoice(version), (update) => {
            updates.set(venue.connector, update)
            tell()
          }),
        )
    } catch (error) {
      // Where there is no room for one, nobody would end the others.
      end()
      throw error
    }
    return end
  }
}

const isSameBest = (one: Candidate, other: Candidate) =>
  one.venue.connector === other.venue.connector &&
  one.sourced.quote.amountRaw === other.sourced.quote.amountRaw &&
  JSON.stringify(one.sourced.quote.route) === JSON.stringify(other.sourced.quote.route)

/** Undefined where its prices cannot be followed. */
function followerOf(network: NetworkEntry, venue: VenueEntry, quotes: Pick<Quotes, 'follow'>): FollowPrice | undefined {
  const followed = toQuoteVenue(network, venue)
  return followed ? (swap, choice, listener) => quotes.follow(followed, swap, choice, listener) : venue.hosted?.followPrice
}

interface Question {
  asked: string
  base: string
  quote: string
  side: SwapRequest['side']
  amount: string
  /** Whether it is an entry of the list `price`. */
  listed: boolean
}

/** One price by its four fields, and any number by the list `price`. */
function questionsOf({ base, quote, amount, side, price = [] }: TopicRequest<'price'>): readonly Question[] {
  const fields = { base, quote, side, amount }
  const listed = [...new Set(price)].map(readQuestion)
  if (base !== undefined && quote !== undefined && side !== undefined && amount !== undefined)
    return [{ asked: [base, quote, side, amount].join(':'), base, quote, side, amount, listed: false }, ...listed]
  const missing = Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [field] : []))
  const [first, ...others] = missing.map((field) => ({ field, problem: 'is missing: a price has base, quote, side and amount' }))
  if (first && missing.length < Object.keys(fields).length) throw badFields([first, ...others])
  if (listed.length > 0) return listed
  throw missingField('price', 'the prices of the topic price, such as WETH:USDC:SELL:1.5')
}

/** The request's schema has checked the pattern. */
function readQuestion(asked: string): Question {
  const [base = '', quote = '', side = '', amount = ''] = asked.split(':')
  return { asked, base, quote, side: side.toUpperCase() === 'BUY' ? 'BUY' : 'SELL', amount, listed: true }
}

async function readSwap(question: Question, network: NetworkEntry, at: At): Promise<SwapRequest> {
  try {
    return await readSwapRequest(question, network, at)
  } catch (error) {
    if (!question.listed || !(error instanceof SluiceError) || error.name !== 'INCOMPLETE_PARAMS') throw error
    throw badFields([{ field: 'price', problem: `${question.asked}: ${error.message}` }])
  }
}

const infoOf = (
  { chain, network, connector }: VenueName,
  { base, quote, side, amountRaw }: SwapRequest,
  version: string | undefined,
  asked: string,
): PriceInfo => ({
  asked,
  chain,
  network,
  connector,
  ...(version !== undefined && { version }),
  base: base.address,
  quote: quote.address,
  side,
  amount: fromRaw(amountRaw, base.decimals),
})

function showPrice(swap: SwapRequest, update: QuoteUpdate): Omit<PriceEvent, keyof PriceInfo> {
  if (update === undefined) return { stale: true, timestamp: Date.now() }
  if (update instanceof SluiceError) {
    const { code: errorCode, name, message } = update
    return { error: { errorCode, name, message }, timestamp: Date.now() }
  }
  const { amountRaw, route, head } = update
  return {
    price: swapPrice(swap, amountRaw),
    expectedAmount: fromRaw(amountRaw, swap.quote.decimals),
    route: [...route],
    blockNumber: Number(head.number),
    timestamp: head.timestamp * 1000,
    source: 'memory',
  }
}
