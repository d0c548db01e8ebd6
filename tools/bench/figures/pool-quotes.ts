import { startChild } from '../child.ts'
import type { PoolQuotesRequest, PoolQuotesProcess } from '../processes/pool-quotes.ts'
import { times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 15
const quotes = 10_000
const distances = [
  { name: 'within one tick', ticksCrossed: 0 },
  { name: 'across ten ticks', ticksCrossed: 10 },
]
const kinds = [
  { name: 'warm', ask: 'range' },
  { name: 'each the first after a swap', ask: 'rangeAnew' },
] as const

/** One pool's quotes in process, of concentrated liquidity beside a pair's of the same amount, exact in and out and both ways by turns. */
export async function poolQuotes(): Promise<Row[]> {
  const child = await startChild<PoolQuotesProcess>('pool-quotes')
  try {
    const askings = distances.flatMap(({ name, ticksCrossed }) =>
      kinds.map((kind) => ({ name: `${name}, ${kind.name}`, ticksCrossed, ask: kind.ask })),
    )
    const seen = askings.map(() => ({ range: [] as number[], pair: [] as number[] }))
    for (let round = -1; round < rounds; round += 1) {
      for (const [index, { ticksCrossed, ask }] of askings.entries()) {
        const [range, pair] = [await all(child, ask, ticksCrossed), await all(child, 'pair', ticksCrossed)]
        // What is measured is warm code.
        if (round < 0) continue
        seen[index]?.range.push(range)
        seen[index]?.pair.push(pair)
      }
    }
    return askings.map(({ name }, index) => {
      const [range, pair] = [median(seen[index]?.range ?? []), median(seen[index]?.pair ?? [])]
      return { name, value: nanos(range), reference: nanos(pair), ratio: times(range, pair) }
    })
  } finally {
    await child.end()
  }
}

/** The same of v4 or of Algebra, beside v3: the arithmetic is one, and the fee is found before it. */
export async function quotesBesideV3(kind: 'keyed' | 'listed'): Promise<Row[]> {
  const child = await startChild<PoolQuotesProcess>('pool-quotes')
  try {
    const rows: Row[] = []
    for (const { name, ticksCrossed } of distances) {
      const [ours, range]: [number[], number[]] = [[], []]
      for (let round = -1; round < rounds; round += 1) {
        const [one, other] = [await all(child, kind, ticksCrossed), await all(child, 'range', ticksCrossed)]
        if (round < 0) continue
        ours.push(one)
        range.push(other)
      }
      const [value, reference] = [median(ours), median(range)]
      rows.push({ name, value: nanos(value), reference: nanos(reference), ratio: times(value, reference) })
    }
    return rows
  } finally {
    await child.end()
  }
}

const nanos = (value: number) => `${Math.round(value)} ns`

type Child = Awaited<ReturnType<typeof startChild<PoolQuotesProcess>>>

async function all(child: Child, name: keyof PoolQuotesProcess, ticksCrossed: number): Promise<number> {
  let sum = 0
  for (const exact of ['in', 'out'] as const)
    for (const zeroForOne of [true, false])
      sum += await child.ask(name, { exact, zeroForOne, ticksCrossed, quotes } satisfies PoolQuotesRequest)
  return sum / 4
}
