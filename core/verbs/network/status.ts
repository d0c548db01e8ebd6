import type { NetworkStatusResponse } from '../../api/index.ts'
import type { Verb } from '../context.ts'
import type { NetworkEntry } from '../directory.ts'
import { networksNamed } from './networks-named.ts'
import { SluiceError } from '../../api/index.ts'

/** Each network has this long to answer; one that is down holds up nobody. */
const deadlineMs = 3_000

export const networkStatus: Verb<'NetworkStatus'> = async ({ chain, network }, { services: { directory }, signal }) => {
  return statusOfAll(networksNamed(directory, { chain, network }), signal)
}

export const statusOfAll = (networks: readonly NetworkEntry[], signal: AbortSignal): Promise<NetworkStatusResponse> =>
  Promise.all(networks.map((each) => statusOf(each, signal)))

async function statusOf({ chain, network, impl }: NetworkEntry, signal: AbortSignal): Promise<NetworkStatusResponse[number]> {
  const known = { chain, network, rpcUrl: impl.rpcUrl(), nativeCurrency: impl.nativeCurrency.symbol }
  try {
    const { number, timestamp } = await impl.head({ signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]) })
    const age = Math.max(0, Math.floor(Date.now() / 1000 - timestamp))
    return { ...known, rpcUrl: impl.rpcUrl(), currentBlockNumber: Number(number), currentBlockSeconds: age }
  } catch (cause) {
    const error = cause instanceof SluiceError ? cause.message : `No answer within ${deadlineMs / 1000} s.`
    return { ...known, currentBlockNumber: -1, currentBlockSeconds: -1, error }
  }
}
