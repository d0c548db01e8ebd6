import * as Type from 'typebox'
import type { Static } from 'typebox'
import {
  endpoint,
  enveloped,
  request,
  chainFields,
  ChainName,
  ConnectorName,
  NetworkName,
  TokenSymbols,
  TransactionHash,
  WalletAddress,
  unavailable,
} from './endpoint.ts'

/** Of what looks at many networks at once. */
export const onlyInUse = Type.Optional(
  Type.Boolean({
    expects: 'true or false',
    description:
      'Whether networks are left out that nobody uses: those that are not required and that no request has named within a day. They are neither asked nor followed then.',
  }),
)

export const NetworkStatusRequest = request({
  chain: Type.Optional(ChainName),
  network: Type.Optional(NetworkName),
  inUse: onlyInUse,
})
export const NetworkStatusResponse = Type.Array(
  Type.Object({
    chain: Type.String(),
    network: Type.String(),
    rpcUrl: Type.String({ description: 'The node in use, without its secrets.' }),
    currentBlockNumber: Type.Number({ description: '-1 when the network is down.' }),
    currentBlockSeconds: Type.Number({ description: 'Seconds since the last block; -1 when the network is down.' }),
    nativeCurrency: Type.String(),
    error: Type.Optional(Type.String()),
    nodes: Type.Optional(
      Type.Array(
        Type.Object({
          url: Type.String({ description: 'Without its secrets.' }),
          state: Type.String({
            description:
              'good, or why another one is preferred or needed: slow, shaky, lagging, forked, unchecked, unreachable. Later versions may add others.',
          }),
          inUse: Type.Boolean({ description: 'It is the node that is asked now.' }),
          reads: Type.Boolean({ description: 'false: it only takes transactions.' }),
          errorRate: Type.Number({ description: '0 to 1, over the most recent requests.' }),
          latencyMs: Type.Optional(Type.Number()),
          headNumber: Type.Optional(Type.Number({ description: 'Its newest block, as it was seen last.' })),
          lagBlocks: Type.Optional(Type.Number({ description: 'Behind the best of the others.' })),
          trouble: Type.Optional(Type.String({ description: 'Why it is not used.' })),
        }),
        { description: 'What is known of each node; none is asked for it. Absent of a network that tells nothing of its nodes.' },
      ),
    ),
  }),
)

export const NetworkChainConfigRequest = request({ chain: ChainName })
export const NetworkChainConfigResponse = Type.Record(Type.String(), Type.Unknown())

export const NetworkTokensRequest = request({ ...chainFields, tokenSymbols: Type.Optional(TokenSymbols) })
const ImpostorOf = Type.Optional(
  Type.String({ description: 'Address of the listed token whose symbol this one has, or has in letters that look alike.' }),
)
export const NetworkTokensResponse = Type.Array(
  Type.Object({
    chain: Type.String(),
    network: Type.String(),
    symbol: Type.String(),
    address: Type.String(),
    decimals: Type.Number(),
    impostorOf: ImpostorOf,
  }),
)

const TokenAddress = Type.String({
  minLength: 1,
  maxLength: 256,
  expects: 'the address of a token',
  description: 'Address of a token, listed or not.',
})
const shownToken = {
  symbol: Type.String({
    description: 'The one of the list; else what the contract says, without what cannot be seen; the address where it says none.',
  }),
  address: Type.String(),
  decimals: Type.Number(),
  listed: Type.Boolean({ description: 'Whether requests know it by its symbol.' }),
}

/** In answers that have `warnings`. */
export const codedWarnings =
  'What others may do to a token, or to the account of a wallet that it is in, begins with a code that stays the same and a colon: `permanent-delegate: …`. On EVM chains nothing of that is read.'

export const NetworkTokenRequest = request({ ...chainFields, token: TokenAddress })
export const NetworkTokenResponse = enveloped({
  ...shownToken,
  impostorOf: ImpostorOf,
  warnings: Type.Array(Type.String(), { description: `What is odd about it, for people. ${codedWarnings}` }),
})

export const NetworkTokensAddRequest = request({
  ...chainFields,
  token: TokenAddress,
  symbol: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      expects: 'a symbol of up to 64 visible characters',
      description: "In the place of the contract's, which may be empty, or that of another token.",
    }),
  ),
  decimals: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 255,
      expects: 'an integer from 0 to 255',
      description: 'What the caller expects: any other than the contract says is refused.',
    }),
  ),
})
export const NetworkTokensAddResponse = enveloped({
  ...shownToken,
  added: Type.Boolean({ description: 'false: it was on the list before.' }),
})

export const NetworkBalancesRequest = request({ ...chainFields, address: WalletAddress, tokenSymbols: TokenSymbols })
export const NetworkBalancesResponse = enveloped({
  balances: Type.Record(Type.String(), Type.String(), { description: 'Token as in the request → decimal string.' }),
  unavailable: unavailable({ token: Type.String({ description: 'As in the request.' }) }),
})

/** What a transaction brought, by its kind. */
export const Fill = Type.Union([
  Type.Object(
    { amountIn: Type.String(), amountOut: Type.String(), price: Type.String() },
    {
      description:
        'The fill of a trade, from its receipt. Of a connector that is neither built in nor trusted, by the transfers of its tokens; absent where these do not tell both amounts, as with the native coin that a contract pays out.',
    },
  ),
  Type.Object(
    {
      tokenId: Type.String(),
      liquidity: Type.String({ description: 'Added or removed, an integer; 0 if only fees were collected.' }),
      amount0: Type.String({ description: "In the order of the request's tokens; else in the pool's." }),
      amount1: Type.String(),
      fees0: Type.Optional(
        Type.String({
          description:
            'Of what was removed or collected, the part that is fees: without liquidity that others had removed and left unpaid. Absent where the chain does not tell it, as of liquidity removed on v4.',
        }),
      ),
      fees1: Type.Optional(Type.String()),
      lacksFees: Type.Optional(
        Type.Boolean({
          description:
            'true: the amounts may have liquidity that others had removed before, and the chain did not tell how much. `fees0` and `fees1` are absent then.',
        }),
      ),
    },
    { description: 'The fill of a change of liquidity, from its receipt.' },
  ),
  Type.Object(
    {
      pool: Type.String(),
      shares: Type.String({ description: 'Added or removed.' }),
      tokens: Type.Array(Type.String(), { description: "Addresses, in the request's order; the zero address for the native coin." }),
      amounts: Type.Array(Type.String(), { description: 'What the wallet paid to the pool, or the pool paid out, of each token.' }),
    },
    { description: 'The fill of a change of shares, from its receipt.' },
  ),
  Type.Object(
    {
      size: Type.String({ description: 'In base.' }),
      price: Type.String({ description: 'Quote per one base, fees included.' }),
      fee: Type.String({ description: 'In quote.' }),
      realizedProfit: Type.String({
        description: 'In quote: proceeds of the closed part less its cost, fees included. Below 0 is a loss.',
      }),
      funding: Type.Optional(
        Type.String({
          description:
            'In quote: what was settled of the funding since the last change, beside the profit; below 0 it was paid. Absent where the receipt does not tell it.',
        }),
      ),
      closedRatio: Type.Optional(
        Type.String({ description: 'Of a close: the fraction of the position that was closed, 1 for all of it.' }),
      ),
    },
    { description: 'The fill of a change of a perpetual position, from its receipt.' },
  ),
])

export const NetworkPollRequest = request({ ...chainFields, txHash: TransactionHash, connector: Type.Optional(ConnectorName) })
export const NetworkPollResponse = enveloped({
  currentBlock: Type.Number({ description: '-1 if no node answers: then only what the journal has as final is shown.' }),
  txHash: Type.String(),
  txStatus: Type.Number({
    description: '-1 unknown or dead, 0 accepted, 1 mined, 2 pending and pays enough, 3 pending and pays too little.',
  }),
  txBlock: Type.Number({ description: '-1 until mined; always -1 for signed actions, which are in no block.' }),
  txData: Type.Unknown({ description: 'The decoded transaction, or null.' }),
  txReceipt: Type.Unknown({ description: 'The receipt with the logs of known contracts decoded, or null.' }),
  txState: Type.Optional(
    Type.String({ description: 'State in the journal; MINED where the chain has it in a block already. Later versions may add others.' }),
  ),
  final: Type.Optional(Type.Boolean({ description: 'Whether that state never changes again.' })),
  archived: Type.Optional(
    Type.Boolean({
      description:
        'true: the transaction ended long ago and left the journal. Its `fill` is the one that was journaled when it became final; one that an earlier version made may have none.',
    }),
  ),
  confirmations: Type.Number({ description: 'Blocks from its own to the newest; a lower bound if no node answers.' }),
  replacedBy: Type.Optional(
    Type.String({
      description: 'Hash of the transaction that replaces, or replaced, the requested one: the same at higher fees, or another.',
    }),
  ),
  reason: Type.Optional(Type.String({ description: "Why it was dropped, why the chain reverted it, or a node's last objection." })),
  cause: Type.Optional(
    Type.Literal('slippage', {
      description: 'The chain reverted it because the price had moved past its bound. Absent for any other reason.',
    }),
  ),
  fill: Type.Optional(Fill),
  fillMissing: Type.Optional(
    Type.String({
      description:
        'Why there is no `fill` of a transaction that may have brought something: only its plugin can read that, or no node has its receipt.',
    }),
  ),
})

export type NetworkStatusRequest = Static<typeof NetworkStatusRequest>
export type NetworkStatusResponse = Static<typeof NetworkStatusResponse>
export type NetworkChainConfigRequest = Static<typeof NetworkChainConfigRequest>
export type NetworkChainConfigResponse = Static<typeof NetworkChainConfigResponse>
export type NetworkTokensRequest = Static<typeof NetworkTokensRequest>
export type NetworkTokensResponse = Static<typeof NetworkTokensResponse>
export type NetworkTokenRequest = Static<typeof NetworkTokenRequest>
export type NetworkTokenResponse = Static<typeof NetworkTokenResponse>
export type NetworkTokensAddRequest = Static<typeof NetworkTokensAddRequest>
export type NetworkTokensAddResponse = Static<typeof NetworkTokensAddResponse>
export type NetworkBalancesRequest = Static<typeof NetworkBalancesRequest>
export type NetworkBalancesResponse = Static<typeof NetworkBalancesResponse>
export type NetworkPollRequest = Static<typeof NetworkPollRequest>
export type NetworkPollResponse = Static<typeof NetworkPollResponse>

const network = { method: 'GET', set: 'NetworkBase', permission: 'read' } as const

export const networkEndpoints = [
  endpoint({
    ...network,
    on: 'service',
    name: 'NetworkStatus',
    path: '/network/status',
    summary: 'The newest block of every network. A network that is down keeps its entry.',
    errors: ['UNKNOWN_CHAIN_ERROR'],
    request: NetworkStatusRequest,
    response: NetworkStatusResponse,
  }),
  endpoint({
    ...network,
    on: 'service',
    name: 'NetworkChainConfig',
    path: '/network/chain_config',
    summary: "The chain's configuration that is in force, defaults included, secrets masked.",
    errors: ['UNKNOWN_CHAIN_ERROR'],
    request: NetworkChainConfigRequest,
    response: NetworkChainConfigResponse,
  }),
  endpoint({
    ...network,
    on: 'chain',
    name: 'NetworkTokens',
    path: '/network/tokens',
    summary: "The network's tokens.",
    errors: ['TOKEN_NOT_SUPPORTED'],
    request: NetworkTokensRequest,
    response: NetworkTokensResponse,
  }),
  endpoint({
    ...network,
    on: 'chain',
    name: 'NetworkToken',
    path: '/network/token',
    summary: 'A token by its address, and what is odd about it.',
    errors: ['TOKEN_NOT_SUPPORTED'],
    request: NetworkTokenRequest,
    response: NetworkTokenResponse,
  }),
  endpoint({
    ...network,
    method: 'POST',
    permission: 'admin',
    on: 'chain',
    name: 'NetworkTokensAdd',
    path: '/network/tokens/add',
    summary: "Adds a token to the network's list, for this server.",
    errors: ['TOKEN_NOT_SUPPORTED', 'UNSUPPORTED'],
    request: NetworkTokensAddRequest,
    response: NetworkTokensAddResponse,
  }),
  endpoint({
    ...network,
    on: 'chain',
    wallet: true,
    name: 'NetworkBalances',
    path: '/network/balances',
    summary: "A wallet's balances, in one round trip.",
    errors: ['TOKEN_NOT_SUPPORTED'],
    request: NetworkBalancesRequest,
    response: NetworkBalancesResponse,
  }),
  endpoint({
    ...network,
    on: 'chain',
    name: 'NetworkPoll',
    path: '/network/poll',
    summary: 'The status of a transaction, and its fill.',
    errors: ['UNKNOWN_CONNECTOR'],
    request: NetworkPollRequest,
    response: NetworkPollResponse,
  }),
]
