import type { Profiler } from 'node:inspector'

/** Microseconds that each function ran itself, by "name file"; without those in which nothing ran, or the profiler itself. */
export function selfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ReadonlyMap<string, number> {
  const names = new Map(nodes.map(({ id, callFrame: { functionName, url } }) => [id, `${functionName} ${url}`]))
  const times = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? ''
    if (/^(\(idle\)|\(root\)|dispatch $)/.test(name)) continue
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0))
  }
  return times
}
