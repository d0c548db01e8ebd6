import { SluiceError } from '../api/index.ts'
import type { Settings } from '../config/settings.ts'
import { devnetNetwork } from '../devnet/network.ts'
import type { LoadedChain } from '../loader/loaded-plugin.ts'
import type { Finding } from './finding.ts'

const deadlineMs = 5_000
const mostSkewSeconds = 120
/** No network that trades is as slow as that. */
const mostAgeSeconds = 300

/** Whether the nodes answer, and whether this machine's clock is theirs: deadlines of trades are counted from the chain's. */
export async function examineNetworks(
  chains: readonly LoadedChain[],
  required: (chain: string, network: string) => boolean,
  { devnet }: Settings,
): Promise<Finding[]> {
  const venues = chains.flatMap((chain) => chain.venues)
  return (
    await Promise.all(
      venues.map(async ({ chain, network, implementation }): Promise<Finding[]> => {
        const name = `${chain}/${network}`
        if (devnet.enabled && chain === devnetNetwork.chain && network === devnetNetwork.network)
          return [{ part: 'nodes', state: 'good', what: `${name} is the devnet: it comes up with the server.` }]
        try {
          const { number, timestamp } = await implementation.head({ signal: AbortSignal.timeout(deadlineMs) })
          const skew = timestamp - Date.now() / 1000
          const answers: Finding = { part: 'nodes', state: 'good', what: `${name} answers at ${implementation.rpcUrl()}, block ${number}.` }
          return [answers, ...clock(name, skew)]
        } catch (error) {
          const reason = error instanceof SluiceError ? error.message : `no answer within ${deadlineMs / 1000} s`
          return [
            {
              part: 'nodes',
              state: required(chain, network) ? 'bad' : 'warn',
              what: `${name}: ${reason}`,
              cure: `Check the network connection and rpcUrls in conf/chains/${chain}.yml; \`enabled: false\` leaves the network out.`,
            },
          ]
        }
      }),
    )
  ).flat()
}

/** @param skew seconds that the newest block is ahead of this machine's clock */
function clock(name: string, skew: number): Finding[] {
  const part = 'clock'
  if (skew > mostSkewSeconds) {
    const what = `This machine's clock is ${Math.round(skew)} s behind ${name}.`
    return [{ part, state: 'bad', what, cure: 'Set the clock: turn on time synchronisation (NTP).' }]
  }
  if (skew > -mostAgeSeconds) return []
  const what = `The newest block of ${name} is ${Math.round(-skew)} s old: the node is behind, or this machine's clock is ahead.`
  return [{ part, state: 'warn', what, cure: 'Turn on time synchronisation (NTP); where the clock is right, ask another node.' }]
}
