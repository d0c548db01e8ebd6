import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { hexlify, parseEther, recoverAddress, Signature, type TransactionLike, type Wallet } from 'ethers'
import { examineSigner } from '../../../core/cli/doctor-signer.ts'
import { SluiceError } from '../../../core/base/errors.ts'
import { frameOf, protocol, readFrames, readFromService, type FromService } from '../../../core/wallet/service/protocol.ts'
import type { Signer } from '../../../core/wallet/signer.ts'
import { randomOf } from '../../../tools/chaos/random.ts'
import { requestOf, stranger, transaction } from '../example-policy.ts'
import { isAlive, until } from '../processes.ts'
import { connected, free, limited, outcomeOf, runAs, signerHome, type SignerHome, type SignerProgram } from './signer-home.ts'

const perDay = parseEther('1')
const send = (changes: TransactionLike, { address }: Pick<Wallet, 'address'> = limited) =>
  requestOf(address, transaction({ to: stranger, data: '0x', gasLimit: 21_000n, ...changes }))

async function failure(signing: Promise<unknown>): Promise<SluiceError | undefined> {
  const error = await signing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error !== undefined && !(error instanceof SluiceError)) throw error
  return error
}

const isOf = (signature: Uint8Array, hash: string, { address }: Pick<Wallet, 'address'>): boolean =>
  recoverAddress(hash, Signature.from(hexlify(signature))) === address

describe('the signer service', function () {
  this.timeout(300_000)
  let home: SignerHome
  let program: SignerProgram
  let signer: Signer
  before(async () => {
    home = await signerHome()
    program = await home.start()
    signer = await connected(home.socket)
  })
  after(async () => {
    await signer.stop()
    expect(await program.stop()).to.equal(0)
    home.remove()
  })

  it('keeps its count while it runs: no command begins another one beside it', async () => {
    const reset = async () => outcomeOf(await runAs(['--home', home.folder, 'limits', 'reset-count', '--yes'], { cwd: home.folder }))
    const count = readFileSync(path.join(home.dataDir, 'signer-count', 'log'), 'utf8')
    const refused = await reset()
    expect(refused.said).to.match(/The count is in use by process \d+ on .*: the signer is running\. Stop the server.*nothing was changed/)
    expect(refused.code).to.equal(1)
    expect(readFileSync(path.join(home.dataDir, 'signer-count', 'log'), 'utf8')).to.equal(count)
    await signer.sign(send({ nonce: 990, value: 1n }))
    await program.stop()
    expect((await reset()).said).to.contain('begins anew at its next start')
    program = await home.start()
    await until(() => signer.isReady())
    await signer.sign(send({ nonce: 990, value: 1n }))
  })

  /** A client that says what it likes. */
  async function hostile(): Promise<{ socket: Socket; answers: FromService[]; say(message: object): void }> {
    const socket = connect(home.socket)
    const answers: FromService[] = []
    socket.on('error', () => {})
    readFrames(
      socket,
      5_000_000,
      (json) => void answers.push(readFromService(json)),
      () => socket.destroy(),
    )
    await once(socket, 'connect')
    const say = (message: object) => void socket.write(frameOf(message as Parameters<typeof frameOf>[0]))
    return { socket, answers, say }
  }
  const hello = { type: 'hello', protocol, version: '0.0.0' }
  const closed = (socket: Socket) =>
    new Promise<void>((resolve) => void (socket.destroyed ? resolve() : socket.once('close', () => resolve())))

  it('signs by its policy, and shows addresses', async () => {
    expect(signer.wallets().map(({ address }) => address)).to.have.members([limited.address, free.address])
    const tx = transaction({ to: stranger, data: '0x', gasLimit: 21_000n })
    expect(isOf(await signer.sign(requestOf(free.address, tx)), tx.unsignedHash, free)).to.equal(true)
    const router = transaction()
    expect(isOf(await signer.sign(requestOf(free.address, router)), router.unsignedHash, free)).to.equal(true)
    const refused = await failure(signer.sign(requestOf(free.address, transaction({ to: stranger, data: '0x12345678' }))))
    expect(refused).to.include({ name: 'FORBIDDEN' })
    expect([signer.isReady(), signer.failing()]).to.deep.equal([true, undefined])
  })

  it('closes a connection that says something else, and signs on for others', async () => {
    const random = randomOf('socket')
    const bytes = (length: number) => Buffer.from(Array.from({ length }, () => random.below(256)))
    const tooLong = Buffer.alloc(4)
    tooLong.writeUInt32BE(600_000)
    const first: readonly Buffer[] = [
      ...Array.from({ length: 20 }, () => bytes(1 + random.below(300))),
      tooLong,
      Buffer.alloc(4),
      Buffer.from('GET / HTTP/1.1\r\nHost: signer\r\n\r\n'),
      frameOf({ type: 'ping' }),
      Buffer.concat([Buffer.from([0, 0, 0, 3]), Buffer.from('{{{')]),
    ]
    for (const each of first) {
      const { socket, answers } = await hostile()
      socket.end(each)
      await closed(socket)
      expect(answers.filter(({ type }) => type !== 'refused')).to.deep.equal([])
    }
    const asked = [
      { type: 'keys' },
      { type: 'open', dataDir: '/tmp' },
      { type: 'limits', wallets: {} },
      { type: 'reset-count' },
      hello,
      { type: 'sign', id: 'x' },
      { type: 'stops', stops: [{ mode: 'none' }] },
    ]
    for (const each of asked) {
      const { socket, answers, say } = await hostile()
      say(hello)
      say(each)
      await closed(socket)
      expect(answers.map(({ type }) => type)).to.deep.equal(['welcome', 'refused'])
      expect(JSON.stringify(answers)).not.to.contain(free.privateKey.slice(2))
    }
    await signer.sign(send({}, free))
  })

  it('refuses a server of another protocol with both versions', async () => {
    const { socket, answers, say } = await hostile()
    say({ ...hello, protocol: protocol + 1, version: '9.9.9' })
    await closed(socket)
    expect(answers).to.have.length(1)
    expect(answers[0])
      .to.have.property('reason')
      .that.matches(/the signer is of Sluice .* \(protocol 1\), the server of 9\.9\.9 \(protocol 2\)/)
  })

  it('refuses requests that are malformed or too deep, and lives on', async () => {
    const { socket, answers, say } = await hostile()
    say(hello)
    const typedData = { domain: {}, types: {}, primaryType: 'Order', message: { deep: 1 } }
    const base = { chain: 'ethereum', network: 'local', address: free.address }
    const requests = [
      null,
      [],
      {},
      { ...base, draft: { scheme: 'secp256k1', bytes: [1, 2] } },
      { ...base, draft: { scheme: 'secp256k1', bytes: '!!' } },
    ]
    for (const [id, request] of requests.entries()) say({ type: 'sign', id, request })
    // As text, since it could not be made otherwise.
    const json = JSON.stringify({ type: 'sign', id: 99, request: { ...base, draft: { scheme: 'eip712', typedData } } })
    const nested = Buffer.from(json.replace('{"deep":1}', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`))
    const head = Buffer.alloc(4)
    head.writeUInt32BE(nested.length)
    socket.write(Buffer.concat([head, nested]))
    await until(() => answers.length === requests.length + 2 || socket.destroyed)
    expect(answers.slice(1).map((each) => (each.type === 'failed' ? each.name : each.type))).to.deep.equal(
      Array.from({ length: requests.length + 1 }, () => 'FORBIDDEN'),
    )
    socket.destroy()
    await signer.sign(send({}, free))
  })

  it('logs little of requests that it refuses, however long and many they are', async () => {
    const { socket, answers, say } = await hostile()
    say(hello)
    const before = program.said().length
    const draft = { scheme: 'secp256k1', bytes: '' }
    for (let id = 0; id < 500; id += 1)
      say({ type: 'sign', id, request: { chain: 'ethereum', network: 'local', address: 'x'.repeat(id === 0 ? 400_000 : 10), draft } })
    await until(() => answers.length === 501)
    expect(program.said().slice(before)).to.contain('The signer refused to sign')
    expect(program.said().length - before).to.be.lessThan(100_000)
    socket.destroy()
  })

  it('lets who opens many connections keep nobody from signing', async () => {
    const many = await Promise.all(Array.from({ length: 60 }, () => hostile()))
    await signer.sign(send({}, free))
    // A server that greets has its place before those that do not.
    const other = await connected(home.socket)
    await other.sign(send({}, free))
    await other.stop()
    for (const { socket } of many) socket.destroy()
  })

  it('closes a connection that does not read its answers, and answers the others meanwhile', async () => {
    const { socket, say } = await hostile()
    say(hello)
    socket.pause()
    const flood = setInterval(() => {
      for (let index = 0; index < 400; index += 1) say({ type: 'sign', id: index, request: { nothing: 'x'.repeat(500) } })
    }, 1)
    const isClosed = closed(socket)
    await signer.sign(send({}, free))
    socket.on('close', () => clearInterval(flood))
    // Once it is closed this side hears it by a failed write.
    await isClosed
    clearInterval(flood)
    await signer.sign(send({}, free))
  })

  it('gives servers turns: one that asks much does not hold up another', async () => {
    const other = await connected(home.socket)
    let done = 0
    const flood = Array.from({ length: 500 }, (_, nonce) =>
      other.sign(send({ nonce }, free)).then(() => {
        done += 1
      }),
    )
    await signer.sign(send({}, free))
    expect(done).to.be.lessThan(400)
    await Promise.all(flood)
    await other.stop()
  })

  it('holds for all what any server has stopped, and what its own file stops', async () => {
    const other = await connected(home.socket)
    const all = { mode: 'stop', scope: { of: 'all' }, setBy: 'client', since: 1 } as const
    other.hold([all])
    await expectSoon(() => failure(signer.sign(send({}, free))), 'STOPPED')
    // The one that was not told of it, or hides it, lifts nothing.
    signer.hold([])
    expect(await failure(signer.sign(send({}, free)))).to.include({ name: 'STOPPED' })
    await signer.sign(send({ to: free.address, value: 0n }, free))
    other.hold([])
    await expectSoon(() => failure(signer.sign(send({}, free))), undefined)
    await other.stop()
    writeFileSync(path.join(home.dataDir, 'STOP'), '')
    expect(await failure(signer.sign(send({}, free)))).to.include({ name: 'STOPPED' })
    rmSync(path.join(home.dataDir, 'STOP'))
    await signer.sign(send({}, free))
  })

  async function expectSoon(act: () => Promise<SluiceError | undefined>, name: string | undefined): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const error = await act()
      if (error?.name === name) return
      if (tries === 2_000) throw error ?? new Error(`nothing failed with ${name}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  it('counts what two servers spend together, over kills in the midst of signatures', async () => {
    const [one, other] = [signer, await connected(home.socket)]
    /** By nonce, the largest that was signed. */
    const signed = new Map<number, bigint>()
    const outcomes = new Map<string, number>()
    const note = (name: string) => outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
    for (let round = 0; round < 4; round += 1) {
      const asked = Array.from({ length: 60 }, async (_, index) => {
        const nonce = round * 100 + index
        const value = parseEther('0.04')
        const error = await failure((index % 2 ? one : other).sign(send({ nonce, value })))
        note(error?.name ?? 'signed')
        if (!error) signed.set(nonce, value)
      })
      if (round % 2 === 0) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        await program.kill()
        await Promise.all(asked)
        expect(await failure(one.sign(send({}, free)))).to.include({ name: 'OVERLOADED' })
        program = await home.start()
        await until(() => one.isReady() && other.isReady())
      }
      await Promise.all(asked)
    }
    const sum = [...signed.values()].reduce((all, each) => all + each, 0n)
    expect(sum <= perDay, `${sum} wei`).to.equal(true)
    expect([...outcomes.keys()].filter((each) => !['signed', 'OVERLOADED', 'LIMIT_EXCEEDED'].includes(each))).to.deep.equal([])
    expect(outcomes.get('LIMIT_EXCEEDED')).to.be.greaterThan(20)
    await one.sign(send({}, free))
    await other.stop()
  })

  it('leaves no process with keys where it is killed, and no second one takes its folder', async () => {
    const error = await home.start().catch((thrown: unknown) => thrown)
    expect(String(error)).to.match(/did not start.*is in use by process/s)
    const childrenOf = (processId: number) =>
      readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8').trim().split(' ').map(Number)
    const keeper = childrenOf(program.processId)[0] ?? 0
    const keys = childrenOf(keeper)[0] ?? 0
    expect(isAlive(keys)).to.equal(true)
    await program.kill()
    await until(() => !isAlive(keys) && !isAlive(keeper))
    program = await home.start()
    await until(() => signer.isReady())
  })

  it('is examined by doctor: whether it is there, and what its bounds hold against', async () => {
    const wallet = { keySources: [], allowedSpenders: [] }
    const examined = async (socket: string) => {
      const { findings, wallets } = await examineSigner(socket, { data: { dir: path.join(home.folder, 'server') }, wallet })
      return { said: findings.map(({ state, what }) => `${state} ${what}`), wallets: wallets.length }
    }
    const there = await examined(home.socket)
    expect(there).to.have.property('wallets', 2)
    expect(there.said[0]).to.match(/^good The signer service .* with 2 wallets\. It bounds 1 by/)
    expect(there.said[1]).to.match(/^warn What it bounds does not hold .*(is root|of one user)/)
    // Keys and a passphrase that stayed with the server are named.
    const left = await examineSigner(home.socket, { data: { dir: home.dataDir }, wallet: { ...wallet, passphraseFile: 'x' } })
    expect(
      left.findings
        .slice(2)
        .map(({ what }) => what)
        .join(),
    ).to.match(/keys in .* are not used.*needs none/)
    expect((await examined(path.join(home.folder, 'none'))).said.join()).to.match(
      /^bad The signer service is not there: it cannot be reached/,
    )
  })

  it('is waited for at the start, and missed with the reason', async () => {
    const error = await connected(path.join(home.folder, 'none'), 300).catch((thrown: unknown) => thrown)
    expect(String(error)).to.match(/The signer at .*none is not there after 0\.3 s: it cannot be reached at .*ENOENT/)
  })

  it('answers nothing but that it does not answer while it is stopped by a signal', async () => {
    process.kill(program.processId, 'SIGSTOP')
    const error = await failure(signer.sign(send({}, free)))
    expect(error).to.include({ name: 'OVERLOADED' })
    expect(signer.failing()).to.match(/does not answer/)
    process.kill(program.processId, 'SIGCONT')
    await until(() => signer.isReady())
    await signer.sign(send({}, free))
  })

  it('changes no wallet and no count from the settings of a server, and lists its addresses there', async () => {
    const server = ['--home', path.join(home.folder, 'server'), '--set', `signer.socket=${home.socket}`]
    const cli = async (...args: string[]) => outcomeOf(await runAs([...server, ...args], { cwd: home.folder }))
    for (const args of [
      ['wallet', 'add', '--new'],
      ['wallet', 'remove', free.address, '--yes'],
      ['limits', 'reset-count', '--yes'],
    ]) {
      const { code, said } = await cli(...args)
      expect([code, said], said).to.satisfy(
        ([status, text]: [number, string]) => status === 1 && /the signer service at .* run this as/.test(text),
      )
    }
    mkdirSync(path.join(home.folder, 'server', 'data'), { recursive: true })
    expect((await cli('stop', '--file')).said).to.match(
      /The server of this folder looks at it .* The signer service at .* looks into its own/,
    )
    const listed = await cli('wallet', 'list')
    expect(listed.said).to.contain(free.address).and.contain(limited.address)
  })
})
