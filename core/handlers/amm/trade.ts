import { SluiceError } from '../../api/index.ts'
import type { Quote, Json } from '../../contracts/index.ts'
import { valueAt } from '../../decimal.ts'
import type { SubmitResult } from '../../transactions/submit-request.ts'
import type { Handler } from '../context.ts'
import { explainRefusal, nameListedTokens } from '../explain-errors.ts'
import { effectiveSlippage, slippageBound, tighterBound, tradeRules, deadlineAfter } from '../slippage.ts'
import { readFees, showGas, readAddress, requireKey } from '../wallets.ts'
import {
  ammOf,
  quoteFromChain,
  isSameQuote,
  recentQuote,
  swapPrice,
  quoteSwap,
  readSwapRequest,
  showSwap,
  toSwap,
  type SwapRequest,
  type SourcedQuote,
} from './price.ts'

export const ammTrade: Handler<'AMMTrade'> = async (request, context) => {
  const { network, venue, services, signal } = context
  const at = { signal }
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  const wish = readFees(request, network)
  const order = await readSwapRequest(request, network, at)

  /** @param meanwhile what is asked while the plan is checked, and must hold before anything is signed */
  async function tradeOn({ quote, source }: SourcedQuote, meanwhile?: () => Promise<void>) {
    const slippage = slippageBound(quote, effectiveSlippage(venue.config, quote.route, request.allowedSlippage))
    const boundRaw = tighterBound(quote, slippage, limitOf(order, request.limitPrice), swapPrice(order, quote.amountRaw))
    const deadline = deadlineAfter(quote.head, tradeRules(venue.config, quote.route).ttlSeconds)
    const plan = ammOf(venue).swap(quote, { recipient: address, boundRaw, deadline })
    const scope = { contracts: venue.contracts, valueRaw: mostValueRaw(order, boundRaw) }
    // Before anything is sent: a plugin's quote that cannot be shown must not become an error about a trade that was made.
    const shown = {
      ...showSwap(order, quote),
      limitPrice: swapPrice(order, boundRaw),
      // What the exchange knows no deadline for has none on chain.
      ...(plan.deadline !== undefined && { deadline: plan.deadline }),
    }
    const answer = ({ gas, nonce, txHash }: SubmitResult) => ({ ...shown, ...showGas(gas, network), nonce, txHash })

    const { nonce } = request
    // By the same blocks as the quote.
    const recall = () => services.recalls.checkFromCache({ ...network, chainImpl: network.impl }, plan, address, wish)
    const submitted = services.transactions.submit(
      {
        ...context,
        address,
        plan,
        scope,
        kind: 'trade',
        nonce,
        feeOverrides: wish,
        about: aboutTrade(order),
        answer,
        precondition: meanwhile,
        ...(source === 'memory' && { checkFromCache: recall }),
      },
      signal,
    )
    return answer(await explainRefusal(nameListedTokens(submitted, network), venue))
  }

  const last = recentQuote(order, request.version, venue)
  if (last && leavesTime(last, tradeRules(venue.config, last.route).ttlSeconds)) return tradeOnLast(last)
  const quoted = await quoteSwap(order, request.version, context, at)
  try {
    return await tradeOn(quoted)
  } catch (error) {
    // A block may have come that is not in memory yet.
    if (quoted.source === 'rpc' || !isRefused(error)) throw error
    return tradeOn(await quoteFromChain(order, request.version, venue, at))
  }

  /** One round trip less where the price has not moved since the caller asked for it: the plan is checked while that is being asked. */
  async function tradeOnLast(last: Quote) {
    const asked = quoteFromChain(order, request.version, venue, at)
    const moved = asked.then(({ quote: fresh }) => !isSameQuote(last, fresh))
    try {
      return await tradeOn({ quote: last, source: 'rpc' }, () => refuseWhen(moved))
    } catch (error) {
      // Where it has not moved, an exchange may refuse the old plan all the same: the chain's clock has leapt past its deadline.
      if ((await moved) || isRefused(error)) return tradeOn(await asked)
      throw error
    }
  }
}

/** A trade's time is counted from its quote's block: an older one takes of it what nobody misses, or is not used. */
function leavesTime({ head }: Quote, ttlSeconds: number): boolean {
  return (Date.now() / 1000 - head.timestamp) * 10 <= ttlSeconds
}

/** By the check, before anything was signed. */
const isRefused = (error: unknown) => error instanceof SluiceError && error.name === 'TRADE_FAILED'

/** Whoever made the plan knows what to do then. */
async function refuseWhen(moved: Promise<boolean>): Promise<void> {
  if (await moved) throw new Error('The price has moved: the plan is not to be signed.')
}

/** The most of the native coin that the order lets the exchange have. */
function mostValueRaw(order: SwapRequest, boundRaw: bigint): bigint {
  const { tokenIn, exact, amountRaw } = toSwap(order)
  if (!tokenIn.native) return 0n
  return exact === 'in' ? amountRaw : boundRaw
}

/** The limit in the quote's smallest units: at most this much for a BUY, at least this much for a SELL. */
function limitOf({ base, quote, side, amountRaw }: SwapRequest, limitPrice: string | undefined): bigint | undefined {
  if (limitPrice === undefined) return undefined
  return valueAt(limitPrice, { raw: amountRaw, decimals: base.decimals }, quote.decimals, side === 'BUY' ? 'down' : 'up')
}

/** What the journal keeps of a trade, so that its fill can be shown in the caller's terms. */
interface AboutTrade {
  side: 'BUY' | 'SELL'
  base: { symbol: string; decimals: number }
  quote: { symbol: string; decimals: number }
}

const aboutTrade = ({ side, base, quote }: SwapRequest): Json => ({
  side,
  base: { symbol: base.symbol, decimals: base.decimals },
  quote: { symbol: quote.symbol, decimals: quote.decimals },
})

/** Reads it back: the journal is this server's own, and its `kind` says what is in it. */
export const readAboutTrade = (about: Json): AboutTrade => about as unknown as AboutTrade
