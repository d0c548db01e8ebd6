// What `sluice doctor` finds of what connectors need of their networks: they say it themselves, after asking the network's nodes.
import { SluiceError } from '../api/index.ts'
import type { LoadedConnector, LoadedPlugin } from '../plugins/index.ts'
import type { Finding } from './output.ts'

/** The bytes of a program have a megabyte or two. */
const deadlineMs = 20_000

/** @param isAsked networks whose nodes may be asked */
export async function examineConnectors(
  loaded: readonly LoadedPlugin[],
  isAsked: (chain: string, network: string) => boolean,
): Promise<Finding[]> {
  const connectors = loaded.filter((plugin) => plugin.kind === 'connector')
  const findings = await Promise.all(
    connectors.flatMap(({ name, venues }) =>
      venues.filter(({ chain, network }) => isAsked(chain, network)).map((venue) => examineVenue(name, venue)),
    ),
  )
  return findings.flat()
}

async function examineVenue(name: string, { chain, network, implementation }: LoadedConnector['venues'][number]): Promise<Finding[]> {
  const on = `${name} on ${chain}/${network}`
  try {
    const found = (await implementation.examine?.({ signal: AbortSignal.timeout(deadlineMs) })) ?? []
    return found.map(({ what, remedy }): Finding => ({
      part: 'connectors',
      state: remedy === undefined ? 'good' : 'warn',
      what: `${on}: ${what}`,
      ...(remedy !== undefined && { remedy }),
    }))
  } catch (error) {
    const reason = error instanceof SluiceError ? error.message : `no answer within ${deadlineMs / 1000} s.`
    return [{ part: 'connectors', state: 'warn', what: `${on} could not be examined: ${reason}`, remedy: 'See what is said of its nodes.' }]
  }
}
