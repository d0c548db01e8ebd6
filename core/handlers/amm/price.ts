import type { AMMPriceResponse } from '../../api/index.ts'
import type { At, GasTerms, Plan, Quote } from '../../contracts/index.ts'
import { after } from '../../verbs/after.ts'
import { atOf } from '../../verbs/at-of.ts'
import type { Verb } from '../context.ts'
import { showGas } from '../../verbs/fees.ts'
import { effectiveSlippage, slippageBound, tradeRules } from '../slippage.ts'
import { readAddress } from '../wallets.ts'
import type { NetworkEntry, VenueEntry } from '../registry.ts'
import { ammOf, orderPrice, priceImpact, quoteOrder, readOrder, showOrder, type Order, type Sourced } from '../../verbs/amm/swap.ts'

export const ammPrice: Verb<'AMMPrice'> = (request, call) => {
  const { network, venue } = call
  const at = atOf(call)
  const wallet = request.address === undefined ? undefined : readAddress(network, request.address)
  return after(readOrder(request, network, at), (order) =>
    after(quoteOrder(order, request.version, call, at), (sourced) => {
      const { quote } = sourced
      const bound = slippageBound(quote, effectiveSlippage(venue.config, quote.route, request.allowedSlippage))
      const terms = network.impl.gas(quote.gasUnits, quote.head, at)
      if (wallet === undefined) return after(terms, (gas) => shownBefore(order, sourced, bound, gas, network))
      const allowed = allowanceOf(wallet, quote, bound, network, venue, at)
      return Promise.all([terms, allowed]).then(([gas, allowance]) => ({
        ...show(order, sourced, bound, gas, network),
        ...(allowance && { allowance }),
      }))
    }),
  )
}

/** The last answer that was made of a quote, and what else it goes by. */
const shown = new WeakMap<Quote, { bound: bigint; gas: GasTerms; answer: ReturnType<typeof show> }>()

/** A quote from memory is the same object until a block changes it: who asks again is answered the same. */
function shownBefore(order: Order, sourced: Sourced, bound: bigint, gas: GasTerms, network: NetworkEntry) {
  const known = shown.get(sourced.quote)
  if (known && known.bound === bound && known.gas.gasPriceRaw === gas.gasPriceRaw && known.gas.gasCostRaw === gas.gasCostRaw)
    return known.answer
  const answer = show(order, sourced, bound, gas, network)
  shown.set(sourced.quote, { bound, gas, answer })
  return answer
}

function show(order: Order, { quote, source }: Sourced, bound: bigint, gas: GasTerms, network: NetworkEntry) {
  // What is spread comes last: V8 takes sixty times as long for the object when fields follow it.
  return {
    priceImpact: priceImpact(quote),
    route: [...quote.route],
    blockNumber: Number(quote.head.number),
    source,
    slippagePrice: orderPrice(order, bound),
    ...showOrder(order, quote),
    ...showGas(gas, network),
  }
}

/** Whether the wallet lets the exchange move what this swap would take at most. */
async function allowanceOf(
  wallet: string,
  quote: Quote,
  boundRaw: bigint,
  { impl, tokens }: NetworkEntry,
  venue: VenueEntry,
  at: At,
): Promise<AMMPriceResponse['allowance']> {
  const { ttlSeconds } = tradeRules(venue.config, quote.route)
  const plan: Plan = ammOf(venue).swap(quote, { recipient: wallet, boundRaw, deadline: quote.head.timestamp + ttlSeconds })
  for (const need of plan.needs) {
    if (need.is !== 'allowance' || !impl.evm) continue
    const token = await tokens.resolve(need.token, 'token', at)
    const [[current = 0n] = []] = await impl.evm.allowances(wallet, [need.spender], [token], at)
    return { spender: need.spender, sufficient: current >= need.amountRaw }
  }
  return { spender: quote.spender, sufficient: true }
}
