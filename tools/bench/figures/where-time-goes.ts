import type { Profiler } from 'node:inspector'
import type { Child } from '../child.ts'
import type { Row } from '../measuring.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'

const [connections, requests] = [16, 20_000]

/** Who a function belongs to, by its file or, where it has none, its name; the first that fits. */
const parts: readonly (readonly [string, RegExp])[] = [
  ['garbage collection', /^\(garbage collector\)/],
  ['checking the fields: querystring, ajv', /^(validate|.*node:querystring|.*verbs\/read-fields|.*http\/request)/],
  ['the quote: pools, routes, state in memory', /core\/(kits|market)\//],
  ['the directory, and the guard around plugins', /(core\/(boot|loader)\/|verbs\/directory)/],
  ['prices and amounts as text, and the rest of the verb', /core\/verbs\//],
  ['writing JSON', /^(anonymous\d|.*fast-json-stringify)/],
  ['metrics and the log', /(prom-client|pino|core\/(log|http\/metrics))/],
  ['signals, timers and promises', /node:(internal\/(abort_controller|event_target|timers|per_context|errors|process)|timers)/],
  ['Koa and its router', /node_modules\/(@koa|koa|on-finished|ee-first|delegates|statuses|type-is|parseurl)/],
  ['the way of a request', /core\/http\//],
  ['names that tsx gives to functions', /^(__name|set name|get name)/],
  ['HTTP, TLS and sockets: what a bare server does, too', /(node:|^writev|^write|^\(program\)|^execute|^runMicrotasks)/],
]

/** Of the main thread's time by a profile, and its processor time for each request. */
export async function whereTimeGoes(sluice: Child<SluiceProcess>, load: Child<LoadProcess>, path: string): Promise<Row[]> {
  const { url } = await sluice.ask('where')
  const run = () => load.ask('run', { url, connections, requests, path })
  await run()
  const before = await sluice.ask('cpu')
  await run()
  const after = await sluice.ask('cpu')
  await sluice.ask('startProfile')
  await run()
  const times = selfTimes(await sluice.ask('takeProfile'))
  const micros = (after.user + after.system - before.user - before.system) / requests

  const sums = new Map<string, number>()
  for (const [who, time] of times) {
    const part = parts.find(([, pattern]) => pattern.test(who))?.[0] ?? 'everything else'
    sums.set(part, (sums.get(part) ?? 0) + time)
  }
  const all = [...sums.values()].reduce((sum, each) => sum + each, 0)
  const rows = [...sums].toSorted(([, a], [, b]) => b - a)
  return [
    { name: 'processor time of a request, all threads', value: `${micros.toFixed(1)} µs` },
    ...rows.map(([name, time]) => ({
      name,
      value: `${((micros * time) / all).toFixed(1)} µs`,
      ratio: `${((100 * time) / all).toFixed(0)} %`,
    })),
  ]
}

/** Microseconds that each function ran itself, by "name file"; without those in which nothing ran, or the profiler itself. */
function selfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ReadonlyMap<string, number> {
  const names = new Map(nodes.map(({ id, callFrame: { functionName, url } }) => [id, `${functionName} ${url}`]))
  const times = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? ''
    if (/^(\(idle\)|\(root\)|dispatch $)/.test(name)) continue
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0))
  }
  return times
}
