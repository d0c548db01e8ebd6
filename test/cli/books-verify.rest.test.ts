import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { toBeHex } from 'ethers'
import { program } from '../../core/cli/program.ts'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { local, noted, oneChain, traders, withoutBlocks } from '../http/shared-server.ts'
import { programArgs } from '../program.ts'

const address = traders

describe('sluice books verify', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc

  before(async () => {
    server = await startServer(oneChain)
    rpc = rpcTo(server.rpcUrl)
    const { txHash } = (await server.client.post('/evm/wrap', { ...local, address, amount: '3' })).body
    await noted(server.client, txHash)
    await pass(8)
  })
  after(() => server?.stop())

  async function pass(blocks: number): Promise<void> {
    // A busy machine takes longer for three hundred at once than a call may.
    for (let left = blocks; left > 0; left -= 50) await rpc('anvil_mine', Math.min(50, left))
  }

  const argsOf = (...args: string[]) => ['--conf', server.settings.confDir, 'books', 'verify', ...args, '--url', server.kernel.url]

  async function verify(...args: string[]): Promise<{ code: number; out: string }> {
    const given = argsOf(...args)
    let out = ''
    const streams = [process.stdout, process.stderr]
    const writes = streams.map((stream) => stream.write.bind(stream))
    for (const stream of streams) stream.write = (chunk: string | Uint8Array) => (out += String(chunk)) !== ''
    try {
      await (await program(given)).parseAsync(['node', 'sluice', ...given])
    } finally {
      for (const [index, stream] of streams.entries()) stream.write = writes[index] ?? stream.write
    }
    const code = Number(process.exitCode ?? 0)
    process.exitCode = 0
    return { code, out }
  }

  const kept = () => readdirSync(server.settings.data.dir).filter((name) => name.startsWith('books-verify-'))

  it('shows what moved of each wallet that has transactions, and that all of it is explained', async () => {
    const { code, out } = await verify()
    expect(out).to.match(
      /^ethereum\/local 0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n {2}blocks \d+ to \d+, \S+ to \S+\n {2}1 of the journal, \d foreign\n/,
    )
    expect(out).to.match(/ETH: 10000 to 9996\.99\d+\n {4}own -3, fees -0\.000\d+\n/)
    expect(out).to.include('  WETH: 1000 to 1003\n    own 3\n')
    expect(out).to.include('  every unit is explained')
    expect([code, kept()]).to.deep.equal([0, []])
  })

  it('exits with 1 where a unit is missing, and names its block', async () => {
    const block = await withoutBlocks(rpc, async () => {
      await rpc('anvil_setBalance', address, toBeHex(BigInt(String(await rpc('eth_getBalance', address, 'latest'))) - 1n))
      return Number(await rpc('eth_blockNumber'))
    })
    await pass(8)
    const { code, out } = await verify('--wallet', address, '--network', 'local')
    expect(out).to.include(`UNEXPLAINED -0.000000000000000001 ETH in block ${block}: inside-a-call`)
    expect(code).to.equal(1)
    const json = await verify('--json', '--wallet', address.toLowerCase())
    expect(
      JSON.parse(json.out.slice(json.out.indexOf('['))).map(({ unexplained }: { unexplained: unknown[] }) => unexplained.length),
    ).to.deep.equal([1])
    expect(json.code).to.equal(1)
  })

  it('goes on after Ctrl-C where it stopped', async () => {
    await rpc('evm_increaseTime', 60 * 24 * 3_600)
    await pass(300)
    const args = ['--from', '2026-01-01', '--wallet', address]
    const child = spawn(process.execPath, [...(await programArgs(new URL('../../core/main.ts', import.meta.url))), ...argsOf(...args)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => void (said += String(chunk)))
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
    while (kept().length === 0 && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill('SIGINT')
    expect(await ended, said).to.equal(130)
    expect(said).to.include('The same command goes on from here.')
    expect(kept()).to.have.length(1)
    // It went on until then, and no further.
    const file = path.join(server.settings.data.dir, kept()[0] ?? '')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, JSON.stringify(JSON.parse(text).map((check: object) => ({ ...check, unexplained: [], nextCursor: 'nowhere' }))))
    const partial = await verify(...args)
    expect(partial.out).to.match(/\n {2}every unit is explained up to block \d+\n {2}not verified further: \S/)
    expect(partial.code).to.equal(1)
    // Nobody knew the decimals of its tokens then.
    const unnamed = ({ symbol: _symbol, ...token }: { symbol?: string }) => token
    const withoutNames = JSON.parse(text).map((check: { tokens: object[] }) => ({ ...check, tokens: check.tokens.map(unnamed) }))
    writeFileSync(file, JSON.stringify(withoutNames))
    const mixed = await verify(...args)
    expect(mixed.out).to.match(/\n {2}not verified further: the decimals of 0x\w+ are not known in all answers/)
    expect(mixed.code).to.equal(1)
    writeFileSync(file, text)
    const { code, out } = await verify(...args)
    expect(out).to.include('1 of the journal').and.to.include('UNEXPLAINED -0.000000000000000001 ETH')
    expect([code, kept()]).to.deep.equal([1, []])
  })

  it('says what is wrong with what is asked for', async () => {
    for (const [args, reason] of [
      [['--wallet', '0x0000000000000000000000000000000000000001'], 'may use no such wallet'],
      [['--network', 'local', '--wallet', address, '--from', '2099-01-01'], 'leaves no final block in between'],
      [['--network', 'local', '--wallet', address, '--from', '5 March'], 'must be a date such as 2026-03-01'],
    ] as const) {
      const { code, out } = await verify(...args)
      expect(out).to.include(reason)
      expect(code).to.equal(1)
    }
  })
})
