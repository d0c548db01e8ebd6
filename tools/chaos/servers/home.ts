import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stringify } from 'yaml'
import type { Flags } from '../../../core/config/settings.ts'
import type { SmallDisk } from './small-disk.ts'

/** What outlives a server: its configuration, its certificates and its data. */
export interface Home {
  folder: string
  confDir: string
  certsDir: string
  /** As this process sees it. */
  dataDir: string
  flags: Flags
  env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

export interface HomeOptions {
  confirmations: number
  storeUrl?: string
  /** What the data is on; absent: the machine's own. */
  disk?: SmallDisk
  /** Files of the configuration, besides those that every run has. */
  conf?: Readonly<Record<string, unknown>>
  /** Settings besides those that every run has. */
  settings?: Flags
}

export async function makeHome({ confirmations, storeUrl, disk, conf: more = {}, settings = {} }: HomeOptions): Promise<Home> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-chaos-'))
  const [confDir, certsDir] = ['conf', 'certs'].map((name) => path.join(folder, name)) as [string, string]
  const dataDir = path.join(disk?.outside ?? folder, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const local = { required: true, confirmations, pollingSeconds: 0.1, requestTimeoutSeconds: 2 }
  const conf = {
    'clients.yml': { clients: { client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' } } },
    'chains/ethereum.yml': { mainnet: { enabled: false }, sepolia: { enabled: false }, local },
    ...more,
  }
  for (const [name, content] of Object.entries(conf)) {
    await mkdir(path.dirname(path.join(confDir, name)), { recursive: true })
    await writeFile(path.join(confDir, name), stringify(content))
  }
  return {
    folder,
    confDir,
    certsDir,
    dataDir,
    flags: {
      'server.port': 0,
      'server.requestTimeoutSeconds': 8,
      'devnet.enabled': true,
      'log.level': 'warn',
      'data.dir': path.join(disk?.folder ?? folder, 'data'),
      ...(storeUrl !== undefined && { 'store.url': storeUrl }),
      ...settings,
    },
    env: {},
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
