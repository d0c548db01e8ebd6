import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { endpoint, enveloped, request, type Endpoint } from './endpoint.ts'
import { connectorFields, Decimal, gasFields, Slippage, TokenName, transactionFields, WalletAddress } from './fields.ts'

const Name = (description: string) =>
  Type.String({ minLength: 1, maxLength: 64, expects: 'the name of what is priced, such as ETH', description })

const marketFields = {
  quote: Name('What the market is priced in, such as USD, in any letter case.'),
  base: Name('What the market is about, such as ETH, in any letter case.'),
}

/** BUY and SELL are understood; the reader folds the letter case. */
const PerpSide = Type.Enum(['LONG', 'SHORT', 'BUY', 'SELL'], {
  expects: 'LONG or SHORT',
  description: 'LONG or SHORT, in any letter case; BUY and SELL mean the same.',
})

const wallet = { wallet_address: WalletAddress }
const terms = { allowedSlippage: Type.Optional(Slippage), ...transactionFields }

const amount = (description: string) => Type.String({ description })

const prices = {
  markPrice: amount("What the market's own trading says."),
  indexPrice: amount('What the world outside says.'),
}

const shownPosition = Type.Object({
  positionAmt: amount('Size in base, without sign; "0" where there is none.'),
  positionSide: Type.Enum(['LONG', 'SHORT']),
  unrealizedProfit: amount('In quote, at the mark price; below 0 is a loss.'),
  leverage: amount("What the position is worth by the account's value."),
  entryPrice: amount('Quote per one base.'),
  markPrice: amount('Quote per one base.'),
  liquidationPrice: amount('The mark price at which it could be liquidated, other prices unchanged; "0" where none would do.'),
  tickerSymbol: Type.String({ description: 'ETHUSD' }),
  pendingFundingPayment: amount('In quote; above 0 where the wallet will receive it.'),
})

const shownMargin = Type.Object({
  accountValue: amount('Collateral, what was earned and lost, and pending funding.'),
  freeCollateral: amount('What could be put behind a new position; below 0 where there is too little.'),
  collateral: amount('What the wallet has in the exchange, before profit that is not realized.'),
  initialMargin: amount('What its positions need to be opened.'),
  maintenanceMargin: amount('What its positions need not to be liquidated.'),
  marginRatio: amount('The account value by what the positions are worth; "0" without positions.'),
  leverage: amount('What the positions are worth by the account value; "0" without positions.'),
})

const shownFunding = Type.Object({
  tickerSymbol: Type.String(),
  fundingRate: amount('Per fundingPeriodSeconds; above 0 where longs pay shorts.'),
  fundingPeriodSeconds: Type.Number(),
  ...prices,
  pendingFundingPayment: amount('In quote; above 0 where the wallet will receive it.'),
  nextFundingTimestamp: Type.Optional(Type.Number({ description: 'Milliseconds since the Unix epoch.' })),
})

const blockNumber = Type.Number({ description: 'The block that the answer holds for.' })

const PriceRequest = request({ ...connectorFields, ...marketFields, amount: Decimal('Size in base.'), side: PerpSide })
const PriceResponse = enveloped({
  quote: Type.String(),
  base: Type.String(),
  side: Type.Enum(['LONG', 'SHORT']),
  amount: amount('Size in base.'),
  price: amount('What opening that size would cost (LONG) or bring (SHORT) per one base, fees included, rounded against the caller.'),
  expectedAmount: amount('The same for the whole size, in quote.'),
  fee: amount("The exchange's part of it, in quote."),
  ...prices,
  indexTwapPrice: amount("Mean of the index price over the exchange's interval."),
  ...gasFields,
  blockNumber,
})

const PositionRequest = request({ ...connectorFields, ...wallet, ...marketFields })
const PositionResponse = enveloped({ position: shownPosition, blockNumber })

const MarginRequest = request({ ...connectorFields, ...wallet })
const MarginResponse = enveloped({ margin: shownMargin, blockNumber })

const FundingRequest = request({ ...connectorFields, ...wallet })
const FundingResponse = enveloped({ funding: Type.Array(shownFunding), blockNumber })

const OpenRequest = request({
  ...connectorFields,
  address: WalletAddress,
  ...marketFields,
  amount: Decimal('Size in base.'),
  side: PerpSide,
  margin: Decimal('Collateral that the caller means to put behind it; nothing is deposited.'),
  leverage: Decimal('Size times price is at most margin times leverage.'),
  limitPrice: Type.Optional(Decimal('The worst price to take: quote per one base, fees included.')),
  ...terms,
})
const OpenResponse = enveloped({
  position: { ...shownPosition, description: 'As it is expected after the fill.' },
  price: amount('Expected at this block, fees included.'),
  limitPrice: amount('The bound that is on chain.'),
  deadline: Type.Number({ description: 'Seconds since the Unix epoch; enforced on chain.' }),
  blockNumber: Type.Number({ description: 'The block at which price, margin and leverage were checked.' }),
  ...gasFields,
  nonce: Type.Number(),
  txHash: Type.String(),
})

const CloseRequest = request({
  ...connectorFields,
  address: WalletAddress,
  ...marketFields,
  limitPrice: Type.Optional(Decimal('The worst price to take for the closing side: quote per one base, fees included.')),
  ...terms,
})
const CloseResponse = enveloped({
  amount: amount('Size in base that is expected to be closed: less than the position where the exchange closes a part at a time.'),
  price: amount('Expected at this block, fees included.'),
  limitPrice: amount('The bound that is on chain.'),
  deadline: Type.Number({ description: 'Seconds since the Unix epoch; enforced on chain.' }),
  blockNumber,
  ...gasFields,
  nonce: Type.Number(),
  txHash: Type.String(),
})

const MarketPricesRequest = request({ ...connectorFields, ...marketFields })
const MarketPricesResponse = enveloped({
  ...prices,
  indexTwapPrice: amount("Mean of the index price over the exchange's interval."),
  blockNumber,
})

const MarketStatusRequest = request({ ...connectorFields, ...marketFields })
const MarketStatusResponse = enveloped({
  isActive: Type.Boolean({ description: 'Whether positions can be opened.' }),
  status: Type.Enum(['open', 'paused', 'closed']),
  maxLeverage: amount('The most leverage that a position may be opened with.'),
  blockNumber,
})

const PairsRequest = request(connectorFields)
const PairsResponse = enveloped({
  pairs: Type.Array(Type.String(), { description: 'ETHUSD, …: those that are paused or closed too.' }),
})

const BalanceRequest = request({ ...connectorFields, address: WalletAddress })
const BalanceResponse = enveloped({
  balance: amount('Collateral in the exchange, before profit that is not realized.'),
  token: Type.String({ description: 'Symbol of the token that accounts are kept in.' }),
  blockNumber,
})

const EstimateGasRequest = request(connectorFields)
const EstimateGasResponse = enveloped(gasFields)

const MoveRequest = request({
  ...connectorFields,
  address: WalletAddress,
  token: TokenName,
  amount: Decimal('Of the token.'),
  ...transactionFields,
})
const MoveResponse = enveloped({ token: Type.String(), amount: Type.String(), ...gasFields, nonce: Type.Number(), txHash: Type.String() })

export type PerpAMMPriceRequest = Static<typeof PriceRequest>
export type PerpAMMPriceResponse = Static<typeof PriceResponse>
export type PerpPriceRequest = Static<typeof PriceRequest>
export type PerpPriceResponse = Static<typeof PriceResponse>
export type PerpAMMPositionRequest = Static<typeof PositionRequest>
export type PerpAMMPositionResponse = Static<typeof PositionResponse>
export type PerpPositionRequest = Static<typeof PositionRequest>
export type PerpPositionResponse = Static<typeof PositionResponse>
export type PerpAMMMarginRequest = Static<typeof MarginRequest>
export type PerpAMMMarginResponse = Static<typeof MarginResponse>
export type PerpMarginRequest = Static<typeof MarginRequest>
export type PerpMarginResponse = Static<typeof MarginResponse>
export type PerpAMMFundingRequest = Static<typeof FundingRequest>
export type PerpAMMFundingResponse = Static<typeof FundingResponse>
export type PerpFundingRequest = Static<typeof FundingRequest>
export type PerpFundingResponse = Static<typeof FundingResponse>
export type PerpAMMOpenRequest = Static<typeof OpenRequest>
export type PerpAMMOpenResponse = Static<typeof OpenResponse>
export type PerpOpenRequest = Static<typeof OpenRequest>
export type PerpOpenResponse = Static<typeof OpenResponse>
export type PerpAMMCloseRequest = Static<typeof CloseRequest>
export type PerpAMMCloseResponse = Static<typeof CloseResponse>
export type PerpCloseRequest = Static<typeof CloseRequest>
export type PerpCloseResponse = Static<typeof CloseResponse>
export type PerpAMMMarketPricesRequest = Static<typeof MarketPricesRequest>
export type PerpAMMMarketPricesResponse = Static<typeof MarketPricesResponse>
export type PerpMarketPricesRequest = Static<typeof MarketPricesRequest>
export type PerpMarketPricesResponse = Static<typeof MarketPricesResponse>
export type PerpAMMMarketStatusRequest = Static<typeof MarketStatusRequest>
export type PerpAMMMarketStatusResponse = Static<typeof MarketStatusResponse>
export type PerpMarketStatusRequest = Static<typeof MarketStatusRequest>
export type PerpMarketStatusResponse = Static<typeof MarketStatusResponse>
export type PerpAMMPairsRequest = Static<typeof PairsRequest>
export type PerpAMMPairsResponse = Static<typeof PairsResponse>
export type PerpPairsRequest = Static<typeof PairsRequest>
export type PerpPairsResponse = Static<typeof PairsResponse>
export type PerpAMMBalanceRequest = Static<typeof BalanceRequest>
export type PerpAMMBalanceResponse = Static<typeof BalanceResponse>
export type PerpBalanceRequest = Static<typeof BalanceRequest>
export type PerpBalanceResponse = Static<typeof BalanceResponse>
export type PerpAMMEstimateGasRequest = Static<typeof EstimateGasRequest>
export type PerpAMMEstimateGasResponse = Static<typeof EstimateGasResponse>
export type PerpEstimateGasRequest = Static<typeof EstimateGasRequest>
export type PerpEstimateGasResponse = Static<typeof EstimateGasResponse>
export type PerpAMMDepositRequest = Static<typeof MoveRequest>
export type PerpAMMDepositResponse = Static<typeof MoveResponse>
export type PerpDepositRequest = Static<typeof MoveRequest>
export type PerpDepositResponse = Static<typeof MoveResponse>
export type PerpAMMWithdrawRequest = Static<typeof MoveRequest>
export type PerpAMMWithdrawResponse = Static<typeof MoveResponse>
export type PerpWithdrawRequest = Static<typeof MoveRequest>
export type PerpWithdrawResponse = Static<typeof MoveResponse>

const perp = { set: 'PERP_AMM', on: 'connector' } as const
const reading = { ...perp, method: 'GET', permission: 'read' } as const
const acting = { ...perp, method: 'POST', permission: 'trade', wallet: true, acts: true } as const
const trading = ['PAIR_NOT_FOUND', 'PRICE_FAILED', 'SWAP_PRICE_EXCEEDS_LIMIT_PRICE', 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE'] as const

/** Both prefixes answer every verb. */
function bothPrefixes<const Verb extends string, const Path extends string, Req extends TObject, Res extends TSchema>(
  verb: Verb,
  path: Path,
  definition: Omit<Endpoint<string, Req, Res, 'connector'>, 'name' | 'path'>,
) {
  return [
    endpoint<`PerpAMM${Verb}`, Req, Res, 'connector'>({ ...definition, name: `PerpAMM${verb}`, path: `/perpAMM/${path}` }),
    endpoint<`Perp${Verb}`, Req, Res, 'connector'>({ ...definition, name: `Perp${verb}`, path: `/perp/${path}` }),
  ] as const
}

export const perpAMMEndpoints = [
  ...bothPrefixes('Price', 'price', {
    ...reading,
    summary: 'What opening a position would cost or bring, by the exchange’s own reckoning.',
    errors: ['PAIR_NOT_FOUND', 'PRICE_FAILED'],
    request: PriceRequest,
    response: PriceResponse,
  }),
  ...bothPrefixes('Position', 'position', {
    ...reading,
    wallet: true,
    summary: "A wallet's position in a market.",
    errors: ['PAIR_NOT_FOUND'],
    request: PositionRequest,
    response: PositionResponse,
  }),
  ...bothPrefixes('Margin', 'margin', {
    ...reading,
    wallet: true,
    summary: "What a wallet's account is worth, and what it needs.",
    request: MarginRequest,
    response: MarginResponse,
  }),
  ...bothPrefixes('Funding', 'funding', {
    ...reading,
    wallet: true,
    summary: 'Funding of the markets that a wallet is in.',
    request: FundingRequest,
    response: FundingResponse,
  }),
  ...bothPrefixes('Open', 'open', {
    ...acting,
    summary: 'Opens, adds to, reduces or turns a position, with the bound and the deadline on chain.',
    errors: [...trading, 'INSUFFICIENT_MARGIN'],
    request: OpenRequest,
    response: OpenResponse,
  }),
  ...bothPrefixes('Close', 'close', {
    ...acting,
    summary: 'Closes a position, with the bound and the deadline on chain.',
    errors: [...trading, 'UNKNOWN_POSITION'],
    request: CloseRequest,
    response: CloseResponse,
  }),
  ...bothPrefixes('MarketPrices', 'market-prices', {
    ...reading,
    summary: 'Mark price, index price and its mean.',
    errors: ['PAIR_NOT_FOUND'],
    request: MarketPricesRequest,
    response: MarketPricesResponse,
  }),
  ...bothPrefixes('MarketStatus', 'market-status', {
    ...reading,
    summary: 'Whether a market takes positions.',
    errors: ['PAIR_NOT_FOUND'],
    request: MarketStatusRequest,
    response: MarketStatusResponse,
  }),
  ...bothPrefixes('Pairs', 'pairs', {
    ...reading,
    summary: 'All markets.',
    request: PairsRequest,
    response: PairsResponse,
  }),
  ...bothPrefixes('Balance', 'balance', {
    ...reading,
    wallet: true,
    summary: 'Collateral that a wallet has in the exchange.',
    request: BalanceRequest,
    response: BalanceResponse,
  }),
  ...bothPrefixes('EstimateGas', 'estimateGas', {
    ...perp,
    method: 'POST',
    permission: 'read',
    summary: 'What opening a position costs in gas.',
    request: EstimateGasRequest,
    response: EstimateGasResponse,
  }),
  ...bothPrefixes('Deposit', 'deposit', {
    ...acting,
    summary: 'Puts collateral into the exchange.',
    errors: ['TOKEN_NOT_SUPPORTED', 'INSUFFICIENT_ALLOWANCE'],
    request: MoveRequest,
    response: MoveResponse,
  }),
  ...bothPrefixes('Withdraw', 'withdraw', {
    ...acting,
    summary: 'Takes collateral out of the exchange, to the same wallet.',
    errors: ['TOKEN_NOT_SUPPORTED', 'INSUFFICIENT_MARGIN'],
    request: MoveRequest,
    response: MoveResponse,
  }),
]
