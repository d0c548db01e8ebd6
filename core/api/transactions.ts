import Type, { type Static } from 'typebox'
import { response } from './endpoint.ts'

/** A transaction of the journal, as `/transactions` lists it and `/events` tells its changes. */
export const JournaledTransaction = response({
  chain: Type.String(),
  network: Type.String(),
  address: Type.String(),
  kind: Type.String({ description: 'trade, approve, cancel, or fill: one of the server’s own that closes a gap in the nonces.' }),
  connector: Type.Optional(Type.String()),
  txHash: Type.Union([Type.String(), Type.Null()], { description: 'The one that is mined, or the newest; null before it is signed.' }),
  nonce: Type.Number(),
  txState: Type.String({ description: 'QUEUED, SIGNED, BROADCAST, MINED, CONFIRMED, REVERTED, REPLACED, CANCELLED, DROPPED or EXPIRED.' }),
  txStatus: Type.Number({ description: 'As /network/poll has it, by what the journal knows.' }),
  txBlock: Type.Number({ description: '-1 until mined.' }),
  replacedBy: Type.Optional(Type.String({ description: 'Hash of what is to take, or took, its place.' })),
  reason: Type.Optional(
    Type.String({ description: 'Why it was given up, why the chain reverted it, or what a node last said against it.' }),
  ),
  attempts: Type.Array(Type.Object({ txHash: Type.String(), signedAt: Type.Number(), sends: Type.Number() }), {
    description: 'Everything that was signed on its nonce for it: at most one of them is ever mined. Times in ms since the Unix epoch.',
  }),
  requestId: Type.String(),
  idempotencyKey: Type.Optional(Type.String()),
  createdAt: Type.Number({ description: 'ms since the Unix epoch.' }),
  updatedAt: Type.Number({ description: 'ms since the Unix epoch.' }),
  deadline: Type.Optional(Type.Number({ description: 'Seconds since the Unix epoch; the chain refuses the trade after it.' })),
})
export type JournaledTransaction = Static<typeof JournaledTransaction>
