import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { loadSettings, type Settings, type Flags, devnetNetwork } from '../core/config/settings.ts'
import { bringUpDevnet } from '../core/devnet/start-devnet.ts'
import { startKernel, type Kernel } from '../core/kernel.ts'
import { createClient, type Client } from './client.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

export interface ServerOptions {
  /** Folders of plugins besides Sluice's own. */
  plugins?: readonly string[]
  /** Settings over the test's own: loopback, free ports, a temporary home, the devnet. */
  settings?: Flags
  /** Further files of the configuration: name in the conf folder → content. */
  conf?: Readonly<Record<string, unknown>>
  /** Puts something between the server and the devnet's node, and gives its URL. */
  between?: (rpcUrl: string) => Promise<string>
  /** What the server finds in its environment: nothing, unless given. */
  env?: Readonly<Record<string, string>>
}

export interface TestServer {
  kernel: Kernel
  settings: Settings
  /** The client of the certificate made in set-up, which may do everything. */
  client: Client
  /** The devnet's node. */
  rpcUrl: string
  stop(): Promise<void>
}

/** The whole server in this process, in a home of its own, with the devnet and real certificates. */
export async function startServer({
  plugins = [],
  settings: flags = {},
  conf = {},
  env = {},
  between,
}: ServerOptions = {}): Promise<TestServer> {
  const home = await mkdtemp(path.join(tmpdir(), 'sluice-'))
  const confDir = path.join(home, 'conf')
  await shareDevnetState(home)
  const everything = { clients: { client: { permissions: ['read', 'trade', 'admin'], wallets: 'all' } } }
  for (const [name, content] of Object.entries({ 'clients.yml': everything, ...conf })) {
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
      'plugins.folders': [path.join(root, 'plugins'), ...plugins],
      'data.dir': path.join(home, 'data'),
      // Tests share the process, and some wait for one of their own without letting the event loop turn.
      'limits.pluginStallSeconds': 120,
      // A machine that tests much at once is slow.
      'limits.pluginLoadSeconds': 60,
      ...flags,
    },
  })
  const devnet = between && (await bringUpDevnet(settings, () => {}))
  const behind = devnet && { ...devnet, rpcUrl: await between(devnet.rpcUrl) }
  const kernel = await startKernel(settings, { print: () => {}, ...(behind && { devnet: behind }) })
  if (kernel.devnet) await venuesReady(kernel, devnetNetwork)
  const client = createClient(kernel.url, settings.ssl.certsDir)
  return {
    kernel,
    settings,
    client,
    rpcUrl: kernel.devnet?.rpcUrl ?? '',
    async stop() {
      client.close()
      await kernel.stop()
      await devnet?.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** Venues start beside the server, or when they are first asked for: a test wants them ready. */
export async function venuesReady(
  { services: { registry: directory } }: Kernel,
  { chain, network }: Record<'chain' | 'network', string>,
): Promise<void> {
  const there = [
    ...directory.networks.filter((each) => each.chain === chain && each.network === network),
    ...directory.venuesOn(chain, network),
  ]
  const starting = () => there.some((each) => each.notReady() !== undefined)
  for (let tries = 0; starting() && tries < 600; tries++) {
    for (const each of there) void each.wake()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Deploying all exchanges takes longer than most tests: what is deployed is kept from run to run, by the hash of its inputs. */
async function shareDevnetState(home: string): Promise<void> {
  const kept = path.join(tmpdir(), `sluice-devnet-${process.getuid?.() ?? ''}`)
  await mkdir(kept, { recursive: true, mode: 0o700 })
  await mkdir(path.join(home, 'data'), { mode: 0o700 })
  await symlink(kept, path.join(home, 'data', 'devnet'))
}
