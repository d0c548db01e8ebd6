import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { NoResponse, type ServerClient } from '../../core/cli/server-client.ts'
import { exportTransactions, type ExportOptions } from '../../core/cli/tx-export.ts'
import { createSmallDisk, NoSmallDisk } from '../../tools/chaos/servers/small-disk.ts'

const count = 3_000
/** Newest first, as the server's: the beginning is the time. */
const ids = Array.from(
  { length: count },
  (_, index) => `${(1_700_000_000_000 + (count - index) * 60_000).toString(36).padStart(9, '0')}00000000`,
)
const rows = {
  ndjson: ids.map((id) => `{"id":"${id}","reason":"ü\\n${'x'.repeat(80)}"}\n`),
  csv: ids.map((id) => `2026-01-01T00:00:00.000Z,"a, ""ü""",${'x'.repeat(80)},${id}\r\n`),
}
const header = 'time,reason,more,id\r\n'
const whole = { ndjson: rows.ndjson.join(''), csv: `${header}${rows.csv.join('')}` }

interface FakeServer extends Pick<ServerClient, 'as' | 'host' | 'stream'> {
  /** The `cursor` of each request. */
  readonly cursors: (string | undefined)[]
}

/** Answers in parts that end anywhere, and does something after so many characters of each answer. */
function server(after: (request: number, sent: number) => void = () => {}): FakeServer {
  const cursors: (string | undefined)[] = []
  return {
    as: 'client',
    host: 'localhost',
    cursors,
    async *stream(_target, { cursor }, mediaType, signal) {
      cursors.push(cursor)
      const format = mediaType === 'text/csv' ? 'csv' : 'ndjson'
      const from = cursor === undefined ? 0 : ids.indexOf(cursor) + 1
      const text = `${format === 'csv' ? header : ''}${rows[format].slice(from).join('')}`
      for (let at = 0; at < text.length; at += 7_001) {
        if (signal.aborted) throw new NoResponse('aborted')
        after(cursors.length, at)
        yield text.slice(at, at + 7_001)
      }
    },
  }
}

const never = new AbortController().signal

describe('sluice tx export', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-export-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const file = (name: string) => path.join(folder, name)
  const run = (from: FakeServer, options: ExportOptions, signal = never) => exportTransactions(from, options, signal)
  const partIn = async () => (await readdir(folder)).filter((name) => name.includes('.part'))

  for (const format of ['ndjson', 'csv'] as const) {
    it(`writes a file for its owner alone, which has its name once it is whole (${format})`, async () => {
      const result = await run(server(), { out: file(`book.${format}`) })
      expect(result).to.include({ count, unavailable: 0 }).and.not.have.property('part')
      expect((await readFile(file(`book.${format}`), 'utf8')) === whole[format]).to.equal(true)
      expect((await stat(file(`book.${format}`))).mode & 0o777).to.equal(0o600)
      expect(await readdir(folder)).to.deep.equal([`book.${format}`])
    })

    it(`goes on where it was interrupted, to the same bytes (${format})`, async () => {
      const out = file(`book.${format}`)
      const interrupted = new AbortController()
      const result = await run(
        server((_request, sent) => sent > 100_000 && interrupted.abort()),
        { out },
        interrupted.signal,
      )
      expect(result.count).to.be.within(100, count - 1)
      expect(result.part).to.equal(file((await partIn())[0] ?? ''))
      expect(await readdir(folder)).to.have.lengthOf(1)
      // As a process that is killed leaves it: with half a line, under its own name.
      const left = `${result.part}`
      await writeFile(`${left}.999999999`, `${await readFile(left, 'utf8')}{"half`)
      await rm(left)
      const again = server()
      expect((await run(again, { out })).count).to.equal(count)
      expect(again.cursors).to.deep.equal([ids[result.count - 1]])
      expect((await readFile(out, 'utf8')) === whole[format]).to.equal(true)
      expect(await readdir(folder)).to.deep.equal([`book.${format}`])
    })

    it(`goes on by itself where the answer breaks off (${format})`, async () => {
      const broken = server((request, sent) => {
        if (request < 4 && sent > 50_000) throw new NoResponse('the server was stopped')
      })
      expect((await run(broken, { out: file(`book.${format}`) })).count).to.equal(count)
      expect(broken.cursors).to.have.lengthOf(4)
      expect((await readFile(file(`book.${format}`), 'utf8')) === whole[format]).to.equal(true)
    })
  }

  it('says where what there is lies when the server stays away, and gives up soon', async function () {
    this.timeout(120_000)
    const gone = server((request, sent) => {
      if (request > 1 || sent > 50_000) throw new NoResponse('The server at localhost cannot be reached: ECONNREFUSED.')
    })
    const error: unknown = await run(gone, { out: file('book.csv') }).catch((thrown: unknown) => thrown)
    expect(String(error)).to.match(
      /cannot be reached: ECONNREFUSED\. \d+ transactions are in .+book\.csv\.\w{8}\.part: the same command goes on from there\.$/,
    )
    expect((await run(server(), { out: file('book.csv') })).count).to.equal(count)
    expect((await readFile(file('book.csv'), 'utf8')) === whole.csv).to.equal(true)
  })

  it('loses nothing on a full disk, and goes on when there is room', async function () {
    const disk = await createSmallDisk(2_000_000).catch((error: unknown) => {
      if (!(error instanceof NoSmallDisk)) throw error
      return undefined
    })
    if (!disk) return this.skip()
    try {
      const out = path.join(disk.outside, 'book.ndjson')
      await writeFile(out, 'the one before')
      disk.fill(100_000)
      const error: unknown = await run(server(), { out }).catch((thrown: unknown) => thrown)
      expect(String(error)).to.match(/cannot be written: ENOSPC.+ \d+ transactions are in .+\.part: the same command goes on from there\.$/)
      expect(await readFile(out, 'utf8')).to.equal('the one before')
      disk.free()
      const again = server()
      expect((await run(again, { out })).count).to.equal(count)
      expect(again.cursors[0]).to.be.a('string')
      expect((await readFile(out, 'utf8')) === whole.ndjson).to.equal(true)
      expect(await readdir(disk.outside)).to.deep.equal(['book.ndjson'])
    } finally {
      await disk.remove()
    }
  })

  it('begins another file for another question, and leaves what there is of the first', async () => {
    const stop = async (options: ExportOptions) => {
      const interrupted = new AbortController()
      return run(
        server((_request, sent) => sent > 50_000 && interrupted.abort()),
        options,
        interrupted.signal,
      )
    }
    const out = file('book.csv')
    const parts = [await stop({ out }), await stop({ out, kind: 'trade' }), await stop({ out, from: '2026-01-01' })].map(({ part }) => part)
    expect(new Set(parts).size).to.equal(3)
    expect(await partIn()).to.have.lengthOf(3)
  })

  describe('with what was left', () => {
    const out = () => file('book.csv')
    const old = new Date(Date.now() - 2 * 3_600_000)
    /** @returns the cursors that the next run asks for, and what came of it */
    async function resumed(options: Partial<ExportOptions>, change: (part: string) => Promise<void>) {
      const interrupted = new AbortController()
      const first = server((_request, sent) => sent > 50_000 && interrupted.abort())
      const { part = '' } = await run(first, { out: out(), ...options }, interrupted.signal)
      await change(part)
      const again = server()
      const result = await run(again, { out: out(), ...options })
      expect((await readFile(out(), 'utf8')) === whole.csv).to.equal(true)
      return { ...result, cursors: again.cursors }
    }

    it('goes on within an hour, and says what may be missing', async () => {
      const { cursors, missingAfter } = await resumed({}, async () => {})
      expect(cursors[0]).to.be.a('string')
      expect(missingAfter).to.be.closeTo(Date.now(), 60_000)
    })

    it('begins anew later, also where nothing can have come since: rows of open transactions have become others', async () => {
      const age = (part: string) => utimes(part, old, old)
      const anew = await resumed({}, age)
      expect(anew.cursors).to.deep.equal([undefined])
      expect(anew).to.not.have.property('missingAfter')
      expect((await resumed({ to: '2999-01-01' }, age)).cursors).to.deep.equal([undefined])
      const ended = await resumed({ to: '2024-01-01' }, age)
      expect(ended.cursors).to.deep.equal([undefined])
      const atOnce = await resumed({ to: '2024-01-01' }, async () => {})
      expect(atOnce.cursors[0]).to.be.a('string')
      expect(atOnce).to.not.have.property('missingAfter')
    })

    it('begins anew where the columns are others', async () => {
      const { cursors, count: written } = await resumed({}, async (part) =>
        writeFile(part, (await readFile(part, 'utf8')).replace(header, 'time,id\r\n')),
      )
      expect(cursors).to.have.lengthOf(2)
      expect(cursors[1]).to.equal(undefined)
      expect(written).to.equal(count)
    })
  })

  it('compresses a file whose name says so, also one that was interrupted', async () => {
    const out = file('book.csv.gz')
    const interrupted = new AbortController()
    await run(
      server((_request, sent) => sent > 50_000 && interrupted.abort()),
      { out },
      interrupted.signal,
    )
    await run(server(), { out })
    expect(gunzipSync(await readFile(out)).toString() === whole.csv).to.equal(true)
    expect(await readdir(folder)).to.deep.equal(['book.csv.gz'])
  })

  it('says what is wrong with its options, and that a time needs a zone', async () => {
    for (const [options, reason] of [
      [{ format: 'xlsx' }, '--format is "xlsx", but must be csv or ndjson.'],
      [{ from: '2026-03-29T02:30' }, 'A time needs its zone: Z for UTC, or what its place is ahead of UTC on that day, such as +02:00.'],
      [{ from: '2026-02-30' }, '--from is "2026-02-30", but must be a date such as 2026-03-01 (UTC)'],
      [{ from: '2026-03-02', to: '2026-03-01' }, 'is not before --to'],
    ] as const) {
      const error: unknown = await run(server(), { out: file('x'), ...options }).catch((thrown: unknown) => thrown)
      expect(String(error)).to.include(reason)
    }
    expect(await readdir(folder)).to.deep.equal([])
  })
})
