import { asBuilt, startChild } from '../child.ts'
import { times, median, micros, ms, type Row } from '../measuring.ts'
import type { AnyQuotesProcess } from '../processes/any-quotes.ts'
import type { PoolPagesProcess } from '../processes/pool-pages.ts'
import type { PoolQuotesRequest, PoolQuotesProcess } from '../processes/pool-quotes.ts'
import type { RoutesRun, RoutesProcess } from '../processes/routes.ts'

const poolRounds = 15
const poolQuotesAtOnce = 10_000
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
    for (let round = -1; round < poolRounds; round += 1) {
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
      for (let round = -1; round < poolRounds; round += 1) {
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

const wholeQuotes = 2_000
const algebraConnectors = ['camelot-v4', 'quickswap-v4', 'quickswap-v3']

/** Whole prices for amounts that nobody asked for before, by the handler, of Algebra beside uniswap's pools of v3. */
export async function algebraQuotes(): Promise<Row[]> {
  const child = await startChild<AnyQuotesProcess>('any-quotes', [], [], asBuilt)
  try {
    let offset = 0
    const ask = (connector: string, version?: string) => {
      offset += wholeQuotes
      return child.ask('one', { connector, quotes: wholeQuotes, offset, ...(version !== undefined && { version }) })
    }
    const rows: Row[] = []
    for (const connector of algebraConnectors) {
      const [ours, range]: [number[], number[]] = [[], []]
      for (let round = -1; round < anyRounds; round += 1) {
        const [one, other] = [await ask(connector), await ask('uniswap', 'v3')]
        if (round < 0) continue
        ours.push(one)
        range.push(other)
      }
      const [value, reference] = [median(ours), median(range)]
      rows.push({ name: connector, value: micros(value), reference: micros(reference), ratio: times(value, reference) })
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
      sum += await child.ask(name, { exact, zeroForOne, ticksCrossed, quotes: poolQuotesAtOnce } satisfies PoolQuotesRequest)
  return sum / 4
}

const anyRounds = 9
/** A server answers so many between two blocks: of what is done once a block, each quote has a small part. */
const anyQuotesAtOnce = { any: 3_000, uniswap: 3_000, each: 500 }
/** What is measured is warm code. */
const warmUpRounds = 4

type QuoteSource = 'any' | 'uniswap' | 'each'

/**
 * The best of all connectors, in process, by processor time: for amounts that nobody has asked for before beside one connector and beside each of them
 * asked, and for an amount that was asked before.
 */
export async function anyQuotes(): Promise<Row[]> {
  const child = await startChild<AnyQuotesProcess>('any-quotes')
  try {
    const { asked, priced } = await child.ask('connectors')
    const seen: Record<string, number[]> = {}
    let offset = 0
    const measure = async (what: QuoteSource, again?: true) => {
      const { micros: taken, quotes } = await child.ask(what, {
        quotes: anyQuotesAtOnce[what],
        offset: (offset += anyQuotesAtOnce[what]),
        ...(again && { again }),
      })
      for (const [key, value] of Object.entries({ taken, quotes })) (seen[`${what} ${again ? 'again' : 'new'} ${key}`] ??= []).push(value)
    }
    for (let round = -warmUpRounds; round < anyRounds; round += 1) {
      for (const what of ['any', 'uniswap', 'each'] as const) await measure(what)
      for (const what of ['any', 'uniswap'] as const) await measure(what, true)
      if (round < 0) for (const key of Object.keys(seen)) delete seen[key]
    }
    const of = (key: string) => median(seen[key] ?? [])
    const row = (name: string, one: string, other: string): Row => {
      const [value, reference] = [of(`${one} taken`), of(`${other} taken`)]
      return {
        name: `${name}, ${of(`${one} quotes`).toFixed(2)} quotes each`,
        value: micros(value),
        reference: micros(reference),
        ratio: times(value, reference),
      }
    }
    return [
      row(`a new amount, ${asked} connectors, ${priced} with the pair; reference: uniswap alone`, 'any new', 'uniswap new'),
      row('the same; reference: each of them asked', 'any new', 'each new'),
      row('the same amount again; reference: uniswap alone', 'any again', 'uniswap again'),
    ]
  } finally {
    await child.end()
  }
}

const routeRounds = 7
/** What is measured is warm code: by the first of them V8 sees what it did not before. */
const routeWarmUps = 4
const routedQuotes = 1_000
/** Of WETH for USDC: what nobody would split, what some would, and what goes several ways. */
const amounts = [1, 20, 200]

/** The search over all pools of uniswap in memory for amounts that were not asked before, where swaps may go several ways and where not. */
export async function routes(): Promise<Row[]> {
  const child = await startChild<RoutesProcess>('routes', [], [], asBuilt)
  try {
    const rows: Row[] = []
    for (const ether of amounts) {
      for (const exact of ['in', 'out'] as const) {
        const asking = (splits: boolean): RoutesRun => ({ splits, exact, ether, quotes: routedQuotes })
        const [ours, reference]: [number[], number[]] = [[], []]
        let split = 0
        for (let round = -routeWarmUps; round < routeRounds; round += 1) {
          const [several, single] = [await child.ask('ask', asking(true)), await child.ask('ask', asking(false))]
          split = several.split
          if (round < 0) continue
          ours.push(several.micros)
          reference.push(single.micros)
        }
        const [value, beside] = [median(ours), median(reference)]
        const name = `${ether} to ${2 * ether} WETH exactly ${exact}, ${Math.round(100 * split)} % go several ways`
        rows.push({ name, value: micros(value), reference: micros(beside), ratio: times(value, beside) })
        const { passes, estimates, bytes } = await child.ask('count', { exact, ether })
        rows.push({
          name: '  pools passed, estimated, bytes allocated',
          value: [passes, estimates, bytes].map((each) => each.toFixed(0)).join(', '),
        })
      }
    }
    return rows
  } finally {
    await child.end()
  }
}

const pages = 9
const [many, few] = [20_000, 200]

const pageFigures = {
  heldMs: 'the event loop is held at most, median of the pages',
  heldCpuMs: '  the same, processor time',
  tookMs: 'a page takes',
  cpuMs: 'processor time of a page',
}

/** The deepest 100 of many pools in memory, two connectors' or one's: how long a page holds the event loop at most, and how long it takes. */
export async function poolPages(): Promise<Row[]> {
  const child = await startChild<PoolPagesProcess>('pool-pages')
  try {
    const rows: Row[] = []
    for (const changed of [0, 100]) {
      const [ours, reference] = [
        await child.ask('pages', { pools: many, pages, changed }),
        await child.ask('pages', { pools: few, pages, changed }),
      ]
      for (const key of ['heldMs', 'heldCpuMs', 'tookMs', 'cpuMs'] as const) {
        const [value, other] = [median(ours.map((each) => each[key])), median(reference.map((each) => each[key]))]
        const what = pageFigures[key]
        const name = `${many.toLocaleString('en')} pools, ${changed} changed since the last page: ${what}`
        rows.push({ name, value: ms(value), reference: ms(other), ratio: times(value, other) })
      }
    }
    return rows
  } finally {
    await child.end()
  }
}
