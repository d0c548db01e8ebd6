import type { NetworkStatusResponse } from '../../api/index.ts'
import type { Verb } from '../context.ts'
import type { NetworkEntry } from '../directory.ts'
import { didYouMean } from '../did-you-mean.ts'
import { SluiceError } from '../../api/index.ts'

/** Each network has this long to answer; one that is down holds up nobody. */
const deadlineMs = 3_000

export const networkStatus: Verb<'NetworkStatus'> = async ({ chain, network }, { services: { directory }, signal }) => {
  const wanted = directory.networks.filter((each) => (chain ?? each.chain) === each.chain && (network ?? each.network) === each.network)
  if (wanted.length === 0 && (chain !== undefined || network !== undefined)) throw unknownNetwork(chain, network, directory.networks)
  return statusOfAll(wanted, signal)
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

function unknownNetwork(chain: string | undefined, network: string | undefined, known: readonly NetworkEntry[]): SluiceError {
  const names = known.map((each) =>
    chain === undefined ? each.network : network === undefined ? each.chain : `${each.chain}/${each.network}`,
  )
  const name = [chain, network].filter((each) => each !== undefined).join('/')
  return new SluiceError(
    'UNKNOWN_CHAIN_ERROR',
    `There is no network "${name}"${didYouMean(name, names)}; known: ${[...new Set(names)].join(', ')}.`,
  )
}
