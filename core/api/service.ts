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
/** Where bots wait after a start. */
const WarmingMarkets = Type.Optional(
  Type.Array(
    Type.Object({
      chain: Type.String(),
      network: Type.String(),
      seconds: Type.Number({ description: 'Until clients without the permission thin can trade there, if its market is read until then.' }),
    }),
    { description: 'Networks whose market was not read for long enough yet. Absent where there is none; the status says nothing of it.' },
  ),
)
export const HealthLiveRequest = request({})
export const HealthLiveResponse = Health
export const HealthReadyRequest = request({})
export const HealthReadyResponse = Type.Object({ ...Health.properties, market: WarmingMarkets })

export const WalletRequest = request({})
export const WalletResponse = Type.Array(Type.Object({ chain: Type.String(), address: Type.String(), label: Type.Optional(Type.String()) }))

export const CallerRequest = request({})
export const CallerResponse = response({
  client: Type.String({ description: 'Its key in conf/clients.yml; of a certificate without an entry its common name.' }),
  unlisted: Type.Optional(Type.Literal(true, { description: 'The certificate has no entry in conf/clients.yml.' })),
  permissions: Type.Array(Type.String(), { description: 'Later versions may add others.' }),
  clients: Type.Array(Type.String(), { description: 'Whose limits it may ask for: itself, and with admin all of conf/clients.yml.' }),
  certificates: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ description: 'Of the client; `server` and `ca` are those of the server.' }),
        expiresAt: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
      }),
      {
        description:
          'When certificates end that are not revoked, the newest of each name: its own and those of the server, with admin all that the folder `certs` knows. Absent where that cannot be read.',
      },
    ),
  ),
  version: Type.String({ description: "Of the server's release." }),
})

export type StatusRequest = Static<typeof StatusRequest>
export type StatusResponse = Static<typeof StatusResponse>
export type HealthLiveRequest = Static<typeof HealthLiveRequest>
export type HealthLiveResponse = Static<typeof HealthLiveResponse>
export type HealthReadyRequest = Static<typeof HealthReadyRequest>
export type HealthReadyResponse = Static<typeof HealthReadyResponse>
export type WalletRequest = Static<typeof WalletRequest>
export type WalletResponse = Static<typeof WalletResponse>
export type CallerRequest = Static<typeof CallerRequest>
export type CallerResponse = Static<typeof CallerResponse>

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
  endpoint({
    ...service,
    name: 'Caller',
    path: '/caller',
    summary: 'Who the caller is, by its certificate, and what it may do.',
    permission: 'read',
    request: CallerRequest,
    response: CallerResponse,
  }),
]
