// What `sluice doctor` finds of the nodes, and of this machine's clock beside theirs.
import { nodesRemedy } from '../handlers/readiness.ts'
import { SluiceError } from '../api/index.ts'
import { type Settings, devnetNetwork } from '../config/settings.ts'
import { isObject } from '../base/json.ts'
import { command } from '../base/layout.ts'
import type { LoadedChain } from '../plugins/index.ts'
import type { Finding } from './output.ts'

const deadlineMs = 5_000
const mostSkewSeconds = 120
/** Blocks of a network in use are never this old. */
const maxAgeSeconds = 300

/**
 * Checks that the nodes answer, and that this machine's clock agrees with theirs: deadlines of trades are counted from the chain's time.
 */
export async function examineNetworks(
  chains: readonly LoadedChain[],
  required: (chain: string, network: string) => boolean,
  isChosen: (chain: string, network: string) => boolean,
  { devnet }: Settings,
): Promise<Finding[]> {
  const venues = chains.flatMap((chain) => chain.venues)
  const chosen = venues.filter(({ chain, network }) => isChosen(chain, network))
  const others = venues.length - chosen.length
  const findings = (
    await Promise.all(
      chosen.map(async ({ chain, network, implementation }): Promise<Finding[]> => {
        const name = `${chain}/${network}`
        if (devnet.enabled && chain === devnetNetwork.chain && network === devnetNetwork.network)
          return [{ part: 'nodes', state: 'good', what: `${name} is the devnet: it comes up with the server.` }]
        try {
          const { number, timestamp } = await implementation.head({ signal: AbortSignal.timeout(deadlineMs) })
          const skew = timestamp - Date.now() / 1000
          const answers: Finding = { part: 'nodes', state: 'good', what: `${name} answers at ${implementation.rpcUrl()}, block ${number}.` }
          return [answers, ...clock(name, skew), ...(await limitsOf(name, implementation, number))]
        } catch (error) {
          const reason = error instanceof SluiceError ? error.message : `no answer within ${deadlineMs / 1000} s`
          return [
            {
              part: 'nodes',
              state: required(chain, network) ? 'bad' : 'warn',
              what: `${name}: ${reason}`,
              remedy: nodesRemedy({ chain, network, url: implementation.rpcUrl() }),
            },
          ]
        }
      }),
    )
  ).flat()
  if (others === 0) return findings
  const what = `${others} more ${others === 1 ? 'network has' : 'networks have'} the defaults, and no node of them was asked: \`${command} doctor --all\` does.`
  return [...findings, { part: 'nodes', state: 'good', what }]
}

const blocksBack = 10_000n

/** What the nodes of a network take less than is usual: found out by asking for as much. */
async function limitsOf(
  name: string,
  { reader, nodes, evm }: LoadedChain['venues'][number]['implementation'],
  number: bigint,
): Promise<Finding[]> {
  const at = { signal: AbortSignal.timeout(deadlineMs) }
  const fromBlock = Number(number > blocksBack ? number - blocksBack + 1n : 0n)
  // Nothing is expected of the answers.
  await Promise.allSettled([
    evm?.gasPrices?.(at),
    isEvmReader(reader) && reader.logs({ address: reader.wrapped.address, topics: [noEvent], fromBlock }, at),
  ])
  return (nodes?.() ?? []).flatMap(({ url, limits = {} }): Finding[] => {
    const told = Object.entries(limits).map(([of, max]) =>
      of === 'batch' ? `batches of ${max} calls` : `${of} of ${max} ${of === 'eth_getLogs' ? 'blocks' : 'characters'}`,
    )
    if (told.length === 0) return []
    const what = `${name}: ${url} takes ${told.join(' and ')} at most. Sluice asks in such parts, which takes longer.`
    return [{ part: 'nodes', state: 'warn', what, remedy: 'Use a larger plan of its provider, or another node, where that is too slow.' }]
  })
}

/** The first topic of no event. */
const noEvent = `0x${'00'.repeat(31)}01`

interface LogReader {
  readonly wrapped: { readonly address: string }
  logs(filter: { address: string; topics: readonly string[]; fromBlock: number }, at: { signal: AbortSignal }): Promise<unknown>
}

const isEvmReader = (reader: unknown): reader is LogReader =>
  isObject(reader) && 'wrapped' in reader && typeof reader['logs'] === 'function'

/** @param skew seconds that the newest block is ahead of this machine's clock */
function clock(name: string, skew: number): Finding[] {
  if (skew > mostSkewSeconds) {
    const what = `This machine's clock is ${Math.round(skew)} s behind ${name}.`
    return [{ part: 'clock', state: 'bad', what, remedy: 'Set the clock: turn on time synchronisation (NTP).' }]
  }
  if (skew > -maxAgeSeconds) return []
  const what = `The newest block of ${name} is ${Math.round(-skew)} s old: the node is behind, or this machine's clock is ahead.`
  return [{ part: 'clock', state: 'warn', what, remedy: 'Turn on time synchronisation (NTP); where the clock is right, ask another node.' }]
}
