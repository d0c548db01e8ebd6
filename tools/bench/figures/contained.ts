import { startChild } from '../child.ts'
import type { ContainedProcess } from '../processes/contained.ts'
import { megabytes, micros, times, type Row } from '../report.ts'
import { median } from '../statistics.ts'

const rounds = 3
const [count, warmUp, inFlight] = [10_000, 4_000, 16]
const trades = 11
const [mostMicros, mostBytes] = [60, 90e6]

type Cost = Awaited<ReturnType<ContainedProcess['quote']>>

/** What a connector in a host costs: a quote from memory, its process, and a trade, which is simulated before it is signed. */
export async function contained(): Promise<{ rows: Row[]; note: string }> {
  const child = await startChild<ContainedProcess>('contained')
  try {
    const kinds = ['builtIn', 'contained'] as const
    for (const kind of kinds) await child.ask('quote', { kind, count: warmUp, inFlight })
    const quotes: Record<(typeof kinds)[number], Cost[]> = { builtIn: [], contained: [] }
    for (let round = 0; round < rounds; round += 1)
      for (const kind of kinds) quotes[kind].push(await child.ask('quote', { kind, count, inFlight }))
    const bytes = await child.ask('hostMemory')
    const made: Record<(typeof kinds)[number], Awaited<ReturnType<ContainedProcess['trade']>>[]> = { builtIn: [], contained: [] }
    for (let index = 0; index < trades; index += 1) for (const kind of kinds) made[kind].push(await child.ask('trade', kind))

    const both = ({ serverMicros, hostMicros }: Cost) => serverMicros + hostMicros
    const [theirs, ours] = [median(quotes.contained.map(both)), median(quotes.builtIn.map(both))]
    const part = (name: keyof Cost): Row => ({
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
