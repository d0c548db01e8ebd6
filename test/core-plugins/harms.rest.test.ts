import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { programArgs } from '../program.ts'

const started = new Set<ChildProcess>()

/** A process that has this harm done, if any. */
async function run(harm?: string) {
  const program = await programArgs(new URL('harmed-server.ts', import.meta.url))
  const child = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'] })
  started.add(child)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async (): Promise<object> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The process ended.')
    return JSON.parse(value)
  }
  const write = (line: string) => void child.stdin.write(`${line}\n`)
  if (harm !== undefined) write(harm)
  return { child, write, next, exit: once(child, 'exit') }
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
})
