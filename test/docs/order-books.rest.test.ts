import { expect } from 'chai'
import { startServer, venuesReady, type TestServer } from '../../testkit/server.ts'
import { startPlayground, type Playground } from '../../tools/hyperliquid-simulator/playground.ts'
import { until } from '../../tools/hyperliquid-simulator/client.ts'
import { eventsIn, type PrintedEvent } from './events-in.ts'
import { unlike } from './like.ts'
import { fencesOf, readPage, type Fence } from './page.ts'
import { readyServer } from './ready-server.ts'
import { shellOf, type ShellSession } from './shell.ts'

describe('the runs in order books', function () {
  this.timeout(400_000)
  const stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0).toReversed()) await stop()
  })

  it('shows a run on a chain as it is', async () => {
    const server = await readyServer()
    stops.push(server.stop)
    await follow(await fencesIn('order-books-on-chain'), server)
  })

  it('shows a run at an exchange that takes signed actions as it is', async () => {
    const playground = await startPlayground()
    stops.push(playground.stop)
    const server = await startServer(playground.server)
    stops.push(server.stop)
    await venuesReady(server.kernel, playground)
    await follow(await fencesIn('order-books-hyperliquid'), server, playground)
  })
})

const fencesIn = async (name: string) => fencesOf(await readPage(`docs/bots/${name}.md`))

/** Types the commands of a page one after another, and compares what each prints with what the page shows below it. */
async function follow(fences: readonly Fence[], server: TestServer, playground?: Pick<Playground, 'passHour'>): Promise<void> {
  const type = shellOf(server)
  let stream: ShellSession | undefined
  const told = () => eventsIn(stream?.output() ?? '')
  try {
    for (const [index, { language, file, text, line }] of fences.entries()) {
      if (file === 'events')
        await until(() => comesWith(eventsIn(text), told())).catch(() =>
          expect.fail(`line ${line}: told was ${stream?.output() ?? 'nothing'}`),
        )
      if (language !== 'sh' || text.startsWith('ask()') || text.startsWith('npm ')) continue
      if (text.includes('/events?')) {
        stream = type(text)
        await until(() => told().length > 0)
        continue
      }
      const output = await type(text).ended
      const shown = fences[index + 1]
      // An answer that is thrown away.
      if (output.trim() === '') continue
      const answer: unknown = JSON.parse(output)
      const wanted: unknown = shown?.language === 'json' ? JSON.parse(shown.text) : answer
      expect(unlike(wanted, answer), `line ${line}: ${output}`).to.equal(undefined)
      expect(outcomesOf(answer), `line ${line}: ${output}`).to.deep.equal(outcomesOf(wanted))
      if (!playground) for (const hash of hashesOf(answer)) await mined(server, hash)
      if (text.includes('/funding/info')) playground?.passHour()
    }
  } finally {
    stream?.end()
  }
}

/** What a run like the page's must come to; all else may differ from run to run. */
const fixed = ['state', 'filledAmount', 'averagePrice', 'name', 'price', 'locked', 'mode', 'side', 'positionAmt', 'rate', 'nearest']

const outcomesOf = (value: unknown): unknown[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, each]) => [...(fixed.includes(key) ? [key, each] : []), ...outcomesOf(each)])

const hashesOf = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, each]) => (key === 'txHash' && typeof each === 'string' ? [each] : hashesOf(each)))

/** A person takes longer to the next command than the chain to the next block. */
async function mined({ client }: TestServer, txHash: string): Promise<void> {
  await until(async () => {
    const { body } = await client.get('/network/poll', { chain: 'ethereum', network: 'local', txHash })
    return body.txState === 'CONFIRMED'
  })
}

/** Whether all that a page shows was told, in its order: with other events between, and with others' ids and hashes. */
function comesWith(shown: readonly PrintedEvent[], told: readonly PrintedEvent[]): boolean {
  // Which of a transaction and its block is told first is no promise.
  return ['orderBook', 'transactions'].every((topic) => {
    const wanted = gistsOf(shown, topic)
    let next = 0
    for (const gist of gistsOf(told, topic)) if (gist === wanted[next]) next += 1
    return next === wanted.length
  })
}

/** The levels of books; kinds and states of transactions. */
const gistsOf = (events: readonly PrintedEvent[], topic: string): string[] =>
  events
    .filter(({ event }) => event === topic)
    .map(({ data }) => [...data.matchAll(/"buys":.*?"sells":\[.*?\]|"kind":"[\w-]+"|"txState":"\w+"/g)].join())
