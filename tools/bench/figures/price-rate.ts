import { createClient } from '../../../testkit/client.ts'
import type { Child } from '../child.ts'
import { micros, ms, perSecond, times, median, type Row } from '../measuring.ts'
import type { BareServerProcess } from '../processes/bare-server.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { manyNewQuotes, newQuotes, sameQuote } from '../quote-path.ts'

const one = { connections: 1, requests: 3_000, reference: 4_000 }
const sixteen = { connections: 16, requests: 10_000, reference: 15_000 }

/** Quotes over mutual TLS: one question asked again and again, and amounts that nobody has asked for before. */
export async function priceRate(sluice: Child<SluiceProcess>, bare: Child<BareServerProcess>, load: Child<LoadProcess>): Promise<Row[]> {
  const { url, certsDir } = await sluice.ask('where')
  const client = createClient(url, certsDir)
  const { body, text } = await client.get(sameQuote())
  client.close()
  if (body.source !== 'memory') throw new Error(`The quote is not from memory: ${text}`)
  const cpu = () => sluice.ask('cpu')
  const same = await besideBare({ url, cpu, path: sameQuote() }, bare, load, [one, sixteen])
  const others = await besideBare({ url, cpu, path: newQuotes() }, bare, load, [sixteen])
  return [...same.map((row) => ({ ...row, name: `the same, ${row.name}` })), ...others.map((row) => ({ ...row, name: `new, ${row.name}` }))]
}

const amountsAtOnce = 8
const [warmRounds, shortRounds] = [2, 21]

/** Several new amounts in one request beside one: what the server's process takes for each request. */
export async function severalAmounts(sluice: Child<SluiceProcess>, load: Child<LoadProcess>): Promise<Row[]> {
  const { url } = await sluice.ask('where')
  const cpu = () => sluice.ask('cpu')
  const server = (path: string): MeasuredServer => ({ url, cpu, path })
  const [many, alone] = [server(manyNewQuotes(amountsAtOnce)), server(newQuotes())]
  const [ours, reference]: [Measure[], Measure[]] = [[], []]
  // Many short turns: what else the machine does for a second meets few of them.
  for (let round = -warmRounds; round < shortRounds; round += 1) {
    const [one, other] = [await measure(many, load, 16, 1_500), await measure(alone, load, 16, 3_000)]
    // What is measured is warm code.
    if (round < 0) continue
    ours.push(one)
    reference.push(other)
  }
  const [value, beside] = [middle(ours), middle(reference)]
  return [
    {
      name: `${amountsAtOnce} new amounts in one request: CPU`,
      value: micros(value.cpuMicros),
      reference: micros(beside.cpuMicros),
      ratio: times(value.cpuMicros, beside.cpuMicros),
    },
    { name: '  p50', value: ms(value.p50Ms), reference: ms(beside.p50Ms), ratio: times(value.p50Ms, beside.p50Ms) },
  ]
}

const rounds = 3

/** A server that is measured. */
interface MeasuredServer {
  url: string
  /** Microseconds of processor time so far. */
  cpu(): Promise<NodeJS.CpuUsage>
  /** What it is asked; quotes without it. */
  path?: string
}

/** How many requests a round makes of it, and of the bare server. */
interface Rounds {
  connections: number
  requests: number
  reference: number
}

interface Measure {
  rate: number
  p50Ms: number
  p99Ms: number
  /** Per request. */
  cpuMicros: number
  /** Of it in the kernel: mostly sockets, which cost more when the other side is asleep and must be woken. */
  systemMicros: number
}

/** Answers over mutual TLS beside a bare server with a constant answer; the two take turns, so that both see the same machine. */
export async function besideBare(
  server: MeasuredServer,
  bareServer: Child<BareServerProcess>,
  load: Child<LoadProcess>,
  loads: readonly Rounds[],
): Promise<Row[]> {
  const bare: MeasuredServer = { url: await bareServer.ask('url'), cpu: () => bareServer.ask('cpu') }
  // The code is compiled by what it is run with: what is measured are warm servers.
  await measure(server, load, 16, 3_000)
  await measure(bare, load, 16, 6_000)

  const rows: Row[] = []
  for (const { connections, requests, reference } of loads) {
    const ours: Measure[] = []
    const constants: Measure[] = []
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await measure(server, load, connections, requests))
      constants.push(await measure(bare, load, connections, reference))
    }
    rows.push(...rowsOf(`${connections} connection${connections === 1 ? '' : 's'}`, middle(ours), middle(constants)))
  }
  return rows
}

async function measure(
  { url, path, cpu }: MeasuredServer,
  load: Child<LoadProcess>,
  connections: number,
  requests: number,
): Promise<Measure> {
  const before = await cpu()
  const {
    requests: made,
    seconds,
    p50Ms,
    p99Ms,
  } = await load.ask('run', { url, connections, requests, ...(path !== undefined && { path }) })
  const after = await cpu()
  const systemMicros = (after.system - before.system) / made
  return { rate: made / seconds, p50Ms, p99Ms, systemMicros, cpuMicros: (after.user - before.user) / made + systemMicros }
}

const middle = (measures: readonly Measure[]): Measure => ({
  rate: median(measures.map(({ rate }) => rate)),
  p50Ms: median(measures.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(measures.map(({ p99Ms }) => p99Ms)),
  cpuMicros: median(measures.map(({ cpuMicros }) => cpuMicros)),
  systemMicros: median(measures.map(({ systemMicros }) => systemMicros)),
})

function rowsOf(name: string, ours: Measure, bare: Measure): Row[] {
  return [
    { name: `${name}: rate`, value: perSecond(ours.rate), reference: perSecond(bare.rate), ratio: times(ours.rate, bare.rate) },
    { name: `${name}: p50`, value: ms(ours.p50Ms), reference: ms(bare.p50Ms), ratio: times(ours.p50Ms, bare.p50Ms) },
    { name: `${name}: p99`, value: ms(ours.p99Ms), reference: ms(bare.p99Ms), ratio: times(ours.p99Ms, bare.p99Ms) },
    {
      name: `${name}: CPU per request`,
      value: micros(ours.cpuMicros),
      reference: micros(bare.cpuMicros),
      ratio: times(ours.cpuMicros, bare.cpuMicros),
    },
    {
      name: `${name}: of it system`,
      value: micros(ours.systemMicros),
      reference: micros(bare.systemMicros),
      ratio: times(ours.systemMicros, bare.systemMicros),
    },
  ]
}
