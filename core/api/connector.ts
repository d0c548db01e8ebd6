import Type, { type Static } from 'typebox'
import { endpoint, request } from './endpoint.ts'
import { ConnectorName } from './fields.ts'

export const ConnectorConfigRequest = request({ connector: ConnectorName })
export const ConnectorConfigResponse = Type.Record(Type.String(), Type.Unknown())

export type ConnectorConfigRequest = Static<typeof ConnectorConfigRequest>
export type ConnectorConfigResponse = Static<typeof ConnectorConfigResponse>

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
