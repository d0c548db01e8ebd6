// The second half of loading an interface: it is created once, and only where the operator gave it a port.
import { withTimeout } from '../base/async.ts'
import type { Manifest } from '../contracts/index.ts'
import type { Interface, ListenerConfig } from '../contracts/interface.ts'
import type { PluginConfig } from '../config/plugin-config.ts'
import { importCandidate, type Candidate } from './candidate.ts'
import { messageWithPlace } from './code/thrown.ts'
import type { FoundPlugin } from './discover/find.ts'
import type { LoadOptions } from './loaded-plugin.ts'
import { checkInterface, servedHere, type PermittedInterface, type ServedInterface } from './interface-paths.ts'
import { checkPathsDeclared, rightsOf, type DeclaredCalls } from './interface-rights.ts'
import type { Host } from './isolate/host.ts'
import { remoteInterface } from './isolate/remote-interface.ts'
import { PluginFault, remedies } from './refusal.ts'

/** An interface as the operator configured it. */
export interface LoadedInterface extends Omit<FoundPlugin, 'entry' | 'hosts'> {
  readonly kind: 'interface'
  readonly manifest: Manifest & DeclaredCalls
  readonly configuration: PluginConfig
  readonly deprecated: readonly string[]
  /** Where it listens; absent: it is off, and none of its code has run but its manifest. */
  readonly listener?: { readonly port: number; readonly host?: string; readonly interface: PermittedInterface }
  /** The process that it runs in; absent: the server, or it is off. */
  readonly process?: Host
}

const createRemedy = 'Correct what create() does, or its configuration.'

/** @throws PluginFault */
export async function loadInterface(candidate: Candidate, options: LoadOptions): Promise<LoadedInterface> {
  const { found, manifest, configuration, deprecated } = candidate
  const { entry: _entry, hosts: _hosts, ...about } = found
  const loaded = { kind: 'interface', ...about, manifest, configuration, deprecated } as const
  const config = configuration.config as ListenerConfig
  if (config.port === undefined) return loaded
  const address = { port: config.port, ...(config.host !== undefined && { host: config.host }) }
  // What was allowed counts: a process may say another thing each time that it is asked.
  const { calls, decides = [] } = found.allowedCalls ?? manifest
  const { host } = candidate
  const served = host ? await remoteInterface(found.name, host, { config, decides }) : await interfaceHere(candidate, config, options)
  checkPathsDeclared(served.paths, calls)
  const rights = { name: found.name, calls, listed: found.builtIn ? 'all' : (config.endpoints ?? []) } as const
  const permitted = { ...served, paths: served.paths.map((each) => ({ ...each, rights: rightsOf(each, rights) })) }
  return { ...loaded, ...(host && { process: host }), listener: { ...address, interface: permitted } }
}

/** @throws PluginFault */
async function interfaceHere(candidate: Candidate, config: ListenerConfig, { budget, logOf }: LoadOptions): Promise<ServedInterface> {
  const { name, folder } = candidate.found
  const plugin = await importCandidate(candidate, budget)
  if (plugin.kind !== 'interface') throw new PluginFault('import', 'It was an interface on trial and is not one now', remedies.correct)
  const made = await createdIn(budget.clockMs, folder, async () => plugin.create(Object.freeze({ config, log: logOf(name) })))
  checkInterface(made)
  return servedHere(name, made)
}

async function createdIn(clockMs: number, folder: string, create: () => Promise<Interface>): Promise<Interface> {
  try {
    return await withTimeout(create(), clockMs, () => {
      throw new PluginFault('create', `create() did not end within ${clockMs / 1000} s`, createRemedy, true)
    })
  } catch (thrown) {
    if (thrown instanceof PluginFault) throw thrown
    throw new PluginFault('create', messageWithPlace(thrown, folder), createRemedy)
  }
}
