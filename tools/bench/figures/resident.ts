import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { descendants } from '../../../test/devnet/run-server.ts'
import { freePort } from '../../../test/free-port.ts'
import { startChild, type Child } from '../child.ts'
import { end, makeHome } from '../home.ts'
import { megabytes, times, perSecond, type Row } from '../measuring.ts'
import { newQuotes } from '../quote-path.ts'
import type { BareServerProcess } from '../processes/bare-server.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import type { SteadyLoadProcess } from '../processes/steady-load.ts'
import { soak } from './soak.ts'

type Server = ChildProcessByStdio<null, Readable, null>

const root = fileURLToPath(new URL('../../../', import.meta.url))
const mostSeconds = 60
const idleSeconds = 10
const mostIdle = 260e6

/** The processes of `sluice start --devnet` as an operator runs it: idle, under 300 quotes a second over 50 pairs, and as fast as it answers. */
export async function resident(seconds: number): Promise<Row[]> {
  const home = await makeHome()
  const devnetPort = await freePort()
  const flags = ['--conf', home.confDir, '--set', 'server.port=0', '--set', `devnet.port=${devnetPort}`, '--set', 'log.level=error']
  const start = () =>
    spawn(path.join(root, 'bin/sluice'), ['start', '--devnet', ...flags], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  // The first start deploys the exchanges; what that takes is not held by any other.
  const first = start()
  await readyUrl(first)
  await end(first)
  const server = start()
  const load = await startChild<SteadyLoadProcess>('steady-load')
  try {
    const url = await readyUrl(server)
    await sleep(idleSeconds * 1000)
    const bare = await bareNode()
    const processes = [
      server.pid ?? 0,
      ...descendants(server.pid ?? 0)
        .map(({ pid }) => pid)
        .filter(isNode),
    ]
    const sizes = processes.map((each) => residentOf(each))
    const idle = sizes.reduce((sum, each) => sum + each, 0)
    const together = togetherOf(processes)
    const place = { url, certsDir: path.join(home.folder, 'certs'), rpcUrl: `http://127.0.0.1:${devnetPort}` }
    const soaked = await soak({ ...place, resident: async () => residentOf(server.pid ?? 0) }, load, seconds)
    const loaded = soaked.filter(({ name }) => name.startsWith('resident'))
    return [
      ...sizes.map((size, index): Row => ({ name: `idle: ${['server', 'keeper', 'signer'][index] ?? 'another'}`, value: megabytes(size) })),
      {
        name: 'idle: all but anvil',
        value: megabytes(idle),
        reference: `three bare Node processes ${megabytes(3 * bare)}`,
        ratio: times(idle, 3 * bare),
      },
      {
        // As a cgroup counts, and `docker stats`: the three are one program, whose pages they share.
        name: '  each page of Node counted once',
        value: megabytes(together),
      },
      { name: '  wanted', value: `at most ${megabytes(mostIdle)}` },
      ...loaded,
      ...soaked.filter(({ name }) => name === 'quotes' || name === 'errors'),
      ...(await atFullLoad(server.pid ?? 0, place)),
    ]
  } finally {
    await load.end()
    await end(server)
    await home.remove()
  }
}

/** What the server holds while it answers new amounts as fast as it can: at once after them, and at most meanwhile. */
async function atFullLoad(processId: number, { url, certsDir }: { url: string; certsDir: string }): Promise<Row[]> {
  const load = await startChild<LoadProcess>('load', [certsDir])
  const bare = await startChild<BareServerProcess>('bare-server', [certsDir, '{}'])
  try {
    const run = { connections: 16, requests: manyQuotes, mostSeconds: mostSecondsOfQuotes, path: newQuotes() }
    const [made, plain] = [await load.ask('run', { ...run, url }), await load.ask('run', { ...run, url: await bare.ask('url') })]
    const bareId = await bare.ask('pid')
    const row = (name: string, of: (processId: number) => number): Row => ({
      name,
      value: megabytes(of(processId)),
      reference: `${megabytes(of(bareId))} a bare server`,
      ratio: times(of(processId), of(bareId)),
    })
    return [
      row(`resident after ${made.requests.toLocaleString('en')} new quotes at full load`, residentOf),
      row('  at most', (each) => residentOf(each, 'VmHWM')),
      { name: '  rate meanwhile', value: perSecond(made.requests / made.seconds), reference: perSecond(plain.requests / plain.seconds) },
    ]
  } finally {
    await Promise.all([bare.end(), load.end()])
  }
}

/** What the summary of a start names. */
async function readyUrl(server: Server): Promise<string> {
  let printed = ''
  server.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  for (const until = Date.now() + mostSeconds * 1000; Date.now() < until && server.exitCode === null; await sleep(100)) {
    const url = /is ready at .*?(https:\/\/localhost:\d+)/.exec(printed)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`The server did not start:\n${printed}`)
}

/** What processes of one program hold together: the pages of its files are in memory once. */
const togetherOf = (processes: readonly number[]): number =>
  processes.reduce((sum, each) => sum + residentOf(each, 'RssAnon'), Math.max(...processes.map((each) => residentOf(each, 'RssFile'))))

/** Resident set of a process in bytes, now or at most so far; NaN where the system has no /proc. */
function residentOf(processId: number, which: 'VmRSS' | 'VmHWM' | 'RssAnon' | 'RssFile' = 'VmRSS'): number {
  try {
    return Number(new RegExp(`${which}:\\s+(\\d+)`).exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1]) * 1024
  } catch {
    return Number.NaN
  }
}

const isNode = (processId: number) => readFileSync(`/proc/${processId}/comm`, 'utf8').startsWith('node')

async function bareNode(): Promise<number> {
  const node = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  await sleep(1_000)
  const size = residentOf(node.pid ?? 0)
  node.kill()
  return size
}

const fewQuotes = 10_000
const manyQuotes = 100_000
const mostSecondsOfQuotes = 90

/** What the server holds after many quotes against what it held after few: a leak shows as a ratio well above 1. */
export async function memory(sluice: Child<SluiceProcess>, load: Child<LoadProcess>): Promise<Row[]> {
  const { url } = await sluice.ask('where')
  const few = await load.ask('run', { url, connections: 16, requests: fewQuotes, mostSeconds: mostSecondsOfQuotes })
  const before = await sluice.ask('memory')
  const many = await load.ask('run', { url, connections: 16, requests: manyQuotes - few.requests, mostSeconds: mostSecondsOfQuotes })
  const after = await sluice.ask('memory')
  const [first, last] = [few.requests, few.requests + many.requests].map((count) => count.toLocaleString('en'))
  const row = (name: string, held: number, reference: number): Row => ({
    name: `${name} after ${last} quotes`,
    value: megabytes(held),
    reference: `${megabytes(reference)} after ${first}`,
    ratio: times(held, reference),
  })
  return [
    row('resident', after.rss, before.rss),
    row('heap in use', after.heapUsed, before.heapUsed),
    { name: 'rate meanwhile', value: perSecond(many.requests / many.seconds) },
  ]
}
