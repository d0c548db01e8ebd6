import type { Verb } from '../context.ts'
import { readAddress, requireKey } from '../wallets.ts'
import { evmOf } from './spenders.ts'

export const evmNonce: Verb<'EVMNonce'> = async (request, context) => {
  const { network, services, signal } = context
  evmOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  return { nonce: await services.transactions.nextNonce({ network, address }, signal) }
}
