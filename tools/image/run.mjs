import { spawn } from 'node:child_process'
import { once } from 'node:events'

const running = new Set()

/** Runs a program to its end and gives what it printed; rejects, with the last of it, when it fails. */
export async function run(program, args, { timeoutSeconds = 300, ...options } = {}) {
  // By force, also when time is up: of `inOwnProcessTable` that ends everything that was started below it.
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutSeconds * 1000,
    killSignal: 'SIGKILL',
    ...options,
  })
  running.add(child)
  let stdout = ''
  let all = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
    all += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => void (all += text))
  try {
    const [code, signal] = await once(child, 'close')
    if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed (${code ?? signal}):\n${all.split('\n').slice(-25).join('\n')}`)
  } finally {
    running.delete(child)
  }
  return stdout
}

/** The command line of a program that ends when this process does, in whatever way, and its children with it. */
export function inOwnProcessTable(program, args) {
  return ['setpriv', ['--pdeathsig', 'KILL', 'unshare', '--pid', '--fork', '--kill-child', '--mount-proc', program, ...args]]
}

/** Ends what is still running. */
export function endRuns() {
  for (const child of running) child.kill('SIGKILL')
}

const outcomes = []

/** One thing that must hold; the others go on when it does not. */
export async function check(what, test) {
  const startedAt = performance.now()
  try {
    await test()
    outcomes.push(true)
    console.log(`  ✔ ${what} (${seconds(startedAt)} s)`)
  } catch (error) {
    outcomes.push(false)
    console.log(`  ✘ ${what} (${seconds(startedAt)} s)\n      ${String(error?.stack ?? error).replaceAll('\n', '\n      ')}`)
  }
}

export function summary() {
  const failed = outcomes.filter((outcome) => !outcome).length
  return { passed: outcomes.length - failed, failed }
}

/** Asks until there is a value; fails, with what `why` says, when there is none in time. */
export async function eventually(ask, withinSeconds, why = () => '') {
  const deadline = Date.now() + withinSeconds * 1000
  for (;;) {
    const value = await ask()
    if (value) return value
    if (Date.now() > deadline) throw new Error(`not within ${withinSeconds} s\n${why()}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export function seconds(since) {
  return ((performance.now() - since) / 1000).toFixed(1)
}
