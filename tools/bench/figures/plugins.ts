import { readFileSync, readdirSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeLock, type PluginLock } from '../../../core/config/lock.ts'
import { readPluginFiles } from '../../../core/plugins/discover/plugin-files.ts'
import { freePort } from '../../../test/free-port.ts'
import { startChild } from '../child.ts'
import { makeHome } from '../home.ts'
import { megabytes, micros, times, median, ms, type Row } from '../measuring.ts'
import type { ContainedProcess } from '../processes/contained.ts'
import type { PluginsProcess } from '../processes/plugins.ts'
import { startOnce, type Cost } from './start-to-ready.ts'

const priceRounds = 3
const [count, warmUp, inFlight] = [10_000, 4_000, 16]
const trades = 11
const [mostMicros, mostBytes] = [60, 90e6]

type PriceCost = Awaited<ReturnType<ContainedProcess['quote']>>

/** What a connector in a host costs: a quote from memory, its process, and a trade, which is simulated before it is signed. */
export async function contained(): Promise<{ rows: Row[]; note: string }> {
  const child = await startChild<ContainedProcess>('contained')
  try {
    const kinds = ['builtIn', 'contained'] as const
    for (const kind of kinds) await child.ask('quote', { kind, count: warmUp, inFlight })
    const quotes: Record<(typeof kinds)[number], PriceCost[]> = { builtIn: [], contained: [] }
    for (let round = 0; round < priceRounds; round += 1)
      for (const kind of kinds) quotes[kind].push(await child.ask('quote', { kind, count, inFlight }))
    const bytes = await child.ask('hostMemory')
    const made: Record<(typeof kinds)[number], Awaited<ReturnType<ContainedProcess['trade']>>[]> = { builtIn: [], contained: [] }
    for (let index = 0; index < trades; index += 1) for (const kind of kinds) made[kind].push(await child.ask('trade', kind))

    const both = ({ serverMicros, hostMicros }: PriceCost) => serverMicros + hostMicros
    const [theirs, ours] = [median(quotes.contained.map(both)), median(quotes.builtIn.map(both))]
    const part = (name: keyof PriceCost): Row => ({
      name: `  of it ${name.replace('Micros', '')}`,
      value: micros(median(quotes.contained.map((each) => each[name]))),
    })
    // The chain is followed during some of them: the shortest is a trade's own.
    const callsOf = (kind: (typeof kinds)[number]) =>
      made[kind].map(({ methods }) => methods).toSorted((a, b) => a.length - b.length)[0] ?? []
    const [theirCalls, ourCalls] = [callsOf('contained'), callsOf('builtIn')]
    const cpuOf = (kind: (typeof kinds)[number]) => median(made[kind].slice(1).map((each) => each.micros))
    const rows: Row[] = [
      {
        name: `a quote from memory, ${inFlight} in flight: CPU`,
        value: micros(theirs),
        reference: micros(ours),
        ratio: times(theirs, ours),
      },
      part('serverMicros'),
      part('hostMicros'),
      { name: '  more than built in', value: micros(theirs - ours), reference: `at most ${mostMicros} µs` },
      { name: 'the host after them: resident', value: megabytes(bytes), reference: `at most ${megabytes(mostBytes)}` },
      { name: 'a trade: calls to the node', value: String(theirCalls.length), reference: String(ourCalls.length) },
      {
        name: 'a trade: CPU of the server',
        value: micros(cpuOf('contained')),
        reference: micros(cpuOf('builtIn')),
        ratio: times(cpuOf('contained'), cpuOf('builtIn')),
      },
    ]
    return { rows, note: `The calls: ${theirCalls.join(' + ')}; built in: ${ourCalls.join(' + ')}` }
  } finally {
    await child.end()
  }
}

const model = fileURLToPath(new URL('../../../test/fixtures/plugins/contained/plain-swap', import.meta.url))
const startRounds = 5
const counts = [0, 5, 20] as const
const mostSeconds = 10

/** Starts with the devnet, with so many connectors that were allowed and run in hosts: until what is built in is ready, and until all are loaded. */
export async function containedStarts(): Promise<Row[]> {
  const home = await makeHome()
  try {
    const folders: Record<number, string> = {}
    const lock: Record<string, PluginLock[string]> = {}
    for (const count of counts) {
      const folder = (folders[count] = path.join(home.folder, `plugins-${count}`))
      for (let index = 0; index < count; index += 1) {
        const name = `swap-${count}-${index}`
        await cp(model, path.join(folder, name), { recursive: true })
        const entry = path.join(folder, name, 'index.ts')
        await writeFile(entry, (await readFile(entry, 'utf8')).replaceAll('plain-swap', name))
        const { sha256 } = readPluginFiles(path.join(folder, name))
        lock[name] = { sha256, tier: 'contained', kind: 'connector', networks: {}, signs: [], hosts: [] }
      }
    }
    await writeLock(home.confDir, lock)
    const ports = { server: await freePort(), devnet: await freePort() }
    await startOnce(home, ports, { devnet: true })
    const costs: Record<number, Cost[]> = Object.fromEntries(counts.map((count) => [count, []]))
    for (let round = 0; round < startRounds; round += 1)
      for (const count of counts)
        costs[count]?.push(await startOnce(home, ports, { devnet: true, ...(count > 0 && { plugins: folders[count] }) }))
    const middle = (count: number, of: keyof Cost) => median((costs[count] ?? []).map((each) => each[of]))
    const [alone, aloneCpu] = [middle(0, 'wallMs'), middle(0, 'cpuMs')]
    return counts.slice(1).flatMap((count): Row[] => [
      {
        name: `${count} contained: built-in ones ready`,
        value: ms(middle(count, 'wallMs')),
        reference: ms(alone),
        ratio: times(middle(count, 'wallMs'), alone),
      },
      {
        name: `${count} contained: CPU of the server until then`,
        value: ms(middle(count, 'cpuMs')),
        reference: ms(aloneCpu),
        ratio: times(middle(count, 'cpuMs'), aloneCpu),
      },
      { name: `${count} contained: all loaded`, value: ms(middle(count, 'allMs')), reference: `at most ${mostSeconds} s` },
    ])
  } finally {
    await home.remove()
  }
}

const trialRounds = 3
const copies = 10

/** What loading plugins takes, their trials in threads included, and what each further one adds. */
export async function pluginTrials(): Promise<Row[]> {
  const few: LoadTimes[] = []
  const many: LoadTimes[] = []
  for (let round = 0; round < trialRounds; round += 1) {
    few.push(await load(0))
    many.push(await load(copies))
  }
  const [fewMs, manyMs] = [median(few.map(({ ms }) => ms)), median(many.map(({ ms }) => ms))]
  const threadMs = median([...few, ...many].map((loading) => loading.threadMs))
  const row = (name: string, value: number): Row => ({ name, value: ms(value), reference: ms(threadMs), ratio: times(value, threadMs) })
  return [row(`the checkout's ${few[0]?.plugins ?? 0} plugins`, fewMs), row(`each of ${copies} more connectors`, (manyMs - fewMs) / copies)]
}

interface LoadTimes {
  ms: number
  plugins: number
  threadMs: number
}

async function load(extra: number): Promise<LoadTimes> {
  const child = await startChild<PluginsProcess>('plugins')
  try {
    const threadMs = await child.ask('emptyThread')
    return { ...(await child.ask('load', extra)), threadMs }
  } finally {
    await child.end()
  }
}

const plugins = fileURLToPath(new URL('../../../plugins/', import.meta.url))
const targets = { connector: 25, chain: 15 }

/** Lines of each plugin's source, without what puts it on the devnet. */
export function pluginLines(): Row[] {
  return readdirSync(plugins)
    .flatMap((name) => {
      const folder = path.join(plugins, name)
      const kind = kindOf(readFileSync(path.join(folder, 'index.ts'), 'utf8'))
      const sources = readdirSync(folder).filter((file) => file.endsWith('.ts') && file !== 'devnet.ts')
      const code = sources.flatMap((file) => codeOf(path.join(folder, file)))
      const addresses = code.filter((line) => /'0x[0-9a-f]{40,}'/i.test(line)).length
      return kind ? [{ name, kind, own: code.length - addresses, addresses }] : []
    })
    .toSorted((a, b) => b.kind.localeCompare(a.kind) || b.own + b.addresses - a.own - a.addresses)
    .map(({ name, kind, own, addresses }) => ({
      name: `${kind} ${name}`,
      value: `${own} + ${addresses} addresses`,
      reference: `target ${targets[kind]}`,
      ratio: times(own, targets[kind]),
    }))
}

/** Undefined for interfaces. */
const kindOf = (source: string): keyof typeof targets | undefined =>
  /ChainPlugin\(/.test(source) ? 'chain' : /Connector\(/.test(source) ? 'connector' : undefined

/** Without comments and blank lines. */
const codeOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(?:$|\/\/|\/?\*)/.test(line))
