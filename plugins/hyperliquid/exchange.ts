import type { Evm } from 'sluice/evm'
import { SluiceError } from 'sluice/plugin'
import type { At, SignedActions, Token, Venue } from 'sluice/plugin'
import { createAsk } from './api.ts'
import type { Ask } from './api.ts'
import { createBudget } from './api/budget.ts'
import { createClock } from './api/clock.ts'
import type { ExchangeClock } from './api/clock.ts'
import { createPost } from './api/post.ts'
import { createFeed } from './feed.ts'
import { bookStream } from './books/stream.ts'
import type { HyperliquidConfig } from './config.ts'
import { createHeads } from './heads.ts'
import { createMarkets } from './markets.ts'
import type { Listing } from './markets.ts'
import { networks } from './networks.ts'
import type { HyperliquidNetwork } from './networks.ts'
import type { OrderOwner } from './orders/cloid.ts'
import { createOwnNews } from './order-updates.ts'
import { loadLibrary } from './rail/library.ts'
import type { Library } from './rail/library.ts'
import { hyperliquidRail } from './rail.ts'

/** The exchange on one of its networks: what all of its trading types are made of. */
export interface Exchange {
  readonly ask: Ask
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
  const budget = createBudget(config.requestWeightPerMinute)
  const post = createPost(urls.apiUrl)
  const ask = createAsk(post, budget)
  const clock = createClock(ask)
  const feed = createFeed(urls.wsUrl, log)
  const news = createOwnNews(feed)
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
