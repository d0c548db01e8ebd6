import * as Type from 'typebox'
import type { Static } from 'typebox'
import {
  endpoint,
  enveloped,
  request,
  anyConnector,
  chainFields,
  ConnectorName,
  connectorFields,
  Decimal,
  Digits,
  gasFields,
  pageFields,
  refusalFields,
  Side,
  Slippage,
  TokenName,
  transactionFields,
  unavailable,
  WalletAddress,
} from './endpoint.ts'
import { codedWarnings } from './network.ts'

export const Version = Type.String({
  minLength: 1,
  maxLength: 32,
  expects: "one of the connector's versions",
  description: 'Restricts a connector with several versions of its protocol to one.',
})

export const ConnectorOrAny = Type.String({
  ...ConnectorName,
  expects: `the name of a connector, or ${anyConnector}`,
  description: `Name of a registered connector, or \`${anyConnector}\`: all of the network, of which the best after the cost of gas is taken.`,
})

const ammFields = { ...chainFields, connector: ConnectorOrAny }

/** For requests to any connector. */
export const choiceFields = {
  connectors: Type.Optional(
    Type.Array(ConnectorName, {
      minItems: 1,
      maxItems: 100,
      expects: 'a list of names of connectors',
      description: 'With `any`: these alone. Without it: those that are built in. Plugins take part only where they are named here.',
    }),
  ),
}

const swapFields = {
  ...ammFields,
  quote: TokenName,
  base: TokenName,
  amount: Decimal('Of the base token.'),
  side: Side,
  version: Type.Optional(Version),
  pool: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'what identifies a pool, as in the route of a price',
      description: 'Only through this pool, by its address or what identifies it. It is asked of the chain.',
    }),
  ),
  allowedSlippage: Type.Optional(Slippage),
}

export const Hop = Type.Object({
  pool: Type.String(),
  version: Type.String(),
  fee: Type.Optional(Type.String({ description: 'Fraction of the input.' })),
  tokenIn: Type.String(),
  tokenOut: Type.String(),
  share: Type.Optional(
    Type.String({
      description:
        'Fraction of the exact amount that takes this path, in hundredths, if the swap is split. The hops of one path come after those of the previous; each path begins with the input token. The last path takes the remainder of rounding.',
    }),
  ),
})

/** Each costs the time of a quote. */
const maxAmounts = 30

export const AMMPriceRequest = request(
  {
    ...swapFields,
    amount: Type.Optional(swapFields.amount),
    amounts: Type.Optional(
      Type.Array(Decimal('Of the base token.'), {
        minItems: 1,
        maxItems: maxAmounts,
        expects: `a list of 1 to ${maxAmounts} decimal strings such as "1.5"`,
        description:
          'A price for each, in `quotes`. The fields of the answer itself are those of `amount`; without it, of the first of these that has a price.',
      }),
    ),
    address: Type.Optional(WalletAddress),
    ...choiceFields,
    candidates: Type.Optional(
      Type.Boolean({ expects: 'true or false', description: 'With `any`: whether the answer shows what each connector would give.' }),
    ),
  },
  [{ anyOf: [['amount'], ['amounts']] }],
)

const Refusal = Type.Object({ connector: Type.String(), error: Type.Object(refusalFields) })

const GasCostInQuote = Type.String({
  description:
    'The cost of gas in the quote token, at the marginal price of the native coin by the best of the built-in connectors; rounded up. Absent where they have no price for it: then amounts are compared without it.',
})

const LeftOut = Type.Array(Refusal, {
  description:
    'With `any`: the connectors that gave no price in time or refused, and in a trade those that failed its checks before anything was signed. Those without a pool that has enough only with `candidates`.',
})

const quoted = {
  amount: Digits('Of the base token.'),
  rawAmount: Digits("The amount in the base token's smallest unit."),
  expectedAmount: Digits('Quote tokens to pay (BUY) or to receive (SELL).'),
  price: Digits('Quote per one base; rounded up for BUY and down for SELL.'),
  ...gasFields,
  priceImpact: Digits(
    "Fraction of the input's value that the swap loses, at the pools' marginal price and fees included: 1 − output / (input × marginal price). The same for BUY and SELL.",
  ),
  route: Type.Array(Hop, { description: 'The pools in order; if the swap is split, one path after the other.' }),
  blockNumber: Type.Number({ description: 'The block of the quote.' }),
  source: Type.Enum(['memory', 'rpc'], {
    description:
      'memory: computed from state that the server keeps up to date, and no node was asked for any of the answer; rpc: one was, for the price, the cost of gas, a token that is on no list, or the allowances of `address`.',
  }),
  slippagePrice: Digits('The worst price that a trade without limitPrice would accept.'),
  connector: Type.Optional(Type.String({ description: 'With `any`: whose price this is.' })),
  gasCostInQuote: Type.Optional(GasCostInQuote),
  candidates: Type.Optional(
    Type.Array(
      Type.Object({
        connector: Type.String(),
        price: Type.String(),
        expectedAmount: Type.String(),
        gasCost: Type.String({ description: 'In the gas token.' }),
        gasCostInQuote: Type.Optional(GasCostInQuote),
        blockNumber: Type.Number(),
        approved: Type.Optional(Type.Boolean({ description: 'Whether the wallet of the request allows its spender that much.' })),
      }),
      { description: 'What each connector would give, the best after the cost of gas first. Only if the request asks for it.' },
    ),
  ),
  leftOut: Type.Optional(LeftOut),
}

export const AMMPriceResponse = enveloped({
  base: Type.String({ description: 'Token address; the zero address for the native coin.' }),
  quote: Type.String({ description: 'Token address; the zero address for the native coin.' }),
  ...quoted,
  allowance: Type.Optional(
    Type.Object({ spender: Type.String(), sufficient: Type.Boolean() }, { description: 'Only if the request has an address.' }),
  ),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: `Of both tokens, and of the accounts of \`address\` that hold them. Absent: there are none. ${codedWarnings}`,
    }),
  ),
  quotes: Type.Optional(
    Type.Array(Type.Union([Type.Object(quoted), Type.Object({ amount: Type.String(), error: Type.Object(refusalFields) })]), {
      description:
        'One for each of `amounts`, in its order. `error` is in the place of a price that there is not, such as for more than the pools hold; the others are not affected.',
    }),
  ),
})

export const AMMTradeRequest = request({
  ...swapFields,
  address: WalletAddress,
  limitPrice: Type.Optional(
    Decimal(
      'The worst price to accept: quote per one base. Required where the connector is neither built in nor trusted, and the worst price that its quote and slippage allow is more than 5 % worse than that of the built-in connectors, or none of these has one.',
    ),
  ),
  privateOnly: Type.Optional(
    Type.Boolean({
      description:
        'true: its transaction goes to the relays in `privateUrls` of the network, and to no public node; so do those that replace it. UNSUPPORTED where the network has none.',
    }),
  ),
  ...choiceFields,
  ...transactionFields,
})
export const AMMTradeResponse = enveloped({
  base: Type.String(),
  quote: Type.String(),
  price: Type.String({ description: 'The price expected at the block of the quote.' }),
  ...gasFields,
  tip: Type.Optional(
    Type.String({
      description: 'Of `gasCost`, what `privateTip` of a network of Solana gives to whoever passes a private transaction on.',
    }),
  ),
  nonce: Type.Number(),
  txHash: Type.String(),
  amount: Type.String(),
  rawAmount: Type.String(),
  expectedAmount: Type.String(),
  limitPrice: Type.String({ description: 'The limit that the chain enforces.' }),
  deadline: Type.Optional(
    Type.Number({
      description:
        'Seconds since the Unix epoch; enforced on chain. Absent where the contracts take none, such as Curve’s own router: then it may be mined at any later time, within limitPrice, until it is cancelled. On Solana it expires with its blockhash, after about a minute.',
    }),
  ),
  connector: Type.Optional(Type.String({ description: 'With `any`: the connector that trades.' })),
  leftOut: Type.Optional(LeftOut),
})

export const AMMEstimateGasRequest = request(ammFields)
export const AMMEstimateGasResponse = enveloped(gasFields)

const PoolDepth = Type.Object({
  percent: Type.Number({ description: 'By how many percent the price may be worse than that of the smallest amounts.' }),
  sell: Type.String({ description: 'How much base can be sold to the pool until then; rounded down.' }),
  buy: Type.String({ description: 'How much base can be bought from it until then; rounded down.' }),
  atLeast: Type.Optional(Type.Boolean({ description: 'true: more may be possible; the state beyond was not read.' })),
})

const shownPool = {
  connector: Type.String(),
  pool: Type.String({ description: 'Its address, or what identifies it: the id of a pool of Uniswap v4.' }),
  version: Type.String(),
  tokens: Type.Array(Type.String(), { description: 'Addresses; two or more. The wrapped coin stands for the native one.' }),
  base: Type.String({ description: 'Address of the one of them that was asked about.' }),
  quote: Type.String({ description: 'Address of the other.' }),
  fee: Type.String({ description: 'Fraction of the input, of a sale of base.' }),
  price: Type.String({ description: 'Quote per base at the margin, without the fee; rounded down.' }),
  baseReserve: Type.Optional(Type.String({ description: 'What the pool holds. Absent where liquidity is in ranges.' })),
  quoteReserve: Type.Optional(Type.String()),
  liquidity: Type.Optional(Type.String({ description: 'Of pools with ranges: the liquidity in the range of the price, an integer.' })),
  noLiquidityFor: Type.Optional(
    Type.Array(Side, {
      description: 'Sides of base for which the pool gives nothing at any price; `price` then only says where the pool stands.',
    }),
  ),
  depth: Type.Array(PoolDepth, { description: 'At each of `percents`, the smallest first.' }),
  blockNumber: Type.Number(),
  source: Type.Enum(['memory', 'rpc']),
}

const maxDepths = 10
const depthFields = {
  percents: Type.Optional(
    Type.Array(Decimal('In percent, with at most two decimals.'), {
      minItems: 1,
      maxItems: maxDepths,
      expects: `a list of 1 to ${maxDepths} percentages such as "0.5"`,
      description: 'The depth is shown at each of these. Absent: at 1 % and 2 %.',
    }),
  ),
}

export const AMMPoolsRequest = request({
  ...ammFields,
  base: TokenName,
  quote: Type.Optional({ ...TokenName, description: "The other token. Absent: each of the network's token list." }),
  version: Type.Optional(Version),
  ...depthFields,
  ...choiceFields,
  ...pageFields,
})
export const AMMPoolsResponse = enveloped({
  pools: Type.Array(Type.Object(shownPool), { description: 'Those that take the most base at the largest percentage first.' }),
  leftOut: Type.Optional(LeftOut),
  unavailable: unavailable({ connector: Type.String(), pool: Type.String(), version: Type.String() }),
  nextCursor: Type.Optional(Type.String({ description: 'Present if there are more pages.' })),
})

export const AMMPoolRequest = request({
  ...connectorFields,
  pool: Type.String({
    minLength: 1,
    maxLength: 256,
    expects: 'what identifies a pool',
    description: 'Its address, or what identifies it.',
  }),
  base: Type.Optional({ ...TokenName, description: 'One of its tokens. Where the pool does not say which it has, both are required.' }),
  quote: Type.Optional({ ...TokenName, description: 'Another one of its tokens.' }),
  ...depthFields,
})
export const AMMPoolResponse = enveloped(shownPool)

export type AMMPoolsRequest = Static<typeof AMMPoolsRequest>
export type AMMPoolsResponse = Static<typeof AMMPoolsResponse>
export type AMMPoolRequest = Static<typeof AMMPoolRequest>
export type AMMPoolResponse = Static<typeof AMMPoolResponse>
export type AMMPriceRequest = Static<typeof AMMPriceRequest>
export type AMMPriceResponse = Static<typeof AMMPriceResponse>
export type AMMTradeRequest = Static<typeof AMMTradeRequest>
export type AMMTradeResponse = Static<typeof AMMTradeResponse>
export type AMMEstimateGasRequest = Static<typeof AMMEstimateGasRequest>
export type AMMEstimateGasResponse = Static<typeof AMMEstimateGasResponse>

const amm = { set: 'AMM', on: 'connectors' } as const
const pricing = ['TOKEN_NOT_SUPPORTED', 'PRICE_FAILED', 'PAIR_NOT_FOUND'] as const

export const ammEndpoints = [
  endpoint({
    ...amm,
    method: 'GET',
    permission: 'read',
    wallet: true,
    name: 'AMMPrice',
    path: '/amm/price',
    summary: 'The price of a swap at the latest block.',
    errors: pricing,
    request: AMMPriceRequest,
    response: AMMPriceResponse,
  }),
  endpoint({
    ...amm,
    method: 'POST',
    permission: 'trade',
    wallet: true,
    acts: true,
    name: 'AMMTrade',
    path: '/amm/trade',
    summary: 'Swaps tokens; the chain enforces price limit and deadline.',
    errors: [...pricing, 'SWAP_PRICE_EXCEEDS_LIMIT_PRICE', 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE', 'INSUFFICIENT_ALLOWANCE'],
    request: AMMTradeRequest,
    response: AMMTradeResponse,
  }),
  endpoint({
    ...amm,
    method: 'POST',
    permission: 'read',
    name: 'AMMEstimateGas',
    path: '/amm/estimateGas',
    summary: 'The gas cost of a typical swap.',
    request: AMMEstimateGasRequest,
    response: AMMEstimateGasResponse,
  }),
  endpoint({
    ...amm,
    method: 'GET',
    permission: 'read',
    name: 'AMMPools',
    path: '/amm/pools',
    summary: 'The pools of a pair, or of a token, with their price, fee and depth.',
    errors: ['TOKEN_NOT_SUPPORTED'],
    request: AMMPoolsRequest,
    response: AMMPoolsResponse,
  }),
  endpoint({
    ...amm,
    on: 'connector',
    method: 'GET',
    permission: 'read',
    name: 'AMMPool',
    path: '/amm/pool',
    summary: 'One pool of a connector, by its address.',
    errors: ['TOKEN_NOT_SUPPORTED', 'PAIR_NOT_FOUND'],
    request: AMMPoolRequest,
    response: AMMPoolResponse,
  }),
]
