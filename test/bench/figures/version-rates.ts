import type { Child } from '../child.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { ms, perSecond, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 3
const [connections, requests] = [16, 2_000]
const asked = [{ name: 'v2', version: 'v2' }, { name: 'v3', version: 'v3' }, { name: 'v2 and v3' }] as const

/** What is seen from outside: a price of the best route by version, beside one pool's by QuoterV2 at the server's own node. */
export async function versionRates(sluice: Child<SluiceProcess>, load: Child<LoadProcess>): Promise<Row[]> {
  const { url, rpcUrl } = await sluice.ask('where')
  const runs: (() => ReturnType<typeof fromNode>)[] = [
    ...asked.map((one) => () => load.ask('run', { url, connections, requests, ...one })),
    fromNode,
  ]
  const [...seen] = runs.map((): { rate: number; p50Ms: number }[] => [])
  for (let round = 0; round < rounds + 1; round += 1) {
    for (const [index, run] of runs.entries()) {
      const { requests: made, seconds, p50Ms } = await run()
      // The first warms up.
      if (round > 0) seen[index]?.push({ rate: made / seconds, p50Ms })
    }
  }
  const middle = (index: number, key: 'rate' | 'p50Ms') => median((seen[index] ?? []).map((each) => each[key]))
  const own = runs.length - 1
  return asked.flatMap(({ name }, index) =>
    (
      [
        ['rate', 'rate', perSecond],
        ['p50', 'p50Ms', ms],
      ] as const
    ).map(([what, key, show]) => ({
      name: `${name}: ${what}`,
      value: show(middle(index, key)),
      reference: show(middle(own, key)),
      ratio: times(middle(index, key), middle(own, key)),
    })),
  )

  function fromNode() {
    return load.ask('askNode', { url: rpcUrl, connections, requests })
  }
}
