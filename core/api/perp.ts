import * as Type from 'typebox'
import type { Static, TObject, TSchema } from 'typebox'
import {
  endpoint,
  enveloped,
  request,
  type Endpoint,
  connectorFields,
  Decimal,
  gasFields,
  Slippage,
  TokenName,
  transactionFields,
  WalletAddress,
  unavailable,
} from './endpoint.ts'

const Name = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, expects: 'the name of an asset, such as ETH', description })

const marketFields = {
  quote: Name('The asset that the market is priced in, such as USD, in any letter case.'),
  base: Name('The asset that is traded, such as ETH, in any letter case.'),
}

/** BUY and SELL are aliases. The reader of fields ignores the letter case. */
const PerpSide = Type.Enum(['LONG', 'SHORT', 'BUY', 'SELL'], {
  expects: 'LONG or SHORT',
  description: 'LONG or SHORT, in any letter case; BUY and SELL mean the same.',
})

const wallet = { wallet_address: WalletAddress }
const terms = { allowedSlippage: Type.Optional(Slippage), ...transactionFields }

const amount = (description: string) => Type.String({ description })

const prices = {
  markPrice: amount("The market's own price."),
  indexPrice: amount('The price of the underlying, from outside of the exchange.'),
}

export const shownPosition = Type.Object({
  positionAmt: amount('Size in base, without sign; "0" without a position.'),
  positionSide: Type.Enum(['LONG', 'SHORT']),
  unrealizedProfit: amount('In quote, at the mark price; below 0 is a loss.'),
  leverage: amount("The position's value divided by the account's value, or by its smallest unit if that is 0 or less."),
  entryPrice: amount('Quote per one base.'),
  markPrice: amount('Quote per one base.'),
  liquidationPrice: amount('The mark price at which it could be liquidated, other prices unchanged; "0" if there is none.'),
  tickerSymbol: Type.String({ description: 'ETHUSD' }),
  pendingFundingPayment: amount('In quote; above 0 if the wallet receives it.'),
})

export const shownMargin = Type.Object({
  accountValue: amount('Collateral, profit and loss, and pending funding.'),
  freeCollateral: amount(
    'Collateral available for a new position, by the rule of the exchange. Below 0 by what is missing, where an exchange itself may show 0.',
  ),
  collateral: amount('What the wallet has in the exchange: deposits and realized profit, without unrealized profit and pending funding.'),
  initialMargin: amount('What its positions require to be opened.'),
  maintenanceMargin: amount('What its positions require not to be liquidated.'),
  marginRatio: amount('The account value divided by the value of the positions, possibly below 0; "0" without positions.'),
  leverage: amount(
    'The value of the positions divided by the account value, or by its smallest unit if that is 0 or less; "0" without positions.',
  ),
})

const { leverage, liquidationPrice, ...ofMarketAlone } = shownPosition.properties
/** Of a market. What the whole account decides is absent where another market of it does not answer. */
export const knownPosition = Type.Object({
  ...ofMarketAlone,
  leverage: Type.Optional(leverage),
  liquidationPrice: Type.Optional(liquidationPrice),
})

const knownMargin = Type.Partial(shownMargin, { description: 'A figure that needs a market which does not answer is absent.' })

const shownFunding = Type.Object({
  tickerSymbol: Type.String(),
  fundingRate: amount('Per fundingPeriodSeconds; above 0 if longs pay shorts.'),
  fundingPeriodSeconds: Type.Number(),
  ...prices,
  pendingFundingPayment: amount('In quote; above 0 if the wallet receives it.'),
  nextFundingTimestamp: Type.Optional(Type.Number({ description: 'Milliseconds since the Unix epoch.' })),
})

const blockNumber = Type.Number({ description: 'The block of the answer.' })

export const PerpAMMPriceRequest = request({ ...connectorFields, ...marketFields, amount: Decimal('Size in base.'), side: PerpSide })
export const PerpAMMPriceResponse = enveloped({
  quote: Type.String(),
  base: Type.String(),
  side: Type.Enum(['LONG', 'SHORT']),
  amount: amount('Size in base.'),
  price: amount('Price per one base to pay (LONG) or to receive (SHORT) for that size, fees included, rounded against the caller.'),
  expectedAmount: amount('The same for the whole size, in quote.'),
  fee: amount("The exchange's fee in it, in quote."),
  ...prices,
  indexTwapPrice: amount("Mean of the index price over the exchange's interval."),
  ...gasFields,
  blockNumber,
})

export const PerpAMMPositionRequest = request({ ...connectorFields, ...wallet, ...marketFields })
export const PerpAMMPositionResponse = enveloped({
  position: knownPosition,
  unavailable: unavailable({ pair: Type.String() }),
  blockNumber,
})

export const PerpAMMMarginRequest = request({ ...connectorFields, ...wallet })
export const PerpAMMMarginResponse = enveloped({ margin: knownMargin, unavailable: unavailable({ pair: Type.String() }), blockNumber })

export const PerpAMMFundingRequest = request({ ...connectorFields, ...wallet })
export const PerpAMMFundingResponse = enveloped({
  funding: Type.Array(shownFunding),
  unavailable: unavailable({ pair: Type.String() }),
  blockNumber,
})

export const PerpAMMOpenRequest = request({
  ...connectorFields,
  address: WalletAddress,
  ...marketFields,
  amount: Decimal('Size in base.'),
  side: PerpSide,
  margin: Decimal('Collateral that the caller assigns to it; nothing is deposited.'),
  leverage: Decimal('Size times price is at most margin times leverage.'),
  limitPrice: Type.Optional(Decimal('The worst price to accept: quote per one base, fees included.')),
  ...terms,
})
export const PerpAMMOpenResponse = enveloped({
  position: { ...shownPosition, description: 'As expected after the fill.' },
  price: amount('Expected at this block, fees included.'),
  limitPrice: amount('The limit that the chain enforces.'),
  deadline: Type.Number({ description: 'Seconds since the Unix epoch; enforced on chain.' }),
  blockNumber: Type.Number({ description: 'The block at which price, margin and leverage were checked.' }),
  ...gasFields,
  nonce: Type.Number(),
  txHash: Type.String(),
})

export const PerpAMMCloseRequest = request({
  ...connectorFields,
  address: WalletAddress,
  ...marketFields,
  limitPrice: Type.Optional(Decimal('The worst price to take for the closing side: quote per one base, fees included.')),
  ...terms,
})
export const PerpAMMCloseResponse = enveloped({
  amount: amount('Size in base that is expected to be closed: less than the position if the exchange closes it in parts.'),
  price: amount('Expected at this block, fees included.'),
  limitPrice: amount('The limit that the chain enforces.'),
  deadline: Type.Number({ description: 'Seconds since the Unix epoch; enforced on chain.' }),
  blockNumber,
  ...gasFields,
  nonce: Type.Number(),
  txHash: Type.String(),
})

export const PerpAMMMarketPricesRequest = request({ ...connectorFields, ...marketFields })
export const PerpAMMMarketPricesResponse = enveloped({
  ...prices,
  indexTwapPrice: amount("Mean of the index price over the exchange's interval."),
  blockNumber,
})

export const PerpAMMMarketStatusRequest = request({ ...connectorFields, ...marketFields })
export const PerpAMMMarketStatusResponse = enveloped({
  isActive: Type.Boolean({ description: 'Whether positions can be opened.' }),
  status: Type.Enum(['open', 'paused', 'closed']),
  maxLeverage: amount('The most leverage that a position may be opened with.'),
  blockNumber,
})

export const PerpAMMPairsRequest = request(connectorFields)
export const PerpAMMPairsResponse = enveloped({
  pairs: Type.Array(Type.String(), { description: 'ETHUSD, …: those that are paused or closed too.' }),
  unavailable: unavailable({ pair: Type.String() }),
})

export const PerpAMMBalanceRequest = request({ ...connectorFields, address: WalletAddress })
export const PerpAMMBalanceResponse = enveloped({
  balance: amount('Collateral in the exchange, before profit that is not realized.'),
  token: Type.String({ description: 'Symbol of the token that accounts are kept in.' }),
  blockNumber,
})

export const PerpAMMEstimateGasRequest = request(connectorFields)
export const PerpAMMEstimateGasResponse = enveloped(gasFields)

const MoveRequest = request({
  ...connectorFields,
  address: WalletAddress,
  token: { ...TokenName, description: 'The token that accounts are kept in; `balance` names it.' },
  amount: Decimal(
    "Of the token. A deposit needs an allowance of the spender that has the connector's name: the contract that takes collateral (`vaultAddress` in the " +
      'configuration), and not `routerAddress`. To open, to close and to withdraw needs none.',
  ),
  ...transactionFields,
})
const MoveResponse = enveloped({ token: Type.String(), amount: Type.String(), ...gasFields, nonce: Type.Number(), txHash: Type.String() })

export const PerpAMMDepositRequest = MoveRequest
export const PerpAMMDepositResponse = MoveResponse
export const PerpAMMWithdrawRequest = MoveRequest
export const PerpAMMWithdrawResponse = MoveResponse

export type PerpAMMPriceRequest = Static<typeof PerpAMMPriceRequest>
export type PerpAMMPriceResponse = Static<typeof PerpAMMPriceResponse>
export type PerpAMMPositionRequest = Static<typeof PerpAMMPositionRequest>
export type PerpAMMPositionResponse = Static<typeof PerpAMMPositionResponse>
export type PerpAMMMarginRequest = Static<typeof PerpAMMMarginRequest>
export type PerpAMMMarginResponse = Static<typeof PerpAMMMarginResponse>
export type PerpAMMFundingRequest = Static<typeof PerpAMMFundingRequest>
export type PerpAMMFundingResponse = Static<typeof PerpAMMFundingResponse>
export type PerpAMMOpenRequest = Static<typeof PerpAMMOpenRequest>
export type PerpAMMOpenResponse = Static<typeof PerpAMMOpenResponse>
export type PerpAMMCloseRequest = Static<typeof PerpAMMCloseRequest>
export type PerpAMMCloseResponse = Static<typeof PerpAMMCloseResponse>
export type PerpAMMMarketPricesRequest = Static<typeof PerpAMMMarketPricesRequest>
export type PerpAMMMarketPricesResponse = Static<typeof PerpAMMMarketPricesResponse>
export type PerpAMMMarketStatusRequest = Static<typeof PerpAMMMarketStatusRequest>
export type PerpAMMMarketStatusResponse = Static<typeof PerpAMMMarketStatusResponse>
export type PerpAMMPairsRequest = Static<typeof PerpAMMPairsRequest>
export type PerpAMMPairsResponse = Static<typeof PerpAMMPairsResponse>
export type PerpAMMBalanceRequest = Static<typeof PerpAMMBalanceRequest>
export type PerpAMMBalanceResponse = Static<typeof PerpAMMBalanceResponse>
export type PerpAMMEstimateGasRequest = Static<typeof PerpAMMEstimateGasRequest>
export type PerpAMMEstimateGasResponse = Static<typeof PerpAMMEstimateGasResponse>
export type PerpAMMDepositRequest = Static<typeof PerpAMMDepositRequest>
export type PerpAMMDepositResponse = Static<typeof PerpAMMDepositResponse>
export type PerpAMMWithdrawRequest = Static<typeof PerpAMMWithdrawRequest>
export type PerpAMMWithdrawResponse = Static<typeof PerpAMMWithdrawResponse>

const perp = { set: 'PERP_AMM', on: 'connector' } as const
const reading = { ...perp, method: 'GET', permission: 'read' } as const
const acting = { ...perp, method: 'POST', permission: 'trade', wallet: true, acts: true } as const
/** An exchange may have no figures for a while, for example while its price feed is stale. */
const known = ['PRICE_FAILED'] as const
const ofMarket = ['PAIR_NOT_FOUND', ...known] as const
const trading = ['PAIR_NOT_FOUND', 'PRICE_FAILED', 'SWAP_PRICE_EXCEEDS_LIMIT_PRICE', 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE'] as const

/** Every endpoint has both prefixes. */
function bothPrefixes<
  const Verb extends string,
  const Path extends string,
  Req extends TObject,
  Res extends TSchema,
  const Method extends Endpoint['method'],
>(verb: Verb, path: Path, definition: Omit<Endpoint<string, Req, Res, 'connector', Method>, 'name' | 'path'>) {
  return [
    endpoint<`PerpAMM${Verb}`, Req, Res, 'connector', Method, `/perpAMM/${Path}`>({
      ...definition,
      name: `PerpAMM${verb}`,
      path: `/perpAMM/${path}`,
    }),
    endpoint<`Perp${Verb}`, Req, Res, 'connector', Method, `/perp/${Path}`>({ ...definition, name: `Perp${verb}`, path: `/perp/${path}` }),
  ] as const
}

export const perpAMMEndpoints = [
  ...bothPrefixes('Price', 'price', {
    ...reading,
    summary: "The price of opening a position, by the exchange's own calculation.",
    errors: ofMarket,
    request: PerpAMMPriceRequest,
    response: PerpAMMPriceResponse,
  }),
  ...bothPrefixes('Position', 'position', {
    ...reading,
    wallet: true,
    summary: "A wallet's position in a market.",
    errors: ofMarket,
    request: PerpAMMPositionRequest,
    response: PerpAMMPositionResponse,
  }),
  ...bothPrefixes('Margin', 'margin', {
    ...reading,
    wallet: true,
    summary: "The value of a wallet's account, and the margin that it requires.",
    errors: known,
    request: PerpAMMMarginRequest,
    response: PerpAMMMarginResponse,
  }),
  ...bothPrefixes('Funding', 'funding', {
    ...reading,
    wallet: true,
    summary: 'Funding of the markets in which a wallet has positions.',
    errors: known,
    request: PerpAMMFundingRequest,
    response: PerpAMMFundingResponse,
  }),
  ...bothPrefixes('Open', 'open', {
    ...acting,
    summary: 'Opens, increases, reduces or reverses a position; the chain enforces price limit and deadline.',
    errors: [...trading, 'INSUFFICIENT_MARGIN'],
    request: PerpAMMOpenRequest,
    response: PerpAMMOpenResponse,
  }),
  ...bothPrefixes('Close', 'close', {
    ...acting,
    summary: 'Closes a position; the chain enforces price limit and deadline.',
    errors: [...trading, 'INSUFFICIENT_MARGIN', 'UNKNOWN_POSITION'],
    request: PerpAMMCloseRequest,
    response: PerpAMMCloseResponse,
  }),
  ...bothPrefixes('MarketPrices', 'market-prices', {
    ...reading,
    summary: 'Mark price, index price and its mean.',
    errors: ofMarket,
    request: PerpAMMMarketPricesRequest,
    response: PerpAMMMarketPricesResponse,
  }),
  ...bothPrefixes('MarketStatus', 'market-status', {
    ...reading,
    summary: 'Whether a market accepts positions.',
    errors: ofMarket,
    request: PerpAMMMarketStatusRequest,
    response: PerpAMMMarketStatusResponse,
  }),
  ...bothPrefixes('Pairs', 'pairs', {
    ...reading,
    summary: 'All markets.',
    request: PerpAMMPairsRequest,
    response: PerpAMMPairsResponse,
  }),
  ...bothPrefixes('Balance', 'balance', {
    ...reading,
    wallet: true,
    summary: "A wallet's collateral in the exchange.",
    errors: known,
    request: PerpAMMBalanceRequest,
    response: PerpAMMBalanceResponse,
  }),
  ...bothPrefixes('EstimateGas', 'estimateGas', {
    ...perp,
    method: 'POST',
    permission: 'read',
    summary: 'The gas cost of opening a position.',
    request: PerpAMMEstimateGasRequest,
    response: PerpAMMEstimateGasResponse,
  }),
  ...bothPrefixes('Deposit', 'deposit', {
    ...acting,
    summary: 'Deposits collateral into the exchange.',
    errors: ['TOKEN_NOT_SUPPORTED', 'INSUFFICIENT_ALLOWANCE', ...known],
    request: MoveRequest,
    response: MoveResponse,
  }),
  ...bothPrefixes('Withdraw', 'withdraw', {
    ...acting,
    summary: 'Withdraws collateral from the exchange to the same wallet.',
    errors: ['TOKEN_NOT_SUPPORTED', 'INSUFFICIENT_MARGIN', ...known],
    request: MoveRequest,
    response: MoveResponse,
  }),
]

// `/perp` and `/perpAMM` are the same endpoints: the interfaces have the names of both URLs.
export {
  PerpAMMPriceRequest as PerpPriceRequest,
  PerpAMMPriceResponse as PerpPriceResponse,
  PerpAMMPositionRequest as PerpPositionRequest,
  PerpAMMPositionResponse as PerpPositionResponse,
  PerpAMMMarginRequest as PerpMarginRequest,
  PerpAMMMarginResponse as PerpMarginResponse,
  PerpAMMFundingRequest as PerpFundingRequest,
  PerpAMMFundingResponse as PerpFundingResponse,
  PerpAMMOpenRequest as PerpOpenRequest,
  PerpAMMOpenResponse as PerpOpenResponse,
  PerpAMMCloseRequest as PerpCloseRequest,
  PerpAMMCloseResponse as PerpCloseResponse,
  PerpAMMMarketPricesRequest as PerpMarketPricesRequest,
  PerpAMMMarketPricesResponse as PerpMarketPricesResponse,
  PerpAMMMarketStatusRequest as PerpMarketStatusRequest,
  PerpAMMMarketStatusResponse as PerpMarketStatusResponse,
  PerpAMMPairsRequest as PerpPairsRequest,
  PerpAMMPairsResponse as PerpPairsResponse,
  PerpAMMBalanceRequest as PerpBalanceRequest,
  PerpAMMBalanceResponse as PerpBalanceResponse,
  PerpAMMEstimateGasRequest as PerpEstimateGasRequest,
  PerpAMMEstimateGasResponse as PerpEstimateGasResponse,
  PerpAMMDepositRequest as PerpDepositRequest,
  PerpAMMDepositResponse as PerpDepositResponse,
  PerpAMMWithdrawRequest as PerpWithdrawRequest,
  PerpAMMWithdrawResponse as PerpWithdrawResponse,
}
