import { expect } from 'chai'
import { program } from '../../core/cli/program.ts'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { eventually, sluice } from '../start/command.ts'

const [mine, other] = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC']
const local = { chain: 'ethereum', network: 'local' }
const nowhere = `0x${'5c'.repeat(32)}`

describe('sluice tx', () => {
  let server: TestServer
  let rpc: Rpc

  before(async () => {
    server = await startServer({
      conf: {
        'clients.yml': {
          clients: {
            client: { permissions: ['read', 'trade', 'admin'], wallets: 'all' },
            reader: { permissions: ['read'], wallets: [mine] },
            nobody: { permissions: ['read'] },
          },
        },
      },
    })
    rpc = rpcTo(server.rpcUrl)
    for (const name of ['reader', 'nobody']) await newClient(server.settings.ssl.certsDir, name)
  })
  after(() => server?.stop())

  const argumentsOf = (args: readonly string[]) => {
    const at = args.includes('--url') ? [] : ['--url', server.kernel.url]
    return ['--conf', server.settings.confDir, 'tx', ...args, ...at]
  }

  /** The command, in this process: starting one for each would take longer than all the rest. */
  async function tx(...args: string[]): Promise<{ code: number; said: string }> {
    const streams = [process.stdout, process.stderr]
    const writes = streams.map((stream) => stream.write.bind(stream))
    let said = ''
    for (const stream of streams) stream.write = (chunk: string | Uint8Array) => Boolean((said += String(chunk)))
    try {
      const given = argumentsOf(args)
      await (await program(given)).parseAsync(['node', 'sluice', ...given])
    } finally {
      for (const [index, stream] of streams.entries()) stream.write = writes[index] ?? stream.write
    }
    const code = Number(process.exitCode ?? 0)
    process.exitCode = 0
    return { code, said }
  }

  async function approve(address: string, headers: Record<string, string> = {}): Promise<{ txHash: string; nonce: number }> {
    const request = { ...local, address, spender: 'uniswap/v2', token: 'USDC', amount: '1' }
    const { body, status, text } = await server.client.post('/evm/approve', request, { headers })
    expect(status, text).to.equal(200)
    return body
  }

  const stateOf = async (txHash: string) => (await server.client.get('/network/poll', { ...local, txHash })).body.txState

  describe('with a transaction that is final', () => {
    let done: { txHash: string; nonce: number }
    before(async () => {
      done = await approve(mine, { 'Idempotency-Key': 'approve-1', 'X-Request-Id': 'request-1' })
      await eventually(async () => (await stateOf(done.txHash)) === 'CONFIRMED', 'it was confirmed')
    })

    it('lists it with the hash that the other commands take', async () => {
      const { code, said } = await tx('list')
      expect(code, said).to.equal(0)
      expect(said).to.match(/^AGE +STATE +WHAT +WHERE +WALLET +NONCE +CLIENT\n/)
      const row = `\\d+ s +CONFIRMED +approve +ethereum/local +0x7099…79C8 +${done.nonce} +client`
      expect(said).to.match(new RegExp(`^${row}\n  ${done.txHash}\n  spender=.+ cost\\s+0\\.\\d{18}\\s+ETH$`, 'ms'))
      expect(said.split('\n').filter((line) => line.length > 100)).to.deep.equal([])
    })

    for (const [name, given] of [
      ['hash', () => done.txHash],
      ['request', () => 'request-1'],
      ['Idempotency-Key', () => 'approve-1'],
    ] as const) {
      it(`shows everything about it by its ${name}, and that nothing is left to do`, async () => {
        const { code, said } = await tx('show', given())
        expect(code, said).to.equal(0)
        for (const line of [
          new RegExp(`^${done.txHash}$`, 'm'),
          /^ {2}state +CONFIRMED$/m,
          /^ {2}next +Nothing: it is final and had its effect\.$/m,
          /^ {2}request +request-1$/m,
          /^ {2}key +approve-1$/m,
          /^ {2}client +client$/m,
          /^ {2}asked +\/evm\/approve spender=/m,
          /^ {2}cost +0\.\d{18} ETH \(gas \d+\)$/m,
          new RegExp(`^  signed +${done.txHash}, .+ UTC \\(\\d+ s ago\\), sent once$`, 'm'),
        ])
          expect(said).to.match(line)
      })
    }

    it('prints JSON for programs', async () => {
      const [entry] = JSON.parse((await tx('show', done.txHash, '--json')).said)
      expect(entry).to.include({ txHash: done.txHash, txState: 'CONFIRMED', requestId: 'request-1', address: mine })
      expect(JSON.parse((await tx('list', '--state', 'confirmed', '--address', mine.toLowerCase(), '--json')).said)).to.have.lengthOf(1)
      expect(JSON.parse((await tx('list', '--open', '--json')).said)).to.deep.equal([])
      expect(JSON.parse((await tx('list', '--kind', 'approve', '--from', '2026-01-01', '--json')).said)).to.have.lengthOf(1)
      expect(JSON.parse((await tx('list', '--kind', 'approve', '--to', '2026-01-01', '--json')).said)).to.deep.equal([])
    })

    it('lists what one client asked for', async () => {
      const asked = async (client: string) => JSON.parse((await tx('list', '--client', client, '--json')).said)
      const all = JSON.parse((await tx('list', '--json')).said)
      expect(all).to.not.deep.equal([])
      expect(await asked(all[0].client)).to.deep.equal(all.filter(({ client }: { client: string }) => client === all[0].client))
      expect(await asked('reader')).to.deep.equal([])
      expect((await tx('export', '--client', 'reader')).said).to.match(/^0 transactions/)
    })

    it('neither cancels it nor speeds it up, and asks nobody to', async () => {
      for (const command of ['cancel', 'speed-up']) {
        const { code, said } = await tx(command, done.txHash, '--yes')
        expect([code, said]).to.deep.equal([1, 'error: It is CONFIRMED. Nothing: it is final and had its effect.\n'])
      }
    })

    it('shows a certificate its own wallets only', async () => {
      const { txHash } = await approve(other)
      expect((await tx('list', '--as', 'reader')).said)
        .to.include(done.txHash)
        .and.not.to.include(txHash)
      expect((await tx('show', txHash, '--as', 'reader')).said).to.match(
        /^error: The journal has no transaction "0x.+ that this certificate may see\./,
      )
      const former = (await tx('show', done.txHash, '--client', 'reader')).said
      expect(former).to.include(done.txHash)
      expect(former).to.match(/warning: --client is called --as by now/)
      expect((await tx('list', '--as', 'nobody')).said).to.match(
        /^(error: .+FORBIDDEN.+|There are no transactions that the certificate "nobody" may see\.)\n$/,
      )
    })
  })

  describe('with a transaction that waits', () => {
    let waiting: { txHash: string; nonce: number }
    before(async () => {
      await rpc('evm_setIntervalMining', 0)
      await rpc('evm_setAutomine', false)
      waiting = await approve(mine)
    })
    after(async () => {
      await rpc('evm_setAutomine', true)
      await rpc('evm_setIntervalMining', 1)
    })

    it('lists it among those that are open, and says what it waits for', async () => {
      await eventually(async () => (await stateOf(waiting.txHash)) === 'BROADCAST', 'a node had it')
      const { said } = await tx('list', '--open', '--address', mine)
      // What the columns are, and of the one that is open: its row, its hash, and what was asked for.
      expect(said.trim().split('\n')).to.have.lengthOf(4)
      expect(said).to.match(new RegExp(`BROADCAST +approve.*\\n +${waiting.txHash}$`, 'm'))
      expect((await tx('show', waiting.txHash)).said).to.match(/^ {2}next +It (waits for a block|pays too little)/m)
    })

    it('does nothing without --yes where there is no terminal', async () => {
      const { code, said } = await tx('cancel', waiting.txHash)
      expect(code).to.equal(1)
      expect(said).to.match(
        /^error: There is no terminal for the question; give --yes to cancel approve 0x[0-9a-f]{64} \(nonce \d+ of 0x7099.+, BROADCAST\)\.\n$/,
      )
    })

    it("gives the server's own words where it refuses", async () => {
      expect((await tx('cancel', waiting.txHash, '--yes', '--as', 'reader')).said).to.match(/^error: .+ \(FORBIDDEN, request .+\)\n$/)
      expect((await tx('cancel', waiting.txHash, '--yes', '--max-fee', '1000000000000')).said).to.match(
        /^error: .*gwei.* \(\w+, request .+\)\n$/,
      )
    })

    it('speeds it up on its nonce, and finds it by both hashes', async () => {
      const { code, said } = await tx('speed-up', waiting.txHash, '--yes', '--json')
      expect(code, said).to.equal(0)
      const { txHash, nonce } = JSON.parse(said)
      expect(nonce).to.equal(waiting.nonce)
      for (const hash of [waiting.txHash, txHash]) {
        const { said: shown } = await tx('show', hash)
        expect(shown).to.match(new RegExp(`^  signed +${waiting.txHash}, .+\\n {15}${txHash}, .+$`, 'm'))
      }
    })

    it('cancels it, and names the transaction that replaces it', async () => {
      const { code, said } = await tx('cancel', waiting.txHash, '--yes')
      expect(code, said).to.equal(0)
      const [, cancel = ''] =
        /^(0x[0-9a-f]{64}) replaces it; "bin\/sluice tx show \1" shows which of the two was mined\.$/m.exec(said) ?? []
      expect((await tx('cancel', waiting.txHash, '--yes')).said).to.equal(`error: ${cancel} already replaces it: name that one.\n`)
      const isCancelled = async () => (await stateOf(waiting.txHash)) === 'CANCELLED'
      await eventually(async () => Boolean(await rpc('evm_mine')) && (await isCancelled()), 'it was cancelled')
      expect((await tx('show', waiting.txHash)).said).to.match(/^ {2}state +CANCELLED$/m)
    })
  })

  it('explains mistyped options', async () => {
    for (const [args, said] of [
      [['list', '--state', 'BROADCASTED'], /^error: There is no state "BROADCASTED"; did you mean BROADCAST\? There are: QUEUED, /],
      [['list', '--limit', '0'], /^error: --limit is "0", but must be a whole number from 1 to 999999\./],
      [['list', '--open', '--state', 'MINED'], /^error: Give --state or --open, not both\./],
      [['show', nowhere], /^error: The journal has no transaction "0x5c/],
      [['show', '0x5c50'], /A hash has 0x and 64 hexadecimal digits\./],
      [
        ['list', '--as', 'nosuch'],
        /^error: .+certs holds no certificate of the client "nosuch": create one with "bin\/sluice certs new nosuch"\.\n$/,
      ],
      [['list', '--url', 'http://localhost:1'], /^error: --url is "http:\/\/localhost:1", but must be a URL such as https:/],
      [['list', '--url', 'https://127.0.0.1:1'], /^error: The server at 127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/],
    ] as const) {
      const answer = await tx(...args)
      expect(answer.code, answer.said).to.equal(1)
      expect(answer.said).to.match(said)
    }
  })

  it('runs as a command of bin/sluice, which knows the near names', async () => {
    const { ended, printed } = sluice(server.settings.home, ...argumentsOf(['shwo', nowhere]))
    expect((await ended).code).to.equal(1)
    expect(printed()).to.match(/^error: unknown command 'shwo'\n\(Did you mean show\?\)/m)
  })
})
