import * as Type from 'typebox'
import type { Static } from 'typebox'
import {
  endpoint,
  enveloped,
  request,
  connectorFields,
  Decimal,
  gasFields,
  Slippage,
  TokenName,
  transactionFields,
  WalletAddress,
} from './endpoint.ts'

const mostTokens = 8

const Tokens = Type.Array(TokenName, {
  minItems: 2,
  maxItems: mostTokens,
  expects: "a list of all of the pool's tokens, by symbol or address",
  description:
    "All of the pool's tokens, by symbol or address. Amounts of the request and the answer are in this order. The native coin stands for its wrapped form, and is what is paid.",
})

const amounts = (minItems: number, description: string) =>
  Type.Array(Decimal('Of one token.'), {
    minItems,
    maxItems: mostTokens,
    expects: 'a list of decimal strings such as "1.5", in the order of tokens',
    description,
  })

const poolFields = {
  ...connectorFields,
  address: WalletAddress,
  tokens: Tokens,
  pool: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'the address of a pool',
      description:
        'Address of the pool, or of the token of its shares. Required where these tokens have several pools, and to remove shares by a connector that is neither built in nor trusted.',
    }),
  ),
}
const terms = {
  minAmounts: Type.Optional(
    amounts(
      2,
      'The least of each token, beside what the slippage allows: the tighter of the two is enforced on chain. Where the pool would give less at this block, nothing is sent.',
    ),
  ),
  allowedSlippage: Type.Optional(Slippage),
  ...transactionFields,
}

const pool = Type.String({ description: 'Address of the pool.' })
const version = Type.String({ description: "The protocol's version." })
const tokens = Type.Array(Type.String(), { description: "Addresses, in the request's order; the zero address for the native coin." })
const minAmounts = Type.Array(Type.String(), { description: 'The least of each token: enforced on chain.' })
const shareToken = Type.String({ description: 'Address of the token that the shares are, for `/evm/approve` and `/network/balances`.' })
const deadline = Type.Optional(
  Type.Number({ description: 'Seconds since the Unix epoch; enforced on chain. Absent where the contracts take none.' }),
)

export const AMMSharesAddRequest = request({
  ...poolFields,
  amounts: amounts(
    1,
    'The most to add of each token. One amount alone is of the first token, and the others follow from what the pool holds; not by a connector that is neither built in nor trusted, which needs one for each. Pools that take any ratio take all of these.',
  ),
  minShares: Type.Optional(
    Decimal(
      'The least shares, beside what the slippage allows: the tighter of the two is enforced on chain. Only for pools that take any ratio; of others `minAmounts` bounds the price.',
    ),
  ),
  ...terms,
})
export const AMMSharesAddResponse = enveloped({
  pool,
  version,
  tokens,
  amounts: Type.Array(Type.String(), {
    description:
      'What is added at this block: at most the amounts of the request, in the ratio of the pool; the amounts of the request themselves where pools take any ratio.',
  }),
  minAmounts,
  shares: Type.String({ description: 'Expected, at this block. The fill of /network/poll has what was added.' }),
  minShares: Type.Optional(
    Type.String({
      description: 'The least shares: enforced on chain. For pools that take any ratio; of others `minAmounts` bounds the price.',
    }),
  ),
  shareToken,
  poolShare: Type.String({ description: 'Fraction of the pool that these shares would be, rounded down.' }),
  ...gasFields,
  deadline,
  nonce: Type.Number(),
  txHash: Type.String(),
})

export const AMMSharesRemoveRequest = request({
  ...poolFields,
  decreasePercent: Type.Optional(Decimal("Percentage of the wallet's shares, more than 0 and at most 100. Absent: 100.")),
  shares: Type.Optional(Decimal('How many shares to remove, in the place of a percentage.')),
  ...terms,
})
export const AMMSharesRemoveResponse = enveloped({
  pool,
  version,
  tokens,
  shares: Type.String({ description: 'The shares that are removed.' }),
  shareToken,
  amounts: Type.Array(Type.String(), { description: 'What they give at this block, rounded down.' }),
  minAmounts,
  ...gasFields,
  deadline,
  nonce: Type.Number(),
  txHash: Type.String(),
})

export const AMMSharesPositionRequest = request(poolFields)
export const AMMSharesPositionResponse = enveloped({
  pool,
  version,
  tokens,
  owner: Type.String(),
  shares: Type.String({ description: "The wallet's." }),
  shareToken,
  totalShares: Type.String({ description: 'Of all wallets, with those that the next change would create for the protocol.' }),
  poolShare: Type.String({ description: "The wallet's fraction of the pool, rounded down." }),
  amounts: Type.Array(Type.String(), { description: "What removing all of the wallet's shares returns at this block, rounded down." }),
  poolAmounts: Type.Array(Type.String(), { description: 'What the pool holds.' }),
  value: Type.Optional(
    Type.String({
      description:
        "Of `amounts`, in the last token of the request, at the pool's marginal price; rounded down. Absent where it has no price.",
    }),
  ),
  blockNumber: Type.Number(),
})

export type AMMSharesAddRequest = Static<typeof AMMSharesAddRequest>
export type AMMSharesAddResponse = Static<typeof AMMSharesAddResponse>
export type AMMSharesRemoveRequest = Static<typeof AMMSharesRemoveRequest>
export type AMMSharesRemoveResponse = Static<typeof AMMSharesRemoveResponse>
export type AMMSharesPositionRequest = Static<typeof AMMSharesPositionRequest>
export type AMMSharesPositionResponse = Static<typeof AMMSharesPositionResponse>

const ammShares = { set: 'AMM_SHARES', on: 'connector', wallet: true } as const
const acting = { ...ammShares, method: 'POST', permission: 'trade', acts: true } as const
const found = ['TOKEN_NOT_SUPPORTED', 'PAIR_NOT_FOUND'] as const

export const ammSharesEndpoints = [
  endpoint({
    ...acting,
    name: 'AMMSharesAdd',
    path: '/amm/shares/add',
    summary: 'Adds liquidity to a pool, for shares of it.',
    errors: [...found, 'PRICE_FAILED', 'INSUFFICIENT_ALLOWANCE'],
    request: AMMSharesAddRequest,
    response: AMMSharesAddResponse,
  }),
  endpoint({
    ...acting,
    name: 'AMMSharesRemove',
    path: '/amm/shares/remove',
    summary: 'Removes shares of a pool, for its tokens in the ratio of the pool.',
    errors: [...found, 'INSUFFICIENT_ALLOWANCE'],
    request: AMMSharesRemoveRequest,
    response: AMMSharesRemoveResponse,
  }),
  endpoint({
    ...ammShares,
    method: 'GET',
    permission: 'read',
    name: 'AMMSharesPosition',
    path: '/amm/shares/position',
    summary: "A wallet's shares of a pool, what they are shares of and what that is worth.",
    errors: found,
    request: AMMSharesPositionRequest,
    response: AMMSharesPositionResponse,
  }),
]
