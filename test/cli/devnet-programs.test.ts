import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { address, getAddressDecoder, lamports, type Address } from '@solana/kit'
import { program } from '../../core/cli/program.ts'
import { compared } from '../../core/cli/devnet-programs.ts'
import { readJudgements } from '../../core/devnet/judge-program.ts'
import { namedPrograms } from '../../core/devnet/named-programs.ts'
import { fetchProgram } from '../../core/devnet/fetch-program.ts'
import pinned from '../../core/devnet/solana-programs.json' with { type: 'json' }
import artifact from '../../tools/solana-node/programs/artifacts/pool.json' with { type: 'json' }
import { startSolana, type Solana } from '../../tools/solana-node/start-solana.ts'
import { emptyFolder, removeFolders } from '../tls/certificates.ts'

const bytes = Buffer.from(artifact.program, 'base64')
const sha256 = createHash('sha256').update(bytes).digest('hex')
const loader: Address = address('BPFLoaderUpgradeab1e11111111111111111111111')

describe('sluice devnet programs fetch', () => {
  let solana: Solana
  before(async () => {
    solana = await startSolana({ slotMs: 'by hand' })
  })
  after(async () => {
    await solana.stop()
    await removeFolders()
  })

  const keyOf = (name: string) => getAddressDecoder().decode(createHash('sha256').update(name).digest())
  const put = (of: string, data: Uint8Array, owner = loader) => {
    const account = { address: address(of), executable: false, lamports: lamports(10n ** 9n), programAddress: owner }
    solana.svm.setAccount({ ...account, space: BigInt(data.length), data })
  }
  /** As the loader keeps a program: an account that names another one, with a header before the bytes and room after them. */
  function deploy(of: string, elf: Uint8Array, name = `data of ${of}`): void {
    const place = keyOf(name)
    put(of, Uint8Array.of(2, 0, 0, 0, ...createHash('sha256').update(name).digest()))
    put(place, Uint8Array.of(3, 0, 0, 0, ...new Uint8Array(41), ...elf, ...new Uint8Array(1_000)))
    solana.blocks(40)
  }
  async function run(...args: readonly string[]): Promise<string> {
    const streams = [process.stdout, process.stderr]
    const writes = streams.map((stream) => stream.write.bind(stream))
    let said = ''
    for (const stream of streams) stream.write = (chunk: string | Uint8Array) => Boolean((said += String(chunk)))
    try {
      await (await program(args)).parseAsync(['node', 'sluice', ...args])
    } finally {
      for (const [index, stream] of streams.entries()) stream.write = writes[index] ?? stream.write
      process.exitCode = 0
    }
    return said
  }

  it('keeps the bytes of a program without what fills its account, and says whether they are pinned', async () => {
    for (const { id } of Object.values(pinned)) deploy(id, bytes)
    const folder = path.join(await emptyFolder(), 'programs')
    const said = await run('devnet', 'programs', 'fetch', solana.url, '--to', folder)
    for (const name of Object.keys(pinned)) {
      expect(readFileSync(path.join(folder, `${name}.so`)).equals(bytes)).to.equal(true)
      expect(said).to.contain(`${name}.so: ${bytes.length} bytes, sha256 ${sha256}, not the pinned one`)
    }
    expect(await run('devnet', 'programs', 'fetch', solana.url, '--to', folder, '--only', 'unknown')).to.contain(
      'is none of raydium_cp_swap',
    )
  })

  it('keeps the pinned bytes that are there beside others, and writes nothing where one of them cannot be fetched', async () => {
    const folder = path.join(await emptyFolder(), 'programs')
    const fetches = () => run('devnet', 'programs', 'fetch', solana.url, '--to', folder)
    const { raydium_cp_swap: first, cp_amm: second } = pinned
    const before = first.sha256
    const other = Buffer.from(bytes).fill('other', 0x100, 0x105)
    const otherHash = createHash('sha256').update(other).digest('hex').slice(0, 8)
    try {
      first.sha256 = sha256
      deploy(first.id, bytes)
      deploy(second.id, Buffer.from('no program at all'))
      expect(await fetches()).to.contain('does not begin as one')
      expect(existsSync(folder)).to.equal(false)
      deploy(second.id, bytes)
      expect(await fetches()).to.contain('the pinned one')
      deploy(first.id, other)
      expect(await fetches()).to.contain(`raydium_cp_swap.so is the pinned one, and stays`)
      expect(readdirSync(folder).toSorted()).to.deep.equal(
        ['cp_amm.so', 'raydium_cp_swap.so', `raydium_cp_swap.${otherHash}.so`].toSorted(),
      )
      expect(readFileSync(path.join(folder, 'raydium_cp_swap.so')).equals(bytes)).to.equal(true)
    } finally {
      first.sha256 = before
    }
  })

  it('says of what was compared whether it is equal or different, and how the operator has it quoted', () => {
    const own = { sha256: 'a'.repeat(64), connector: 'meteora', isKnown: false }
    const equal = { is: 'equal', version: 'damm-v2', swaps: 300, refused: 12 } as const
    const different = { is: 'different', version: 'damm-v2', after: 7, why: 'step 8 moved 3 for 2' } as const
    const none = { is: 'not compared', version: 'damm-v2', why: 'no pool could be made' } as const
    expect(compared([equal], { ...own, isKnown: true })).to.match(
      /^equal: 300 of 300 swaps .* damm-v2 says, and it refused the 12 .* refuses$/,
    )
    expect(compared([none, equal], own)).to.contain(`write "programs: { ${own.sha256}: damm-v2 }" in conf/connectors/meteora.yml`)
    expect(compared([none, different], own)).to.match(
      /^different from the arithmetic damm-v2, after 7 equal steps: step 8 .*Do not quote by them$/,
    )
    expect(compared([none], own)).to.equal('not compared with the arithmetic: no pool could be made')
    expect(compared('the package is missing', own)).to.equal('not compared with the arithmetic: the package is missing')
  })

  it('reads of the comparison what it knows, and nothing where it is something else', () => {
    expect(readJudgements([{ is: 'equal', version: 'x', swaps: 3, refused: 0, sha256: 'other' }])).to.deep.equal([
      { is: 'equal', version: 'x', swaps: 3, refused: 0 },
    ])
    for (const said of [null, {}, [], [{ is: 'trusted', version: 'x' }], [{ is: 'equal' }]])
      expect(() => readJudgements(said)).to.throw('said nothing')
  })

  it('finds the bytes that the operator has named in the files of the connectors', async () => {
    const confDir = await emptyFolder()
    mkdirSync(path.join(confDir, 'connectors'))
    expect(namedPrograms(confDir, 'solana')).to.deep.equal([])
    const named = 'b'.repeat(64)
    writeFileSync(path.join(confDir, 'connectors/meteora.yml'), `programs: { ${named}: damm-v2, other: damm-v2 }\n`)
    writeFileSync(path.join(confDir, 'connectors/raydium.yml'), 'programs: [\n')
    expect(namedPrograms(confDir, 'solana')).to.deep.equal([named])
    expect(namedPrograms(confDir, 'other')).to.deep.equal([])
  })

  it('takes a program that cannot be replaced from its own account', async () => {
    const id = keyOf('final')
    put(id, bytes, address('BPFLoader2111111111111111111111111111111111'))
    solana.blocks(40)
    expect((await fetchProgram(solana.url, id)).sha256).to.equal(sha256)
  })

  it('says what is no program: nothing there, a wallet, a program that is closed, bytes that are none', async () => {
    const refused = async (id: string) => fetchProgram(solana.url, id).catch((error: Error) => error.message)
    expect(await refused(keyOf('nothing'))).to.contain('There is nothing at')
    expect(await refused(solana.faucet.address)).to.contain('is no program on that network')
    const closed = keyOf('closed')
    put(closed, Uint8Array.of(2, 0, 0, 0, ...createHash('sha256').update('gone').digest()))
    put(keyOf('gone'), new Uint8Array(45))
    deploy(keyOf('text'), Buffer.from('no program at all'))
    expect(await refused(closed)).to.contain('is closed')
    expect(await refused(keyOf('text'))).to.contain('does not begin as one')
    expect(await refused('not an address')).to.contain('The node refuses to show')
  })

  it('says what a node answers that is none of Solana', async () => {
    const answers = ['{"result":{"value":{"owner":7}}}', '{"result":{}}', 'null']
    const server: Server = createServer((_request, response) => void response.end(answers.shift() ?? ''))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      for (let count = 0; count < 3; count += 1)
        expect(await fetchProgram(url, keyOf('any')).catch((error: Error) => error.message)).to.contain('does not answer as one of Solana')
    } finally {
      server.close()
    }
  })
})
