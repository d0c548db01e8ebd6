// What callers see. The one list of endpoints is the source of routes, validators, serializers, types and the OpenAPI document.
import { altchainEndpoints } from './altchain.ts'
import { ammEndpoints } from './amm.ts'
import { ammRangeEndpoints } from './range.ts'
import { orderBookEndpoints } from './clob/index.ts'
import { connectorEndpoints, serviceEndpoints, transactionEndpoints } from './service.ts'
import { evmEndpoints } from './evm.ts'
import { networkEndpoints } from './network.ts'
import { perpAMMEndpoints } from './perp-amm.ts'

/** Version of the interface, raised by semantic versioning. */
export const interfaceVersion = '1.4.0'

export const endpoints = [
  ...serviceEndpoints,
  ...transactionEndpoints,
  ...networkEndpoints,
  ...evmEndpoints,
  ...altchainEndpoints,
  ...connectorEndpoints,
  ...ammEndpoints,
  ...ammRangeEndpoints,
  ...perpAMMEndpoints,
  ...orderBookEndpoints,
]

export type AnyEndpoint = (typeof endpoints)[number]
export type EndpointName = AnyEndpoint['name']
export type EndpointNamed<N extends EndpointName> = Extract<AnyEndpoint, { name: N }>

export * from './altchain.ts'
export * from './amm.ts'
export * from './range.ts'
export * from './clob/index.ts'
export * from './service.ts'
export * from '../errors.ts'
export * from './events.ts'
export * from './evm.ts'
export * from './network.ts'
export * from './perp.ts'
export * from './perp-amm.ts'
export * from './service.ts'
export * from './service.ts'
export { errorsOf } from './endpoint.ts'
export type { AnswerOf, BookSet, Endpoint, Permission, RequestOf, ResponseOf, Target } from './endpoint.ts'
