import type { Evm } from 'sluice/evm'
import {
  SluiceError,
  type At,
  type SignedActions,
  type Token,
  type Venue,
  addressesSchema,
  bridgesSchema,
  type ConnectorConfig,
} from 'sluice/plugin'
import { networks, type HyperliquidNetwork, loadLibrary, type Library } from './actions.ts'
import { createInfoQuery, type QueryInfo, createRateLimiter, createClock, type ExchangeClock, createPost } from './api.ts'
import { createFeed, bookStream } from './feed.ts'
import { createMarkets, type Listing } from './markets.ts'
import { createHeads, createOrderUpdates } from './order-updates.ts'
import type { OrderOwner } from './orders.ts'
import { hyperliquidRail } from './rail.ts'

/** The exchange on one of its networks: what all of its trading types are made of. */
export interface Exchange {
  readonly ask: QueryInfo
  readonly clock: ExchangeClock
  readonly network: HyperliquidNetwork
  readonly books: ReturnType<typeof bookStream>
  readonly listing: (at: At) => Promise<Listing>
  readonly ttlMs: number
  /** The chain's token list. */
  readonly tokens: readonly Token[]
  /** The contract on the chain that takes deposits. */
  readonly coreDepositWallet: string
  readonly ownerOf: (address: string) => OrderOwner
  /** The wallet's agent, where it has one. */
  readonly signerOf: (address: string) => string | undefined
  readonly actions: SignedActions
  start(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** @param pauseMs between looks at what is open, where nothing is told of it */
export function createExchange(
  { chain, network: name, config, contracts, tokens, log }: Venue<Evm, HyperliquidConfig>,
  pauseMs?: number,
): Exchange {
  const network = networks[name]
  const urls = config.networks[name]
  if (!network || !urls) throw new Error(`Hyperliquid has no network "${name}".`)
  // The schema asks for it.
  const { coreDepositWallet = '' } = contracts
  const budget = createRateLimiter(config.requestWeightPerMinute)
  const post = createPost(urls.apiUrl)
  const ask = createInfoQuery(post, budget)
  const clock = createClock(ask)
  const feed = createFeed(urls.wsUrl, log)
  const news = createOrderUpdates(feed)
  const agents = new Map(Object.entries(config.agents).map(([wallet, agent]) => [wallet.toLowerCase(), agent]))
  let loaded: Library | undefined
  const library = () => {
    if (loaded) return loaded
    throw new SluiceError('SERVICE_UNINITIALIZED', 'Hyperliquid is still starting.', { retryAfterSeconds: 1 })
  }
  return {
    ask,
    clock,
    network,
    books: bookStream({ ask, feed, clock }),
    listing: createMarkets(ask, config.marketsSeconds),
    ttlMs: config.ttl * 1000,
    tokens,
    coreDepositWallet,
    ownerOf: (address) => ({ chain, network: name, user: address.toLowerCase() }),
    signerOf: (address) => agents.get(address.toLowerCase()),
    actions: { rail: hyperliquidRail({ ask, post, budget, clock, news, network, library }), heads: createHeads(clock, news, pauseMs) },
    async start() {
      loaded = await loadLibrary()
    },
    async stop() {
      feed.stop()
      await post.close()
    },
  }
}

/** Where one network of the exchange is reached. */
interface Urls {
  readonly apiUrl: string
  readonly wsUrl: string
}

export interface HyperliquidConfig extends ConnectorConfig {
  readonly networks: Readonly<Record<string, Urls>>
  /** Wallet → the agent that it allowed at the exchange, and whose key signs for it. */
  readonly agents: Readonly<Record<string, string>>
  readonly requestWeightPerMinute: number
  readonly marketsSeconds: number
}

const url = (scheme: string) => ({ type: 'string', pattern: `^${scheme}s?://[^/]` })
const address = '^0x[0-9a-fA-F]{40}$'
const urls = {
  type: 'object',
  properties: { apiUrl: url('http'), wsUrl: url('ws') },
  required: ['apiUrl', 'wsUrl'],
  additionalProperties: false,
}

export const schema = {
  type: 'object',
  properties: {
    allowedSlippage: {
      type: 'string',
      pattern: '^\\d+/[1-9]\\d*$',
      description: 'A fraction such as 1/100: how far a MARKET order without limitPrice may move the price',
    },
    ttl: { type: 'integer', minimum: 1, description: 'Seconds after which the exchange refuses an action that did not reach it' },
    contractAddresses: addressesSchema('coreDepositWallet').properties.contractAddresses,
    bridges: bridgesSchema,
    networks: {
      type: 'object',
      properties: { mainnet: urls, testnet: urls },
      required: ['mainnet', 'testnet'],
      additionalProperties: false,
      description: 'Where the exchange is reached',
    },
    agents: {
      type: 'object',
      patternProperties: { [address]: { type: 'string', pattern: address } },
      additionalProperties: false,
      default: {},
      description: "A wallet's address → that of the agent (API wallet) which signs for it, whose key the server holds too",
    },
    requestWeightPerMinute: {
      type: 'integer',
      minimum: 100,
      default: 1200,
      description: "The exchange's limit for one IP address; less where others share the address",
    },
    marketsSeconds: { type: 'integer', minimum: 1, default: 60, description: 'How long the list of markets is kept' },
  },
  required: ['allowedSlippage', 'ttl', 'contractAddresses', 'networks'],
  additionalProperties: false,
} as const
