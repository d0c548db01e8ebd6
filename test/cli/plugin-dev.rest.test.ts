import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { WebSocket } from 'undici'
import { createClient } from '../../testkit/client.ts'
import { freePort } from '../free-port.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const allPassed = /all: \d{2} passed, 0 failed/

describe('sluice plugin dev', function () {
  this.timeout(420_000)
  const base = mkdtempSync(path.join(os.tmpdir(), 'sluice-plugin-dev-'))
  const folder = path.join(base, 'ferryswap')
  const source = path.join(folder, 'amm.ts')
  let child: ChildProcess | undefined
  let printed = ''
  let good = ''

  before(() => {
    cpSync(path.join(root, 'templates', 'ferryswap'), folder, { recursive: true })
    good = readFileSync(source, 'utf8')
  })
  /** Also of a test that failed: what it started would answer for the next one. */
  afterEach(async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    await ended
  })
  after(() => rmSync(base, { recursive: true, force: true }))

  /** What is printed until a run is over, from the last time on. */
  async function runOver(): Promise<string> {
    for (;;) {
      const end = printed.indexOf('Waiting for a save')
      if (end >= 0) {
        const text = printed.slice(0, end)
        printed = printed.slice(end + 1)
        return text
      }
      if (child?.exitCode !== null) throw new Error(`It ended: ${printed}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** With what is printed after a run, until it says so: the log comes by another way than the cards. */
  async function withLog(text: string, says: RegExp): Promise<string> {
    for (let tries = 0; !says.test(text + printed) && child?.exitCode === null && tries < 1_200; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 50))
    return text + printed
  }

  /** As many editors save: another file takes the place of the first. */
  function save(text: string, file = source): Promise<string> {
    writeFileSync(`${file}.tmp`, text)
    renameSync(`${file}.tmp`, file)
    return runOver()
  }

  function develop(options: readonly string[] = [], within: readonly string[] = [], of = folder): ChildProcess {
    printed = ''
    const [program = '', ...args] = [...within, process.execPath, 'bin/launch.mjs', 'plugin', 'dev', of, ...options]
    child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
    return child
  }

  const ends = async (pid: number): Promise<void> => {
    for (let tries = 0; isRunning(pid) && tries < 600; tries++) await new Promise((resolve) => setTimeout(resolve, 50))
  }

  /** Of the processes below one: number and command line. */
  function below(parent: number): readonly { pid: number; command: string }[] {
    const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
      .split('\n')
      .flatMap((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
    const all: { pid: number; parent: number; command: string }[] = []
    for (let index = 0; index < rows.length; index += 4)
      all.push({ pid: Number(rows[index + 1]), parent: Number(rows[index + 2]), command: rows[index + 3] ?? '' })
    const children = (pid: number): typeof all => all.filter((each) => each.parent === pid).flatMap((each) => [each, ...children(each.pid)])
    return children(parent)
  }

  const isRunning = (pid: number): boolean => {
    try {
      process.kill(pid, 0)
      return true
    } catch {
      return false
    }
  }

  it('names the remedy where the folder is no plugin', () => {
    const refused = (place: string) => {
      try {
        execFileSync(process.execPath, ['bin/launch.mjs', 'plugin', 'dev', place], { cwd: root, encoding: 'utf8', stdio: 'pipe' })
        return ''
      } catch (error) {
        return (error as { stderr: string }).stderr
      }
    }
    expect(refused(path.join(base, 'nowhere'))).to.match(/^error: There is no folder .*nowhere\. .*plugin new my-exchange --kind amm\n$/)
    expect(refused(path.join(root, 'docs'))).to.match(/^error: .*docs: The folder has neither index\.ts.*\n$/)
  })

  it('goes on through mistakes, endless loops and the end of the devnet, and leaves nothing behind', async () => {
    const quote = 'async quote(swap, _choice, at) {'
    expect(good).to.include(quote)
    /** Of what is written into it. */
    const line = good.slice(0, good.indexOf(quote)).split('\n').length + 1
    child = develop()
    const first = await runOver()
    expect(first).to.match(/quick cards, which send no transaction: 11 passed, 0 failed/)
    expect(first).to.match(allPassed)
    const [, certs = '', url = '', target = ''] = /--cacert (\S+)\/ca_cert\.pem .*'(https:\/\/[^/]+)(\S+)'/.exec(first) ?? []
    const client = createClient(url, certs)
    const price = await client.get(target)
    expect(price.status, price.text).to.equal(200)

    const red = await save(good.replace(quote, `${quote}\n      throw new Error('my own mistake')`))
    expect(red).to.include('✗ AMM-01')
    expect(await withLog(red, /my own mistake/)).to.include(`amm.ts:${line}: my own mistake`)
    // The server that stays up runs the new version.
    expect((await client.get(target)).status).to.equal(500)
    expect(await save(good)).to.match(allPassed)
    expect((await client.get(target)).body.price).to.be.a('string')

    expect(await save(good.replace('export', 'export export'))).to.match(
      /✗ ferryswap is refused \(import\): .*amm\.ts:\d+:\d+: Unexpected 'export'"/,
    )
    // The version before goes on.
    expect((await client.get(target)).status).to.equal(200)
    expect(await save(`${good}\nfor (;;) {}\n`)).to.match(/of processor time: an endless loop/)
    const looping = await save(good.replace(quote, `${quote}\n      for (;;);`))
    const told = /it did not answer for \d+ s/
    expect(await withLog(looping, told)).to.match(told)

    const top = child.pid ?? expect.fail()
    const anvil = below(top).find(({ command }) => /^\S*anvil /.test(command))
    process.kill(anvil?.pid ?? expect.fail('no anvil'), 'SIGKILL')
    expect(await runOver()).to.include('The devnet has ended. It and the server are started anew.')
    expect(await save(good)).to.match(allPassed)
    expect((await client.get(target)).status).to.equal(200)
    client.close()

    const all = below(top)
    expect(all.map(({ command }) => command).join('\n')).to.include('anvil')
    const gone = new Promise((resolve) => child?.once('exit', resolve))
    child.kill('SIGINT')
    await gone
    for (const { pid, command } of all) {
      await ends(pid)
      expect(isRunning(pid), command).to.equal(false)
    }
    expect(existsSync(path.dirname(certs))).to.equal(false)
  })

  it('starts the server anew for each save of an interface, which stays where it listens', async () => {
    const dialect = path.join(base, 'pair-prices')
    cpSync(path.join(root, 'templates', 'pair-prices'), dialect, { recursive: true })
    const file = path.join(dialect, 'index.ts')
    const whole = readFileSync(file, 'utf8')
    writeFileSync(file, whole.replace('export', 'export export'))
    const command = develop([], [], dialect)
    expect(await runOver()).to.match(/✗ pair-prices is refused \(import\): .*index\.ts:\d+:\d+: Unexpected .export./)

    const green = await save(whole, file)
    expect(green).to.include('Interfaces are taken up when a server starts')
    expect(green).to.match(/✓ IFC-10/)
    expect(green).to.match(allPassed)
    const [, certs = '', url = '', target = ''] = /--cacert (\S+)\/ca_cert\.pem .*'(https:\/\/[^/]+)(\S+)'/.exec(green) ?? []
    const client = createClient(url, certs)
    expect((await client.get(target)).body).to.have.keys('pair', 'px')

    writeFileSync(file, whole.replace('px: price }', "px: '1' }"))
    while (command.exitCode === null && (await client.get(target).catch(() => undefined))?.body?.px !== '1')
      await new Promise((resolve) => setTimeout(resolve, 200))
    client.close()
    expect(printed).to.include('Interfaces are taken up when a server starts')
  })

  it('quotes and trades by a new exchange on Solana, as it was written', async () => {
    const launch = path.join(root, 'bin/launch.mjs')
    execFileSync(process.execPath, [launch, 'plugin', 'new', 'tidalswap', '--kind', 'pool', '--family', 'solana'], { cwd: base })
    develop([], [], path.join(base, 'tidalswap'))
    const green = await runOver()
    expect(green).to.match(/✓ AMM-12/)
    expect(green).to.match(allPassed)
    const [, certs = '', url = '', target = ''] = /--cacert (\S+)\/ca_cert\.pem .*'(https:\/\/[^/]+)(\S+)'/.exec(green) ?? []
    const client = createClient(url, certs)
    const quoted = (await client.get(target)).body
    const { address } = (await client.get('/wallet')).body.find(({ chain }: { chain: string }) => chain === 'solana')
    const order = { ...Object.fromEntries(new URL(target, url).searchParams), address }
    const { txHash, expectedAmount } = (await client.post('/amm/trade', order)).body
    expect(expectedAmount).to.equal(quoted.expectedAmount)
    const poll = async () => (await client.post('/network/poll', { chain: 'solana', network: 'local', txHash })).body
    let polled = await poll()
    for (let polls = 0; polls < 300 && polled.txState !== 'CONFIRMED'; polls += 1) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      polled = await poll()
    }
    expect(polled.fill).to.include({ amountIn: quoted.amount, amountOut: expectedAmount })
    client.close()
  })

  it('says once that nothing contains the plugin, where the system has no namespaces', async () => {
    writeFileSync(source, good)
    const noNamespaces = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    const command = develop([], ['unshare', '--user', '--map-root-user', 'sh', '-c', noNamespaces, 'sh'])
    const runs = (await runOver()) + (await save(`${good}// Saved.\n`))
    expect(runs.match(/Nothing contains ferryswap here: .* can do what this user can/g)).to.have.length(1)
    expect(runs.match(/not contained/g)).to.equal(null)
    const ended = once(command, 'exit')
    command.kill('SIGINT')
    await ended
  })

  it('stops at the line of the author where a debugger asks it to, and leaves nothing behind where it is killed while it stops', async () => {
    writeFileSync(source, good)
    const port = await freePort()
    const command = develop(['--inspect', String(port)])
    const [, certs = '', url = '', target = ''] = /--cacert (\S+)\/ca_cert\.pem .*'(https:\/\/[^/]+)(\S+)'/.exec(await runOver()) ?? []
    const line = good.split('\n').findIndex((each) => each.includes('async quote(swap'))
    const inspector = await connectInspector(port)
    const scripts: { scriptId: string; url: string; sourceMapURL: string }[] = []
    const paused = new Promise<{ callFrames: readonly { location: { scriptId: string; lineNumber: number; columnNumber: number } }[] }>(
      (resolve) => {
        inspector.on('Debugger.scriptParsed', (params) => scripts.push(params))
        inspector.on('Debugger.paused', resolve)
      },
    )
    await inspector.send('Debugger.enable')
    const script = scripts.find((each) => each.url.includes('/ferryswap/amm.ts')) ?? expect.fail('The debugger is not told of the file.')
    const map = new SourceMap(JSON.parse(Buffer.from(script.sourceMapURL.split('base64,')[1] ?? '', 'base64').toString('utf8')))
    const authorsLineOf = (lineNumber: number, column: number): number | undefined => {
      const entry = map.findEntry(lineNumber, column)
      return 'originalLine' in entry ? entry.originalLine : undefined
    }
    // The first statement of the function: as a debugger does, by the map of the script.
    const lineNumber = Array.from({ length: 2_000 }, (_, each) => each).find((each) => (authorsLineOf(each, 4) ?? 0) > line)
    await inspector.send('Debugger.setBreakpointByUrl', { url: script.url, lineNumber })
    const client = createClient(url, certs)
    const answer = client.get(target)
    const { callFrames } = await paused
    const [frame] = callFrames
    expect(frame?.location.scriptId).to.equal(script.scriptId)
    expect(authorsLineOf(frame?.location.lineNumber ?? 0, frame?.location.columnNumber ?? 0)).to.be.within(line + 1, line + 3)
    await inspector.send('Debugger.disable')
    expect((await answer).status).to.equal(200)
    client.close()
    inspector.close()

    const all = below(command.pid ?? expect.fail())
    const home = path.dirname(certs)
    expect(existsSync(home)).to.equal(true)
    command.kill('SIGINT')
    // The server stops first of all: what it was told of that, its process knows. Then the command is killed.
    for (let tries = 0; (await isOpen(Number(new URL(url).port))) && tries < 3_000; tries++)
      await new Promise((resolve) => setTimeout(resolve, 20))
    command.kill('SIGKILL')
    for (const { pid } of all) await ends(pid)
    expect(existsSync(home)).to.equal(false)
  })
})

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, 'localhost', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** A client of the inspector protocol, as an editor has one. */
async function connectInspector(port: number) {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const listeners = new EventEmitter()
  let last = 0
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, result } = JSON.parse(String(data))
    listeners.emit(method ?? `answer ${id}`, params ?? result)
  })
  return {
    // eslint-disable-next-line typescript/no-explicit-any -- each event has parameters of its own
    on: (event: string, listener: (params: any) => void) => void listeners.on(event, listener),
    async send(method: string, params: object = {}): Promise<void> {
      last += 1
      const answered = once(listeners, `answer ${last}`)
      socket.send(JSON.stringify({ id: last, method, params }))
      await answered
    },
    close: () => socket.close(),
  }
}
