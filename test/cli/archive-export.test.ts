import { spawnSync } from 'node:child_process'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { exportArchive } from '../../core/cli/archive-export.ts'
import { createArchiveFiles } from '../../core/transactions/archive-files.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { grownTrade } from '../transactions/journal/grown-journal.ts'

/** Two trades of November 2023, as a server of 0.2.0 archived them before costs were kept. */
const former = new URL('../fixtures/archive-of-0.2.0.ndjson', import.meta.url)

describe('sluice tx archive', () => {
  let folder: string
  let out: string
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-archive-'))
    out = path.join(folder, 'book.csv')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const finalOf = (index: number, over: Partial<Entry> = {}): Entry => {
    const final = grownTrade(index).versions.at(-1)
    if (!final) throw new Error('A trade has an end.')
    return { ...final, ...over }
  }

  /** What Python's reader makes of it, by the names of the columns. */
  function table(text: string): Record<string, string>[] {
    const read =
      'import csv, io, json, sys; print(json.dumps(list(csv.DictReader(io.TextIOWrapper(sys.stdin.buffer, "utf-8", newline="")))))'
    const { stdout, stderr } = spawnSync('python3', ['-c', read], { input: text, encoding: 'utf8' })
    expect(stderr).to.equal('')
    return JSON.parse(stdout)
  }

  it('makes CSV of files of an earlier version', async () => {
    const text = await readFile(former, 'utf8')
    await writeFile(path.join(folder, 'transactions-2023-11.ndjson.gz'), gzipSync(text))
    expect(await exportArchive({ folder, month: '2023-11', out })).to.deep.equal({ count: 2, damaged: 0, files: 1 })
    const [line] = text.split('\n').map((each) => (each === '' ? undefined : JSON.parse(each)))
    const [row, ...others] = table(await readFile(out, 'utf8'))
    expect(others).to.have.lengthOf(1)
    const { side, base, quote, amount } = line.request.fields
    expect(row).to.include({ client: line.client, wallet: line.address, kind: 'trade', state: 'CONFIRMED', side, base, quote, amount })
    expect(row).to.include({ price: line.outcome.price, quotedPrice: line.planned.price, ...amountsOf(line.outcome) })
    expect(row).to.include({ id: line.id, txHash: line.txHash, block: String(line.txBlock), time: new Date(line.createdAt).toISOString() })
    expect(row?.['slippage']).to.match(/^-?[\d.]+$/)
  })

  const amountsOf = ({ amountIn, amountOut }: { amountIn: string; amountOut: string }) => ({ amountIn, amountOut })

  it('makes CSV and NDJSON of what this version archives, each entry once, by month', async () => {
    const cost = { feeRaw: '126039000882273', gasUsed: '126039' }
    const first = finalOf(1)
    const paid = finalOf(1, { ...(first.landed && { landed: { ...first.landed, cost } }) })
    const later = finalOf(2, { createdAt: Date.UTC(2026, 8, 1) })
    const files = createArchiveFiles(folder)
    await files.append([paid, later])
    // A server that died wrote it again, in a file of its own.
    await createArchiveFiles(folder).append([paid])
    expect(await exportArchive({ folder, month: '2023-11', out })).to.deep.equal({ count: 1, damaged: 0, files: 2 })
    expect(table(await readFile(out, 'utf8'))[0]).to.include({ rawFee: cost.feeRaw, id: paid.key })
    const all = path.join(folder, 'all.ndjson.gz')
    expect(await exportArchive({ folder, out: all })).to.deep.equal({ count: 2, damaged: 0, files: 3 })
    const lines = gunzipSync(await readFile(all))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ id }) => id)).to.deep.equal([paid.key, later.key])
    expect(lines[0]).to.deep.include({ request: paid.request, quote: paid.quote, archived: true, final: true })
  })

  it('gives what is before the end of a file whose writer was killed, and before and after a damaged line', async () => {
    const text = await readFile(former, 'utf8')
    const lines = text.trim().split('\n')
    const file = path.join(folder, 'transactions-2023-11.ndjson.gz')
    await writeFile(file, gzipSync(`${lines[0]}\n{"id":"x"}\nnothing\n${lines[1]}\n`))
    const half = gzipSync(text)
    await appendFile(file, half.subarray(0, half.length / 2))
    expect(await exportArchive({ folder, out })).to.include({ count: 2, damaged: 1 })
    expect(table(await readFile(out, 'utf8')).map(({ id }) => id)).to.deep.equal(lines.map((line) => JSON.parse(line).id))
  })

  it('counts a file with damaged bytes, and none whose writer was killed', async () => {
    const text = await readFile(former, 'utf8')
    const bytes = gzipSync(text)
    await writeFile(path.join(folder, 'transactions-2023-11.ndjson.gz'), bytes.subarray(0, bytes.length - 20))
    expect(await exportArchive({ folder, out })).to.include({ damaged: 0 })
    const middle = Math.floor(bytes.length / 2)
    bytes.fill(0xff, middle, middle + 20)
    await writeFile(path.join(folder, 'transactions-2023-10.ndjson.gz'), bytes)
    await writeFile(path.join(folder, 'transactions-2023-12.ndjson.gz'), gzipSync(text))
    expect(await exportArchive({ folder, out: path.join(folder, 'all.csv') })).to.include({ count: 2, damaged: 1, files: 3 })
  })

  it('says what is wrong', async () => {
    for (const [options, reason] of [
      [{ month: '2026-8' }, '--month is "2026-8", but must be a month such as 2026-08.'],
      [{ month: '2026-08' }, 'There is nothing in '],
      [{ folder: path.join(folder, 'none') }, 'cannot be read: ENOENT'],
      [{ format: 'xlsx' }, '--format is "xlsx"'],
    ] as const) {
      const error: unknown = await exportArchive({ folder, out, ...options }).catch((thrown: unknown) => thrown)
      expect(String(error)).to.include(reason)
    }
    await createArchiveFiles(folder).append([finalOf(1)])
    const error: unknown = await exportArchive({ folder, out: path.join(folder, 'none', 'x.csv') }).catch((thrown: unknown) => thrown)
    expect(String(error)).to.include('cannot be written: ENOENT')
  })
})
