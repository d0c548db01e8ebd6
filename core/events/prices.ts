import { badFields, SluiceError, type EventsRequest, type PriceNews } from '../api/index.ts'
import type { At } from '../contracts/index.ts'
import { fromRaw } from '../decimal.ts'
import {
  ammOf,
  toQuoteVenue,
  readSwapRequest,
  requireVersion,
  type SwapRequest,
  toQuoteChoice,
  swapPrice,
  toSwap,
} from '../handlers/amm/price.ts'
import type { Registry, NetworkEntry } from '../handlers/registry.ts'
import type { QuoteUpdate } from '../live-state/pair-quoter.ts'
import type { Quotes, QuoteVenue } from '../live-state/quotes.ts'
import { onEachNetwork, createSharedFeed, type SharedFeed } from './topic.ts'

interface Question {
  asked: string
  base: string
  quote: string
  side: SwapRequest['side']
  amount: string
  /** Whether it is an entry of the list. */
  listed: boolean
}

/** The prices that a request names, on all networks that it does not rule out. @throws SluiceError as `/amm/price` does */
export async function findPrices(directory: Registry, request: EventsRequest, at: At): Promise<readonly PriceRequest[]> {
  const { connector, version } = request
  const problem = 'is missing: it says whose prices the topic price is to tell of'
  if (connector === undefined) throw badFields([{ field: 'connector', problem }])
  const questions = questionsOf(request)
  const { name, trading_type } = directory.connector(connector)
  if (!trading_type.includes('AMM'))
    throw new SluiceError('UNSUPPORTED', `The connector ${name} has no trading type AMM; GET /plugins shows what it has.`)
  return onEachNetwork(directory, name, request, async (network, site) => {
    requireVersion(version, ammOf(site), name)
    const venue = toQuoteVenue(network, site)
    if (!venue)
      throw new SluiceError(
        'UNSUPPORTED',
        `What ${name} gives on ${network.chain}/${network.network} cannot be followed, only asked for: ask GET /amm/price, once a block.`,
      )
    const orders = await Promise.all(questions.map((each) => orderOf(each, network, at)))
    return orders.map((order, index) => ({ venue, order, version, asked: questions[index]?.asked ?? '' }))
  })
}

/** One by its fields, and any number by the list. */
function questionsOf({ base, quote, amount, side, price = [] }: EventsRequest): readonly Question[] {
  const fields = { base, quote, side, amount }
  const listed = [...new Set(price)].map(readQuestion)
  if (base !== undefined && quote !== undefined && side !== undefined && amount !== undefined)
    return [{ asked: [base, quote, side, amount].join(':'), base, quote, side, amount, listed: false }, ...listed]
  const missing = Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [field] : []))
  const [first, ...others] = missing.map((field) => ({ field, problem: 'is missing: a price is one of base, quote, side and amount' }))
  if (first && missing.length < Object.keys(fields).length) throw badFields([first, ...others])
  if (listed.length > 0) return listed
  const problem = 'is missing: it says which prices the topic price is to tell of, such as WETH:USDC:SELL:1.5'
  throw badFields([{ field: 'price', problem }])
}

function readQuestion(asked: string): Question {
  // The schema has its pattern.
  const [base = '', quote = '', side = '', amount = ''] = asked.split(':')
  return { asked, base, quote, side: side.toUpperCase() === 'BUY' ? 'BUY' : 'SELL', amount, listed: true }
}

async function orderOf(question: Question, network: NetworkEntry, at: At): Promise<SwapRequest> {
  try {
    return await readSwapRequest(question, network, at)
  } catch (error) {
    if (!question.listed || !(error instanceof SluiceError) || error.name !== 'INCOMPLETE_PARAMS') throw error
    throw badFields([{ field: 'price', problem: `${question.asked}: ${error.message}` }])
  }
}

/** A price that somebody wants to hear of. */
interface PriceRequest {
  readonly venue: QuoteVenue
  readonly order: SwapRequest
  readonly version: string | undefined
  /** As it was asked for, by which it is told. */
  readonly asked: string
}

/** What each event of it says. */
type About = Pick<PriceNews, 'asked' | 'chain' | 'network' | 'connector' | 'version' | 'base' | 'quote' | 'side' | 'amount'>

export function createPriceTopic(quotes: Pick<Quotes, 'follow'>): SharedFeed<PriceRequest> {
  const abouts = new WeakMap<PriceRequest, About>()

  function aboutOf(named: PriceRequest): About {
    const known = abouts.get(named) ?? about(named)
    abouts.set(named, known)
    return known
  }

  return createSharedFeed<PriceRequest, QuoteUpdate>({
    event: 'price',
    keyOf: ({ venue: { chain, network, connector }, version = '', asked }) => JSON.stringify([chain, network, connector, version, asked]),
    follow: ({ venue, order, version }, changed) => quotes.follow(venue, toSwap(order), toQuoteChoice(version), changed),
    show: (named, news) => ({ ...aboutOf(named), ...show(named, news) }),
  })
}

function about({ venue: { chain, network, connector }, order, version, asked }: PriceRequest): About {
  const { base, quote, side, amountRaw } = order
  return {
    asked,
    chain,
    network,
    connector,
    ...(version !== undefined && { version }),
    base: base.address,
    quote: quote.address,
    side,
    amount: fromRaw(amountRaw, base.decimals),
  }
}

function show({ order }: PriceRequest, news: QuoteUpdate): Omit<PriceNews, keyof About> {
  if (news === undefined) return { stale: true, timestamp: Date.now() }
  if (news instanceof SluiceError) {
    const { code: errorCode, name, message } = news
    return { error: { errorCode, name, message }, timestamp: Date.now() }
  }
  const { amountRaw, route, head } = news
  return {
    price: swapPrice(order, amountRaw),
    expectedAmount: fromRaw(amountRaw, order.quote.decimals),
    route: [...route],
    blockNumber: Number(head.number),
    timestamp: head.timestamp * 1000,
    source: 'memory',
  }
}
