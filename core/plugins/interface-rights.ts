// Which endpoints each path of an interface may call. The server decides it, wherever the plugin runs.
import type { Endpoint, Permission } from '../api/endpoint.ts'
import { endpoints } from '../api/index.ts'
import { SluiceError } from '../base/errors.ts'
import type { InterfacePath } from '../contracts/interface.ts'
import { PluginFault, remedies } from './refusal.ts'

/** What an interface declares, as it was read: see `InterfaceCalls`. */
export interface DeclaredCalls {
  readonly calls?: Readonly<Record<string, readonly string[]>>
  readonly decides?: readonly string[]
}

/** What calling an endpoint does: it reads, it makes a transaction of a wallet, or it decides for others what the server does. */
type EndpointUse = 'reads' | 'acts' | 'governs'

/** Permissions of people. */
const governing: readonly (Permission | undefined)[] = ['admin', 'stop', 'resume', 'approve']

/** Requests that wait for a second person belong to people altogether, and so does stopping, which needs no permission of its own. */
function useOf({ method, path, permission, acts }: Pick<Endpoint, 'method' | 'path' | 'permission' | 'acts'>): EndpointUse {
  if (acts) return 'acts'
  const isOfPeople = governing.includes(permission) || path.startsWith('/approvals') || (path === '/stops' && method !== 'GET')
  return isOfPeople ? 'governs' : 'reads'
}

const known: ReadonlyMap<string, { readonly use: EndpointUse; readonly method: string }> = new Map(
  endpoints.map((each) => [each.name, { use: useOf(each), method: each.method }]),
)

/** What an operator may allow an interface to call. */
export const endpointsForPeople: readonly string[] = [...known].flatMap(([name, { use }]) => (use === 'governs' ? [name] : []))

/** undefined: there is no such endpoint. */
export const useOfEndpoint = (endpoint: string): EndpointUse | undefined => known.get(endpoint)?.use

/** Whether it changes something: what a contained interface asks for then has to be in its caller's words. */
export const changesByEndpoint = (endpoint: string): boolean => {
  const { use, method } = known.get(endpoint) ?? {}
  return use === 'acts' || (use === 'governs' && method !== 'GET')
}

/** What one path may call. */
export interface PathRights {
  /** @returns why it may not; undefined where it may */
  refusal(endpoint: string): SluiceError | undefined
}

export interface RightsOptions {
  /** The name of its plugin. */
  readonly name: string
  /** By `GET /path`. Absent: a GET calls what reads, other methods also what makes transactions. */
  readonly calls?: DeclaredCalls['calls'] | undefined
  /** Endpoints for people that it may call. */
  readonly listed: readonly string[] | 'all'
}

export const nameOf = ({ method, path }: Pick<InterfacePath, 'method' | 'path'>): string => `${method} ${path}`

export function rightsOf(path: Pick<InterfacePath, 'method' | 'path'>, { name, calls, listed }: RightsOptions): PathRights {
  const declared = calls && new Set(calls[nameOf(path)])
  const allowed = listed === 'all' ? listed : new Set(listed)

  function reasonAgainst(endpoint: string): string | undefined {
    const { use, method } = known.get(endpoint) ?? {}
    if (use === 'governs' && allowed !== 'all' && !allowed.has(endpoint))
      return `The interface ${name} may not call ${endpoint}, which is for people: list it in \`endpoints\` of conf/interfaces/${name}.yml to allow it.`
    if (path.method === 'GET' && (use === 'acts' || (use === 'governs' && method !== 'GET')))
      return `A GET of an interface only reads: ${nameOf(path)} may not call ${endpoint}.`
    if (declared && !declared.has(endpoint))
      return `${nameOf(path)} may not call ${endpoint}: \`calls\` in the manifest of ${name} does not have it.`
    return undefined
  }

  const may = new Set([...known.keys()].filter((endpoint) => reasonAgainst(endpoint) === undefined))
  return {
    refusal(endpoint) {
      if (may.has(endpoint) || !known.has(endpoint)) return undefined
      return new SluiceError('FORBIDDEN', reasonAgainst(endpoint) ?? 'It may not be called.')
    },
  }
}

/** What a manifest declares. @throws PluginFault */
export function checkDeclaredCalls({ calls, decides = [] }: DeclaredCalls): void {
  for (const [path, named] of Object.entries(calls ?? {}))
    for (const endpoint of named) {
      const use = known.get(endpoint)?.use
      if (use === undefined) throw fault(`calls.${path}: there is no endpoint ${endpoint}`)
      if (use === 'acts' && path.startsWith('GET ')) throw fault(`calls.${path}: a GET only reads, and ${endpoint} makes a transaction`)
    }
  const undeclared = decides.find((path) => !Object.hasOwn(calls ?? {}, path))
  if (undeclared !== undefined) throw fault(`decides: calls has no ${undeclared}`)
}

/** Whether the paths are those that were declared. @throws PluginFault */
export function checkPathsDeclared(paths: readonly Pick<InterfacePath, 'method' | 'path'>[], calls: DeclaredCalls['calls']): void {
  if (!calls) return
  const names = paths.map(nameOf)
  const undeclared = names.find((name) => !Object.hasOwn(calls, name))
  if (undeclared !== undefined) throw fault(`calls has no ${undeclared}, which is a path of the interface`)
  const absent = Object.keys(calls).find((name) => !names.includes(name))
  if (absent !== undefined) throw fault(`calls has ${absent}, which is no path of the interface`)
}

const fault = (reason: string): PluginFault => new PluginFault('manifest', reason, remedies.correct)
