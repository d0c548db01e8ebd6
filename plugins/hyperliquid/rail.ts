import type { GasTerms, Rail } from 'sluice/plugin'
import { draft, isUserSigned, seal, type HyperliquidNetwork, type Library, type Step } from './actions.ts'
import { createAnsweredMoves } from './answered-moves.ts'
import type { ExchangeClock, Post, QueryInfo, RateLimiter } from './api.ts'
import { createPoll } from './find-trace.ts'
import { createClaim, createNonceSet, noncesFrom, type ClockOffset, type Sequence } from './nonces.ts'
import type { OrderUpdates } from './order-updates.ts'
import { createSend } from './send.ts'

interface RailParts {
  queryInfo: QueryInfo
  post: Post
  limiter: RateLimiter
  clock: ExchangeClock
  updates: OrderUpdates
  network: HyperliquidNetwork
  /** Of orders, cancels and all else that expires. */
  ttlMs: number
  /** @throws SluiceError SERVICE_UNINITIALIZED before the venue has started */
  library: () => Library
}

/** Actions pay no fees. Only an action that replaces another is marked. */
type Fees = null | 'noop'
type HyperliquidRail = Rail<Step, string, Sequence, ClockOffset, Fees>

const minNoopLivesMs = 60_000
/** Nonces are sent moments after they were claimed, and some never are. */
const maxUnsent = 10_000
const maxUsed = 1000
/** Actions cost no gas. */
const noGas: GasTerms = { gasLimit: 0n, gasPriceRaw: 0n, gasCostRaw: 0n }

/** The lifecycle of signed actions: each has a nonce in milliseconds and a time after which the exchange refuses it. */
export function hyperliquidRail(parts: RailParts): HyperliquidRail {
  const { clock, network, ttlMs, library } = parts
  // Used by an action whose answer was lost. In memory only: after a restart the same bytes are sent again, and the exchange says so again.
  const used = createNonceSet(maxUsed)
  // Claimed by this server and not sent yet. The exchange may have received an action with any other nonce before.
  const unsent = createNonceSet(maxUnsent)
  const claim = createClaim()
  const moves = createAnsweredMoves()
  const poll = createPoll({ ...parts, used, moves })
  const sync: HyperliquidRail['sync'] = async (_, at) => ({ aheadMs: await clock.aheadMs(at) })
  return {
    sequences: 'increasing',
    outline: () => ({ contracts: [], valueRaw: 0n }),
    check: async (steps, _, from, __, at) => ({
      prepared: steps.map((step) => ({ step, fees: step.action.type === 'noop' ? 'noop' : null, gas: noGas })),
      synced: await sync(from, at),
      checkFunds: () => undefined,
    }),
    cost: () => 0n,
    sync,
    merge: (_, newer) => newer,
    needsSync: () => false,
    claim(synced, held, count) {
      const claimed = claim(synced, held, count)
      for (const { nonce } of claimed) unsent.add(nonce)
      return claimed
    },
    sequencesFrom: noncesFrom,
    nonceOf: ({ nonce }) => nonce,
    sequenceStatus: () => 'free',
    gaps: () => [],
    draft({ step }, sequence) {
      moves.signs(step, sequence.nonce)
      return draft(step, sequence, network, library())
    },
    seal,
    send: createSend({ ...parts, used, unsent, moves }),
    poll: (open, _, at) => poll(open, at),
    // Two actions with one nonce exclude each other. Most expire by themselves. One that does not is replaced by an action without effect.
    replace: {
      outbids: (fees) => fees === 'noop',
      minimumReplacement: () => 'a nonce of its own',
      cancel: (from) => ({
        user: from.toLowerCase(),
        action: { type: 'noop' },
        trace: { of: 'nothing' },
        // No shorter than what it excludes: that would be sent again after it.
        expiresAfter: clock.nowMs() + Math.max(minNoopLivesMs, ttlMs),
      }),
      bump: () => undefined,
      cancelIsCheaper: ({ action }) => isUserSigned(action),
    },
  }
}
