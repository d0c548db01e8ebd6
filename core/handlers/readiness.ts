// What keeps the server from being ready, and what to do about it.
import { withTimeout } from '../base/async.ts'
import { SluiceError } from '../base/errors.ts'
import { maskUrls } from '../config/mask.ts'
import { devnetNetwork } from '../config/settings.ts'
import type { Registry } from '../plugins/index.ts'
import type { Store } from '../store/store.ts'
import type { Signer } from '../wallet/signer.ts'
import type { NetworkName } from '../base/networks.ts'

const deadlineMs = 2_000

/** A part of the server that keeps it from being ready. */
export interface FailingPart {
  part: string
  reason: string
  /** For the operator; absent where the reason has it. */
  remedy?: string
}

interface ReadinessParts {
  signer: Pick<Signer, 'failing'>
  store: Pick<Store, 'failing'>
  registry: Pick<Registry, 'networks' | 'plugins'>
  /** What the configuration calls required, whether or not a plugin serves it. */
  required: readonly NetworkName[]
}

/** The parts that keep the server from being ready: the store, the signer, and every required network. */
export async function failingParts({ signer, store, registry, required }: ReadinessParts): Promise<readonly FailingPart[]> {
  const missing = required.filter((each) => !registry.networks.some((entry) => isSame(entry, each)))
  const [storage, ...networks] = await Promise.all([
    failingStore(store),
    ...registry.networks.map(async ({ required: isRequired, chain, network, impl, notReady }) => {
      if (!isRequired) return undefined
      const part = `${chain}/${network}`
      const remedy = nodesRemedy({ chain, network, url: impl.rpcUrl() })
      const starting = notReady()
      if (starting !== undefined) return { part, reason: starting, remedy }
      try {
        await impl.head({ signal: AbortSignal.timeout(deadlineMs) })
        return undefined
      } catch (error) {
        return { part, reason: error instanceof SluiceError ? error.message : 'its nodes do not answer', remedy }
      }
    }),
  ])
  const signing = signer.failing()
  return [
    storage,
    signing === undefined ? undefined : { part: 'signer', reason: signing },
    ...networks,
    ...missing.map(({ chain, network }) => ({ part: `${chain}/${network}`, ...whyMissing(chain, network, registry) })),
  ].filter((each) => each !== undefined)
}

const isSame = (one: NetworkName, other: NetworkName): boolean => one.chain === other.chain && one.network === other.network

function whyMissing(chain: string, network: string, { plugins }: Pick<Registry, 'plugins'>): Omit<FailingPart, 'part'> {
  const plugin = plugins.find(({ name, kind }) => [chain, `${chain}-chain`].includes(name) && kind !== 'connector')
  const remedy = `Correct or remove what conf/chains/${chain}.yml says of it.`
  if (plugin === undefined) return { reason: `there is no plugin for ${chain}`, remedy: `Add the plugin. ${remedy}` }
  if (plugin.state === 'pending') return { reason: 'its plugin is being started' }
  const wrong = plugin.unserved?.find((each) => each.chain === chain && each.network === network && each.isWrong)
  if (wrong) return { reason: maskUrls(`its settings are wrong: ${wrong.reason}`), remedy: wrong.remedy }
  if (plugin.state === 'loaded') return { reason: `the plugin ${chain} does not serve it`, remedy }
  // It has its remedy.
  return { reason: `its plugin was refused: ${plugin.reason ?? 'the log has the reason'}` }
}

/** What to do about a network whose nodes do not answer. */
export function nodesRemedy({ chain, network, url }: { chain: string; network: string; url: string }): string {
  if (chain === devnetNetwork.chain && network === devnetNetwork.network)
    return 'The devnet runs on this machine: wait where the machine is busy. Where its node has ended, the log says so: restart the server.'
  const file = `conf/chains/${chain}.yml`
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  if (!/^(127\.|\[::1\]$|localhost$|.*\.localhost$)/.test(host))
    return `Check the network connection and rpcUrls in ${file}; \`enabled: false\` leaves the network out.`
  return network === devnetNetwork.network
    ? `Its node is on this machine, at ${url}: start that, or restart the server where the devnet has it. \`enabled: false\` in ${file} leaves the network out.`
    : `Its node is on this machine, at ${url}: start that, or correct rpcUrls in ${file}; \`enabled: false\` leaves the network out.`
}

/** A database that hangs counts as failing. */
async function failingStore(store: Pick<Store, 'failing'>): Promise<{ part: string; reason: string } | undefined> {
  const asked = store.failing().catch(() => 'its state cannot be read')
  const reason = await withTimeout(asked, deadlineMs, () => 'it does not answer')
  return reason === undefined ? undefined : { part: 'store', reason }
}
