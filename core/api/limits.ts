// What a client may spend and do by its limits, and what is stopped.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { endpoint, request, response, WalletAddress } from './endpoint.ts'

export const LimitsRequest = request({
  client: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'the id of a client',
      description: 'Another client than the caller: the key of its entry in conf/clients.yml. Needs the permission admin.',
    }),
  ),
})
/** Of both answers. */
const problems = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'What its entry in conf/clients.yml names and the server does not know, or what allows nothing there: sentences. Absent where there is none.',
  }),
)

export const LimitsResponse = response({
  client: Type.String(),
  problems,
  unlisted: Type.Optional(Type.Literal(true, { description: 'The certificate of the client has no entry in conf/clients.yml.' })),
  limits: Type.Array(
    Type.Object({
      limit: Type.String({ description: 'Its key in `limits` of the client, such as `maxFee` or `allowed.tokens`.' }),
      allowed: Type.String({ description: 'A decimal in the unit, or a list.' }),
      default: Type.Optional(
        Type.Literal(true, { description: 'The client has no such limit of its own: it is what settings of the server say.' }),
      ),
      basis: Type.Optional(
        Type.Object(
          { percent: Type.String(), of: Type.String(), atLeast: Type.Optional(Type.String()) },
          {
            description:
              'Of a default: so many percent of this amount, and at least so much. Of maxDailyLoss it is what the wallets held when the rolling day began, of fees what gas costs at feeCap.',
          },
        ),
      ),
      unit: Type.String({ description: 'A symbol, `transactions`, `reference token`, `unit of account`, `%`, `times`, or `list`.' }),
      window: Type.Optional(Type.Union([Type.Literal('hour'), Type.Literal('day')])),
      used: Type.Optional(Type.String({ description: 'What was spent in the window, and what open transactions may still spend.' })),
      left: Type.Optional(Type.String()),
      freesAt: Type.Optional(Type.Integer({ description: 'When all of it has left the window: milliseconds since 1970.' })),
      chain: Type.Optional(Type.String()),
      network: Type.Optional(Type.String()),
    }),
    { description: 'Empty where the client has none.' },
  ),
})

export const LimitsCheckRequest = request({
  client: LimitsRequest.properties.client,
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 30, expects: 'a whole number from 1 to 30', description: 'How far back. Absent: 7.' }),
  ),
})
export const LimitsCheckResponse = response({
  client: Type.String(),
  problems,
  days: Type.Integer(),
  since: Type.Optional(
    Type.Integer({ description: 'Where there are too many for so many days: those from then on were looked at, milliseconds since 1970.' }),
  ),
  transactions: Type.Integer({ description: 'How many of the client were looked at.' }),
  hits: Type.Array(
    Type.Object({
      limit: Type.String({ description: 'As a refusal names it.' }),
      transactions: Type.Integer({ description: 'How many it would have refused.' }),
      first: Type.Integer({ description: 'When the first of them was made: milliseconds since 1970.' }),
      last: Type.Integer(),
      txHash: Type.Union([Type.String(), Type.Null()], { description: 'Of the last of them.' }),
    }),
  ),
  notTold: Type.Array(Type.String(), {
    description: 'Limits of the client that the journal does not tell, of all transactions or of some: of these they were not looked at.',
  }),
})

/** `stop`: only cancels go through. `reduce-only`: only what cancels, closes, removes, repays or revokes. */
export const stopModes = ['stop', 'reduce-only'] as const
export type StopMode = (typeof stopModes)[number]

/** A stop in force. */
export const ShownStop = Type.Object({
  mode: Type.Union([Type.Literal('stop'), Type.Literal('reduce-only')], {
    description: 'stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.',
  }),
  of: Type.Union([Type.Literal('all'), Type.Literal('wallet'), Type.Literal('client')]),
  address: Type.Optional(Type.String({ description: 'Of a wallet.' })),
  client: Type.Optional(Type.String({ description: 'The id of a client: the key of its entry in conf/clients.yml.' })),
  setBy: Type.String({ description: 'The id of the client that set it.' }),
  since: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  reason: Type.Optional(Type.String()),
  file: Type.Optional(Type.String({ description: 'The file in the data folder of this server that says it. It is not in the store.' })),
})

const stopScope = {
  address: Type.Optional({ ...WalletAddress, description: 'One wallet. Without it, and without client, it is for all.' }),
  client: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      expects: 'the id of a client',
      description: 'One client: the key of its entry in conf/clients.yml.',
    }),
  ),
}
const stopModeOptions = { expects: 'stop or reduce-only' }

export const StopsRequest = request({})
export const StopsResponse = response({ stops: Type.Array(ShownStop, { description: 'Oldest first.' }) })

export const StopsPostRequest = request({
  mode: Type.Enum(stopModes, {
    ...stopModeOptions,
    description: 'stop: only cancels go through. reduce-only: also what closes, removes, repays or revokes.',
  }),
  ...stopScope,
  reason: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, expects: 'a text of at most 200 characters', description: 'Shown to whoever is refused.' }),
  ),
})
export const StopsPostResponse = ShownStop

export const StopsDeleteRequest = request({
  mode: Type.Optional(Type.Enum(stopModes, { ...stopModeOptions, description: 'Without it both are lifted.' })),
  ...stopScope,
})
export const StopsDeleteResponse = response({ lifted: Type.Array(ShownStop, { description: 'Empty where none was in force.' }) })

export type LimitsRequest = Static<typeof LimitsRequest>
export type LimitsResponse = Static<typeof LimitsResponse>
export type LimitsCheckRequest = Static<typeof LimitsCheckRequest>
export type LimitsCheckResponse = Static<typeof LimitsCheckResponse>
export type StopsRequest = Static<typeof StopsRequest>
export type StopsResponse = Static<typeof StopsResponse>
export type StopsPostRequest = Static<typeof StopsPostRequest>
export type StopsPostResponse = Static<typeof StopsPostResponse>
export type StopsDeleteRequest = Static<typeof StopsDeleteRequest>
export type StopsDeleteResponse = Static<typeof StopsDeleteResponse>

const service = { method: 'GET', set: 'Service', on: 'service' } as const

export const limitEndpoints = [
  endpoint({
    ...service,
    name: 'Limits',
    path: '/limits',
    summary: 'What a client may spend by its limits, and what is left.',
    permission: 'read',
    request: LimitsRequest,
    response: LimitsResponse,
  }),
  endpoint({
    ...service,
    name: 'LimitsCheck',
    path: '/limits/check',
    summary: 'What the transactions of the last days would have hit, had the limits that the client has now held.',
    permission: 'read',
    request: LimitsCheckRequest,
    response: LimitsCheckResponse,
  }),
  endpoint({
    ...service,
    name: 'Stops',
    path: '/stops',
    summary: 'What is stopped: for all, for wallets that the caller may use, and for the caller. With stop, resume or admin all of it.',
    permission: 'read',
    request: StopsRequest,
    response: StopsResponse,
  }),
  endpoint({
    method: 'POST',
    set: 'Service',
    on: 'service',
    name: 'StopsPost',
    path: '/stops',
    summary:
      'Stops all, a wallet or a client: needs the permission stop, or trade for the caller’s own id. What is journaled after the answer is held by it on every server of the store.',
    request: StopsPostRequest,
    response: StopsPostResponse,
  }),
  endpoint({
    method: 'DELETE',
    set: 'Service',
    on: 'service',
    permission: 'resume',
    name: 'StopsDelete',
    path: '/stops',
    summary: 'Lifts what was stopped for all, for a wallet or for a client. Each is lifted by itself.',
    request: StopsDeleteRequest,
    response: StopsDeleteResponse,
  }),
]
