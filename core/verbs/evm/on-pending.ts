import type { Verb } from '../../handlers/context.ts'
import { readWallet } from '../read-wallet.ts'
import { evmOf } from './spenders.ts'

/** What is done to a wallet's pending transaction: that on `nonce`, or the lowest. */
export const onPending =
  (what: 'cancel' | 'speedUp'): Verb<'EVMCancel'> & Verb<'EVMSpeedUp'> =>
  async (request, context) => {
    const { network, services, signal } = context
    evmOf(network)
    const origin = { ...context, ...readWallet(request, context) }
    const { txHash, nonce } = await services.transactions[what](origin, signal)
    return { txHash, nonce }
  }
