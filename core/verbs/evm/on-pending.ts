import type { Verb } from '../context.ts'
import { readFees } from '../fees.ts'
import { readAddress, requireKey } from '../wallets.ts'
import { evmOf } from './spenders.ts'

/** What is done to a wallet's pending transaction: that on `nonce`, or the lowest. */
export const onPending =
  (what: 'cancel' | 'speedUp'): Verb<'EVMCancel'> & Verb<'EVMSpeedUp'> =>
  async (request, context) => {
    const { network, services, signal } = context
    evmOf(network)
    const address = readAddress(network, request.address)
    requireKey(services.wallets, network, address)
    const origin = { ...context, address, nonce: request.nonce, wish: readFees(request, network) }
    const { txHash, nonce } = await services.transactions[what](origin, signal)
    return { txHash, nonce }
  }
