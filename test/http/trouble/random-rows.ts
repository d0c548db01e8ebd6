// Plays all questions many times while the node answers with random rows of the table of node errors, in the forms in which providers give them.
import { setTimeout as sleep } from 'node:timers/promises'
import { judge } from '../../../kits/evm/node-errors.ts'
import type { Answer, Client } from '../../../testkit/client.ts'
import { nodeErrorRows, type NodeErrorRow } from '../../fixtures/node-errors.ts'
import { outcome } from '../shared-server.ts'
import { saying, sayingOfAll, type Fault } from './faulty-proxy.ts'
import { heldParts } from './held.ts'
import { unchanging, type Question } from './questions.ts'

/** How many of the node's answers are rows of the table: phases, one after the other. Of three only one has rows that set a node aside: then nothing is asked of it for a while. */
const shares = [0.03, 0.3, 0.1, 0.1, 0.03, 0.3] as const
/** Of those, how many are one answer to all calls of a request, and how many of these are a page for people. */
const [shareOfWhole, shareOfPages] = [0.25, 0.25] as const
const badStatuses = [400, 403, 404, 413, 429, 500, 502, 503, 504] as const
/** While anvil takes up a block, it answers with its state and with the time of the block before: what Perpetual Protocol subtracts is below 0 then, with every node. */
const devnetsOwn = /SafeMath: subtraction overflow/
/** Longer than anything that an answer says of a token or a contract is kept. */
const keptMs = 31_000

export interface RandomRowsOptions {
  readonly client: Client
  readonly questions: readonly Question[]
  /** Hashes that callers know already. */
  readonly known: readonly string[]
  readonly requestsOfEach: number
  /** Then no further round begins. */
  readonly minutes: number
  /** Requests at once. */
  readonly together: number
  readonly random: () => number
  become(fault: Fault): Promise<void>
  /** Settles when the node is healthy and the server has noticed. */
  healed(): Promise<void>
  say(line: string): void
}

export interface RandomRowsFigures {
  /** Of each question, how often each outcome was given. */
  readonly told: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** What a healthy node gives otherwise, or what was no answer. */
  readonly deviations: readonly string[]
  /** Of the transactions that callers know of. */
  readonly hashes: ReadonlySet<string>
  readonly seconds: number
}

export async function playRandomRows(options: RandomRowsOptions): Promise<RandomRowsFigures> {
  const { questions, requestsOfEach, together, random, say } = options
  const hashes = new Set(options.known)
  const told = new Map(questions.map(([name]) => [name, new Map<string, number>()]))
  const deviations: string[] = []
  const healthy = new Map<string, Set<string>>()
  const addHashes = (text: string) => {
    for (const [hash] of text.matchAll(/(?<="txHash":")0x[0-9a-f]{64}/g)) hashes.add(hash)
  }
  const timedOut: string[] = []
  const client = noting(options.client, (answer) => {
    addHashes(answer.text)
    // Whoever gets no answer in time is told how to learn what became of the request.
    if (answer.status === 504 && answer.body.details?.txHash === undefined) timedOut.push(String(answer.body.requestId))
  })
  const ask = async ([name, of]: Question): Promise<{ said: string; answer: Answer }> => {
    const answer = await of(client)
    return { said: saidBy(name, answer), answer }
  }
  await options.healed()
  for (const question of questions) {
    const { said, answer } = await ask(question)
    // What is asked of who has it, and has the rights, is answered.
    const expected = / of a (mover|holder)/.test(question[0]) ? [200] : [200, 403, 404, 422]
    if (!expected.includes(answer.status)) deviations.push(`${question[0]} of a healthy node: ${answer.text}`)
    healthy.set(question[0], new Set([said]))
  }

  // With one share of bad answers.
  const roundsOfPhase = requestsOfEach < 60 ? 1 : 20
  let phase = 0
  const fault = () => faultOf(shares[phase % shares.length] ?? 0, phase % 3 === 2, random)
  let inFlight = 0
  let open: Promise<void> = Promise.resolve()

  /** Nothing else is asked meanwhile, and the node is healthy. */
  function alone(work: () => Promise<void>): Promise<void> {
    const turn = open.then(async () => {
      while (inFlight > 0) await sleep(5)
      await options.healed()
      await work()
      await options.become(fault())
    })
    open = turn
    return turn
  }

  /** What was said counts as right only where the healthy node now says it too, also when nothing that was kept can say it any more: prices and balances move. */
  async function examine(question: Question, said: string, text: string): Promise<void> {
    const [name] = question
    const known = healthy.get(name)
    await alone(async () => {
      if (known?.has(said)) return
      let now = await ask(question)
      if (now.said === said) {
        await sleep(keptMs)
        now = await ask(question)
      }
      if (now.said === said) {
        known?.add(said)
        say(`${name}: a healthy node gives ${said} by now`)
      } else {
        deviations.push(`${name}: ${said} ${text}, and ${now.said} ${now.answer.text} of a healthy node`)
        say(deviations.at(-1) ?? '')
      }
    })
  }

  const startedMs = performance.now()
  let total = requestsOfEach * questions.length
  let next = 0
  async function work(): Promise<void> {
    while (next < total) {
      const at = next
      next += 1
      if (at % questions.length === 0) {
        const rounds = at / questions.length
        if (performance.now() - startedMs > options.minutes * 60_000) {
          total = at
          break
        }
        if (rounds % roundsOfPhase === 0 && rounds > 0) {
          phase += 1
          await alone(async () => {})
          say(`${rounds} of each, ${Math.round(at / ((performance.now() - startedMs) / 1000))} requests a second`)
          if (rounds % (roundsOfPhase * 6) === 0) say(figuresOf(told))
        }
      }
      await open
      const question = questions[at % questions.length]
      if (!question) continue
      inFlight += 1
      const given = await ask(question).finally(() => (inFlight -= 1))
      const { said, answer } = given
      const counts = told.get(question[0])
      const shown = saysWhatIsMissing(answer) ? `${outcome(answer)} in part` : outcome(answer)
      counts?.set(shown, (counts.get(shown) ?? 0) + 1)
      const isTrouble =
        answer.status >= 400 ? ['NETWORK', 'RATE_LIMIT', 'TIMEOUT', 'OVERLOADED'].includes(answer.body?.name) : saysWhatIsMissing(answer)
      // A block came between the trade and what was to replace it.
      const isMined = answer.body?.name === 'INVALID_NONCE' && hashes.has(String(answer.body.details?.txHash))
      if (!isTrouble && !isMined && !devnetsOwn.test(answer.text) && !healthy.get(question[0])?.has(said))
        await examine(question, said, answer.text)
    }
  }
  await alone(async () => {})
  await Promise.all(Array.from({ length: together }, work))
  const seconds = (performance.now() - startedMs) / 1000
  await options.healed()
  for (const requestId of timedOut) addHashes((await client.get('/transactions', { requestId })).text)
  return { told, deviations, hashes, seconds }
}

/** A client whose answers to what may act are noted. What only reads says nothing to the caller whose transaction it is. */
function noting(client: Client, note: (answer: Answer) => void): Client {
  const noted = async (answer: Promise<Answer>): Promise<Answer> => {
    note(await answer)
    return answer
  }
  return {
    ...client,
    post: (...args) => noted(client.post(...args)),
    request: (...args) => noted(client.request(...args)),
  }
}

/** A line for each question. */
export const figuresOf = (told: RandomRowsFigures['told']): string =>
  [...told].map(([name, counts]) => `${name}: ${[...counts].map(([said, count]) => `${said} ${count}`).join(', ')}`).join('\n')

/** A list that says what of it could not be read. */
const saysWhatIsMissing = ({ status, body }: Answer): boolean =>
  status === 200 && Array.isArray(body?.unavailable) && body.unavailable.length > 0

/** The outcome, and the whole answer where a healthy node always gives the same. */
function saidBy(name: string, answer: Answer): string {
  const said = outcome(answer)
  const part = heldParts[name]
  if (answer.status === 200 && part && !saysWhatIsMissing(answer)) return `${said} ${JSON.stringify(part(answer.body))}`
  if (answer.status !== 200 || !unchanging.has(name)) return said
  return `${said} ${JSON.stringify(answer.body, (key, value: unknown) => (moving.has(key) ? undefined : value))}`
}

/** What differs from one answer to the next, whatever the node does. */
const moving: ReadonlySet<string> = new Set(['timestamp', 'latency', 'blockNumber', 'source', 'gasPrice', 'gasCost', 'baseFee'])

/** A row that asks for a pause asks for a second: half a minute without a question to the node tells nothing. */
function pausing(row: NodeErrorRow): NodeErrorRow {
  const text = JSON.stringify(row.data ?? null).replaceAll(/"backoff_seconds":\d+/g, '"backoff_seconds":1')
  return row.data === undefined ? row : { ...row, data: JSON.parse(text) as unknown }
}

function faultOf(share: number, setsAside: boolean, random: () => number): Fault {
  const isOfNode = (row: NodeErrorRow) => {
    const fault = judge(row, row.to === 'batch' ? undefined : (row.to ?? 'eth_call'))
    return fault.is === 'trouble' && fault.ofNode === true
  }
  const rows = nodeErrorRows.filter((row) => row.is !== 'verdict' && (setsAside || !isOfNode(row))).map(pausing)
  const ofAll = rows.filter(({ is, to }) => to === 'batch' || (is === 'trouble' && to === undefined))
  const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  const each = saying((method) => {
    if (random() >= share) return undefined
    return oneOf(rows.filter(({ to }) => to === undefined || to === method))
  })
  return (exchange) => {
    // Which chain it serves is asked after each trouble, and decides whether anything else is.
    const isIdentity = exchange.methods.includes('eth_chainId')
    const row =
      isIdentity || random() >= share * shareOfWhole
        ? undefined
        : oneOf(ofAll.filter(({ to }) => to === undefined || exchange.methods.length > 1))
    if (!row) return each(exchange)
    const status = setsAside ? (row.status ?? (random() < 0.5 ? 200 : oneOf(badStatuses))) : 200
    return sayingOfAll(row, { status: status ?? 200, asPage: setsAside && random() < shareOfPages, asList: random() < 0.3 })(exchange)
  }
}
