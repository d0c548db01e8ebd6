import * as Type from 'typebox'
import type { Static } from 'typebox'
import { ConnectorName, endpoint, request, response } from './endpoint.ts'

const NetworkNames = Type.Object({ chain: Type.String(), networks: Type.Array(Type.String()) })

export const ConnectorsRequest = request({})
export const ConnectorsResponse = Type.Record(Type.String(), Type.Array(NetworkNames))

/** Of one token, what a transaction did to a wallet beyond what its plan was allowed. */
const Loss = Type.Object({
  token: Type.String({ description: 'Its address; the zero address for the native coin.' }),
  symbol: Type.Optional(Type.String()),
  amount: Type.String({
    description: 'A decimal string; in smallest units where the symbol is missing, since the decimals are not known.',
  }),
  how: Type.Union([Type.Literal('taken'), Type.Literal('not brought')], {
    description:
      'taken: it left the wallet beyond what the plan was allowed to take. not brought: so much of what it had to bring is missing.',
  }),
})

/** A plugin as `/plugins` and the events of the topic `plugins` show it. */
export const ShownPlugin = Type.Object({
  name: Type.String(),
  kind: Type.Union([Type.Literal('chain'), Type.Literal('connector'), Type.Literal('interface'), Type.Literal('unknown')]),
  version: Type.String({ description: 'Its own word: in quotes where it is more than letters, digits and signs of versions.' }),
  trading_type: Type.Array(Type.String()),
  available_networks: Type.Array(NetworkNames),
  state: Type.Union([Type.Literal('loaded'), Type.Literal('refused'), Type.Literal('pending'), Type.Literal('leaving')], {
    description:
      'pending: its process is started after the server is ready; then it is loaded or refused. leaving: it was removed or is being replaced; it takes no request any more, and reads what its open transactions bring.',
  }),
  tier: Type.Optional(
    Type.Union([Type.Literal('built in'), Type.Literal('trusted'), Type.Literal('contained'), Type.Literal('data')], {
      description:
        'Of a loaded plugin: of this release, of a third party that the operator trusts, of any other, or data alone, without code.',
    }),
  ),
  allowedBy: Type.Optional(
    Type.Union([Type.Literal('release'), Type.Literal('operator'), Type.Literal('nobody')], {
      description: 'Who allowed it to run: the release, the operator in sluice.lock, or nobody, where a server only tries.',
    }),
  ),
  sha256: Type.Optional(Type.String({ description: 'The hash of its files, where the operator allowed it.' })),
  reason: Type.Optional(Type.String({ description: 'Why it was refused, and what to do about it.' })),
  notTakenUp: Type.Optional(
    Type.String({
      description:
        'Why a change of it in sluice.lock is not in force, or its contracts are not on the devnet, and what to do about it. What ran before goes on.',
    }),
  ),
  earlier: Type.Optional(
    Type.Array(Type.Object({ version: Type.String(), sha256: Type.Optional(Type.String()) }), {
      deprecated: true,
      description: 'Never given any more: no earlier version runs beside another one.',
    }),
  ),
  deprecated: Type.Optional(
    Type.Array(Type.String(), { description: 'What it, or conf for it, still has of an earlier interface, and what to use instead.' }),
  ),
  quarantine: Type.Optional(
    Type.Object(
      {
        since: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
        chain: Type.String(),
        network: Type.String(),
        lost: Type.Array(Loss, { description: 'By the first of these transactions.' }),
        breaches: Type.Integer({ description: 'How many transactions did so since it was last lifted.' }),
        txHash: Type.Optional(Type.String({ description: 'The first of them. Only for who may use its wallet, and not in events.' })),
        address: Type.Optional(Type.String({ description: 'The wallet. Only for who may use it, and not in events.' })),
      },
      {
        description:
          'Nothing is signed for it: a mined transaction of it took more from a wallet, or brought less, than its plan was allowed. An operator lifts it.',
      },
    ),
  ),
  starting: Type.Optional(Type.Array(Type.String(), { description: 'Those of its networks that are not ready yet.' })),
  host: Type.Optional(
    Type.Object(
      { deaths: Type.Integer({ description: 'How often it has ended since the server started.' }) },
      { description: 'The contained process that it runs in; absent where it runs in the server.' },
    ),
  ),
})

export const PluginsRequest = request({})
export const PluginsResponse = Type.Array(ShownPlugin)

export const PluginsLiftRequest = request({
  plugin: Type.String({ minLength: 1, maxLength: 64, expects: 'the name of a plugin', description: 'Its name.' }),
})
export const PluginsLiftResponse = response({
  plugin: Type.String(),
  lifted: Type.Array(
    Type.Object({
      since: Type.Number(),
      chain: Type.String(),
      network: Type.String(),
      address: Type.String(),
      txHash: Type.String(),
      lost: Type.Array(Loss),
    }),
    { description: 'The transactions for which it was quarantined, oldest first.' },
  ),
})

export const ConnectorConfigRequest = request({ connector: ConnectorName })
export const ConnectorConfigResponse = Type.Record(Type.String(), Type.Unknown())

export type ConnectorsRequest = Static<typeof ConnectorsRequest>
export type ConnectorsResponse = Static<typeof ConnectorsResponse>
export type ShownPlugin = Static<typeof ShownPlugin>
export type PluginsRequest = Static<typeof PluginsRequest>
export type PluginsResponse = Static<typeof PluginsResponse>
export type PluginsLiftRequest = Static<typeof PluginsLiftRequest>
export type PluginsLiftResponse = Static<typeof PluginsLiftResponse>
export type ConnectorConfigRequest = Static<typeof ConnectorConfigRequest>
export type ConnectorConfigResponse = Static<typeof ConnectorConfigResponse>

const service = { method: 'GET', set: 'Service', on: 'service' } as const

export const pluginEndpoints = [
  endpoint({
    ...service,
    name: 'Connectors',
    path: '/connectors',
    summary: 'The registered connectors and the networks that each serves.',
    permission: 'read',
    request: ConnectorsRequest,
    response: ConnectorsResponse,
  }),
  endpoint({
    ...service,
    name: 'Plugins',
    path: '/plugins',
    summary: 'The plugins that were loaded, those that were refused, with the reason, and those that are still being started.',
    permission: 'read',
    request: PluginsRequest,
    response: PluginsResponse,
  }),
  endpoint({
    method: 'POST',
    set: 'Service',
    on: 'service',
    permission: 'admin',
    name: 'PluginsLift',
    path: '/plugins/lift',
    summary: 'Lets a quarantined plugin act again, once the operator has looked at what it did.',
    request: PluginsLiftRequest,
    response: PluginsLiftResponse,
  }),
]

export const connectorEndpoints = [
  endpoint({
    method: 'GET',
    set: 'ConnectorBase',
    on: 'service',
    permission: 'read',
    name: 'ConnectorConfig',
    path: '/connector/config',
    summary: "The connector's configuration and effective settings, secrets masked.",
    errors: ['UNKNOWN_CONNECTOR'],
    request: ConnectorConfigRequest,
    response: ConnectorConfigResponse,
  }),
]
