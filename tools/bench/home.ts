import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stringify } from 'yaml'

/** A folder with the configuration of a fresh checkout, for one measurement. */
export interface Home {
  readonly folder: string
  readonly confDir: string
  remove(): Promise<void>
}

/** @param clients beside the one that may do everything */
export async function makeHome(clients: Readonly<Record<string, object>> = {}): Promise<Home> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const confDir = path.join(folder, 'conf')
  const files = {
    'clients.yml': { clients: { client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' }, ...clients } },
    'chains/ethereum.yml': { local: { required: true } },
  }
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(confDir, name)), { recursive: true })
    await writeFile(path.join(confDir, name), stringify(content))
  }
  return { folder, confDir, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Ends a server that runs in a home, in order. */
export async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
}
