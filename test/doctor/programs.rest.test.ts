import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { lamports, type Address } from '@solana/kit'
import { stringify } from 'yaml'
import { loadSettings } from '../../core/config/settings.ts'
import { examine } from '../../core/cli/doctor.ts'
import { addressBytes, derivedAddress } from '../../kits/solana/addresses.ts'
import { startSolana, type Solana } from '../../tools/solana-node/start-solana.ts'
import { makeHome } from '../start/command.ts'

interface Row {
  part: string
  state: string
  what: string
  remedy?: string
}

const loader = 'BPFLoaderUpgradeab1e11111111111111111111111' as Address
const raydium = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C'
/** What stands for a program: without a table of sections, all of it is hashed. */
const code = Buffer.from('a program that nobody has tried')
const sha256 = createHash('sha256').update(code).digest('hex')

describe('sluice doctor, of programs on Solana', function () {
  this.timeout(300_000)
  let solana: Solana
  let home: Awaited<ReturnType<typeof makeHome>>
  before(async () => {
    solana = await startSolana({ slotMs: 'by hand' })
    home = await makeHome({ devnet: { enabled: false } })
    // UpgradeableLoaderState::ProgramData, since slot 5.
    const data = Buffer.concat([Buffer.alloc(45), code])
    data.writeUInt32LE(3)
    data.writeBigUInt64LE(5n, 4)
    solana.svm.setAccount({
      address: derivedAddress(loader, [addressBytes(raydium)]) as Address,
      data,
      executable: false,
      lamports: lamports(10n ** 9n),
      programAddress: loader,
      space: BigInt(data.length),
    })
    solana.blocks(1)
    await nodeAt(solana.url)
  })
  after(async () => {
    await solana?.stop()
    await home?.remove()
  })

  const inConf = (file: string, content: string) => writeFile(path.join(home.home, 'conf', file), content)
  const off = { enabled: false }
  const nodeAt = (url: string) =>
    inConf('chains/solana.yml', stringify({ mainnet: off, testnet: off, devnet: off, local: { enabled: true, rpcUrls: [url] } }))

  /** By the names of connectors. */
  async function found() {
    const findings = await examine(loadSettings({ confDir: path.join(home.home, 'conf'), env: {} }))
    const ofConnectors = findings.filter(({ part }) => part === 'connectors')
    return new Map<string | undefined, Row>(ofConnectors.map((each) => [each.what.split(' ')[0], each]))
  }

  it('names a program with bytes that no quote was held against, the line that makes them known, and one that is not there', async () => {
    const all = await found()
    const { state, what, remedy } = all.get('raydium') ?? {}
    expect([state, what]).to.deep.equal([
      'warn',
      `raydium on solana/local: its program ${raydium} has bytes that no quote was held against (sha256 ${sha256}, since the slot 5), so its pools are left out.`,
    ])
    expect(remedy).to.contain(`"programs: { ${sha256}: creator-fees }"`).and.contain('creator-fees, early-2025')
    expect(all.get('meteora')?.what).to.match(/its program cpamd\w+ is not there/)
  })

  it('has nothing to say against it once that line is written as it was shown', async () => {
    const [, line] = /"(programs: [^"]+)"/.exec((await found()).get('raydium')?.remedy ?? '') ?? []
    await inConf('connectors/raydium.yml', `${line}\n`)
    expect((await found()).get('raydium')).to.deep.equal({
      part: 'connectors',
      state: 'good',
      what: `raydium on solana/local: its program ${raydium} has bytes that it quotes by, of the version creator-fees.`,
    })
  })

  it('says that it could not look where the node does not answer', async () => {
    await nodeAt('http://127.0.0.1:9')
    expect((await found()).get('raydium')?.what).to.match(/could not be examined/)
  })
})
