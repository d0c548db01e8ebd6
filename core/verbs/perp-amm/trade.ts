import { SluiceError } from '../../api/index.ts'
import type { PerpAMM, PerpClosing, PerpMarketName, PerpOrder, PerpQuote, Plan } from '../../contracts/index.ts'
import type { Submitted } from '../../transactions/index.ts'
import { deadlineAfter } from '../amm/deadline.ts'
import type { Call, On, Services } from '../context.ts'
import { readFees, showGas } from '../fees.ts'
import { effectiveSlippage, slippageBound, tighterBound } from '../slippage.ts'
import { readAddress, requireKey } from '../wallets.ts'
import { aboutPosition, readAboutPosition } from './about-position.ts'
import { afterFill } from './expected.ts'
import { fromRaw } from '../amounts.ts'
import { readStake, requireMargin } from './margin-check.ts'
import { findMarket, perpOf, requireOpen, tickerOf } from './market.ts'
import { limitOf, orderPrice, quotedOf, readPerpOrder, showSize } from './order.ts'
import type { PerpVerb } from './perp-verb.ts'
import { showPosition } from './show-position.ts'

type Context = Call & { services: Services } & On<'connector'>

interface TradeFields {
  address: string
  limitPrice?: string
  allowedSlippage?: string
  nonce?: number
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
}

/** Opens, adds to, reduces or turns a position. Margin and leverage are checked at the quote's block. */
export const open: PerpVerb<'Open'> = async (request, context) => {
  const { network, venue, services, signal } = context
  const at = { signal }
  const perp = perpOf(venue)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  const [order, { settlement }] = await Promise.all([readPerpOrder(request, venue, at), perp.listed(at)])
  const stake = readStake(request, settlement)
  const quote = await perp.quote(order, address, at)
  const { account, position } = quote
  if (!account || !position) throw new Error(`${venue.connector} quoted for a wallet without its account and position.`)
  requireOpen(quote.market)
  requireMargin(quote, position, account, stake)
  const after = afterFill(quote, position, account)
  const shown = { position: showPosition(after.position, after.account) }
  return submitTrade({ quote, shown, planOf: (terms) => perp.open(quote, terms) }, { ...request, address }, context)
}

/** Closes all that a wallet has in a market, or as much of it as the exchange lets go at once. */
export const close: PerpVerb<'Close'> = async (request, context) => {
  const { network, venue, services, signal } = context
  const at = { signal }
  const perp = perpOf(venue)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  const market = await findMarket(request, venue, at)
  const closing = await perp.closing(address, market, at)
  if (!closing) throw await noPosition(address, market, context)
  if (closing.market.status === 'paused') requireOpen(closing.market)
  const shown = { amount: showSize(closing.order) }
  return submitTrade({ quote: closing, shown, planOf: (terms) => perp.close(closing, terms) }, { ...request, address }, context)
}

/** What open and close do alike: the bound, the deadline, the submission. */
async function submitTrade<S extends object>(
  {
    quote: { order, quoteRaw, head },
    shown,
    planOf,
  }: { quote: PerpQuote | PerpClosing; shown: S; planOf: (terms: Parameters<PerpAMM['open']>[1]) => Plan },
  request: TradeFields,
  context: Context,
) {
  const { network, venue, services, signal } = context
  const { address, nonce } = request
  const quoted = quotedOf(order, quoteRaw)
  const price = orderPrice(order, quoteRaw)
  const slippage = slippageBound(quoted, effectiveSlippage(venue.config, [], request.allowedSlippage))
  const boundRaw = tighterBound(quoted, slippage, limitOf(order, request.limitPrice), price)
  const deadline = deadlineAfter(head, venue.config.ttl)
  const plan = planOf({ owner: address, boundRaw, deadline })
  const bounds = { price, limitPrice: orderPrice(order, boundRaw), deadline, blockNumber: Number(head.number) }
  const answer = ({ gas, ...sent }: Submitted) => ({
    ...shown,
    ...bounds,
    ...showGas(gas, network),
    nonce: sent.nonce,
    txHash: sent.txHash,
  })
  const scope = { contracts: venue.contracts, valueRaw: 0n }
  const wish = readFees(request, network)
  return answer(
    await services.transactions.submit(
      { ...context, address, plan, scope, kind: 'position', nonce, wish, about: aboutPosition(order), answer },
      signal,
    ),
  )
}

/** Nothing is there to close; where a liquidation took it since the wallet's last trade there, it is said. */
async function noPosition(address: string, market: PerpMarketName, { network, venue, services, signal }: Context): Promise<SluiceError> {
  const ticker = tickerOf(market)
  const { entries } = await services.transactions.list({ chain: network.chain, network: network.network, address, limit: 100 })
  const last = entries.find(
    ({ kind, connector, landed, about }) =>
      kind === 'position' && connector === venue.connector && landed?.ok === true && readAboutPosition(about).ticker === ticker,
  )?.landed
  const suffered = last ? await perpOf(venue).liquidations(address, market, last.blockNumber, { signal }) : []
  if (suffered.length === 0)
    return new SluiceError('UNKNOWN_POSITION', `${address} has no position in ${ticker}: there is nothing to close.`)
  const liquidations = suffered.map(({ txHash, blockNumber, sizeRaw }) => ({
    txHash,
    blockNumber,
    size: fromRaw(sizeRaw, market.baseDecimals),
  }))
  const hashes = liquidations.map(({ txHash }) => txHash).join(', ')
  return new SluiceError(
    'UNKNOWN_POSITION',
    `${address} has no position in ${ticker} any more: it was liquidated in ${hashes}. There is nothing to close.`,
    { details: { liquidations } },
  )
}
