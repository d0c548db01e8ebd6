import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { describeBook } from '../../core/cli/books.ts'
import { openStore } from '../../core/store/open-store.ts'
import type { Store } from '../../core/store/store.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { entryRow, hashRows } from '../../core/transactions/journal/entry-rows.ts'
import { moveOut } from '../../core/transactions/journal/archived-entries.ts'
import { firstKeyAt } from '../../core/transactions/submit-request.ts'
import type { Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { oneChain } from '../http/one-chain.ts'
import { grownTrade } from '../transactions/journal/grown-journal.ts'
import { silent } from '../transactions/site.ts'

const count = 10_000
const bots = ['maker', 'taker'] as const
const day = Date.UTC(2026, 2, 1)
const [weth, usdc] = [`0x${'c4'.repeat(20)}`, `0x${'c3'.repeat(20)}`]
const inDecimals = (raw: bigint, decimals: number) => {
  const text = raw.toString().padStart(decimals + 1, '0')
  return `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}

/** One of a day's trades: each bot takes turns, at prices and amounts that are no round numbers. */
function tradeOf(index: number, sample: Entry): Entry {
  const side = (index * 7_919) % 13 < 6 ? 'SELL' : 'BUY'
  const baseRaw = 10n ** 17n + BigInt((index * 104_729) % 99_991) * 1_234_567_890_123n
  const quoteRaw = (baseRaw * (3_000_000_000n + BigInt((index * 15_485_863) % 200_003_000))) / 10n ** 18n
  const [base, quote] = [inDecimals(baseRaw, 18), inDecimals(quoteRaw, 6)]
  const createdAt = day + index * 8_000
  const txHash = `0x${index.toString(16).padStart(64, '0')}`
  const { landed, attempts } = sample
  if (!landed) throw new Error('A trade is in a block.')
  return {
    ...sample,
    key: `${firstKeyAt(createdAt)}${String(index).padStart(8, '0')}`,
    client: bots[index % 2] ?? '',
    createdAt,
    updatedAt: createdAt + 12_000,
    request: { path: '/amm/trade', fields: { base: 'WETH', quote: 'USDC', side, amount: base } },
    planned: { base: weth, quote: usdc, price: '3100' },
    outcome: side === 'BUY' ? { amountIn: quote, amountOut: base, price: '3100' } : { amountIn: base, amountOut: quote, price: '3100' },
    attempts: attempts.map((each) => ({ ...each, id: txHash })),
    landed: { ...landed, id: txHash, cost: { feeRaw: String(21_000_000_000_000 + index), gasUsed: '21000' } },
    movements: {},
  }
}

/** Profit by FIFO, by a program of its own: fractions without rounding, from the CSV alone. */
const spreadsheet = `
import csv, json, sys
from fractions import Fraction
bots = {}
rows = [row for row in csv.DictReader(open(sys.argv[1], encoding='utf-8', newline='')) if row['kind'] == 'trade' and row['state'] == 'CONFIRMED']
for row in sorted(rows, key=lambda row: row['time']):
    bot = bots.setdefault(row['client'], {'lots': [], 'profit': Fraction(0), 'trades': 0, 'fee': 0})
    bought = row['side'] == 'BUY'
    base, quote = [Fraction(row[name]) for name in (('amountOut', 'amountIn') if bought else ('amountIn', 'amountOut'))]
    price, left = quote / base, base
    bot['trades'] += 1
    bot['fee'] += int(row['rawFee'])
    while left and bot['lots'] and bot['lots'][0][2] != bought:
        lot = bot['lots'][0]
        part = min(left, lot[0])
        bot['profit'] += part * (lot[1] - price if bought else price - lot[1])
        left -= part
        lot[0] -= part
        if not lot[0]: bot['lots'].pop(0)
    if left: bot['lots'].append([left, price, bought])
for bot in bots.values():
    bot['position'] = str(sum(size if bought else -size for size, _, bought in bot['lots']))
    bot['lots'] = len(bot['lots'])
    bot['profit'] = float(bot['profit'])
print(json.dumps(bots))
`

/** What an operator does by docs/operators/book.md: a day of ten thousand trades, half of them archived. */
describe('a day of ten thousand trades in the book', function () {
  this.timeout(300_000)
  let server: TestServer
  let client: Client
  let folder: string

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-trial-'))
    const store = await openStore({ dataDir: path.join(folder, 'data'), serverName: 'test', log: silent })
    await grow(store)
    await store.close()
    server = await startServer(oneChain, folder)
    client = server.client
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  async function grow(store: Store): Promise<void> {
    const { versions, queue } = grownTrade(1)
    const sample = versions.at(-1)
    if (!sample) throw new Error('A trade has an end.')
    const entries = Array.from({ length: count }, (_, index) => tradeOf(index, sample))
    for (let first = 0; first < count; first += 100) {
      const some = entries.slice(first, first + 100)
      await store.write(async (tx) => {
        await tx
          .insertInto('entries')
          .values(some.map((each) => ({ ...entryRow(each, queue), ended_at: 0 })))
          .execute()
        await tx.insertInto('hashes').values(hashRows(some)).execute()
      })
    }
    for (let first = 0; first < count / 2; first += 500) await moveOut(store, entries.slice(first, first + 500))
  }

  async function bookOf(query: Record<string, string>) {
    for (;;) {
      const { status, text, body } = await client.get('/books', query)
      expect(status, text).to.equal(200)
      if (body.complete) return body
    }
  }

  it('is found one by one, with its costs, agrees with a spreadsheet of two bots, and has both in its sums', async () => {
    const index = 1_234
    const txHash = `0x${index.toString(16).padStart(64, '0')}`
    const { body } = await client.get('/transactions', { txHash })
    expect(body.transactions).to.have.length(1)
    expect(body.transactions[0]).to.deep.include({ client: 'maker', archived: true })
    expect(body.transactions[0].cost).to.include({ rawFee: String(21_000_000_000_000 + index), gasUsed: '21000' })

    const file = path.join(folder, 'book.csv')
    const period = { since: '2026-03-01', until: '2026-03-02' }
    const csv = await client.get('/transactions', period, { headers: { accept: 'text/csv' } })
    await writeFile(file, csv.text)
    expect(csv.text.split('\r\n')).to.have.length(count + 2)
    const { stdout, stderr } = spawnSync('python3', ['-c', spreadsheet, file], { encoding: 'utf8' })
    expect(stderr).to.equal('')
    const bySpreadsheet = JSON.parse(stdout)
    for (const bot of bots) {
      const book = await bookOf({ client: bot, ...period })
      const [pair] = book.pairs
      const expected = bySpreadsheet[bot]
      expect(pair.trades)
        .to.equal(expected.trades)
        .and.to.equal(count / 2)
      // Each of its closes is rounded down, by a unit of the quote at most.
      expect(Number(pair.realized.fifo)).to.be.within(expected.profit - count * 1e-6, expected.profit + 1e-6)
      expect(book.fees[0].rawFee).to.equal(String(expected.fee))
      expect(book.lacking).to.deep.equal({ movements: 0, coin: 0, fills: 0, fees: 0 })
      expect(describeBook(book)).to.include(pair.realized.fifo)
    }
  })
})
