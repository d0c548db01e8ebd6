import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { followFile, watchFile, writeWholeFile } from '../../core/base/whole-file.ts'

describe('a file that is looked at from time to time', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-file-'))
    file = path.join(folder, 'lock')
    await writeFile(file, 'one')
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('needs another read when it changed while it was read, before the look ends', async () => {
    let reads = 0
    const look = followFile(watchFile(file), async () => {
      reads += 1
      if (reads === 1) await writeWholeFile(file, 'three')
      return true
    })
    await look()
    expect(reads).to.equal(0)
    await writeWholeFile(file, 'two')
    await look()
    expect(reads).to.equal(2)
    await look()
    expect(reads).to.equal(2)
  })

  it('serves those that look at the same time with one read, and keeps nobody waiting when it changes at each read', async () => {
    let reads = 0
    const look = followFile(watchFile(file), async () => {
      reads += 1
      await writeWholeFile(file, `change ${reads}`)
      return true
    })
    await writeWholeFile(file, 'two')
    await Promise.all([look(), look()])
    expect(reads).to.be.lessThan(11)
  })

  it('needs another read at the next look when it could not be read', async () => {
    const results = [false, false, true]
    const look = followFile(watchFile(file), async () => results.shift() ?? true)
    await writeWholeFile(file, 'two')
    for (let looks = 0; looks < 5; looks += 1) await look()
    expect(results).to.deep.equal([])
  })
})
