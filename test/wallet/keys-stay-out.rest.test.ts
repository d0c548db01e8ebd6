import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Wallet } from 'ethers'
import { saveKey } from '../../core/keys/keystore.ts'
import { exampleFiles } from './example-files.ts'
import { isAlive, memoryHolds, parentOf, until } from './processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const passphrase = 'a passphrase that is found nowhere else'
const wallet = new Wallet(Wallet.createRandom().privateKey)
const keyDigits = wallet.privateKey.slice(2)
const seedDigits = randomBytes(32).toString('hex')

describe("the server's process", () => {
  const folder = temporaryFolder()
  const cores = path.join(folder, 'cores')
  let server: ChildProcess
  let signerProcessId: number
  let children: number[] = []
  let said = ''

  const heard = async (): Promise<number> => {
    const [message] = await once(server, 'message')
    const processId = Number(message.signerProcessId)
    children = [processId, parentOf(processId)]
    return processId
  }

  before(async () => {
    const passphraseFile = path.join(folder, 'passphrase')
    writeFileSync(passphraseFile, passphrase)
    await saveKey({ dataDir: folder, chain: 'ethereum', privateKey: wallet.privateKey, passphrase, scryptN: 1024 })
    await saveKey({ dataDir: folder, chain: 'solana', curve: 'ed25519', privateKey: `0x${seedDigits}`, passphrase, scryptN: 1024 })
    const files = JSON.stringify(await exampleFiles(folder, { passphrase }))
    const program = fileURLToPath(new URL('server-with-signer.ts', import.meta.url))
    const node = [process.execPath, '--import', import.meta.resolve('tsx/esm'), program, folder, passphraseFile, wallet.address, files]
    mkdirSync(cores)
    // Where the system would write core files, as large as they become.
    server = spawn('/bin/sh', ['-c', 'ulimit -c "$(ulimit -H -c)"; exec "$@"', 'sh', ...node], {
      cwd: cores,
      env: { ...process.env, A_SECRET_OF_THE_SERVER: 'unshared' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    for (const stream of [server.stdout, server.stderr])
      stream?.on('data', (chunk) => {
        said += String(chunk)
      })
    signerProcessId = await heard()
  })
  after(() => {
    // Where the test that they end by themselves failed.
    for (const processId of [server.pid ?? 0, ...children]) if (isAlive(processId)) process.kill(processId, 'SIGKILL')
  })

  it('has neither key nor passphrase in its heap, after signing and after a restart of the signer', async () => {
    const file = path.join(folder, 'heap.heapsnapshot')
    server.send(file)
    signerProcessId = await heard()
    const snapshot = readFileSync(file, 'utf8').toLowerCase()
    expect(snapshot.includes(wallet.address.toLowerCase()), 'the address is there, so strings are seen').to.equal(true)
    for (const digits of [keyDigits, seedDigits]) expect(snapshot.includes(digits), 'key').to.equal(false)
    expect(snapshot.includes(BigInt(wallet.privateKey).toString()), 'key in decimals').to.equal(false)
    expect(snapshot.includes(passphrase), 'passphrase').to.equal(false)
  })

  it('has no key in its memory, and neither has the keeper; only the signer has', function () {
    if (process.platform !== 'linux') this.skip()
    for (const digits of [keyDigits, seedDigits]) {
      const wanted = [Buffer.from(digits, 'hex'), Buffer.from(digits, 'latin1'), Buffer.from(digits, 'utf16le')]
      expect(memoryHolds(signerProcessId, wanted), 'signer').to.equal(true)
      expect(memoryHolds(parentOf(signerProcessId), wanted), 'holder of the passphrase').to.equal(false)
      expect(memoryHolds(server.pid ?? 0, wanted), 'server').to.equal(false)
    }
  })

  it('has the passphrase nowhere in its memory once the keeper has it', function () {
    if (process.platform !== 'linux') this.skip()
    const wanted = [Buffer.from(passphrase, 'latin1'), Buffer.from(passphrase, 'utf16le')]
    expect(memoryHolds(parentOf(signerProcessId), wanted), 'keeper').to.equal(true)
    expect(memoryHolds(server.pid ?? 0, wanted), 'server').to.equal(false)
  })

  it('shows no secret in command lines and environments of its children', function () {
    if (process.platform !== 'linux') this.skip()
    for (const processId of children) {
      const started = ['cmdline', 'environ'].map((each) => readFileSync(`/proc/${processId}/${each}`, 'latin1')).join()
      expect(started).to.include('signer').and.not.include(keyDigits).and.not.include(passphrase).and.not.include('unshared')
    }
  })

  it('opens no debugger in the signer on SIGUSR1', async () => {
    for (const processId of children) process.kill(processId, 'SIGUSR1')
    // The control: the same signal does open one in a process that does not guard itself.
    process.kill(server.pid ?? 0, 'SIGUSR1')
    await until(() => said.includes('Debugger listening') || said.includes('Starting inspector'))
    expect(said.match(/Debugger listening|Starting inspector/g)).to.have.length(1)
  })

  it('leaves no core file of a signer or keeper that crashes, and no memory in what a program of kernel.core_pattern gets', async function () {
    if (process.platform !== 'linux') this.skip()
    for (const processId of children) {
      expect(readFileSync(`/proc/${processId}/limits`, 'latin1')).to.match(/^Max core file size +0 +0 /m)
      expect(readFileSync(`/proc/${processId}/coredump_filter`, 'latin1').trim()).to.match(/^0+$/)
    }
    for (const signal of ['SIGABRT', 'SIGSEGV'] as const) {
      const before = signerProcessId
      process.kill(before, signal)
      while (signerProcessId === before) {
        await until(() => !isAlive(before))
        server.send('who')
        signerProcessId = await heard()
      }
    }
    expect(readdirSync(cores)).to.deep.equal([])
  })

  it('ends the signer when it is killed', async () => {
    expect(children.map(isAlive)).to.deep.equal([true, true])
    process.kill(server.pid ?? 0, 'SIGKILL')
    await until(() => !children.some(isAlive))
    expect(said).not.to.include(keyDigits).and.not.include(passphrase)
  })
})
