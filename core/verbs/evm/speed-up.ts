import type { Verb } from '../context.ts'
import { readFees } from '../fees.ts'
import { readAddress, requireKey } from '../wallets.ts'
import { evmOf } from './spenders.ts'

export const evmSpeedUp: Verb<'EVMSpeedUp'> = async (request, context) => {
  const { network, services, signal } = context
  evmOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  const { txHash, nonce } = await services.transactions.speedUp(
    { ...context, address, nonce: request.nonce, wish: readFees(request, network) },
    signal,
  )
  return { txHash, nonce }
}
