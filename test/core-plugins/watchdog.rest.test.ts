import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import os from 'node:os'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const program = fileURLToPath(new URL('starved-process.ts', import.meta.url))
/** A processor that this process may use: one for all that is started here. */
const processor = /Cpus_allowed_list:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0'

describe('the watchdog', function () {
  this.timeout(300_000)
  const started = new Set<ChildProcess>()
  afterEach(() => {
    for (const child of started) child.kill('SIGKILL')
    started.clear()
  })

  const run = (...args: readonly string[]) => {
    const child = spawn('taskset', ['-c', processor, process.execPath, ...args], { stdio: 'pipe' })
    started.add(child)
    return child
  }

  /** Starts a process, and makes the main thread nicer to others that keep its processor busy, if there is a niceness. */
  async function work(how: 'turns' | 'loop' | 'wait', stallSeconds: string, niceness = 0) {
    const child = run('--import', 'tsx/esm', program, how, stallSeconds)
    const [errors, exit] = [text(child.stderr), once(child, 'exit')]
    const lines = createInterface(child.stdout)
    await once(lines, 'line')
    if (niceness > 0) {
      for (let others = 0; others < 2; others += 1) run('-e', 'for (const end = Date.now() + 240_000; Date.now() < end;);')
      // Of a process id it is that of its main thread alone.
      os.setPriority(child.pid ?? 0, niceness)
    }
    child.stdin.write('go\n')
    const [code, signal]: unknown[] = await exit
    return { code, signal, errors: await errors }
  }

  it('leaves a process alone whose turns are short and that waits for a processor for longer than it may block', async () => {
    expect(await work('turns', '1', 10)).to.deep.equal({ code: 0, signal: null, errors: '' })
  })

  for (const [how, what, niceness] of [
    ['loop', 'loops', 0],
    ['loop', 'loops and gets little of its processor', 5],
    ['wait', 'waits in a call of the system', 0],
  ] as const)
    it(`ends a process that ${what}`, async () => {
      const { signal, errors } = await work(how, '0.4', niceness)
      expect(signal).to.equal('SIGKILL')
      expect(errors).to.include('event loop blocked for 0.4 s: a test runs.')
    })
})
