import type { GasTerms, Rail } from 'sluice/plugin'
import type { QueryInfo, RateLimiter, ExchangeClock, Post } from './api.ts'
import { type HyperliquidNetwork, draft, seal, type Library, isUserSigned, type Step } from './actions.ts'
import type { OrderUpdates } from './order-updates.ts'
import { createPoll } from './find-trace.ts'
import { createSend } from './send.ts'
import { createClaim, slotsFrom, type Sequence, type Synced, createUnsentNonces, createUsedNonces } from './nonces.ts'

interface RailParts {
  ask: QueryInfo
  post: Post
  budget: RateLimiter
  clock: ExchangeClock
  news: OrderUpdates
  network: HyperliquidNetwork
  /** @throws where the venue has not started */
  library: () => Library
}

/** Actions pay no fees; what takes the place of another is marked. */
type Fees = null | 'noop'
type HyperliquidRail = Rail<Step, string, Sequence, Synced, Fees>

const noopLivesMs = 60_000
/** Actions cost no gas. */
const free: GasTerms = { gasLimit: 0n, gasPriceRaw: 0n, gasCostRaw: 0n }

/** How signed actions of the exchange live: a nonce in milliseconds for each, and a time after which it is refused. */
export function hyperliquidRail(parts: RailParts): HyperliquidRail {
  const { clock, network, library } = parts
  const used = createUsedNonces()
  const unsent = createUnsentNonces()
  const claim = createClaim()
  const look = createPoll({ ...parts, used })
  const sync: HyperliquidRail['sync'] = async (_, at) => ({ aheadMs: await clock.aheadMs(at) })
  return {
    slots: 'increasing',
    outline: () => ({ contracts: [], valueRaw: 0n }),
    check: async (steps, _, from, __, at) => ({
      prepared: steps.map((step) => ({ step, fees: step.action.type === 'noop' ? 'noop' : null, gas: free })),
      synced: await sync(from, at),
      beside: () => undefined,
    }),
    cost: () => 0n,
    sync,
    merge: (_, news) => news,
    doubtful: () => false,
    claim: (synced, held, count) => unsent.note(claim(synced, held, count)),
    slotsFrom,
    nonceOf: ({ nonce }) => nonce,
    standing: () => 'free',
    gaps: () => [],
    draft: ({ step }, slot) => draft(step, slot, network, library()),
    seal,
    send: createSend({ ...parts, used, unsent }),
    look: (open, _, at) => look(open, at),
    // Two actions on one nonce exclude each other. Most die by themselves; one that does not gets one that does nothing in its place.
    replace: {
      outbids: (fees) => fees === 'noop',
      least: () => 'a nonce of its own',
      cancel: (from) => ({
        user: from.toLowerCase(),
        action: { type: 'noop' },
        trace: { of: 'nothing' },
        expiresAfter: clock.nowMs() + noopLivesMs,
      }),
      bump: () => undefined,
      cancelIsCheaper: ({ action }) => isUserSigned(action),
    },
  }
}
