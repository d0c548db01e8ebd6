import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { createArchiveFiles } from '../../../core/transactions/archive-files.ts'
import { newEntry } from '../journal/entries.ts'
import { archiveFolder, linesOf } from './archive-site.ts'

const march = { createdAt: Date.UTC(2026, 2, 5) }
const isRoot = process.getuid?.() === 0

describe("the archive's files", () => {
  let folder: string
  let remove: () => Promise<void>
  beforeEach(async () => {
    ;({ folder, remove } = await archiveFolder())
  })
  afterEach(() => remove())

  const idsIn = async (name: string) => (await linesOf(path.join(folder, name))).map(({ id }) => id)
  const [first, second] = ['transactions-2026-03.ndjson.gz', 'transactions-2026-03.2.ndjson.gz']

  it('hold a month each, appended to by one process, and readable by the user of Sluice alone', async () => {
    const files = createArchiveFiles(folder)
    const entries = [newEntry(march), newEntry(march), newEntry({ createdAt: Date.UTC(2026, 3, 1) }), newEntry(march)]
    await files.append(entries.slice(0, 1))
    await files.append(entries.slice(1))
    expect(await readdir(folder)).to.have.members([first, 'transactions-2026-04.ndjson.gz'])
    expect(await idsIn(first)).to.deep.equal([entries[0], entries[1], entries[3]].map((entry) => entry?.key))
    expect((await stat(path.join(folder, first))).mode & 0o777).to.equal(0o600)
    expect((await stat(folder)).mode & 0o777).to.equal(0o700)
  })

  it('take no lines from another process: what a killed one left half-written hides nothing', async () => {
    const entries = [newEntry(march), newEntry(march), newEntry(march)]
    const killed = createArchiveFiles(folder)
    await killed.append(entries.slice(0, 1))
    await killed.append(entries.slice(1, 2))
    const { size } = await stat(path.join(folder, first))
    await truncate(path.join(folder, first), size - 20)
    await createArchiveFiles(folder).append(entries.slice(1))
    expect((await idsIn(first)).slice(0, 1)).to.deep.equal([entries[0]?.key])
    expect(await idsIn(second)).to.deep.equal([entries[1]?.key, entries[2]?.key])
  })

  it('may be moved away, or written to by others, at any time', async () => {
    const files = createArchiveFiles(folder)
    const entries = [newEntry(march), newEntry(march), newEntry(march)]
    await files.append(entries.slice(0, 1))
    await rename(path.join(folder, first), path.join(folder, 'elsewhere'))
    await files.append(entries.slice(1, 2))
    expect(await idsIn(first)).to.deep.equal([entries[1]?.key])
    await writeFile(path.join(folder, first), 'no gzip', { flag: 'a' })
    await files.append(entries.slice(2))
    expect(await idsIn(second)).to.deep.equal([entries[2]?.key])
  })

  it('name the folder that cannot be written', async () => {
    await mkdir(path.dirname(folder), { recursive: true })
    await writeFile(folder, '')
    const error = await createArchiveFiles(folder)
      .append([newEntry(march)])
      .catch((cause: unknown) => cause)
    expect(String(error))
      .to.match(/E(EXIST|NOTDIR)/)
      .and.to.contain(folder)
  })

  it('on a full disk end with the last whole line, and go on when there is room', async function () {
    if (!isRoot) this.skip()
    await mkdir(folder, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder])
    try {
      const files = createArchiveFiles(folder)
      const memo = () => randomBytes(6_000).toString('hex')
      const kept = newEntry({ ...march, memo: memo() })
      await files.append([kept])
      await writeFile(path.join(folder, 'filler'), randomBytes(48 * 1024))
      const { size } = await stat(path.join(folder, first))
      const entries = Array.from({ length: 10 }, () => newEntry({ ...march, memo: memo() }))
      for (let tries = 0; tries < 3; tries += 1) {
        const error = await files.append(entries).catch((cause: unknown) => cause)
        expect(String(error)).to.contain('ENOSPC')
        expect((await stat(path.join(folder, first))).size).to.equal(size)
      }
      await rm(path.join(folder, 'filler'))
      execFileSync('mount', ['-o', 'remount,size=1m', folder])
      await files.append(entries)
      expect(await readdir(folder)).to.deep.equal([first])
      expect(await idsIn(first)).to.deep.equal([kept, ...entries].map(({ key }) => key))
      expect(await readFile(path.join(folder, first)))
        .to.have.property('length')
        .that.is.greaterThan(size)
    } finally {
      execFileSync('umount', ['-l', folder])
    }
  })
})
