import * as Type from 'typebox'
import type { Static } from 'typebox'
import { endpoint, enveloped, request, chainFields, TokenName, WalletAddress } from './endpoint.ts'

export const AltchainCreateTokenRequest = request({
  ...chainFields,
  address: WalletAddress,
  tokenSymbol: TokenName,
  nonce: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1023,
      expects: "the index of one of the wallet's durable nonce accounts",
      description: "Index of one of the wallet's durable nonce accounts (conf/chains/<chain>.yml), from 0. Absent: a recent blockhash.",
    }),
  ),
})
export const AltchainCreateTokenResponse = enveloped({
  txHash: Type.Union([Type.String(), Type.Null()], { description: 'The signature; null if the account exists already.' }),
  tokenAccount: Type.String({ description: "The wallet's account for the token." }),
})

export type AltchainCreateTokenRequest = Static<typeof AltchainCreateTokenRequest>
export type AltchainCreateTokenResponse = Static<typeof AltchainCreateTokenResponse>

export const altchainEndpoints = [
  endpoint({
    set: 'altchain',
    on: 'chain',
    method: 'POST',
    permission: 'trade',
    wallet: true,
    acts: true,
    name: 'AltchainCreateToken',
    path: '/altchain/create-token',
    summary: "Creates a wallet's account for a token, if there is none.",
    errors: ['TOKEN_NOT_SUPPORTED', 'UNSUPPORTED'],
    request: AltchainCreateTokenRequest,
    response: AltchainCreateTokenResponse,
  }),
]
