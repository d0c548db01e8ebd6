import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { constants } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { signerOf } from '../wallet/processes.ts'
import { fixtures } from '../core-plugins/fixtures.ts'
import { eventually, keepDevnet, makeHome, root, twoPlugins } from './command.ts'

const ready = /Sluice is ready at/
const debugger_ = /Debugger listening on ws:\/\/([\d.]+):(\d+)/g

/** `bin/sluice start` itself, as the first process. */
function start(home: string, environment: Record<string, string> = {}) {
  const { NODE_OPTIONS: _, ...inherited } = process.env
  const child = spawn(path.join(root, 'bin/sluice'), ['start'], {
    cwd: home,
    env: { ...inherited, NO_COLOR: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const server = { child, printed: '', ended: new Promise<unknown>((resolve) => child.once('close', (...how) => resolve(how))) }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (server.printed += chunk.toString()))
  return server
}

/** The server, its keeper and its signer. */
function processesOf({ pid = 0 }: ChildProcess): number[] {
  const { keeper, signer } = signerOf(pid)
  expect([keeper, signer]).to.not.include(0)
  return [pid, keeper, signer]
}

/** Whether the process has a handler for the signal. */
function isCaught(processId: number, signal: number): boolean {
  const [, caught = '0'] = /SigCgt:\s*(\w+)/.exec(readFileSync(`/proc/${processId}/status`, 'utf8')) ?? []
  return (BigInt(`0x${caught}`) & (1n << BigInt(signal - 1))) !== 0n
}

const isListening = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

describe('a signal that is not for stopping', function () {
  this.timeout(300_000)
  let home: { home: string; remove(): Promise<void> }
  let server: ReturnType<typeof start>

  beforeEach(async () => {
    home = await makeHome({ log: { level: 'info' } })
    await keepDevnet(home.home)
  })
  afterEach(async () => {
    server.child.kill('SIGKILL')
    await server.ended
    await home.remove()
  })

  it('SIGHUP and SIGUSR2 end nothing, and the log says so', async () => {
    server = start(home.home)
    await eventually(() => ready.test(server.printed), 'it is ready')
    for (const signal of ['SIGHUP', 'SIGUSR2'] as const) {
      server.child.kill(signal)
      await eventually(() => new RegExp(`${signal} ignored`).test(server.printed), `the log names ${signal}`)
    }
    server.child.kill('SIGTERM')
    expect(await server.ended).to.deep.equal([0, null])
  })

  it('SIGUSR1 opens no debugger in the server, the keeper and the signer', async () => {
    server = start(home.home)
    await eventually(() => ready.test(server.printed), 'it is ready')
    for (const processId of processesOf(server.child)) process.kill(processId, 'SIGUSR1')
    await eventually(() => /SIGUSR1 ignored|Debugger listening/.test(server.printed), 'the signal has arrived')
    // The debugger of a process that gets the signal is opened before it goes on.
    server.child.kill('SIGTERM')
    await server.ended
    expect(server.printed).to.not.match(debugger_)
  })

  it('SIGUSR1 in the first instant of the start leaves no debugger open', async function () {
    if (process.platform !== 'linux') this.skip()
    server = start(home.home)
    const { pid = 0 } = server.child
    // As soon as Node has its own handler: before that, the signal ends the process.
    while (!isCaught(pid, constants.signals.SIGUSR1)) await new Promise(setImmediate)
    server.child.kill('SIGUSR1')
    await eventually(() => ready.test(server.printed), 'it is ready')
    for (const [, host = '', port] of server.printed.matchAll(debugger_)) expect(await isListening(host, Number(port))).to.equal(false)
  })

  it('a debugger that the environment asks for is opened in the server alone', async () => {
    server = start(home.home, { NODE_OPTIONS: '--inspect=0' })
    await eventually(() => ready.test(server.printed), 'it is ready')
    for (const processId of processesOf(server.child)) process.kill(processId, 'SIGUSR1')
    await eventually(() => /SIGUSR1 ignored/.test(server.printed), 'the signal has arrived')
    expect([...server.printed.matchAll(debugger_)]).to.have.length(1)
  })
})

describe('a stop while a contained plugin starts threads', function () {
  this.timeout(300_000)
  for (const threads of [50, 480])
    it(`ends with the status 0 where there are up to ${threads}`, async () => {
      const { home, remove } = await makeHome({ plugins: { folders: [...twoPlugins, 'third'] } })
      try {
        await keepDevnet(home)
        const folder = path.join(home, 'third', 'plain-swap')
        await cp(path.join(fixtures, 'contained', 'plain-swap'), folder, { recursive: true })
        const file = path.join(folder, 'index.ts')
        const more = `
let started = 0
setInterval(() => {
  for (let i = 0; i < 10 && started < ${threads}; i += 1, started += 1)
    new Worker('setInterval(() => {}, 1000)', { eval: true }).on('error', () => {})
}, 20)`
        const code = await readFile(file, 'utf8')
        await writeFile(file, `import { Worker } from 'node:worker_threads'\n${code}${more}\n`)
        const server = start(home)
        await eventually(
          () => /plugin (loaded|refused)[^\n]*"?\n/.test(pluginLines(server.printed)),
          'that the plugin is loaded or refused',
        )

        // A server that does not end within 10 s gives up, with another status.
        server.child.kill('SIGTERM')
        expect(await server.ended, server.printed).to.deep.equal([0, null])
      } finally {
        await remove()
      }
    })
})

const pluginLines = (printed: string): string =>
  printed
    .split('\n')
    .filter((line) => line.includes('"plugin":"plain-swap"'))
    .map((line) => `${line}\n`)
    .join('')
