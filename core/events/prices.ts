import type { EventsRequest, PriceNews } from '../api/events.ts'
import type { At } from '../contracts/index.ts'
import { fromRaw } from '../decimal.ts'
import { badFields, SluiceError } from '../errors.ts'
import { readSwapRequest, requireVersion, swapPrice, toQuoteChoice, toQuoteVenue, toSwap, type SwapRequest } from '../handlers/amm/quote.ts'
import { tradingOf, type NetworkEntry, type Registry, type VenueEntry } from '../handlers/registry.ts'
import type { QuoteUpdate } from '../live-state/pair-quoter.ts'
import type { Quotes } from '../live-state/quotes.ts'
import type { FollowPrice } from '../loader/host/remote-connector.ts'
import { createSharedFeed, missingField, onEachNetwork, type Topic } from './topic.ts'

/** A price that a request follows. */
interface PriceRequest {
  readonly venue: VenueName
  readonly follow: FollowPrice
  readonly swap: SwapRequest
  readonly version: string | undefined
  /** The price as the caller wrote it; events repeat it. */
  readonly asked: string
  /** What every event of this price says. */
  readonly about: PriceInfo
}

type VenueName = Record<'chain' | 'network' | 'connector', string>

type PriceInfo = Pick<PriceNews, 'asked' | 'chain' | 'network' | 'connector' | 'version' | 'base' | 'quote' | 'side' | 'amount'>

/** The topic `price`: the prices that a request names, on each network that it allows. */
export function createPriceTopic(registry: Registry, quotes: Pick<Quotes, 'follow'>): Topic {
  const feed = createSharedFeed<PriceRequest, QuoteUpdate>({
    event: 'price',
    keyOf: ({ venue: { chain, network, connector }, version = '', asked }) => JSON.stringify([chain, network, connector, version, asked]),
    follow: ({ follow, swap, version }, changed) => follow(toSwap(swap), toQuoteChoice(version), changed),
    show: ({ about, swap }, update) => ({ ...about, ...showPrice(swap, update) }),
  })
  return {
    find: async (request, at) => (await findPrices(registry, quotes, request, at)).map(feed.subscriber),
  }
}

async function findPrices(
  registry: Registry,
  quotes: Pick<Quotes, 'follow'>,
  request: EventsRequest,
  at: At,
): Promise<readonly PriceRequest[]> {
  const { connector, version } = request
  if (connector === undefined) throw missingField('connector', 'the exchange of the prices of the topic price')
  const questions = questionsOf(request)
  const { name, trading_type } = registry.connector(connector)
  if (!trading_type.includes('AMM'))
    throw new SluiceError('UNSUPPORTED', `The connector ${name} has no trading type AMM; GET /plugins shows what it has.`)
  return onEachNetwork(registry, name, request, async (network, venueEntry) => {
    requireVersion(version, tradingOf('AMM', venueEntry), name)
    const venue = { chain: network.chain, network: network.network, connector: name }
    const follow = followerOf(network, venueEntry, quotes)
    if (!follow)
      throw new SluiceError(
        'UNSUPPORTED',
        `Prices of ${name} on ${network.chain}/${network.network} cannot be followed; ask GET /amm/price once a block.`,
      )
    return Promise.all(
      questions.map(async (question) => {
        const { asked } = question
        const swap = await readSwap(question, network, at)
        return { venue, follow, swap, version, asked, about: infoOf(venue, swap, version, asked) }
      }),
    )
  })
}

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
function questionsOf({ base, quote, amount, side, price = [] }: EventsRequest): readonly Question[] {
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

function showPrice(swap: SwapRequest, update: QuoteUpdate): Omit<PriceNews, keyof PriceInfo> {
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
