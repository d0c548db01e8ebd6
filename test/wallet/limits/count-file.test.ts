import { appendFileSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { beginCount, countFolder, readHead, slotBytes } from '../../../core/wallet/limits/count-file.ts'
import { openCount, type CountWriter } from '../../../core/wallet/limits/count-writer.ts'
import type { Charge, CountedCharge } from '../../../core/wallet/limits/counts.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const charge = (nonce: number): Charge => ({ wallet: '0xa', chain: '1', nonce: String(nonce), amounts: new Map([['native', 5n]]) })
const time = (ms: number) => ({ ms, steadyMs: ms, boot: 'b' })
const none = (): readonly CountedCharge[] => []

describe("the file of the signer's count", () => {
  const folder = temporaryFolder()
  let dataDir = ''
  let made = 0
  const log = () => path.join(countFolder(dataDir), 'log')
  const head = () => path.join(countFolder(dataDir), 'head')
  const open = (live = none, spareLines = 20_000): Promise<CountWriter> => openCount(dataDir, { live, spareLines })
  const problemOf = (opening: Promise<unknown>): Promise<string> =>
    opening.then(
      () => 'none',
      (error: unknown) => String(error),
    )
  beforeEach(async () => {
    dataDir = path.join(folder, String((made += 1)))
    await beginCount(dataDir)
  })

  async function append(count: number): Promise<void> {
    const file = await open()
    for (let nonce = 0; nonce < count; nonce += 1) await file.append(charge(nonce), time(nonce))
    await file.close()
  }

  it('has what was appended when it is opened again, and the last time', async () => {
    const file = await open()
    await Promise.all(Array.from({ length: 50 }, (_, nonce) => file.append(charge(nonce), time(nonce))))
    await file.close()
    const again = await open()
    expect(again.charges.map(({ nonce }) => Number(nonce))).to.deep.equal(Array.from({ length: 50 }, (_, nonce) => nonce))
    expect(again.last).to.include(time(49))
    await again.close()
  })

  it('leaves out a line that was cut off as it was written, and goes on', async () => {
    await append(3)
    appendFileSync(log(), '0123')
    const file = await open()
    expect(file.charges).to.have.length(3)
    await file.append(charge(3), time(3))
    await file.close()
    const again = await open()
    expect(again.charges).to.have.length(4)
    await again.close()
  })

  it('fails to open where it is missing', async () => {
    for (const file of [head(), log()]) {
      rmSync(file)
      expect(await problemOf(open())).to.match(/count of what it signed is missing.*limits reset-count/)
    }
  })

  it('fails to open where lines were changed, taken out or cut off', async () => {
    await append(5)
    const whole = readFileSync(log(), 'utf8')
    const lines = whole.split('\n')
    for (const other of [whole.replace('"5"', '"4"'), lines.toSpliced(2, 1).join('\n'), lines.toSpliced(0, 1).join('\n')]) {
      writeFileSync(log(), other)
      expect(await problemOf(open())).to.match(/is damaged/)
    }
    writeFileSync(log(), whole.slice(0, whole.lastIndexOf('\n', whole.length - 2) + 1))
    expect(await problemOf(open())).to.match(/is older than it was/)
  })

  it('fails to open where an earlier copy of the log, or the log of another count, was put in its place', async () => {
    await append(2)
    copyFileSync(log(), path.join(folder, 'earlier'))
    await append(1)
    copyFileSync(path.join(folder, 'earlier'), log())
    expect(await problemOf(open())).to.match(/is older than it was/)
    const other = path.join(folder, 'other')
    await beginCount(other)
    copyFileSync(path.join(countFolder(other), 'log'), log())
    expect(await problemOf(open())).to.match(/is of two counts/)
  })

  it('flushes once for each line, and knows how long the log is where its process is killed then', async () => {
    const file = await open()
    const handle = await openFile(log())
    const prototype = Object.getPrototypeOf(handle) as { datasync(): Promise<void> }
    const { datasync } = prototype
    let flushes = 0
    const since = performance.now()
    prototype.datasync = function (this: unknown) {
      flushes += 1
      return datasync.call(this)
    }
    try {
      for (let nonce = 0; nonce < 20; nonce += 1) await file.append(charge(nonce), time(nonce))
      // While the length is flushed, the next one waits.
      if (flushes === 20) expect(readHead(countFolder(dataDir)).generation).to.equal(20)
    } finally {
      prototype.datasync = datasync
      await handle.close()
    }
    const seconds = (performance.now() - since) / 1_000
    // The log's length is flushed beside it, at most once a second.
    expect(flushes).to.be.within(20, 21 + Math.floor(seconds))
    const whole = readFileSync(log(), 'utf8')
    await file.close()
    expect(readHead(countFolder(dataDir)).generation).to.equal(20)
    writeFileSync(log(), whole.slice(0, whole.lastIndexOf('\n', whole.length - 2) + 1))
    expect(await problemOf(open())).to.match(/is older than it was/)
  })

  it('keeps the place that was flushed while it writes the other one', async () => {
    const file = await open()
    await file.append(charge(0), time(0))
    await sleep(1_200)
    for (const nonce of [1, 2]) await file.append(charge(nonce), time(nonce))
    const written = readFileSync(head(), 'latin1')
    const places = [written.slice(0, slotBytes), written.slice(slotBytes)]
    expect(places.filter((place) => place.includes('"generation":1'))).to.have.length(1)
    expect(places.filter((place) => place.includes('"generation":3'))).to.have.length(1)
    await file.close()
  })

  it('writes no more where another process changed the log or took it away', async () => {
    for (const change of [() => appendFileSync(log(), 'x'), () => rmSync(log())]) {
      dataDir = path.join(folder, String((made += 1)))
      await beginCount(dataDir)
      const file = await open()
      await file.append(charge(0), time(0))
      change()
      expect(await problemOf(file.append(charge(1), time(1)))).to.match(/was changed by another process|is missing/)
      expect(await problemOf(file.append(charge(2), time(2)))).to.match(/was changed by another process|is missing/)
      await file.close()
    }
  })

  it('leaves out what counts no more, and is not taken for an older one then', async () => {
    const live: CountedCharge[] = [
      { ...charge(98), ms: 98 },
      { ...charge(99), ms: 99 },
    ]
    const file = await open(() => live, 10)
    for (let nonce = 0; nonce < 100; nonce += 1) await file.append(charge(nonce), time(nonce))
    await file.close()
    const again = await open()
    expect(again.charges.length).to.be.lessThan(20)
    expect(again.charges.map(({ nonce }) => nonce)).to.include.members(['98', '99'])
    expect(again.last?.ms).to.equal(99)
    await again.close()
  })
})
