import type { PerpAccount, PerpPrices } from '../../contracts/index.ts'
import { showGas } from '../fees.ts'
import { fromRaw } from '../amounts.ts'
import { readAddress } from '../wallets.ts'
import { fromSigned, showQuotient, showRatio } from './figures.ts'
import { findMarket, perpOf, tickerOf } from './market.ts'
import { orderPrice, readPerpOrder, showSize } from './order.ts'
import type { PerpVerb } from './perp-verb.ts'
import { showPosition } from './show-position.ts'

// What is read of a perpetual exchange: each but `pairs` in one round trip, at one block.

export const price: PerpVerb<'Price'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const order = await readPerpOrder(request, venue, at)
  const { market, quoteRaw, feeRaw, prices, gasUnits, head } = await perpOf(venue).quote(order, undefined, at)
  return {
    quote: market.quote,
    base: market.base,
    side: order.side,
    amount: showSize(order),
    price: orderPrice(order, quoteRaw),
    expectedAmount: fromRaw(quoteRaw, market.quoteDecimals),
    fee: fromRaw(feeRaw, market.quoteDecimals),
    ...showPrices(prices),
    ...showGas(await network.impl.gas(gasUnits, head, at), network),
    blockNumber: Number(head.number),
  }
}

export const position: PerpVerb<'Position'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const read = await perpOf(venue).position(owner, await findMarket(request, venue, at), at)
  return { position: showPosition(read.position, read.account), blockNumber: Number(read.head.number) }
}

export const margin: PerpVerb<'Margin'> = async (request, { network, venue, signal }) => {
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const { account, head } = await perpOf(venue).account(owner, { signal })
  return { margin: showAccount(account), blockNumber: Number(head.number) }
}

export const funding: PerpVerb<'Funding'> = async (request, { network, venue, signal }) => {
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const read = await perpOf(venue).funding(owner, { signal })
  const shown = read.funding.map(({ market, rate, periodSeconds, index, mark, pendingRaw, nextAt }) => ({
    tickerSymbol: tickerOf(market),
    fundingRate: showRatio(rate, 'down'),
    fundingPeriodSeconds: periodSeconds,
    markPrice: showRatio(mark, 'down'),
    indexPrice: showRatio(index, 'down'),
    pendingFundingPayment: fromSigned(pendingRaw, market.quoteDecimals),
    ...(nextAt !== undefined && { nextFundingTimestamp: nextAt * 1000 }),
  }))
  return { funding: shown, blockNumber: Number(read.head.number) }
}

export const marketPrices: PerpVerb<'MarketPrices'> = async (request, { venue, signal }) => {
  const at = { signal }
  const { prices, head } = await perpOf(venue).prices(await findMarket(request, venue, at), at)
  return { ...showPrices(prices), blockNumber: Number(head.number) }
}

export const marketStatus: PerpVerb<'MarketStatus'> = async (request, { venue, signal }) => {
  const at = { signal }
  const { market, head } = await perpOf(venue).prices(await findMarket(request, venue, at), at)
  const { status, maxLeverage } = market
  return { isActive: status === 'open', status, maxLeverage: showRatio(maxLeverage, 'down'), blockNumber: Number(head.number) }
}

export const pairs: PerpVerb<'Pairs'> = async (_request, { venue, signal }) => {
  const { markets } = await perpOf(venue).listed({ signal })
  return { pairs: markets.map(tickerOf) }
}

export const balance: PerpVerb<'Balance'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const perp = perpOf(venue)
  const owner = readAddress(network, request.address)
  const [{ settlement }, { account, head }] = await Promise.all([perp.listed(at), perp.account(owner, at)])
  return {
    balance: fromSigned(account.collateralRaw, account.decimals),
    token: settlement.symbol,
    blockNumber: Number(head.number),
  }
}

export const estimateGas: PerpVerb<'EstimateGas'> = async (_request, { network, venue, signal }) =>
  showGas(await network.impl.gas(perpOf(venue).typicalGasUnits, undefined, { signal }), network)

const showPrices = ({ mark, index, indexTwap }: PerpPrices) => ({
  markPrice: showRatio(mark, 'down'),
  indexPrice: showRatio(index, 'down'),
  indexTwapPrice: showRatio(indexTwap, 'down'),
})

function showAccount({ decimals, valueRaw, notionalRaw, ...account }: PerpAccount) {
  return {
    accountValue: fromSigned(valueRaw, decimals),
    freeCollateral: fromSigned(account.freeCollateralRaw, decimals),
    collateral: fromSigned(account.collateralRaw, decimals),
    initialMargin: fromSigned(account.initialMarginRaw, decimals),
    maintenanceMargin: fromSigned(account.maintenanceMarginRaw, decimals),
    marginRatio: showQuotient(valueRaw, notionalRaw, 'down'),
    leverage: showQuotient(notionalRaw, valueRaw, 'up'),
  }
}
