import Type, { type Static } from 'typebox'
import { endpoint, request, response } from './endpoint.ts'

const NetworkNames = Type.Object({ chain: Type.String(), networks: Type.Array(Type.String()) })

export const StatusRequest = request({})
export const StatusResponse = response({ status: Type.Literal('ok') })

export const ConnectorsRequest = request({})
export const ConnectorsResponse = Type.Record(Type.String(), Type.Array(NetworkNames))

export const PluginsRequest = request({})
export const PluginsResponse = Type.Array(
  Type.Object({
    name: Type.String(),
    kind: Type.Union([Type.Literal('chain'), Type.Literal('connector'), Type.Literal('unknown')]),
    version: Type.String(),
    trading_type: Type.Array(Type.String()),
    available_networks: Type.Array(NetworkNames),
    state: Type.Union([Type.Literal('loaded'), Type.Literal('refused')]),
    reason: Type.Optional(Type.String({ description: 'Why it was refused, and what to do about it.' })),
    starting: Type.Optional(Type.Array(Type.String(), { description: 'Its networks that are not ready yet.' })),
  }),
)

const Health = response({
  status: Type.Union([Type.Literal('ok'), Type.Literal('failing')]),
  failing: Type.Optional(Type.Array(Type.Object({ part: Type.String(), reason: Type.String() }))),
})
export const HealthLiveRequest = request({})
export const HealthLiveResponse = Health
export const HealthReadyRequest = request({})
export const HealthReadyResponse = Health

export const WalletRequest = request({})
export const WalletResponse = Type.Array(Type.Object({ chain: Type.String(), address: Type.String(), label: Type.Optional(Type.String()) }))

export type StatusRequest = Static<typeof StatusRequest>
export type StatusResponse = Static<typeof StatusResponse>
export type ConnectorsRequest = Static<typeof ConnectorsRequest>
export type ConnectorsResponse = Static<typeof ConnectorsResponse>
export type PluginsRequest = Static<typeof PluginsRequest>
export type PluginsResponse = Static<typeof PluginsResponse>
export type HealthLiveRequest = Static<typeof HealthLiveRequest>
export type HealthLiveResponse = Static<typeof HealthLiveResponse>
export type HealthReadyRequest = Static<typeof HealthReadyRequest>
export type HealthReadyResponse = Static<typeof HealthReadyResponse>
export type WalletRequest = Static<typeof WalletRequest>
export type WalletResponse = Static<typeof WalletResponse>

const service = { method: 'GET', set: 'Service', on: 'service' } as const

export const serviceEndpoints = [
  endpoint({ ...service, name: 'Status', path: '/', summary: 'The server answers.', request: StatusRequest, response: StatusResponse }),
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
    summary: 'What was loaded and what was refused, with the reason.',
    permission: 'read',
    request: PluginsRequest,
    response: PluginsResponse,
  }),
  endpoint({
    ...service,
    name: 'HealthLive',
    path: '/health/live',
    summary: 'The process is alive.',
    request: HealthLiveRequest,
    response: HealthLiveResponse,
  }),
  endpoint({
    ...service,
    name: 'HealthReady',
    path: '/health/ready',
    summary: 'The listener, the wallets and every required network are ready; 503 names the failing part.',
    request: HealthReadyRequest,
    response: HealthReadyResponse,
  }),
  endpoint({
    ...service,
    name: 'Wallet',
    path: '/wallet',
    summary: 'The addresses that the caller may use.',
    permission: 'read',
    request: WalletRequest,
    response: WalletResponse,
  }),
]
