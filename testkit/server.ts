import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stringify } from 'yaml'
import { readLock, writeLock, type LockedPlugin } from '../core/config/lock.ts'
import { loadSettings, type Settings, devnetNetwork } from '../core/config/settings.ts'
import { bringUpDevnet } from '../core/devnet/start-devnet.ts'
import { startKernel, type Kernel } from '../core/kernel.ts'
import { builtInPlugins } from '../core/base/layout.ts'
import { allowedPlugins, findPlugins, isDeclared, isSandbox, outlineOf, readPluginFiles, tryPlugins } from '../core/plugins/index.ts'
import { newSealing, seal, sealKey, timeOfRecord } from '../core/wallet/lock-seal.ts'
import { passphraseFromFile } from '../core/keys/get-passphrase.ts'
import { createClient } from './client.ts'
import type { ServerOptions, TestServer as PublicServer } from './public-server.ts'

export type { ServerOptions } from './public-server.ts'

/** With the parts that only Sluice's own tests look into. */
export interface TestServer extends PublicServer {
  kernel: Kernel
  settings: Settings
}

/** Configuration of the devnet for the cards: they wait for many blocks, which come with each transaction. */
export const devnetConf = { 'chains/ethereum.yml': { local: { required: true, pollingSeconds: 0.05 } } }

/**
 * Starts the whole server in this process, in a temporary home, with the devnet and real certificates.
 * @param kept a home that stays when the server stops, with the certificates of an earlier one
 * @param instead parts in place of those of the server
 */
export async function startServer(
  { plugins = [], trusted, settings: flags = {}, conf = {}, env = {}, between }: ServerOptions = {},
  kept?: string,
  instead: Parameters<typeof startKernel>[2] = {},
): Promise<TestServer> {
  const home = kept ?? (await mkdtemp(path.join(tmpdir(), 'sluice-')))
  const confDir = path.join(home, 'conf')
  await shareDevnetState(home)
  const allPermissions = { clients: { client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' } } }
  for (const [name, content] of Object.entries({ 'clients.yml': allPermissions, ...conf })) {
    const file = path.join(confDir, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, typeof content === 'string' ? content : stringify(content))
  }

  const settings = loadSettings({
    confDir,
    env,
    flags: {
      'server.port': 0,
      'devnet.enabled': true,
      'devnet.port': 0,
      'log.level': 'silent',
      'plugins.folders': [builtInPlugins, ...plugins],
      'data.dir': path.join(home, 'data'),
      // Tests share the process, and some of them block the event loop.
      'limits.pluginStallSeconds': 120,
      // Plugins load slowly while many tests run at once.
      'limits.pluginLoadSeconds': 60,
      ...flags,
    },
  })
  if (trusted || !isSandbox(settings)) await trustDeclared(settings, trusted)
  const devnet = between && (await bringUpDevnet(settings, () => {}, { allowed: await allowedPlugins(settings) }))
  const proxied = devnet && { ...devnet, rpcUrl: await between(devnet.rpcUrl) }
  const kernel = await startKernel(settings, { print: () => {}, ...(proxied && { devnet: proxied }) }, instead)
  await kernel.pluginsLoaded
  if (kernel.devnet) await venuesReady(kernel, devnetNetwork)
  const client = createClient(kernel.url, settings.ssl.certsDir)
  return {
    kernel,
    settings,
    url: kernel.url,
    interfaceUrls: kernel.interfaceUrls,
    client,
    certsDir: settings.ssl.certsDir,
    rpcUrl: kernel.devnet?.rpcUrl ?? '',
    async stop() {
      client.close()
      await kernel.stop()
      await devnet?.stop()
      if (kept === undefined) await rm(home, { recursive: true, force: true })
    },
  }
}

/** Writes to sluice.lock that the plugins of these settings may run, and in the server: a test has named them. Nothing is signed for them. */
export async function trustPlugins(
  { plugins, confDir }: { plugins: Record<'folders' | 'disabled', readonly string[]>; confDir: string },
  only?: readonly string[],
): Promise<void> {
  const { found } = findPlugins(plugins.folders, plugins.disabled)
  const lock = found.flatMap(({ builtIn, name, folder, entry }): [string, LockedPlugin][] =>
    builtIn || only?.includes(name) === false
      ? []
      : [
          [
            name,
            {
              sha256: readPluginFiles(folder).sha256,
              tier: isDeclared({ entry }) ? 'data' : 'trusted',
              kind: kindIn(entry),
              networks: {},
              signs: [],
              hosts: [],
            },
          ],
        ],
  )
  if (lock.length > 0) await writeLock(confDir, Object.fromEntries(lock))
}

/** By its source alone: nothing of it is run here. */
function kindIn(entry: string): LockedPlugin['kind'] {
  const text = readFileSync(entry, 'utf8')
  if (/\bdefineInterface\b/.test(text)) return 'interface'
  return /\bdefineChain\b/.test(text) || /^kind: chain$/m.test(text) ? 'chain' : 'connector'
}

/** The same, with what they declare, as the operator's passphrase would seal it: the signer signs for them. */
async function trustDeclared(settings: Settings, only?: readonly string[]): Promise<void> {
  const { confDir, wallet, data } = settings
  await trustPlugins(settings, only)
  const bare = readLock(confDir)
  if (Object.keys(bare).length === 0) return
  const { found, ...others } = await allowedPlugins(settings)
  // What kind each is, its code says.
  const inServer = found
    .filter(({ tier }) => tier !== 'contained')
    .map((each) => {
      const { lockedKind: _, ...own } = each
      return own
    })
  const { loaded, interfaces } = await tryPlugins(settings, { ...others, found: inServer })
  const passphrase = passphraseFromFile({ SLUICE_WALLET_PASSPHRASE_FILE: wallet.passphraseFile })
  const sealing = passphrase === undefined ? undefined : newSealing(1024)
  const key = passphrase === undefined || sealing === undefined ? undefined : await sealKey(passphrase, sealing)
  const records = Object.entries(bare).map(([name, record]): [string, LockedPlugin] => {
    const plugin = [...loaded, ...interfaces].find(({ sha256 }) => sha256 === record.sha256)
    const whole: LockedPlugin = { ...record, ...(plugin && outlineOf(plugin)), allowedAt: timeOfRecord(data.dir, name, undefined) }
    return [name, key ? seal(key, name, whole) : whole]
  })
  await writeLock(confDir, Object.fromEntries(records), sealing)
}

/** Waits until the venues of a network have started. They start beside the server, or with their first request. */
export async function venuesReady(
  { services: { registry } }: Kernel,
  { chain, network }: Record<'chain' | 'network', string>,
): Promise<void> {
  const entries = [
    ...registry.networks.filter((each) => each.chain === chain && each.network === network),
    ...registry.venuesOn(chain, network),
  ]
  const starting = () => entries.some((each) => each.notReady() !== undefined)
  for (let tries = 0; starting() && tries < 2_400; tries++) {
    for (const each of entries) void each.wake()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Shares the devnet's saved state between runs, by the hash of its inputs: deploying all exchanges takes longer than most tests. */
async function shareDevnetState(home: string): Promise<void> {
  const shared = path.join(tmpdir(), `sluice-devnet-${process.getuid?.() ?? ''}`)
  await mkdir(shared, { recursive: true, mode: 0o700 })
  await mkdir(path.join(home, 'data'), { recursive: true, mode: 0o700 })
  const link = path.join(home, 'data', 'devnet')
  if (!existsSync(link)) await symlink(shared, link)
}
