import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { fixtures } from './fixtures.ts'

const program = fileURLToPath(new URL('harmed-server.ts', import.meta.url))

/** Of the plugin's source; what runs has other lines. */
const sourceLine = (text: string) =>
  readFileSync(path.join(fixtures, 'harmful/harmful-verbs/index.ts'), 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(text)) + 1

const started = new Set<ChildProcess>()

function run(...args: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx/esm', program, ...args], { stdio: 'pipe' })
  started.add(child)
  return { child, errors: text(child.stderr), exit: once(child, 'exit') }
}

describe('a plugin that does harm at run time', () => {
  afterEach(() => {
    for (const child of started) child.kill('SIGKILL')
    started.clear()
  })

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
      const { child, exit } = run(harm)
      const said: object[] = []
      for await (const line of createInterface(child.stdout)) {
        said.push(JSON.parse(line))
        if (said.length === 2) child.stdin.end()
      }

      expect((await exit)[0]).to.equal(0)
      expect(said)
        .to.deep.include({ survived: what, ...(plugin && { plugin }) })
        .and.include({ answer: 'UNKNOWN_ERROR' })
        .and.include({ alive: true })
    })
  }

  it('only fails its request where it calls process.exit', async () => {
    const { child, exit } = run('exit')
    const said: object[] = []
    for await (const line of createInterface(child.stdout)) {
      said.push(JSON.parse(line))
      child.stdin.end()
    }

    expect((await exit)[0]).to.equal(0)
    expect(said).to.deep.equal([{ answer: 'UNKNOWN_ERROR' }, { alive: true }])
  })

  it('is not blamed for the server’s own defects, which end the process', async () => {
    const { child, exit } = run('own-defect')

    expect((await exit)[0]).to.equal(1)
    child.stdin.destroy()
  })

  it('is named by the watchdog when it loops, and the process ends for its supervisor', async () => {
    const { errors, exit } = run('loop', '1')

    const [code, signal] = await exit
    const line: unknown = JSON.parse((await errors).trim().split('\n').at(-1) ?? '')

    expect([code, signal]).to.deep.equal([null, 'SIGKILL'])
    expect(line).to.include({ level: 60, plugin: 'harmful-verbs' })
    expect(line)
      .to.have.property('function')
      .that.equals(`spin (index.ts:${sourceLine('for (;;)')})`)
    expect(line)
      .to.have.property('msg')
      .that.matches(/event loop blocked for 1 s: the plugin 'harmful-verbs' was running/)
  })

  it('does not trigger the watchdog while the event loop runs', async () => {
    const { child, errors, exit } = run('none', '2')
    setTimeout(() => child.stdin.end(), 5_000)

    expect((await exit)[0]).to.equal(0)
    expect(await errors).to.equal('')
  })
})
