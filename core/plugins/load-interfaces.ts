// The second half of loading an interface: it is created once, and only where the operator gave it a port.
import { withTimeout } from '../base/async.ts'
import { isObject } from '../base/json.ts'
import type { Manifest } from '../contracts/index.ts'
import type { Interface, ListenerConfig } from '../contracts/interface.ts'
import type { PluginConfig } from '../config/plugin-config.ts'
import { importCandidate, type Candidate } from './candidate.ts'
import { messageWithPlace } from './code/thrown.ts'
import type { FoundPlugin } from './discover/find.ts'
import { requireMethods } from './instantiate.ts'
import type { LoadOptions } from './loaded-plugin.ts'
import { PluginFault, remedies } from './refusal.ts'

/** An interface as the operator configured it. */
export interface LoadedInterface extends Omit<FoundPlugin, 'entry' | 'hosts'> {
  readonly kind: 'interface'
  readonly manifest: Manifest
  readonly configuration: PluginConfig
  readonly deprecated: readonly string[]
  /** Where it listens; absent: it is off, and none of its code has run but its manifest. */
  readonly listener?: { readonly port: number; readonly host?: string; readonly interface: Interface }
}

const createRemedy = 'Correct what create() does, or its configuration.'

/** @throws PluginFault */
export async function loadInterface(candidate: Candidate, options: LoadOptions): Promise<LoadedInterface> {
  const { found, manifest, configuration, deprecated } = candidate
  const { entry: _entry, hosts: _hosts, ...about } = found
  const loaded = { kind: 'interface', ...about, manifest, configuration, deprecated } as const
  const config = configuration.config as ListenerConfig
  if (config.port === undefined) return loaded
  const plugin = await importCandidate(candidate, options.budget)
  if (plugin.kind !== 'interface') throw new PluginFault('import', 'It was an interface on trial and is not one now', remedies.correct)
  const { clockMs } = options.budget
  const made = await createdIn(clockMs, found.folder, async () => plugin.create(Object.freeze({ config, log: options.logOf(found.name) })))
  checkInterface(made)
  return { ...loaded, listener: { port: config.port, ...(config.host !== undefined && { host: config.host }), interface: made } }
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

const pathPattern = /^(\/(:[a-zA-Z]\w*|[\w.~-]+))*\/?$/

/** @throws PluginFault */
function checkInterface(made: Interface): void {
  if (!isObject(made)) throw fault('create() did not return an object')
  requireMethods(made, 'the interface', ['showError'])
  if (!Array.isArray(made.paths) || made.paths.length === 0) throw fault('the interface has no list called paths')
  const known = new Set<string>()
  for (const each of made.paths) {
    const name = `${each.method} ${each.path}`
    if (!['GET', 'POST', 'DELETE'].includes(each.method) || !pathPattern.test(each.path)) throw fault(`${name} is no path of an interface`)
    if (known.has(name)) throw fault(`${name} is there twice`)
    known.add(name)
    requireMethods(each, name, ['answer'])
    for (const schema of [each.request, each.response]) if (!isObject(schema)) throw fault(`${name} lacks a schema`)
    const fields = Object.keys(each.request.properties ?? {})
    const unknown = parametersOf(each.path).find((field) => !fields.includes(field))
    if (unknown !== undefined) throw fault(`the request of ${name} has no field ${unknown}`)
  }
}

/** The fields that a path names. */
export const parametersOf = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

const fault = (reason: string): PluginFault => new PluginFault('create', reason, remedies.methods)
