import * as Type from 'typebox'
import type { Static } from 'typebox'
import {
  anyConnector,
  endpoint,
  enveloped,
  request,
  chainFields,
  Decimal,
  gasFields,
  Nonce,
  TokenName,
  TokenSymbols,
  transactionFields,
  WalletAddress,
  unavailable,
} from './endpoint.ts'

const Spender = Type.String({
  minLength: 1,
  maxLength: 256,
  expects: "a connector's name, any or an address",
  description:
    `A registered connector's name, \`name/label\`, \`${anyConnector}\`, or an address. ` +
    "The name stands for what an AMM's swaps need, in as few transactions as possible: one router " +
    'where one takes the routes of all versions. What takes liquidity has a label, such as `<name>/positions`. Of other connectors the name stands for ' +
    'the contracts that take tokens on this network: the market of an order book, and where funds are deposited first the contract that takes deposits, ' +
    'which need not be the one that opens positions. docs/bots/transactions.md has it for each connector. ' +
    `\`${anyConnector}\` stands for what swaps by the best of all built-in connectors need: each that has another allowance takes a transaction.`,
})

export const EVMAllowancesRequest = request({ ...chainFields, address: WalletAddress, spender: Spender, tokenSymbols: TokenSymbols })
const Approvals = Type.Record(Type.String(), Type.String())
export const EVMAllowancesResponse = enveloped({
  spender: Type.String({ description: 'The address that the name stands for; the first if it stands for several.' }),
  approvals: Type.Record(Type.String(), Type.String(), {
    description: 'Token as in the request → decimal string; the smallest if the name stands for several spenders.',
  }),
  unavailable: unavailable({ token: Type.String({ description: 'As in the request.' }) }),
  spenders: Type.Optional(
    Type.Record(Type.String(), Approvals, { description: 'All spenders of the connector that was named, where it has several.' }),
  ),
  expiries: Type.Optional(
    Type.Record(Type.String(), Type.Record(Type.String(), Type.Number()), {
      description:
        'Spender → token → seconds since the Unix epoch: when the allowance ends, for spenders that take tokens by Permit2. One that has ended counts as 0.',
    }),
  ),
  permits: Type.Optional(
    Type.Array(
      Type.Object({
        spender: Type.String(),
        token: Type.String({ description: 'Its address.' }),
        amount: Type.String(),
        expires: Type.Number({ description: 'Seconds since the Unix epoch.' }),
        txHash: Type.Optional(Type.String({ description: 'Of the transaction that it was signed for.' })),
      }),
      { description: 'What the wallet signed by `signedPermits` and what is neither used nor expired, beside the allowances.' },
    ),
  ),
})

export const EVMNonceRequest = request({ ...chainFields, address: WalletAddress })
export const EVMNonceResponse = enveloped({ nonce: Type.Number({ description: 'The next nonce that the server would assign.' }) })

export const EVMCancelRequest = request({ ...chainFields, address: WalletAddress, ...transactionFields })
export const EVMCancelResponse = enveloped({ txHash: Type.String(), nonce: Type.Number() })

export const EVMSpeedUpRequest = request({
  ...chainFields,
  address: WalletAddress,
  nonce: Type.Optional({ ...Nonce, description: 'Of the pending transaction. Absent: the lowest pending one.' }),
  maxFeePerGas: Type.Optional(Decimal('Maximum fee per gas, in gwei. Absent: the lowest that the network accepts for a replacement.')),
  maxPriorityFeePerGas: Type.Optional(Decimal('Tip per gas, in gwei. Absent: the lowest that the network accepts for a replacement.')),
})
export const EVMSpeedUpResponse = enveloped({
  txHash: Type.String({ description: 'Of the new attempt. An earlier one may still be mined instead.' }),
  nonce: Type.Number(),
})

export const EVMApproveRequest = request({
  ...chainFields,
  address: WalletAddress,
  spender: Spender,
  token: TokenName,
  amount: Type.Optional(Decimal('Absent: unlimited, which spenders of contained plugins do not get. 0 revokes, for any address.')),
  expires: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2 ** 48 - 1,
      expects: 'a whole number of seconds since 1970, such as 1798761600',
      description: 'When the allowance ends, seconds since the Unix epoch; for spenders that take tokens by Permit2 only. Absent: never.',
    }),
  ),
  ...transactionFields,
  dryRun: Type.Optional(
    Type.Boolean({
      expects: 'true or false',
      description: 'true: only says how many transactions it takes and what they cost. Nothing is signed, and hashes are empty.',
    }),
  ),
})
export const EVMApproveResponse = enveloped({
  spender: Type.String(),
  tokenAddress: Type.String(),
  amount: Type.String(),
  nonce: Type.Number(),
  txHash: Type.String(),
  transactionCount: Type.Optional(Type.Integer({ description: 'How many transactions it takes. Their gas is that of all together.' })),
  gasPrice: Type.Optional(gasFields.gasPrice),
  gasPriceToken: Type.Optional(gasFields.gasPriceToken),
  gasLimit: Type.Optional(gasFields.gasLimit),
  gasCost: Type.Optional(gasFields.gasCost),
  transactions: Type.Optional(Type.Array(Type.Object({ spender: Type.String(), nonce: Type.Number(), txHash: Type.String() }))),
})

export const EVMRevokeRequest = request({
  ...chainFields,
  address: WalletAddress,
  spender: Type.String({ minLength: 1, maxLength: 256, expects: 'an address', description: 'Address of the spender.' }),
  token: { ...TokenName, description: 'A symbol or the address of a token, or the address of a collection of positions.' },
  tokenId: Type.Optional(
    Type.String({
      pattern: '^\\d{1,78}$',
      maxLength: 78,
      expects: 'the number of a position',
      description: 'The one position that the spender may take. Absent: what it may take of all.',
    }),
  ),
  ...transactionFields,
  dryRun: Type.Optional(
    Type.Boolean({
      expects: 'true or false',
      description: 'true: only says how many transactions it takes and what they cost. Nothing is signed, and hashes are empty.',
    }),
  ),
})
export const EVMRevokeResponse = enveloped({
  spender: Type.String(),
  tokenAddress: Type.String(),
  tokenId: Type.Optional(Type.String()),
  nonce: Type.Number({ description: 'Of the last transaction.' }),
  txHash: Type.String({ description: 'Of the last transaction.' }),
  ...gasFields,
  transactions: Type.Array(Type.Object({ nonce: Type.Number(), txHash: Type.String() }), {
    description: 'Two where the spender takes the token both by itself and by Permit2. Their gas is that of all together.',
  }),
})

const transferFields = { ...chainFields, address: WalletAddress, amount: Decimal('Of the token.'), ...transactionFields }
const transferred = {
  tokenAddress: Type.String({ description: 'The zero address for the native coin.' }),
  amount: Type.String(),
  ...gasFields,
  nonce: Type.Number(),
  txHash: Type.String(),
}

export const EVMWrapRequest = request(transferFields)
export const EVMWrapResponse = enveloped(transferred)
export const EVMUnwrapRequest = request(transferFields)
export const EVMUnwrapResponse = enveloped(transferred)

export const EVMSendRequest = request({
  ...transferFields,
  token: TokenName,
  to: Type.String({
    minLength: 1,
    maxLength: 256,
    expects: 'an address',
    description: 'One of the addresses that `sendTo` of conf/clients.yml lists for this client and this wallet.',
  }),
})
export const EVMSendResponse = enveloped({ to: Type.String(), ...transferred })

export const EVMGasRequest = request(chainFields)
const Price = Type.Object({
  maxFeePerGas: Type.String({ description: 'In gwei, as requests take it: room for the base fee to rise, and the tip.' }),
  maxPriorityFeePerGas: Type.String({ description: 'The tip, in gwei.' }),
  gasPrice: Type.String({ description: 'Base fee of the next block plus tip, in gwei: what is paid if it is mined there.' }),
})
export const EVMGasResponse = enveloped({
  gasPriceToken: Type.String({ description: 'Symbol of the token that pays for gas.' }),
  blockNumber: Type.Number({ description: 'The newest block.' }),
  baseFee: Type.Optional(Type.String({ description: 'Of the next block, in gwei. Absent where blocks have none.' })),
  slow: Price,
  normal: Price,
  fast: Price,
})

export type EVMAllowancesRequest = Static<typeof EVMAllowancesRequest>
export type EVMAllowancesResponse = Static<typeof EVMAllowancesResponse>
export type EVMNonceRequest = Static<typeof EVMNonceRequest>
export type EVMNonceResponse = Static<typeof EVMNonceResponse>
export type EVMCancelRequest = Static<typeof EVMCancelRequest>
export type EVMCancelResponse = Static<typeof EVMCancelResponse>
export type EVMSpeedUpRequest = Static<typeof EVMSpeedUpRequest>
export type EVMSpeedUpResponse = Static<typeof EVMSpeedUpResponse>
export type EVMApproveRequest = Static<typeof EVMApproveRequest>
export type EVMApproveResponse = Static<typeof EVMApproveResponse>
export type EVMRevokeRequest = Static<typeof EVMRevokeRequest>
export type EVMRevokeResponse = Static<typeof EVMRevokeResponse>

export type EVMWrapRequest = Static<typeof EVMWrapRequest>
export type EVMWrapResponse = Static<typeof EVMWrapResponse>
export type EVMUnwrapRequest = Static<typeof EVMUnwrapRequest>
export type EVMUnwrapResponse = Static<typeof EVMUnwrapResponse>
export type EVMSendRequest = Static<typeof EVMSendRequest>
export type EVMSendResponse = Static<typeof EVMSendResponse>
export type EVMGasRequest = Static<typeof EVMGasRequest>
export type EVMGasResponse = Static<typeof EVMGasResponse>

const evm = { set: 'EVM', on: 'chain', wallet: true } as const
const transfer = { ...evm, method: 'POST', acts: true, errors: ['UNSUPPORTED'] } as const

export const evmEndpoints = [
  endpoint({
    ...evm,
    method: 'GET',
    permission: 'read',
    name: 'EVMAllowances',
    path: '/evm/allowances',
    summary: "A spender's allowances of a wallet, in one round trip.",
    errors: ['TOKEN_NOT_SUPPORTED', 'UNSUPPORTED'],
    request: EVMAllowancesRequest,
    response: EVMAllowancesResponse,
  }),
  endpoint({
    ...evm,
    method: 'GET',
    permission: 'read',
    name: 'EVMNonce',
    path: '/evm/nonce',
    summary: 'The next nonce that the server would assign.',
    errors: ['LOAD_WALLET', 'UNSUPPORTED'],
    request: EVMNonceRequest,
    response: EVMNonceResponse,
  }),
  endpoint({
    ...evm,
    method: 'POST',
    permission: 'trade',
    acts: true,
    name: 'EVMCancel',
    path: '/evm/cancel',
    summary: 'Replaces a pending transaction by an empty one.',
    errors: ['UNKNOWN_TRANSACTION', 'UNSUPPORTED'],
    request: EVMCancelRequest,
    response: EVMCancelResponse,
  }),
  endpoint({
    ...evm,
    method: 'POST',
    permission: 'trade',
    acts: true,
    name: 'EVMSpeedUp',
    path: '/evm/speedUp',
    summary: 'Raises the fees of a pending transaction.',
    errors: ['UNKNOWN_TRANSACTION', 'UNSUPPORTED'],
    request: EVMSpeedUpRequest,
    response: EVMSpeedUpResponse,
  }),
  endpoint({
    ...evm,
    method: 'POST',
    permission: 'trade',
    acts: true,
    name: 'EVMApprove',
    path: '/evm/approve',
    summary: 'Sets the allowance of a spender for a token.',
    errors: ['TOKEN_NOT_SUPPORTED', 'UNSUPPORTED', 'UNKNOWN_CONNECTOR'],
    request: EVMApproveRequest,
    response: EVMApproveResponse,
  }),
  endpoint({
    ...evm,
    method: 'POST',
    permission: 'trade',
    acts: true,
    name: 'EVMRevoke',
    path: '/evm/revoke',
    summary: 'Takes back all that a spender may take of a token, also by Permit2, or of a collection of positions.',
    errors: ['TOKEN_NOT_SUPPORTED', 'UNSUPPORTED'],
    request: EVMRevokeRequest,
    response: EVMRevokeResponse,
  }),
  endpoint({
    ...transfer,
    permission: 'trade',
    name: 'EVMWrap',
    path: '/evm/wrap',
    summary: 'Turns the native coin of a wallet into its wrapped form.',
    request: EVMWrapRequest,
    response: EVMWrapResponse,
  }),
  endpoint({
    ...transfer,
    permission: 'trade',
    name: 'EVMUnwrap',
    path: '/evm/unwrap',
    summary: 'Turns the wrapped form back into the native coin.',
    request: EVMUnwrapRequest,
    response: EVMUnwrapResponse,
  }),
  endpoint({
    ...transfer,
    permission: 'send',
    name: 'EVMSend',
    path: '/evm/send',
    summary: 'Sends a token or the native coin to an address that the operator lists.',
    errors: ['TOKEN_NOT_SUPPORTED', 'UNSUPPORTED'],
    request: EVMSendRequest,
    response: EVMSendResponse,
  }),
  endpoint({
    method: 'GET',
    set: 'EVM',
    on: 'chain',
    permission: 'read',
    name: 'EVMGas',
    path: '/evm/gas',
    summary: 'What to pay for gas to be slow, normal or fast, by the last 20 blocks.',
    errors: ['UNSUPPORTED'],
    request: EVMGasRequest,
    response: EVMGasResponse,
  }),
]
