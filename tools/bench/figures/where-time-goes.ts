import type { Profiler } from 'node:inspector'
import type { Child } from '../child.ts'
import type { Row } from '../measuring.ts'
import { bySources } from '../profiled-sources.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'

const [connections, requests] = [16, 20_000]
/** The dearest. */
const functionsShown = 12

/** Who a function belongs to, by its source or, where it has none, its name; the first that fits. */
const parts: readonly (readonly [string, RegExp])[] = [
  ['garbage collection', /^\(garbage collector\)/],
  ['checking the fields: querystring, ajv', /( node:querystring| core\/config\/field-reader|^validate\d* $)/],
  ['the quote: pools and routes', / kits\//],
  ['the quote: state in memory', / core\/(live-state|market)\//],
  ['prices and amounts as text', / core\/base\/decimal/],
  ['the handler of prices', / core\/handlers\/(amm|slippage|wallets)/],
  ['finding the handler, its end and its answer', / core\/(handlers|transactions|base)\//],
  ['the registry, and the guard around plugins', / core\/plugins\//],
  ['writing JSON', /^(anonymous\d|serialize|as[A-Z]\w*) ( packages)?$/],
  ['metrics and the log', / core\/(http\/(metrics|gauges)|base\/log)/],
  ['signals, timers and promises', / node:(internal\/(abort_controller|event_target|timers|per_context|errors|process)|timers)/],
  ['the way of a request', / core\//],
  ['packages', / packages$/],
  ['HTTP, TLS and sockets: what a bare server does, too', /( node:|^writev|^write|^\(program\)|^execute|^runMicrotasks)/],
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
  const times = selfTimes(bySources(await sluice.ask('takeProfile')))
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
    ...[...times]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, functionsShown)
      .map(([who, time]) => ({ name: `  ${who}`, value: `${((micros * time) / all).toFixed(2)} µs` })),
  ]
}

/** Microseconds that each function ran itself, by "name source"; without those in which nothing ran, or the profiler itself. */
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
