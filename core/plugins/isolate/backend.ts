// How the processes of plugins are contained on this system: by namespaces, by the plugin-host service, or, where the operator accepts it, not at all.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Settings } from '../../config/settings.ts'
import { bundledCode } from '../../base/layout.ts'
import type { FoundPlugin } from '../discover/find.ts'
import type { HookUpdate } from '../code/hook.ts'
import { PluginFault } from '../refusal.ts'
import { messageOf } from '../code/thrown.ts'
import { packagesFrom, triedCopy } from '../discover/tried-copy.ts'
import { folderUrl } from '../code/uncaught.ts'
import { findContainment, startContained, startUncontained, type Bind, type ContainedProcess, type Containment } from './containment.ts'
import { askService, ServiceAwayError, startInService } from './service-client.ts'
import { scripts, type Script, type ServiceFolders } from './service-protocol.ts'

/** What the settings say of containing plugins. */
export type ContainmentSettings = {
  readonly plugins: Pick<Settings['plugins'], 'weakContainment' | 'hostSocket'>
  readonly data: Settings['data']
}

export interface IsolationBackend {
  readonly kind: 'namespaces' | 'plugin-host service' | 'none'
  /** For people: what contains plugins. */
  readonly what: string
  /** Looks where a process with this script will see the plugins, before it is started. @throws PluginFault */
  prepare(script: Script, plugins: readonly FoundPlugin[]): Promise<Sandbox>
}

export interface Sandbox {
  /** A file of one of the plugins, or of this release, as the process sees it. */
  inside(file: string): string
  /** @throws PluginFault */
  start(): Promise<ContainedProcess>
}

/** What contains plugins here. @throws PluginFault with what the operator can do */
export async function findBackend({ plugins: { hostSocket }, data }: ContainmentSettings): Promise<IsolationBackend> {
  if (hostSocket !== undefined) return serviceBackend(hostSocket, await reached(hostSocket, () => askService(hostSocket)), data.dir)
  try {
    return namespaceBackend(await findContainment(), data.dir)
  } catch (thrown) {
    throw new PluginFault(
      'find',
      `It cannot be contained on this system: ${messageOf(thrown)}`,
      'Allow user namespaces; or run the plugin-host service and name its socket in plugins.hostSocket, as docker-compose.yml does; or accept with plugins.weakContainment: true in conf/server.yml that its code can do what this user can, such as reading the keystore and its passphrase file.',
    )
  }
}

/** Whether plugins may run uncontained: not where a service was asked for that is only away. */
export const acceptsNone = ({ plugins: { weakContainment, hostSocket } }: ContainmentSettings): boolean =>
  weakContainment && hostSocket === undefined

/** What holds for a plugin that runs all the same, and what does not: for the operator. */
export const weaklyContained =
  'it gets no environment variable and ends alone, but can do what this user can: read the keystore and other files, change them, and reach the network'

/** The same, or no containment where the operator accepts that. @throws PluginFault */
export async function findAcceptedBackend(settings: ContainmentSettings): Promise<IsolationBackend> {
  try {
    return await findBackend(settings)
  } catch (thrown) {
    if (acceptsNone(settings)) return uncontained
    throw thrown
  }
}

/** Undefined where plugins are contained here. */
export async function whyNotContained(settings: ContainmentSettings): Promise<PluginFault | undefined> {
  try {
    await findBackend(settings)
    return undefined
  } catch (thrown) {
    if (thrown instanceof PluginFault) return thrown
    throw thrown
  }
}

/** What a `devnet.ts` uses of the release that is not in its bundle. */
const devnetPackages = ['sluice-devnet', 'ethers']
const [codeInside, pluginsInside] = ['/sluice/dist', '/plugins']
const argsOf = (script: Script, code: string) => [...scripts[script].flags, path.join(code, scripts[script].file)]

function namespaceBackend(containment: Containment, dataDir: string): IsolationBackend {
  return {
    kind: 'namespaces',
    what: 'namespaces of this system',
    async prepare(script, plugins) {
      const copies = await Promise.all(plugins.map(async (plugin) => ({ plugin, copy: await triedCopy(plugin, dataDir) })))
      const copied = copies.map(({ copy: { name, folder } }) => ({ from: folder, to: `${pluginsInside}/${name}` }))
      const moved = [...copied, ...copies.map(({ plugin: { name, folder } }) => ({ from: folder, to: `${pluginsInside}/${name}` }))]
      const codeMoved = { from: bundledCode, to: codeInside }
      const binds: Bind[] = [codeMoved, ...copied]
      const manifest = path.join(bundledCode, '..', 'package.json')
      if (!existsSync(path.join(bundledCode, 'package.json'))) binds.push({ from: manifest, to: '/sluice/package.json' })
      if (script === 'devnet')
        for (const [name, folder] of packagesFrom(bundledCode, devnetPackages))
          binds.push({ from: folder, to: `/sluice/node_modules/${name}` })
      return {
        inside: insideOf([codeMoved, ...moved]),
        start: async () => startContained(containment, { args: argsOf(script, codeInside), binds }),
      }
    },
  }
}

export const uncontained: IsolationBackend = {
  kind: 'none',
  what: 'nothing (plugins.weakContainment)',
  prepare: async (script) => ({ inside: (file) => file, start: async () => startUncontained({ args: argsOf(script, bundledCode) }) }),
}

function serviceBackend(address: string, { folder, code }: ServiceFolders, dataDir: string): IsolationBackend {
  return {
    kind: 'plugin-host service',
    what: `the plugin-host service at ${address}`,
    async prepare(script, plugins) {
      const kept = await Promise.all(plugins.map(async (plugin) => ({ from: plugin.folder, ...(await keptCopy(plugin, dataDir)) })))
      const moved = kept.map(({ from, sha256, name }) => ({ from, to: path.posix.join(folder, sha256, name) }))
      moved.push({ from: bundledCode, to: code })
      const wanted = kept.map(({ sha256, name }) => ({ sha256, name }))
      return { inside: insideOf(moved), start: () => reached(address, () => startInService(address, script, wanted)) }
    },
  }
}

/** The service runs copies only: of a plugin that runs without having been allowed one is made, too. @throws PluginFault */
async function keptCopy(plugin: FoundPlugin, dataDir: string): Promise<{ sha256: string; name: string }> {
  const { folder } = await triedCopy(plugin, dataDir)
  return { sha256: path.basename(path.dirname(folder)), name: path.basename(folder) }
}

/** @throws PluginFault where the service does not do what it is asked for */
async function reached<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const isAway = thrown instanceof ServiceAwayError
    throw new PluginFault(
      'find',
      `The plugin-host service at ${address} ${isAway ? 'does not answer' : 'refuses it'}: ${isAway ? thrown.message : messageOf(thrown)}`,
      isAway
        ? 'Start the service (docker compose up -d plugin-host), and see that both have the volume with the socket (plugins.hostSocket).'
        : 'See the log of the service, and that it sees the folder data/plugins of this server.',
      isAway,
    )
  }
}

/** What the module hook has to know, by the paths that the process sees. */
export function insideUpdate({ folders, compiled }: HookUpdate, { inside }: Sandbox): HookUpdate {
  const moved = (url: string) => pathToFileURL(inside(fileURLToPath(url))).href
  return {
    folders: folders.map((url) => folderUrl(inside(fileURLToPath(url).replace(/[\\/]$/, '')))),
    compiled: Object.fromEntries(Object.entries(compiled).map(([url, file]) => [moved(url), file])),
  }
}

const insideOf = (moved: readonly { from: string; to: string }[]) => (file: string) => {
  const one = moved.find(({ from }) => file === from || file.startsWith(from + path.sep))
  return one ? one.to + file.slice(one.from.length) : file
}
