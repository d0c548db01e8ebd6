import * as Type from 'typebox'
import type { Static } from 'typebox'
import {
  endpoint,
  enveloped,
  request,
  response,
  connectorFields,
  Decimal,
  gasFields,
  Slippage,
  TokenName,
  transactionFields,
  unavailable,
  WalletAddress,
} from './endpoint.ts'

const TokenId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_:-]*$',
  acceptsNumber: true,
  expects: 'a position\'s id, such as "42"',
  description:
    'Id of a position, as answers spell it: the number of a token, or the address of an account. A whole number is accepted, too.',
})

const Fee = Type.String({
  minLength: 1,
  maxLength: 32,
  pattern: '^([A-Za-z_]+|\\d{1,7})$',
  acceptsNumber: true,
  expects: 'LOWEST, LOW, MEDIUM, HIGH, or a number of hundredths of a basis point such as 3000',
  description: 'Fee tier, by name or in hundredths of a basis point. Absent: the deepest pool.',
})

const Version = Type.String({
  minLength: 1,
  maxLength: 32,
  expects: 'a version of the exchange that has positions, such as v3',
  description: 'Version of the exchange; ids and pools of each are its own. Absent: the first one that has positions, v3 of Uniswap.',
})
const Pool = Type.String({
  minLength: 1,
  maxLength: 256,
  expects: 'what identifies a pool',
  description: 'Address of the pool, or what identifies it: where a pair has several of one fee.',
})
const shownVersion = Type.String({ description: 'Version of the exchange.' })

/** Ten years: a moment, in seconds or milliseconds since 1970, is no duration. */
const maxSeconds = 315_360_000
const Seconds = (description: string) =>
  Type.Integer({ minimum: 1, maximum: maxSeconds, expects: `a duration in seconds, a whole number from 1 to ${maxSeconds}`, description })

const pairFields = {
  token0: { ...TokenName, description: 'A symbol or address. Prices are token1 per token0, in the order of the request.' },
  token1: TokenName,
}
const positionFields = { ...connectorFields, address: WalletAddress, tokenId: TokenId, version: Type.Optional(Version) }
const terms = { allowedSlippage: Type.Optional(Slippage), ...transactionFields }
const Native = Type.Boolean({
  expects: 'true or false',
  description: 'Pays out the native coin instead of its wrapped form. Absent: the wrapped form, as the pool holds it.',
})

export const AMMLiquidityAddRequest = request(
  {
    ...connectorFields,
    address: WalletAddress,
    ...pairFields,
    version: Type.Optional(Version),
    amount0: Decimal('Maximum of token0 to add.'),
    amount1: Decimal('Maximum of token1 to add.'),
    lowerPrice: Type.Optional(Decimal('Lower bound of the range, token1 per token0. Required unless tokenId is given.')),
    upperPrice: Type.Optional(Decimal('Upper bound of the range, token1 per token0. Required unless tokenId is given.')),
    fee: Type.Optional(Fee),
    pool: Type.Optional(Pool),
    tokenId: Type.Optional({ ...TokenId, description: 'Adds to this position instead of making a new one.' }),
    ...terms,
  },
  [{ together: ['lowerPrice', 'upperPrice'] }, { anyOf: [['lowerPrice', 'upperPrice'], ['tokenId']] }],
)
export const AMMLiquidityAddResponse = enveloped({
  token0: Type.String({ description: "Address, in the request's order; the zero address for the native coin." }),
  token1: Type.String(),
  version: shownVersion,
  fee: Type.Number({ description: 'Hundredths of a basis point.' }),
  pool: Type.String(),
  lowerPrice: Type.String({ description: 'The bound that was used: rounded outward to a price of the pool.' }),
  upperPrice: Type.String({ description: 'The bound that was used: rounded outward to a price of the pool.' }),
  amount0: Type.String({ description: 'Expected at the price of this block; at most the amount of the request.' }),
  amount1: Type.String({ description: 'Expected at the price of this block; at most the amount of the request.' }),
  liquidity: Type.String({ description: 'Expected, an integer. The fill of /network/poll has what was added.' }),
  tokenId: Type.Optional(Type.String({ description: 'Only if it adds to a position; the fill has the id of a new one.' })),
  ...gasFields,
  deadline: Type.Number({ description: 'Seconds since the Unix epoch; enforced on chain.' }),
  nonce: Type.Number(),
  txHash: Type.String(),
})

const poolTokens = {
  token0: Type.Optional({ ...pairFields.token0, description: `${pairFields.token0.description} Absent: the pool's, in its order.` }),
  token1: Type.Optional(pairFields.token1),
}
const poolTokensRules = [{ together: ['token0', 'token1'] }, { anyOf: [['token0', 'token1'], ['pool']] }]

export const AMMLiquidityQuoteRequest = request(
  {
    ...connectorFields,
    ...poolTokens,
    version: Type.Optional(Version),
    fee: Type.Optional(Fee),
    pool: Type.Optional(Pool),
    amount0: Type.Optional(Decimal('Maximum of token0. Absent: as much as the other amount needs.')),
    amount1: Type.Optional(Decimal('Maximum of token1. Absent: as much as the other amount needs.')),
    lowerPrice: Decimal('Lower bound of the range, token1 per token0.'),
    upperPrice: Decimal('Upper bound of the range, token1 per token0.'),
    allowedSlippage: Type.Optional(Slippage),
  },
  [...poolTokensRules, { anyOf: [['amount0'], ['amount1']] }],
)
export const AMMLiquidityQuoteResponse = enveloped({
  token0: Type.String({ description: "Address, in the request's order; the zero address for the native coin." }),
  token1: Type.String(),
  version: shownVersion,
  fee: Type.Number({ description: 'Hundredths of a basis point.' }),
  pool: Type.String(),
  lowerPrice: Type.String({ description: 'The bound that would be used: rounded outward to a price of the pool.' }),
  upperPrice: Type.String({ description: 'The bound that would be used: rounded outward to a price of the pool.' }),
  amount0: Type.String({ description: 'What an addition takes at the price of this block.' }),
  amount1: Type.String({ description: 'What an addition takes at the price of this block.' }),
  maxAmount0: Type.String({
    description:
      'The most that it takes while the price stays within the slippage. An addition of both maxima takes amount0 and amount1 at the price of this block.',
  }),
  maxAmount1: Type.String({ description: 'As maxAmount0.' }),
  liquidity: Type.String({ description: 'An integer.' }),
  blockNumber: Type.Number(),
})

export const AMMLiquidityRemoveRequest = request({
  ...positionFields,
  decreasePercent: Type.Optional(Decimal('Percentage of its liquidity, more than 0 and at most 100. Absent: 100.')),
  burn: Type.Optional(
    Type.Boolean({ expects: 'true or false', description: 'Burns the position too; only if all of it is removed. Absent: it stays.' }),
  ),
  native: Type.Optional(Native),
  ...terms,
})
export const AMMLiquidityRemoveResponse = enveloped({
  tokenId: Type.String(),
  liquidity: Type.String({ description: 'The liquidity that is removed, an integer.' }),
  ...gasFields,
  deadline: Type.Number({ description: 'Seconds since the Unix epoch; enforced on chain.' }),
  nonce: Type.Number(),
  txHash: Type.String(),
})

export const AMMLiquidityCollectFeesRequest = request({ ...positionFields, native: Type.Optional(Native), ...transactionFields })
export const AMMLiquidityCollectFeesResponse = enveloped({
  tokenId: Type.String(),
  unclaimedToken0: Type.String({ description: "Unclaimed at this block, in the pool's order. The fill has what was collected." }),
  unclaimedToken1: Type.String(),
  ...gasFields,
  nonce: Type.Number(),
  txHash: Type.String(),
})

export const AMMLiquidityPriceRequest = request(
  {
    ...connectorFields,
    ...poolTokens,
    version: Type.Optional(Version),
    fee: Type.Optional(Fee),
    pool: Type.Optional(Pool),
    period: Type.Optional(Seconds('How far back the series goes. Required with interval; without both there is no series.')),
    interval: Type.Optional(Seconds('Length of each interval of the series, at most the period.')),
    address: Type.Optional({ ...WalletAddress, description: 'Accepted, and without effect.' }),
    liquidity: Type.Optional(Decimal('Accepted, and without effect.')),
  },
  [{ together: ['period', 'interval'] }, ...poolTokensRules],
)
export const AMMLiquidityPriceResponse = enveloped({
  token0: Type.String({ description: "Address, in the request's order; the zero address for the native coin." }),
  token1: Type.String(),
  version: shownVersion,
  fee: Type.Number({ description: 'Hundredths of a basis point.' }),
  period: Type.Optional(Type.Number()),
  interval: Type.Optional(Type.Number()),
  price: Type.String({ description: 'Token1 per token0 at this block.' }),
  prices: Type.Array(Type.String(), {
    description: "Geometric mean of the price over each interval, oldest first, from the pool's own oracle.",
  }),
  pool: Type.String(),
  tick: Type.Optional(Type.Number({ description: "The pool's own, in its order of tokens. Absent where it has no ticks." })),
  tickSpacing: Type.Optional(Type.Number({ description: 'Bounds of ranges are multiples of it.' })),
  sqrtPriceX96: Type.Optional(Type.String({ description: "The pool's own, in its order of tokens. Absent where its price is none." })),
  liquidity: Type.String({ description: 'In range at this price, an integer.' }),
  blockNumber: Type.Number(),
})

export const shownRangePosition = {
  tokenId: Type.String(),
  version: shownVersion,
  token0: Type.String({ description: "Address, in the pool's order; the zero address for the native coin." }),
  token1: Type.String({ description: "Address, in the pool's order." }),
  fee: Type.Number({ description: 'Hundredths of a basis point.' }),
  lowerPrice: Type.String({ description: 'Token1 per token0.' }),
  upperPrice: Type.String({ description: 'Token1 per token0.' }),
  tickLower: Type.Optional(Type.Number({ description: 'The bounds as ticks, where they are ticks.' })),
  tickUpper: Type.Optional(Type.Number()),
  amount0: Type.String({ description: 'What removing all of it returns at this price.' }),
  amount1: Type.String({ description: 'What removing all of it returns at this price.' }),
  unclaimedToken0: Type.String({ description: 'Fees earned and not collected, at this block.' }),
  unclaimedToken1: Type.String({ description: 'Fees earned and not collected, at this block.' }),
  liquidity: Type.String({ description: 'An integer.' }),
  inRange: Type.Boolean(),
  poolPrice: Type.String({ description: 'Token1 per token0.' }),
  pool: Type.String(),
  owner: Type.String(),
}

export const AMMLiquidityPositionRequest = request({ ...connectorFields, tokenId: TokenId, version: Type.Optional(Version) })
export const AMMLiquidityPositionResponse = enveloped({ ...shownRangePosition, blockNumber: Type.Number() })

export const AMMLiquidityPositionsRequest = request({
  ...connectorFields,
  address: WalletAddress,
  version: Type.Optional({ ...Version, description: 'Only positions of this version. Absent: those of all.' }),
})
/** How completely a wallet's positions were found. */
export const searchFields = {
  searchedFromBlock: Type.Optional(
    Type.Number({
      description:
        "Where a version has no list of a wallet's positions: the first block that was searched for them. Absent: nothing had to be searched.",
    }),
  ),
  notSearched: Type.Optional(Type.String({ description: 'Why blocks could not be searched: those that are known are shown.' })),
  missing: Type.Optional(
    Type.Number({
      description:
        'How many more positions the wallet has: older than the search, and unknown to this server. Ask for them by their tokenId.',
    }),
  ),
}

/** Anybody can send a wallet positions whose tokens, pool or hooks do not say what they are worth. */
export const unavailablePosition = {
  tokenId: Type.Optional(Type.String({ description: 'Absent: all positions of the version.' })),
  version: Type.Optional(shownVersion),
}

export const AMMLiquidityPositionsResponse = enveloped({
  positions: Type.Array(Type.Object(shownRangePosition)),
  unavailable: unavailable(unavailablePosition),
  ...searchFields,
  blockNumber: Type.Number(),
})

export type AMMLiquidityAddRequest = Static<typeof AMMLiquidityAddRequest>
export type AMMLiquidityAddResponse = Static<typeof AMMLiquidityAddResponse>
export type AMMLiquidityQuoteRequest = Static<typeof AMMLiquidityQuoteRequest>
export type AMMLiquidityQuoteResponse = Static<typeof AMMLiquidityQuoteResponse>
export type AMMLiquidityRemoveRequest = Static<typeof AMMLiquidityRemoveRequest>
export type AMMLiquidityRemoveResponse = Static<typeof AMMLiquidityRemoveResponse>
export type AMMLiquidityCollectFeesRequest = Static<typeof AMMLiquidityCollectFeesRequest>
export type AMMLiquidityCollectFeesResponse = Static<typeof AMMLiquidityCollectFeesResponse>
export type AMMLiquidityPriceRequest = Static<typeof AMMLiquidityPriceRequest>
export type AMMLiquidityPriceResponse = Static<typeof AMMLiquidityPriceResponse>
export type AMMLiquidityPositionRequest = Static<typeof AMMLiquidityPositionRequest>
export type AMMLiquidityPositionResponse = Static<typeof AMMLiquidityPositionResponse>
export type AMMLiquidityPositionsRequest = Static<typeof AMMLiquidityPositionsRequest>
export type AMMLiquidityPositionsResponse = Static<typeof AMMLiquidityPositionsResponse>

export const AMMLiquidityRefusedRequest = request({})
export const AMMLiquidityRefusedResponse = response({
  positions: Type.Array(
    Type.Object({
      chain: Type.String(),
      network: Type.String(),
      connector: Type.String(),
      version: Type.String(),
      tokenId: Type.String({
        description: 'The id of the position; or, where its client asked by it, the hash of the transaction that opens it.',
      }),
      client: Type.String({ description: 'Who asked: the key of its entry in conf/clients.yml.' }),
      asked: Type.Enum(['position', 'close'], { description: 'position: what it is now. close: to close it.' }),
      refusedAt: Type.Number({
        description: 'Milliseconds since the Unix epoch. To half a minute, where its client asks again and again.',
      }),
      error: Type.Optional(Type.String({ description: 'The name of the error. Absent: its answer did not reach it.' })),
    }),
    {
      description:
        'Newest first, of one client at most 500. One that was used or closed otherwise since stays in it: the command `positions --orphaned` looks at that, too. Of other clients only for callers with the permission admin.',
    },
  ),
})

export type AMMLiquidityRefusedRequest = Static<typeof AMMLiquidityRefusedRequest>
export type AMMLiquidityRefusedResponse = Static<typeof AMMLiquidityRefusedResponse>

const ammRange = { set: 'AMM_RANGE', on: 'connector' } as const
const reading = { ...ammRange, method: 'POST', permission: 'read' } as const
const acting = { ...ammRange, method: 'POST', permission: 'trade', wallet: true, acts: true } as const
const pairs = ['TOKEN_NOT_SUPPORTED', 'PAIR_NOT_FOUND'] as const

export const ammRangeEndpoints = [
  endpoint({
    ...acting,
    name: 'AMMLiquidityAdd',
    path: '/amm/liquidity/add',
    summary: 'Adds liquidity to a range of prices, in a new position or an existing one.',
    errors: [...pairs, 'UNKNOWN_POSITION', 'INSUFFICIENT_ALLOWANCE'],
    request: AMMLiquidityAddRequest,
    response: AMMLiquidityAddResponse,
  }),
  endpoint({
    ...reading,
    name: 'AMMLiquidityQuote',
    path: '/amm/liquidity/quote',
    summary: 'What adding to a range of prices would take; nothing is sent.',
    errors: [...pairs],
    request: AMMLiquidityQuoteRequest,
    response: AMMLiquidityQuoteResponse,
  }),
  endpoint({
    ...acting,
    name: 'AMMLiquidityRemove',
    path: '/amm/liquidity/remove',
    summary: 'Removes liquidity and all fees from a position, in one transaction.',
    errors: ['UNKNOWN_POSITION', 'TOKEN_NOT_SUPPORTED'],
    request: AMMLiquidityRemoveRequest,
    response: AMMLiquidityRemoveResponse,
  }),
  endpoint({
    ...acting,
    name: 'AMMLiquidityCollectFees',
    path: '/amm/liquidity/collect_fees',
    summary: 'Collects the fees of a position.',
    errors: ['UNKNOWN_POSITION', 'TOKEN_NOT_SUPPORTED'],
    request: AMMLiquidityCollectFeesRequest,
    response: AMMLiquidityCollectFeesResponse,
  }),
  endpoint({
    ...reading,
    wallet: true,
    name: 'AMMLiquidityPrice',
    path: '/amm/liquidity/price',
    summary: "A pool's price now, and a series of past prices from its own oracle.",
    errors: [...pairs, 'PRICE_FAILED'],
    request: AMMLiquidityPriceRequest,
    response: AMMLiquidityPriceResponse,
  }),
  endpoint({
    ...reading,
    name: 'AMMLiquidityPosition',
    path: '/amm/liquidity/position',
    summary: 'A position at the latest block, with its unclaimed fees.',
    errors: ['UNKNOWN_POSITION', 'TOKEN_NOT_SUPPORTED'],
    request: AMMLiquidityPositionRequest,
    response: AMMLiquidityPositionResponse,
  }),
  endpoint({
    ...ammRange,
    method: 'GET',
    permission: 'read',
    wallet: true,
    name: 'AMMLiquidityPositions',
    path: '/amm/liquidity/positions',
    summary: "A wallet's positions, of all versions of the exchange.",
    request: AMMLiquidityPositionsRequest,
    response: AMMLiquidityPositionsResponse,
  }),
  endpoint({
    method: 'GET',
    set: 'AMM_RANGE',
    on: 'service',
    permission: 'read',
    name: 'AMMLiquidityRefused',
    path: '/amm/liquidity/refused',
    summary:
      'Positions whose clients were refused what they asked of them by another interface: to know of them and were not told since, or to close them.',
    request: AMMLiquidityRefusedRequest,
    response: AMMLiquidityRefusedResponse,
  }),
]
