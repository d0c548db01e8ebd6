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
import { createKnownFills, type KnownFills } from './known-fills.ts'
import { createMarkets, type Listing } from './markets.ts'
import { createHeads, createOrderUpdates } from './order-updates.ts'
import type { OrderOwner } from './orders.ts'
import { hyperliquidRail } from './rail.ts'

/** The exchange on one of its networks: what all of its trading types use. */
export interface Exchange {
  readonly queryInfo: QueryInfo
  readonly knownFills: KnownFills
  readonly clock: ExchangeClock
  readonly network: HyperliquidNetwork
  readonly books: ReturnType<typeof bookStream>
  readonly listing: (at: At) => Promise<Listing>
  readonly ttlMs: number
  /** The chain's token list. */
  readonly tokens: readonly Token[]
  /** The contract on the chain that accepts deposits. */
  readonly coreDepositWallet: string
  readonly ownerOf: (address: string) => OrderOwner
  /** The wallet's agent, if it has one. */
  readonly signerOf: (address: string) => string | undefined
  readonly actions: SignedActions
  start(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** @param pauseMs between two polls of what is open, where no update comes in between */
export function createExchange(
  { chain, network: name, config, contracts, tokens, nativeCurrency, log }: Venue<Evm, HyperliquidConfig>,
  pauseMs?: number,
): Exchange {
  const network = networks[name]
  const urls = config.networks[name]
  if (!network || !urls) throw new Error(`Hyperliquid has no network "${name}".`)
  // The schema requires it.
  const { coreDepositWallet = '' } = contracts
  const ttlMs = config.ttl * 1000
  const limiter = createRateLimiter(config.requestWeightPerMinute)
  const post = createPost(urls.apiUrl)
  const queryInfo = createInfoQuery(post, limiter)
  const clock = createClock(queryInfo)
  const feed = createFeed(urls.wsUrl, log)
  const updates = createOrderUpdates(feed)
  const agents = new Map(Object.entries(config.agents).map(([wallet, agent]) => [wallet.toLowerCase(), agent]))
  let loaded: Library | undefined
  const library = () => {
    if (loaded) return loaded
    throw new SluiceError('SERVICE_UNINITIALIZED', 'Hyperliquid is still starting.', { retryAfterSeconds: 1 })
  }
  return {
    queryInfo,
    // Limits of clients depend on them: no caller's queries may keep them from being read.
    knownFills: createKnownFills(createInfoQuery(post, limiter, 'action'), config.requestWeightPerMinute),
    clock,
    network,
    books: bookStream({ queryInfo, feed, clock }),
    listing: createMarkets(queryInfo, config.marketsSeconds, log, { coinIndex: network.coinIndex, nativeCurrency, tokens }),
    ttlMs,
    tokens,
    coreDepositWallet,
    ownerOf: (address) => ({ chain, network: name, user: address.toLowerCase() }),
    signerOf: (address) => agents.get(address.toLowerCase()),
    actions: {
      rail: hyperliquidRail({ queryInfo, post, limiter, clock, updates, network, ttlMs, library }),
      heads: createHeads(clock, updates, pauseMs),
    },
    async start() {
      loaded = await loadLibrary()
    },
    async stop() {
      feed.stop()
      await post.close()
    },
  }
}

/** The exchange's URLs on one network. */
interface Urls {
  readonly apiUrl: string
  readonly wsUrl: string
}

export interface HyperliquidConfig extends ConnectorConfig {
  readonly networks: Readonly<Record<string, Urls>>
  /** Wallet → the agent that the wallet approved at the exchange and whose key signs for it. */
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
    ttl: { type: 'integer', minimum: 1, description: 'Seconds after which the exchange refuses an action that has not reached it' },
    contractAddresses: addressesSchema('coreDepositWallet').properties.contractAddresses,
    bridges: bridgesSchema,
    networks: {
      type: 'object',
      properties: { mainnet: urls, testnet: urls, local: urls },
      required: ['mainnet', 'testnet'],
      additionalProperties: false,
      description: 'The URLs of the exchange',
    },
    agents: {
      type: 'object',
      patternProperties: { [address]: { type: 'string', pattern: address } },
      additionalProperties: false,
      default: {},
      description: "A wallet's address → that of its agent (API wallet), which signs for it and whose key the server has, too",
    },
    requestWeightPerMinute: {
      type: 'integer',
      minimum: 100,
      default: 1200,
      description: "The exchange's limit for one IP address; set less where others share the address",
    },
    marketsSeconds: { type: 'integer', minimum: 1, default: 60, description: 'How long the list of markets is cached' },
  },
  required: ['allowedSlippage', 'ttl', 'contractAddresses', 'networks'],
  additionalProperties: false,
} as const
