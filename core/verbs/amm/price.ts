import type { AMMPriceResponse } from '../../api/index.ts'
import type { At, Plan, Quote } from '../../contracts/index.ts'
import type { Verb } from '../context.ts'
import { showGas } from '../fees.ts'
import { effectiveSlippage, slippageBound, tradeRules } from '../slippage.ts'
import { readAddress } from '../wallets.ts'
import type { NetworkEntry, VenueEntry } from '../directory.ts'
import { ammOf, orderPrice, priceImpact, quoteOrder, readOrder, showOrder } from './swap.ts'

export const ammPrice: Verb<'AMMPrice'> = async (request, { network, venue, services, signal }) => {
  const at = { signal }
  const wallet = request.address === undefined ? undefined : readAddress(network, request.address)
  const order = await readOrder(request, network, at)
  const { quote, source } = await quoteOrder(order, request.version, { network, venue, services }, at)
  const bound = slippageBound(quote, effectiveSlippage(venue.config, quote.route, request.allowedSlippage))
  const [gas, allowance] = await Promise.all([
    network.impl.gas(quote.gasUnits, quote.head, at),
    wallet === undefined ? undefined : allowanceOf(wallet, quote, bound, network, venue, at),
  ])
  return {
    ...showOrder(order, quote),
    ...showGas(gas, network),
    priceImpact: priceImpact(quote),
    route: [...quote.route],
    blockNumber: Number(quote.head.number),
    source,
    slippagePrice: orderPrice(order, bound),
    ...(allowance && { allowance }),
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
