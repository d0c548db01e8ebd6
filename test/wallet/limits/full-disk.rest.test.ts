import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, rmSync, statfsSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { parseEther, Wallet } from 'ethers'
import { SluiceError } from '../../../core/base/errors.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import { beginCount } from '../../../core/wallet/limits/count-file.ts'
import { openCount } from '../../../core/wallet/limits/count-writer.ts'
import type { Charge } from '../../../core/wallet/limits/counts.ts'
import { startSigner, type Signer } from '../../../core/wallet/signer.ts'
import { exampleFiles } from '../example-files.ts'
import { requestOf, stranger, transaction } from '../example-policy.ts'
import { until } from '../processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const passphrase = 'correct horse'
const [limited, free] = [new Wallet(`0x${'a1b2c3d4'.repeat(8)}`), new Wallet(`0x${'b1b2c3d4'.repeat(8)}`)]
const time = (ms: number) => ({ ms, steadyMs: ms, boot: 'b' })
/** As long as a line can be, so that one does not fit beside the end of a page. */
const charge = (nonce: number): Charge => ({
  wallet: '0xa',
  chain: '1',
  nonce: String(nonce),
  amounts: new Map([[`token ${'0x6'.padEnd(3_000, '6')}`, 5n]]),
})

describe("the signer's count on a full disk", () => {
  const folder = temporaryFolder()
  const dataDir = path.join(folder, 'small')
  const ballast = path.join(dataDir, 'ballast')
  let signer: Signer | undefined

  /** Takes all room, to the last page. */
  function fill(): void {
    const { bavail, bsize } = statfsSync(dataDir)
    appendFileSync(ballast, Buffer.alloc(bavail * bsize))
  }
  const problemOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  beforeEach(function () {
    if (process.getuid?.() !== 0 || process.platform !== 'linux') this.skip()
    mkdirSync(dataDir, { recursive: true })
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', dataDir])
  })
  afterEach(async () => {
    await signer?.stop()
    signer = undefined
    execFileSync('umount', ['-l', dataDir])
  })

  it('has all that was taken and nothing that was not, and goes on when there is room', async () => {
    await beginCount(dataDir)
    const changes: (string | undefined)[] = []
    const onChange = (problem: Error | undefined) => changes.push(problem?.name)
    const count = await openCount(dataDir, { live: () => [], lookMs: 20, onChange })
    await count.append(charge(0), time(0))
    fill()
    const refused: number[] = []
    // The last page has room for one more at most.
    for (const nonce of [1, 2, 3]) if (await problemOf(count.append(charge(nonce), time(nonce)))) refused.push(nonce)
    expect(refused).to.include.members([2, 3])
    expect(String(count.problem())).to.match(/cannot be written: the disk of .* is full; it goes on when there is room/)

    rmSync(ballast)
    await until(() => count.problem() === undefined)
    await count.append(charge(4), time(4))
    await count.close()
    expect(changes).to.deep.equal(['FullDiskError', undefined])
    const again = await openCount(dataDir, { live: () => [] })
    const expected = [0, 1, 2, 3, 4].filter((nonce) => !refused.includes(nonce)).map(String)
    expect(again.charges.map(({ nonce }) => nonce)).to.deep.equal(expected)
    expect(again.last).to.include(time(4))
    await again.close()
  })

  it('stays unusable where another process wrote to it meanwhile', async () => {
    await beginCount(dataDir)
    const count = await openCount(dataDir, { live: () => [], lookMs: 20 })
    fill()
    await Promise.all([0, 1, 2].map((nonce) => problemOf(count.append(charge(nonce), time(nonce)))))
    rmSync(ballast)
    appendFileSync(path.join(dataDir, 'signer-count', 'log'), 'x\n')
    await until(() => /changed by another process/.test(String(count.problem())))
    expect(String(await problemOf(count.append(charge(3), time(3))))).to.match(/changed by another process/)
    await count.close()
  })

  it('goes on with a long log where there is no room for a shorter one', async () => {
    await beginCount(dataDir)
    const live = () => [{ ...charge(0), amounts: new Map([['x'.repeat(60_000), 5n]]), ms: 0 }]
    const count = await openCount(dataDir, { live, spareLines: 1, lookMs: 20 })
    appendFileSync(ballast, Buffer.alloc(statfsSync(dataDir).bavail * statfsSync(dataDir).bsize - 32_768))
    for (let nonce = 0; nonce < 6; nonce += 1) await count.append(charge(nonce), time(nonce))
    expect(count.problem()).to.equal(undefined)
    rmSync(ballast)
    for (let nonce = 6; nonce < 9; nonce += 1) await count.append(charge(nonce), time(nonce))
    await count.close()
    const again = await openCount(dataDir, { live })
    expect(again.charges.length).to.be.lessThan(5)
    await again.close()
  })

  it('signs nothing for wallets with limits meanwhile, says so, and signs again without a restart', async () => {
    for (const { privateKey } of [limited, free]) await saveKey({ dataDir, chain: 'ethereum', privateKey, passphrase, scryptN: 1024 })
    await beginCount(dataDir)
    const limits = { [limited.address]: { 'ethereum/local': { native: { perDay: '2' }, gasCost: { perDay: '2' } } } }
    const files = await exampleFiles(folder, { passphrase, conf: { 'limits.yml': { wallets: limits } } })
    const recipients = Object.fromEntries([limited, free].map(({ address }) => [address, [stranger]]))
    const log = { info() {}, warn() {}, error() {} }
    const started = await startSigner({ dataDir, passphrase, devnet: false, files: { ...files, recipients }, log })
    signer = started
    let nonce = 0
    const sign = (value: bigint, { address } = limited) =>
      problemOf(started.sign(requestOf(address, transaction({ nonce: (nonce += 1), to: stranger, data: '0x', gasLimit: 21_000n, value }))))
    expect(await sign(parseEther('1'))).to.equal(undefined)
    expect(started.failing()).to.equal(undefined)

    fill()
    let refusal: unknown
    while (!refusal) refusal = await sign(1n)
    if (!(refusal instanceof SluiceError)) throw new Error('another error')
    // It ends by itself: a bot tries again.
    expect(refusal).to.include({ name: 'OVERLOADED', http: 503, retryAfterSeconds: 1 })
    expect(refusal.message).to.match(/the disk of .* is full; it goes on when there is room/)
    await until(() => started.countProblem() !== undefined)
    expect(started.failing()).to.match(/^it signs nothing for wallets with limits: .* is full/)
    expect(started.isReady()).to.equal(true)
    expect(await sign(1n)).to.include({ name: 'OVERLOADED' })
    expect(await sign(parseEther('5'), free)).to.equal(undefined)

    rmSync(ballast)
    await until(() => started.countProblem() === undefined)
    expect(started.failing()).to.equal(undefined)
    // What was signed before still counts.
    expect(await sign(parseEther('1.1'))).to.include({ name: 'LIMIT_EXCEEDED' })
    expect(await sign(parseEther('0.9'))).to.equal(undefined)
    expect(await sign(parseEther('0.2'))).to.include({ name: 'LIMIT_EXCEEDED' })
  })
})
