// What wallets have, owe and have allowed, over all networks that run.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { ChainName, endpoint, NetworkName, request, response, unavailable, WalletAddress } from './endpoint.ts'

const scope = {
  chain: Type.Optional({ ...ChainName, description: 'Only on this chain. Absent: on all.' }),
  network: Type.Optional({ ...NetworkName, description: 'Only on networks of this name. Absent: on all.' }),
  address: Type.Optional({ ...WalletAddress, description: 'Only this wallet. Absent: all that the certificate may use.' }),
}

/** What the market of limits says: docs/operators/limits.md. */
const worth = (description: string) => ({
  value: Type.Optional(Type.String({ description })),
  noValue: Type.Optional(Type.String({ description: 'Why there is no `value`.' })),
})
const heldWorth = worth('In the reference token, at least: by the market of now.')
const symbol = Type.Optional(Type.String({ description: 'Absent: the token is on no list.' }))
const tokenAddress = Type.String({ description: 'The zero address for the native coin.' })

const allowanceFields = {
  spender: Type.String(),
  connectors: Type.Array(Type.String(), { description: 'Those that have the spender. Empty: none has.' }),
  token: Type.String({ description: 'Address of the token, or of the collection of positions.' }),
  symbol,
  amount: Type.Optional(
    Type.String({ description: 'What it may take now. Absent: all tokens of the collection, or the one of `tokenId`.' }),
  ),
  dormant: Type.Optional(
    Type.String({
      description:
        'One half of a right by Permit2, which takes nothing now and is not in `amount`: of a spender what it could take once the wallet approves the token for `permit2` again, of `permit2` itself (where it is the `spender`) what somebody could whom the wallet approves within it.',
    }),
  ),
  unlimited: Type.Optional(Type.Literal(true, { description: 'The amount is so large that it does not end.' })),
  tokenId: Type.Optional(Type.String({ description: 'The one position that it may take.' })),
  permit2: Type.Optional(Type.String({ description: 'The contract of Permit2, where it takes the token, or a part of it, by that.' })),
  atRisk: Type.Optional(Type.String({ description: 'What it could take now: the smaller of `amount` and the balance.' })),
  ...worth('Of `atRisk` in the reference token, at most: by the market of now.'),
}
const Allowance = Type.Object(allowanceFields)
const place = { chain: Type.String(), network: Type.String() }

export const AllowancesRequest = request(scope)
export const AllowancesResponse = response({
  allowances: Type.Array(
    Type.Object({
      ...place,
      address: Type.String({ description: 'The wallet.' }),
      ...allowanceFields,
      reference: Type.Optional(Type.String({ description: 'Symbol of the token that values are in.' })),
    }),
  ),
  unavailable: unavailable({ ...place, address: Type.Optional(Type.String({ description: 'Absent: all wallets.' })) }),
})

const Balance = Type.Object({ token: tokenAddress, symbol: Type.String(), amount: Type.String(), ...heldWorth })

const Gas = Type.Object({
  symbol: Type.String({ description: 'The coin that pays for gas.' }),
  balance: Type.String(),
  transactions: Type.Integer({ description: "The wallet's, that were mined in the last 7 days. At most the newest 1000 are counted." }),
  spent: Type.String({ description: 'What they cost, with what a rollup charges for layer 1.' }),
  since: Type.Optional(Type.Number({ description: 'Milliseconds since the Unix epoch: what is counted began then.' })),
  perDay: Type.String({ description: 'Rounded up. What was counted in less than a day is taken for that of a day.' }),
  daysLeft: Type.Optional(Type.String({ description: 'How long the balance lasts at this use, rounded down. Absent: nothing was used.' })),
})

const unitOf = Type.Optional(
  Type.String({ description: 'Symbol of the token that amounts are in. Absent: the unit of account of the exchange.' }),
)
const Perpetuals = Type.Object({
  connector: Type.String(),
  unit: unitOf,
  exposure: Type.Optional(Type.String({ description: 'The sum of the absolute values of all open positions.' })),
  accountValue: Type.Optional(Type.String({ description: 'Collateral with profits and losses that are not realised.' })),
  collateral: Type.Optional(Type.String()),
  freeCollateral: Type.Optional(Type.String()),
  maintenanceMargin: Type.Optional(Type.String({ description: 'Below it, positions are liquidated.' })),
  positions: Type.Optional(
    Type.Array(
      Type.Object({
        market: Type.String(),
        side: Type.String(),
        amount: Type.String({ description: 'Of base.' }),
        entryPrice: Type.String(),
        markPrice: Type.String(),
        unrealizedProfit: Type.String(),
        liquidationPrice: Type.Optional(
          Type.String({ description: 'The mark price at which it could be liquidated, other prices unchanged. Absent: there is none.' }),
        ),
        marginMode: Type.Optional(
          Type.Enum(['cross', 'isolated'], {
            description: 'Of isolated ones, the margin of the account says nothing: look at `liquidationPrice`.',
          }),
        ),
      }),
      { description: 'Of order books. Those of `PERP_AMM` are at `/perpAMM/position`.' },
    ),
  ),
})

const Margin = Type.Object({
  connector: Type.String(),
  mode: Type.String({ description: "The exchange's name of the account." }),
  equity: Type.String({ description: 'What is deposited less what is owed, in the unit of account of the exchange.' }),
  collateral: Type.String(),
  borrowed: Type.String({ description: 'All debts.' }),
  freeCollateral: Type.String(),
  maintenanceMargin: Type.String(),
  debts: Type.Array(Type.Object({ symbol: Type.String(), borrowed: Type.String(), borrowRate: Type.String({ description: 'Per year.' }) })),
})

const ExchangeBalance = Type.Object({
  connector: Type.String(),
  symbol: Type.String(),
  total: Type.String({ description: 'In the exchange. It is in no balance of the wallet.' }),
  available: Type.String(),
  locked: Type.String({ description: 'By open orders.' }),
  ...heldWorth,
})

const Liquidity = Type.Object({
  connector: Type.String(),
  version: Type.String(),
  tokenId: Type.String(),
  pool: Type.String(),
  token0: Type.String(),
  token1: Type.String(),
  amount0: Type.String({ description: 'What removing all of it gives now.' }),
  amount1: Type.String(),
  unclaimedToken0: Type.String({ description: 'Fees that are earned and not collected.' }),
  unclaimedToken1: Type.String(),
  inRange: Type.Boolean(),
  ...worth('Of amounts and fees in the reference token, at least.'),
})

const Shares = Type.Object({
  connector: Type.String(),
  pool: Type.String(),
  shares: Type.String(),
  tokens: Type.Array(Type.String(), { description: 'Addresses.' }),
  amounts: Type.Array(Type.String(), { description: 'What removing all of it gives now.' }),
  ...heldWorth,
})

const Wallet = Type.Object({
  address: Type.String(),
  value: Type.Optional(
    Type.String({
      description:
        'Of balances, those in exchanges, liquidity and shares, at least, in the reference token. Without what has no value, and without accounts of margin and perpetuals.',
    }),
  ),
  withoutValue: Type.Integer({ description: 'How many of these have no value.' }),
  balances: Type.Array(Balance, { description: 'Of the native coin and listed tokens, without those of 0.' }),
  gas: Type.Optional(Gas),
  allowances: Type.Array(Allowance),
  liquidity: Type.Array(Liquidity),
  shares: Type.Array(Shares, { description: 'Of pools to which the wallet added by this server.' }),
  exchangeBalances: Type.Array(ExchangeBalance),
  margin: Type.Array(Margin),
  perpetuals: Type.Array(Perpetuals),
})

export const PortfolioRequest = request(scope)
export const PortfolioResponse = response({
  timestamp: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  networks: Type.Array(
    Type.Object({
      ...place,
      blockNumber: Type.Number({ description: 'The newest block when it was read. Parts may be of the ones after it.' }),
      reference: Type.Optional(Type.String({ description: 'Symbol of the token that values are in. Absent: there are no values.' })),
      wallets: Type.Array(Wallet),
    }),
  ),
  unavailable: unavailable({
    ...place,
    address: Type.Optional(Type.String({ description: 'Absent: all wallets.' })),
    connector: Type.Optional(Type.String()),
    part: Type.Optional(Type.String({ description: 'Which part of the wallet. Absent: all.' })),
  }),
})

export type AllowancesRequest = Static<typeof AllowancesRequest>
export type AllowancesResponse = Static<typeof AllowancesResponse>
export type PortfolioRequest = Static<typeof PortfolioRequest>
export type PortfolioResponse = Static<typeof PortfolioResponse>

const wallets = { method: 'GET', set: 'Service', on: 'service', permission: 'read', wallet: true } as const
const errors = ['UNKNOWN_CHAIN_ERROR', 'LOAD_WALLET'] as const

export const portfolioEndpoints = [
  endpoint({
    ...wallets,
    name: 'Portfolio',
    path: '/portfolio',
    summary: 'What wallets have, owe and have allowed, over all networks that run: with values, and for how long gas lasts.',
    errors,
    request: PortfolioRequest,
    response: PortfolioResponse,
  }),
  endpoint({
    ...wallets,
    name: 'Allowances',
    path: '/allowances',
    summary: 'What spenders may take of wallets now, over all networks that run, and what each could cost.',
    errors,
    request: AllowancesRequest,
    response: AllowancesResponse,
  }),
]
