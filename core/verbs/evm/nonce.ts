import type { Verb } from '../../handlers/context.ts'
import { readAddress, requireKey } from '../../handlers/wallets.ts'
import { evmOf } from './spenders.ts'

export const evmNonce: Verb<'EVMNonce'> = async (request, context) => {
  const { network, services, signal } = context
  evmOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  return { nonce: await services.transactions.nextNonce({ network, address }, signal) }
}
