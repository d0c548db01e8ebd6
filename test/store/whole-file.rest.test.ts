import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { openQuotedPairs } from '../../core/live-state/quotes.ts'
import { saveState } from '../../core/devnet/saved-state.ts'
import { newClient, revoke } from '../../core/tls/certificates.ts'
import { listClients } from '../../core/tls/issued-certificates.ts'
import { ensureCertificates } from '../../core/tls/ensure-certificates.ts'
import { writeWholeFile } from '../../core/base/whole-file.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { createSmallDisk, NoSmallDisk, type SmallDisk } from '../../tools/chaos/servers/small-disk.ts'

const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {}, trace: () => {} }
const keyOf = (digit: string) => ({ chain: 'ethereum', privateKey: `0x${digit.repeat(64)}`, passphrase: 'passphrase', scryptN: 2 })
const token = (symbol: string) => ({ symbol, address: `0x${symbol}`, decimals: 18 })
const pair = (symbol: string) => ({
  chain: 'ethereum',
  network: 'local',
  connector: 'uniswap',
  tokenIn: token(symbol),
  tokenOut: token('USDC'),
})

describe('a file that is replaced on a full disk', function () {
  let disk: SmallDisk
  let folder: string
  before(async function () {
    try {
      disk = await createSmallDisk(1_000_000)
    } catch (error) {
      if (!(error instanceof NoSmallDisk)) throw error
      console.warn(`Not run: ${error.message}`)
      this.skip()
    }
  })
  after(() => disk?.remove())
  let count = 0
  beforeEach(() => {
    folder = path.join(disk.outside, String((count += 1)))
    mkdirSync(folder)
  })
  afterEach(() => disk.free())

  /** Every file below the folder, with its content. */
  const files = () =>
    new Map(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => [entry.name, readFileSync(path.join(entry.parentPath, entry.name), 'utf8')]),
    )

  async function expectSame(work: () => Promise<unknown>, { throws = true } = {}): Promise<void> {
    const before = files()
    disk.fill()
    const error = await work().catch((reason: unknown) => reason)
    if (throws) expect(String(error)).to.match(/ENOSPC/)
    disk.free()
    expect(files()).to.deep.equal(before)
    await work()
    expect(files()).to.not.deep.equal(before)
  }

  it('stays as it was, and nothing is left beside it', async () => {
    const file = path.join(folder, 'file')
    await writeWholeFile(file, 'earlier')
    await expectSame(() => writeWholeFile(file, 'x'.repeat(50_000)))
  })

  it('stays as it was for the keystore', async () => {
    await saveKey({ dataDir: folder, ...keyOf('1') })
    await expectSame(() => saveKey({ dataDir: folder, ...keyOf('2') }))
  })

  it('stays as it was for the pairs that were quoted', async () => {
    const pairs = openQuotedPairs(folder, silent)
    await pairs.save([pair('WETH')])
    await expectSame(() => pairs.save([pair('DAI')]), { throws: false })
  })

  it('stays as it was for states of the devnet', async () => {
    await saveState(folder, 'first', Buffer.from('state'))
    await expectSame(() => saveState(folder, 'second', Buffer.alloc(300_000)))
  })

  it('stays as it was for certificates', async () => {
    await ensureCertificates({ certsDir: folder })
    await expectSame(() => newClient(folder, 'bot'))
    await expectSame(() => revoke(folder, 'bot'))
    expect((await listClients(folder)).map(({ state }) => state)).to.include('revoked')
  })
})
