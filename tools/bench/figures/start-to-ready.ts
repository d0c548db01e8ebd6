import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient, type Client } from '../../../testkit/client.ts'
import { cpuMsOf, ms, times, median, type Row } from '../measuring.ts'
import { end, makeHome, type Home } from '../home.ts'
import { freePort } from '../../../test/free-port.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const rounds = 3
const mostSeconds = 60
const pollMs = 5

/** Wall-clock time, and processor time of the process itself: on a busy machine the latter says more. */
export interface Cost {
  wallMs: number
  cpuMs: number
  /** Until no plugin is pending any more. */
  allMs: number
}

/** From the spawn of the command line to the first answer of /health/ready, in a home where it has been started before. */
export async function startToReady(): Promise<Row[]> {
  const home = await makeHome()
  const packages = await referenceFolder()
  try {
    const ports = { server: await freePort(), devnet: await freePort() }
    const first = await startOnce(home, ports, { devnet: true })
    const costs = { second: [] as Cost[], without: [] as Cost[], empty: [] as NodeCost[], imports: [] as NodeCost[] }
    for (let round = 0; round < rounds; round += 1) {
      costs.second.push(await startOnce(home, ports, { devnet: true }))
      costs.without.push(await startOnce(home, ports, { devnet: false }))
      costs.empty.push(await runOnce('', packages))
      costs.imports.push(await runOnce("await import('koa'); await import('ethers')", packages))
    }
    const reference = middle(costs.imports)
    const row = (name: string, cost: NodeCost): Row => ({
      name,
      value: shown(cost),
      reference: shown(reference),
      ratio: times(cost.wallMs, reference.wallMs),
    })
    return [
      row('first start: makes certificates, deploys the devnet', first),
      row('second start, with the devnet', middle(costs.second)),
      row('second start, without the devnet', middle(costs.without)),
      row('node with an empty module', middle(costs.empty)),
    ]
  } finally {
    await home.remove()
    await rm(packages, { recursive: true, force: true })
  }
}

/** A folder with koa and ethers as npm installs them, and nothing else. */
async function referenceFolder(): Promise<string> {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
  const { koa = '', ethers = '' } = dependencies
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-reference-'))
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: { koa, ethers } }))
  const install = spawn('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code]: unknown[] = await once(install, 'exit')
  if (code !== 0) throw new Error('The reference for starts, koa and ethers, could not be installed.')
  return folder
}

type NodeCost = Pick<Cost, 'wallMs' | 'cpuMs'>

const shown = ({ wallMs, cpuMs }: NodeCost) => `${ms(wallMs)} (CPU ${ms(cpuMs)})`

const middle = (costs: readonly Pick<Cost, 'wallMs' | 'cpuMs'>[]) => ({
  wallMs: median(costs.map(({ wallMs }) => wallMs)),
  cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
})

/** @param plugins a folder of them, besides the checkout's */
export async function startOnce(
  { folder, confDir }: Home,
  ports: { server: number; devnet: number },
  { devnet, plugins }: { devnet: boolean; plugins?: string | undefined },
): Promise<Cost> {
  const settings = [
    `server.port=${ports.server}`,
    `devnet.port=${ports.devnet}`,
    `devnet.enabled=${devnet}`,
    'log.level=error',
    `data.dir=${path.join(folder, 'data')}`,
    `plugins.folders=${[path.join(root, 'plugins'), ...(plugins === undefined ? [] : [plugins])].join(',')}`,
  ]
  const flags = ['--conf', confDir, ...settings.flatMap((each) => ['--set', each])]
  const startedAt = performance.now()
  const server = spawn(path.join(root, 'bin/sluice'), ['start', ...flags], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    await ready(server, `https://127.0.0.1:${ports.server}`, path.join(folder, 'certs'))
    const [wallMs, cpuMs] = [performance.now() - startedAt, cpuMsOf(server.pid)]
    if (plugins !== undefined) await allLoaded(`https://127.0.0.1:${ports.server}`, path.join(folder, 'certs'))
    return { wallMs, cpuMs, allMs: performance.now() - startedAt }
  } finally {
    await end(server)
  }
}

/** Asks until it is answered with 200. */
async function ready(server: ChildProcess, url: string, certsDir: string): Promise<void> {
  const until = performance.now() + mostSeconds * 1000
  while (performance.now() < until) {
    if (server.exitCode !== null) throw new Error(`The server ended with ${server.exitCode} before it was ready.`)
    if (await isReady(url, certsDir)) return
    await sleep(pollMs)
  }
  throw new Error(`The server was not ready after ${mostSeconds} s.`)
}

/** Asks rarely: who asks takes time from what is being started. */
async function allLoaded(url: string, certsDir: string): Promise<void> {
  const client = createClient(url, certsDir)
  try {
    for (;;) {
      const plugins: { name: string; state: string; reason?: string }[] = (await client.get('/plugins')).body
      const refused = plugins.find(({ state }) => state === 'refused')
      if (refused) throw new Error(`${refused.name} was refused: ${refused.reason}`)
      if (plugins.every(({ state }) => state === 'loaded')) return
      await sleep(10 * pollMs)
    }
  } finally {
    client.close()
  }
}

async function isReady(url: string, certsDir: string): Promise<boolean> {
  let client: Client | undefined
  try {
    client = createClient(url, certsDir)
    return (await client.get('/health/ready')).status === 200
  } catch {
    // No certificates yet, or nobody listens yet.
    return false
  } finally {
    client?.close()
  }
}

/** A module that does nothing but tell its processor time. */
async function runOnce(code: string, cwd: string): Promise<NodeCost> {
  const startedAt = performance.now()
  const node = spawn(
    process.execPath,
    ['--input-type=module', '-e', `${code}; const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)`],
    { cwd, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [printed] = await Promise.all([textOf(node.stdout), once(node, 'exit')])
  return { wallMs: performance.now() - startedAt, cpuMs: Number(printed) }
}
