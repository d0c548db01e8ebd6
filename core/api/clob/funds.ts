import Type, { type Static } from 'typebox'
import { enveloped, request } from '../endpoint.ts'
import { ChainName, connectorFields, Decimal, gasFields } from '../fields.ts'
import { actingFields, amountOf, MarketName, movedToken, walletFields } from '../clob.ts'

export const CLOBBalancesRequest = request(walletFields)
export const CLOBBalancesResponse = enveloped({
  balances: Type.Record(
    Type.String(),
    Type.Object({
      total: Type.String(),
      available: amountOf('What orders may take.'),
      locked: amountOf('What orders took already.'),
    }),
    { description: 'What is held in the exchange, by symbol.' },
  ),
})

/** What became of something that moves funds, or changes how they are held. */
const moved = {
  id: amountOf("The transaction's hash, or the id of the signed action: /transactions knows it."),
  state: Type.Enum(['PENDING', 'DONE', 'REJECTED']),
  reason: Type.Optional(amountOf('Why the exchange refused it.')),
  txHash: Type.Optional(amountOf('Where it is a transaction.')),
  nonce: Type.Optional(Type.Number()),
}
const movedAmount = { ...moved, token: amountOf('Its address.'), amount: Type.String() }

/** Of withdraw, borrow and repay. */
export const MoveRequest = request({ ...actingFields, ...movedToken })
export const MoveResponse = enveloped(movedAmount)

export const DepositRequest = request({
  ...actingFields,
  ...movedToken,
  fromChain: Type.Optional({
    ...ChainName,
    description:
      'The chain that the token comes from, where the exchange takes deposits from it: token, nonce and fees are of that chain then. Absent: from where its own way begins.',
  }),
})
export const DepositResponse = enveloped({
  ...movedAmount,
  fromChain: Type.Optional(amountOf('As it was asked for: txHash and nonce are of that chain.')),
  fromNetwork: Type.Optional(amountOf("The chain's network, to ask /network/poll with.")),
})

export const CLOBPerpLeverageRequest = request({
  ...actingFields,
  market: MarketName,
  leverage: Decimal('How many times the margin a position may be worth.'),
  marginMode: Type.Optional(
    Type.Enum(['cross', 'isolated'], { expects: 'cross or isolated', description: 'Absent: as the exchange has it, or its usual one.' }),
  ),
})
export const CLOBPerpLeverageResponse = enveloped({ ...moved, market: Type.String(), leverage: Type.String() })

export const CLOBEstimateGasRequest = request(connectorFields)
export const CLOBEstimateGasResponse = enveloped(gasFields)

export type MoveRequest = Static<typeof MoveRequest>
export type MoveResponse = Static<typeof MoveResponse>
export type DepositRequest = Static<typeof DepositRequest>
export type DepositResponse = Static<typeof DepositResponse>
export type CLOBBalancesRequest = Static<typeof CLOBBalancesRequest>
export type CLOBBalancesResponse = Static<typeof CLOBBalancesResponse>
export type CLOBPerpLeverageRequest = Static<typeof CLOBPerpLeverageRequest>
export type CLOBPerpLeverageResponse = Static<typeof CLOBPerpLeverageResponse>
export type CLOBEstimateGasRequest = Static<typeof CLOBEstimateGasRequest>
export type CLOBEstimateGasResponse = Static<typeof CLOBEstimateGasResponse>
