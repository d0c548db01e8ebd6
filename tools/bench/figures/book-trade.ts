// What the book adds to a trade: what an entry keeps for it, in the rows of its five states and in the store, and what is read from its receipt.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openStore } from '../../../core/store/open-store.ts'
import type { Store } from '../../../core/store/store.ts'
import { costOf } from '../../../core/transactions/costs.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import { entryRow } from '../../../core/transactions/journal/entry-rows.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { gainsIn } from '../../../kits/evm/movements.ts'
import { paidFees } from '../../../kits/evm/receipts.ts'
import { giveLease } from '../../../test/transactions/journal/entries.ts'
import { grownTrade, type GrownTrade } from '../../../test/transactions/journal/grown-journal.ts'
import { median, micros, type Row } from '../measuring.ts'

const turns = 40
/** Of each turn, with and without. */
const [tradesOfRows, tradesOfStore] = [50, 10]
const zeroAddress = `0x${'00'.repeat(20)}`

/** Processor time of a trade, of this process with all its threads, in which nothing else runs: with the book and without by turns. */
export async function bookOfTrade(): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const store = await openStore({ dataDir: folder, serverName: 'bench', log: { info() {}, warn() {} } })
  try {
    const trades = Array.from({ length: tradesOfRows }, (_, index) => grownTrade(index))
    const bare = trades.map(withoutBook)
    const receipts = trades.map(receiptOf)
    let next = tradesOfRows
    const grown = () => Array.from({ length: tradesOfStore }, () => grownTrade((next += 1)))
    return [
      await byTurns(
        'the rows of its five states',
        () => [trades, bare],
        async (of) => of.forEach(makeRows),
      ),
      await byTurns(
        'of these, the two before its answer',
        () => [trades.map(untilAnswered), bare.map(untilAnswered)],
        async (of) => of.forEach(makeRows),
      ),
      await byTurns(
        'movements and cost by its receipt',
        () => [receipts, []],
        async (of) => of.forEach(readReceipt),
      ),
      await byTurns(
        'these rows, and their writes in the embedded store',
        () => [grown(), grown().map(withoutBook)],
        (of) => journaled(store, of),
      ),
    ]
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

type Trades = readonly GrownTrade[]

/** The median of the differences of the turns: what else the machine does meets both. */
async function byTurns<T>(name: string, make: () => [readonly T[], readonly T[]], work: (of: readonly T[]) => Promise<void>): Promise<Row> {
  const costs: { readonly whole: number; readonly bare: number }[] = []
  // The first turn warms up.
  for (let turn = 0; turn <= turns; turn += 1) {
    const [withIt, without] = make()
    const count = withIt.length
    const [first, second] = turn % 2 === 0 ? [withIt, without] : [without, withIt]
    const [one, other] = [(await cpuOf(() => work(first))) / count, (await cpuOf(() => work(second))) / count]
    if (turn > 0) costs.push(turn % 2 === 0 ? { whole: one, bare: other } : { whole: other, bare: one })
  }
  const [whole, bare] = [median(costs.map((each) => each.whole)), median(costs.map((each) => each.bare))]
  const added = median(costs.map((each) => each.whole - each.bare))
  return { name, value: `${micros(whole)}, ${micros(added)} of them by the book`, reference: micros(bare) }
}

/** Microseconds. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** As entries were before there was a book. */
const withoutBook = ({ versions, ...trade }: GrownTrade): GrownTrade => ({ ...trade, versions: versions.map(bareOf) })

function bareOf({ request: _request, planned: _planned, quote: _quote, outcome: _outcome, movements: _movements, ...entry }: Entry): Entry {
  if (!entry.landed) return entry
  const { cost: _cost, ...landed } = entry.landed
  return { ...entry, landed }
}

/** The answer is written with the signed bytes. */
const untilAnswered = ({ versions: [queued, signed], ...trade }: GrownTrade): GrownTrade => ({
  ...trade,
  versions: [queued, signed].filter((each) => each !== undefined),
})

function makeRows({ versions, queue }: GrownTrade): void {
  for (const each of versions) entryRow(each, queue)
}

/** Its receipt as a node gives it. */
function receiptOf({ versions }: GrownTrade) {
  const { landed, address = '' } = versions.at(-1) ?? {}
  return { receipt: JSON.parse(JSON.stringify(landed?.receipt)), address }
}

function readReceipt({ receipt, address }: ReturnType<typeof receiptOf>): void {
  costOf(receipt, { paidFees: (each) => paidFees(each, false) })
  const moved = gainsIn(receipt, address, { coin: zeroAddress, wrapped: zeroAddress })
  Object.fromEntries([...moved].map(([token, raw]) => [token, raw.toString()]))
}

/** Each state by a write of its own, as the server does. */
async function journaled(store: Store, trades: Trades): Promise<void> {
  const journal = sqlJournal(store)
  for (const { versions, queue } of trades) {
    const lease = await giveLease(store, { queue, fencingToken: 1 })
    const [queued, ...later] = versions
    if (queued) await journal.open([queued], lease)
    for (const each of later) await journal.write([each], lease)
  }
}
