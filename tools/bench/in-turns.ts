import { percentile } from './statistics.ts'

/** So many requests over all clients together, each of which makes its next when it has the last one's answer. */
export async function inTurns<C>(clients: readonly C[], count: number, one: (client: C, index: number) => Promise<unknown>) {
  const latenciesMs: number[] = []
  let next = 0
  const startedAt = performance.now()
  await Promise.all(
    clients.map(async (client) => {
      while (next < count) {
        const index = next
        next += 1
        const sentAt = performance.now()
        await one(client, index)
        latenciesMs.push(performance.now() - sentAt)
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  return { rate: count / seconds, p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) }
}
