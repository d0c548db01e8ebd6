// What a page of the journal that nobody asked for before takes, part by part: which of them keep it from the time of its bare query.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { journalView, showTransaction } from '../../../core/handlers/journaled.ts'
import { pack, unpackBoth, unpackFirst } from '../../../core/store/compact.ts'
import { openStore } from '../../../core/store/open-store.ts'
import { bodyColumns, readShown, type BodyRow } from '../../../core/transactions/journal/entry-rows.ts'
import { growJournal } from '../../../test/transactions/journal/grown-journal.ts'
import { micros, times, type Row } from '../measuring.ts'

const [trades, pageSize, rounds] = [4_000, 100, 10]
const view = journalView({ status: () => 1 }, { networks: [] })

/** Processor time of a page of 100, the least of ten rounds of 40 different pages, the parts by turns. */
export async function pageParts(): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const store = await openStore({ dataDir: folder, serverName: 'bench', log: { info() {}, warn() {} } })
  try {
    await growJournal(store, trades)
    const select = (before: string) =>
      store.read((db) =>
        db.selectFrom('entries').select(bodyColumns).where('key', '<', before).orderBy('key', 'desc').limit(pageSize).execute(),
      )
    const pages: (readonly BodyRow[])[] = []
    for (let before = 'z'; ;) {
      const page = await select(before)
      if (page.length === 0) break
      pages.push(page)
      before = page.at(-1)?.key ?? ''
    }
    const ends = pages.map((page) => `${page[0]?.key}~`)
    const texts = pages.map((page) => page.map(({ body }) => unpackFirst(bytesOf(body))))
    const shown = () => pages.map((page) => page.map((row) => showTransaction(readShown(row), view)))
    const answers = shown()
    const parts: readonly (readonly [string, () => unknown])[] = [
      ['the bare query', () => inOrder(ends, select)],
      ['unpacking', () => pages.map((page) => page.map(({ body }) => unpackFirst(bytesOf(body))))],
      ['JSON.parse', () => texts.map((page) => page.map((text) => JSON.parse(text) as unknown))],
      ['all until the entries: unpacked, parsed, checked', () => pages.map((page) => page.map(readShown))],
      ['all until what callers see', shown],
      ['JSON.stringify of the answer', () => answers.map((transactions) => JSON.stringify({ transactions }))],
    ]
    const least = parts.map(() => Infinity)
    for (let round = 0; round < rounds; round += 1)
      for (const [index, [, work]] of parts.entries()) least[index] = Math.min(least[index] ?? Infinity, (await cpuOf(work)) / pages.length)
    const bare = least[0] ?? Number.NaN
    const rowOf = (name: string, taken: number): Row => ({ name, value: micros(taken), ratio: times(taken, bare) })
    return [...parts.map(([name], index) => rowOf(name, least[index] ?? Number.NaN)), ...sizes(pages.flat())]
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** What a final row takes, and what it would take if callers' part of it was not packed. */
function sizes(rows: readonly BodyRow[]): Row[] {
  const bodies = rows.map(({ body }) => bytesOf(body))
  const average = (of: readonly number[]) => `${Math.round(of.reduce((sum, each) => sum + each, 0) / of.length)} bytes`
  const both = bodies.map(unpackBoth)
  return [
    { name: 'a body, packed in two parts', value: average(bodies.map(({ length }) => length)) },
    {
      name: 'a body of which the first part is not packed',
      value: average(both.map(({ first, second }) => Buffer.byteLength(first) + pack(second).length)),
    },
  ]
}

const bytesOf = (body: BodyRow['body']): Uint8Array => (body instanceof ArrayBuffer ? new Uint8Array(body) : body)

async function inOrder<T>(items: readonly T[], one: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await one(item)
}

/** Microseconds of this process with all its threads. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
