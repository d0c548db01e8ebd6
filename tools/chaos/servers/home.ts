import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stringify } from 'yaml'
import type { Flags } from '../../../core/config/settings.ts'

/** What outlives a server: its configuration, its certificates and its data. */
export interface Home {
  folder: string
  confDir: string
  certsDir: string
  dataDir: string
  flags: Flags
  env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

export async function makeHome({ confirmations, storeUrl }: { confirmations: number; storeUrl?: string }): Promise<Home> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-chaos-'))
  const [confDir, certsDir, dataDir] = ['conf', 'certs', 'data'].map((name) => path.join(folder, name)) as [string, string, string]
  await mkdir(path.join(confDir, 'chains'), { recursive: true })
  await mkdir(dataDir, { mode: 0o700 })
  const local = { required: true, confirmations, pollingSeconds: 0.1, requestTimeoutSeconds: 2 }
  const conf = {
    'clients.yml': { clients: { client: { permissions: ['read', 'trade', 'admin'], wallets: 'all' } } },
    'chains/ethereum.yml': { mainnet: { enabled: false }, sepolia: { enabled: false }, local },
  }
  for (const [name, content] of Object.entries(conf)) await writeFile(path.join(confDir, name), stringify(content))
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
      'data.dir': dataDir,
      ...(storeUrl !== undefined && { 'store.url': storeUrl }),
    },
    env: {},
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
