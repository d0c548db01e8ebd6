import * as Type from 'typebox'
import type { Static } from 'typebox'
import { endpoint, request, response } from './endpoint.ts'
import { limitEndpoints } from './limits.ts'
import { pluginEndpoints } from './plugins.ts'

export const StatusRequest = request({})
export const StatusResponse = response({ status: Type.Literal('ok') })

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
export type HealthLiveRequest = Static<typeof HealthLiveRequest>
export type HealthLiveResponse = Static<typeof HealthLiveResponse>
export type HealthReadyRequest = Static<typeof HealthReadyRequest>
export type HealthReadyResponse = Static<typeof HealthReadyResponse>
export type WalletRequest = Static<typeof WalletRequest>
export type WalletResponse = Static<typeof WalletResponse>

const service = { method: 'GET', set: 'Service', on: 'service' } as const

export const serviceEndpoints = [
  endpoint({ ...service, name: 'Status', path: '/', summary: 'The server answers.', request: StatusRequest, response: StatusResponse }),
  ...pluginEndpoints,
  ...limitEndpoints,
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
