import type { Fill, Json, Quote } from '../../contracts/index.ts'
import { fromRaw, priceOf, valueAt } from '../../decimal.ts'
import { SluiceError } from '../../errors.ts'
import type { SubmitResult } from '../../transactions/submit-request.ts'
import type { Handler } from '../context.ts'
import { tradingOf } from '../registry.ts'
import { deadlineAfter, effectiveSlippage, slippageBound, tighterBound, tradeRules } from '../slippage.ts'
import { submit, readWallet, showGas } from '../wallets.ts'
import {
  quoteFromChain,
  quoteSwap,
  readSwapRequest,
  recentQuote,
  showSwap,
  swapPrice,
  toSwap,
  type SourcedQuote,
  type SwapRequest,
} from './price.ts'

export const ammTrade: Handler<'AMMTrade'> = async (request, context) => {
  const { network, venue, services, signal } = context
  const at = { signal }
  const wallet = readWallet(request, context)
  const swapRequest = await readSwapRequest(request, network, at)

  /** @param precondition is checked beside the plan, and must hold before anything is signed */
  async function tradeOn({ quote, source }: SourcedQuote, precondition?: () => Promise<void>) {
    const slippageRaw = slippageBound(quote, effectiveSlippage(venue.config, quote.route, request.allowedSlippage))
    const limitRaw = limitOf(swapRequest, request.limitPrice)
    const boundRaw = tighterBound(quote, slippageRaw, limitRaw, swapPrice(swapRequest, quote.amountRaw))
    const deadline = deadlineAfter(quote.head, tradeRules(venue.config, quote.route).ttlSeconds)
    const plan = tradingOf('AMM', venue).swap(quote, { recipient: wallet.address, boundRaw, deadline })
    // Computed before anything is sent: a plugin's quote that cannot be shown must not become an error about a trade that was sent.
    const shown = {
      ...showSwap(swapRequest, quote),
      limitPrice: swapPrice(swapRequest, boundRaw),
      // Absent if the exchange's contracts take no deadline.
      ...(plan.deadline !== undefined && { deadline: plan.deadline }),
    }
    const answer = ({ gas, nonce, txHash }: SubmitResult) => ({ ...shown, ...showGas(gas, network), nonce, txHash })
    // By the same blocks as the quote.
    const checkFromCache = () =>
      services.walletChecks.checkFromCache({ ...network, chainImpl: network.impl }, plan, wallet.address, wallet.feeOverrides)
    const submission = {
      ...context,
      ...wallet,
      plan,
      scope: { contracts: venue.contracts, valueRaw: maxValueRaw(swapRequest, boundRaw) },
      kind: 'trade' as const,
      about: aboutTrade(swapRequest),
      answer,
      precondition,
      ...(source === 'memory' && { checkFromCache }),
    }
    return answer(await submit(submission, context))
  }

  const last = recentQuote(swapRequest, venue)
  if (last && isYoung(last, tradeRules(venue.config, last.route).ttlSeconds)) return tradeOnLast(last)
  const quoted = await quoteSwap(swapRequest, context, at)
  try {
    return await tradeOn(quoted)
  } catch (error) {
    // There may be a new block that is not in memory yet.
    if (quoted.source === 'rpc' || !isRefused(error)) throw error
    return tradeOn(await quoteFromChain(swapRequest, venue, at))
  }

  /**
   * Saves a round trip if the price has not moved since the caller asked for it: the plan is checked while the price is asked for again.
   */
  async function tradeOnLast(last: Quote) {
    const fresh = quoteFromChain(swapRequest, venue, at)
    const hasMoved = fresh.then(({ quote }) => !isSameQuote(last, quote))
    try {
      return await tradeOn({ quote: last, source: 'rpc' }, async () => {
        if (await hasMoved) throw new Error('The price has moved: the plan must not be signed.')
      })
    } catch (error) {
      // Even if the price is the same, an exchange may refuse the old plan: the chain's clock may have passed its deadline.
      if ((await hasMoved) || isRefused(error)) return tradeOn(await fresh)
      throw error
    }
  }
}

/** The deadline counts from the quote's block: a quote is used if its age takes at most a tenth of the ttl. */
const isYoung = ({ head }: Quote, ttlSeconds: number): boolean => (Date.now() / 1000 - head.timestamp) * 10 <= ttlSeconds

/** Whether two quotes, perhaps of different blocks, have the same amount and route. */
const isSameQuote = (one: Quote, other: Quote) =>
  one.amountRaw === other.amountRaw && one.spender === other.spender && JSON.stringify(one.route) === JSON.stringify(other.route)

/** By the check, before anything was signed. */
const isRefused = (error: unknown) => error instanceof SluiceError && error.name === 'TRADE_FAILED'

/** The largest amount of the native coin that the swap may take. */
function maxValueRaw(swapRequest: SwapRequest, boundRaw: bigint): bigint {
  const { tokenIn, exact, amountRaw } = toSwap(swapRequest)
  if (!tokenIn.native) return 0n
  return exact === 'in' ? amountRaw : boundRaw
}

/** The limit in the quote's smallest units: at most this much for a BUY, at least this much for a SELL. */
function limitOf({ base, quote, side, amountRaw }: SwapRequest, limitPrice: string | undefined): bigint | undefined {
  if (limitPrice === undefined) return undefined
  return valueAt(limitPrice, { raw: amountRaw, decimals: base.decimals }, quote.decimals, side === 'BUY' ? 'down' : 'up')
}

/** What the journal keeps of a trade, in `about`, to show its fill in the caller's terms. */
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

/** @param about from `aboutTrade`: this server wrote the journal, and the entry's `kind` tells which `about` it has */
export function showTradeFill(fill: Fill, about: Json) {
  const { side, base, quote } = about as unknown as AboutTrade
  const [tokenIn, tokenOut] = side === 'BUY' ? [quote, base] : [base, quote]
  const [quoteRaw, baseRaw] = side === 'BUY' ? [fill.amountInRaw, fill.amountOutRaw] : [fill.amountOutRaw, fill.amountInRaw]
  return {
    amountIn: fromRaw(fill.amountInRaw, tokenIn.decimals),
    amountOut: fromRaw(fill.amountOutRaw, tokenOut.decimals),
    price: priceOf({ raw: quoteRaw, decimals: quote.decimals }, { raw: baseRaw, decimals: base.decimals }, side === 'BUY' ? 'up' : 'down'),
  }
}
