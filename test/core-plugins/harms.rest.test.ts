import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { programArgs } from '../program.ts'
import { fixtures } from './fixtures.ts'

/** Of the plugin's source; what runs has other lines. */
const sourceLine = (text: string) =>
  readFileSync(path.join(fixtures, 'harmful/harmful-verbs/index.ts'), 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(text)) + 1

const started = new Set<ChildProcess>()

/** A process that has this harm done, if any. */
async function run(harm?: string, ...args: string[]) {
  const program = await programArgs(new URL('harmed-server.ts', import.meta.url))
  const child = spawn(process.execPath, [...program, ...args], { stdio: 'pipe' })
  started.add(child)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async (): Promise<object> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The process ended.')
    return JSON.parse(value)
  }
  const write = (line: string) => void child.stdin.write(`${line}\n`)
  if (harm !== undefined) write(harm)
  return { child, write, next, errors: text(child.stderr), exit: once(child, 'exit') }
}

describe('a plugin that does harm at run time', () => {
  let shared: Awaited<ReturnType<typeof run>> | undefined
  /** One process for all that it must survive; another one where it did not. */
  const survivor = async () => (shared?.child.exitCode === null ? shared : (shared = await run()))
  afterEach(() => {
    for (const child of started) if (child !== shared?.child) child.kill('SIGKILL')
  })
  after(() => shared?.child.kill('SIGKILL'))

  for (const [harm, what, plugin] of [
    ['reject', 'rejection', 'harmful-verbs'],
    ['reject-nothing', 'rejection', undefined],
    ['throw', 'exception', 'harmful-verbs'],
    ['throw-nothing', 'exception', undefined],
    ['throw-trap', 'exception', undefined],
    ['reject-trap', 'rejection', undefined],
    ['exit-later', 'exception', 'harmful-verbs'],
    ['connect', 'exception', undefined],
  ] as const) {
    it(`does not end the server, and is named where its stack shows it: ${harm}`, async () => {
      const server = await survivor()
      server.write(harm)
      const said = [await server.next(), await server.next()]
      server.write('alive?')

      expect(said).to.have.deep.members([{ survived: what, ...(plugin && { plugin }) }, { answer: 'UNKNOWN_ERROR' }])
      expect(await server.next()).to.deep.equal({ alive: true })
    })
  }

  it('only fails its request where it calls process.exit', async () => {
    const server = await survivor()
    server.write('exit')
    expect(await server.next()).to.deep.equal({ answer: 'UNKNOWN_ERROR' })
    server.write('alive?')
    expect(await server.next()).to.deep.equal({ alive: true })
  })

  it('leaves the server an end in order, after all of them', async () => {
    const server = await survivor()
    server.child.stdin.end()
    expect((await server.exit)[0]).to.equal(0)
  })

  it('takes no blame for the server’s own defects, which end the process', async () => {
    const { child, exit } = await run('own-defect')

    expect((await exit)[0]).to.equal(1)
    child.stdin.destroy()
  })

  it('gets named by the watchdog when it loops, and the process ends for its supervisor', async () => {
    const { errors, exit } = await run('loop', '2')

    const [code, signal] = await exit
    const line: unknown = JSON.parse((await errors).trim().split('\n').at(-1) ?? '')

    expect([code, signal]).to.deep.equal([null, 'SIGKILL'])
    expect(line).to.include({ level: 60, plugin: 'harmful-verbs' })
    expect(line)
      .to.have.property('function')
      .that.equals(`spin (index.ts:${sourceLine('for (;;)')})`)
    expect(line)
      .to.have.property('msg')
      .that.matches(/event loop blocked for 2 s: the plugin 'harmful-verbs' was running/)
  })

  it('does not trigger the watchdog while the event loop runs', async () => {
    const { child, errors, exit } = await run('none', '2')
    setTimeout(() => child.stdin.end(), 5_000)

    expect((await exit)[0]).to.equal(0)
    expect(await errors).to.equal('')
  })
})
