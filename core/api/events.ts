import Type, { type Static } from 'typebox'
import { endpoint, request, response } from './endpoint.ts'
import { ChainName, NetworkName, WalletAddress } from './fields.ts'
import { JournaledTransaction } from './transactions.ts'

/** What can be followed. */
export const eventTopics = ['transactions', 'blocks'] as const
export type EventTopic = (typeof eventTopics)[number]

export const EventsRequest = request({
  topics: Type.Optional(
    Type.Array(Type.Enum(eventTopics), {
      minItems: 1,
      uniqueItems: true,
      expects: `a list of what there is to follow: ${eventTopics.join(', ')}`,
      description: `Any of ${eventTopics.join(', ')}; transactions without it.`,
    }),
  ),
  chain: Type.Optional(ChainName),
  network: Type.Optional(NetworkName),
  address: Type.Optional(WalletAddress),
  lastEventId: Type.Optional(
    Type.String({
      pattern: '^\\d{1,15}(-\\d{1,9})?$',
      expects: 'the id of an event, such as 123 or 123-4',
      description: 'For clients that cannot set the header Last-Event-ID, which counts more. 0: all there ever was.',
    }),
  ),
})

/** `data` of an event of the topic `blocks`. */
export const Block = response({
  chain: Type.String(),
  network: Type.String(),
  number: Type.Number(),
  hash: Type.Optional(Type.String()),
  timestamp: Type.Number({ description: "The block's own, seconds since the Unix epoch." }),
})

/** `data` of one event, by its topic. */
export const EventsResponse = Type.Union([JournaledTransaction, Block])

export type Block = Static<typeof Block>
export type EventsRequest = Static<typeof EventsRequest>
export type EventsResponse = Static<typeof EventsResponse>

/** Answered by a stream of events rather than by JSON. */
export const eventsEndpoint = endpoint({
  method: 'GET',
  set: 'Service',
  on: 'service',
  permission: 'read',
  wallet: true,
  name: 'Events',
  path: '/events',
  summary: 'Server-sent events: what becomes of transactions, and new blocks.',
  errors: ['UNKNOWN_CHAIN_ERROR'],
  request: EventsRequest,
  response: EventsResponse,
})
