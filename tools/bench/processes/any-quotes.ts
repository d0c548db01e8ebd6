// Prices by the handlers of a running server in the same process, from memory: of all connectors at once, and of each.
import { priceHandlers } from '../../../core/handlers/amm/price.ts'
import { startServer } from '../../../testkit/server.ts'
import { serve } from '../child.ts'

export interface AnyQuotesRequest {
  quotes: number
  /** So that no two runs ask for the same amounts. */
  offset: number
  /** The same amount each time. */
  again?: true
}

export interface OneQuotesRequest extends AnyQuotesRequest {
  connector: string
  version?: string
}

const server = await startServer()
const { services } = server.kernel
const network = services.registry.network('ethereum', 'local')
const pair = { chain: 'ethereum', network: 'local', base: 'WETH', quote: 'USDC', side: 'SELL' } as const
const venues = services.registry.venuesOn('ethereum', 'local').filter(({ impl, builtIn }) => builtIn && impl.AMM)
const caller = { id: 'bench', fingerprint: '', permissions: new Set(['read'] as const), wallets: 'all' } as const
const context = { services, caller, requestId: 'bench', signal: new AbortController().signal, network }

const ask = (amount: string, venue: (typeof venues)[number] | undefined) =>
  priceHandlers.AMMPrice({ ...pair, connector: venue?.connector ?? 'any', amount }, { ...context, venue })

export type AnyQuotesProcess = typeof handlers
const handlers = serve(
  {
    /** Those that have a price for the pair, and all that are asked. */
    async connectors() {
      const answers = await Promise.allSettled(venues.map(async (venue) => ask('1', venue)))
      return { asked: venues.length, priced: answers.filter(({ status }) => status === 'fulfilled').length }
    },
    any: (asking: AnyQuotesRequest) => timed(asking, [undefined]),
    uniswap: (asking: AnyQuotesRequest) => timed(asking, [services.registry.venue('uniswap', 'ethereum', 'local')]),
    /** One after the other, the sum of all. */
    each: (asking: AnyQuotesRequest) => timed(asking, venues),
    one,
  },
  () => server.stop(),
)

/** Microseconds of processor time for each amount, by one connector. */
async function one({ connector, version, quotes, offset }: OneQuotesRequest): Promise<number> {
  const venue = venues.find((each) => each.connector === connector)
  if (!venue) throw new Error(`There is no ${connector}.`)
  const startedAt = process.cpuUsage()
  for (let index = 0; index < quotes; index += 1) {
    const amount = (1 + (offset + index) / 1e6).toString()
    await priceHandlers.AMMPrice({ ...pair, connector, amount, ...(version !== undefined && { version }) }, { ...context, venue })
  }
  const { user, system } = process.cpuUsage(startedAt)
  return (user + system) / quotes
}

interface AnyQuotesTime {
  /** Of the processor, in microseconds for each amount. */
  micros: number
  /** How many quotes connectors gave for each amount. */
  quotes: number
}

const quotesGiven = () => venues.reduce((sum, { recentQuotes: { counts } }) => sum + counts.memory + counts.rpc, 0)

/** Blocks come while it runs: a quote that has to wait for one counts as it is. */
async function timed(
  { quotes, offset, again }: AnyQuotesRequest,
  asked: readonly ((typeof venues)[number] | undefined)[],
): Promise<AnyQuotesTime> {
  const [startedAt, given] = [process.cpuUsage(), quotesGiven()]
  for (let index = 0; index < quotes; index += 1) {
    const amount = (1 + (again ? offset : offset + index) / 1e6).toString()
    for (const venue of asked) {
      try {
        const answer = ask(amount, venue)
        if (answer instanceof Promise) await answer
      } catch {
        // A connector without the pair says so each time.
      }
    }
  }
  const { user, system } = process.cpuUsage(startedAt)
  return { micros: (user + system) / quotes, quotes: (quotesGiven() - given) / quotes }
}
