import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { devnetFiles } from './test-devnet.ts'

const program = fileURLToPath(new URL('./server.ts', import.meta.url))

export interface RunningServer {
  pid: number
  /** What it printed, line by line; grows. */
  lines: readonly string[]
  ended: Promise<unknown>
}

/** Runs server.ts in a process group of its own, as a terminal does, until it has printed that many lines. */
export async function runServer(dataDir: string, lineCount: number): Promise<RunningServer> {
  const child = spawn(process.execPath, ['--import', 'tsx/esm', program, dataDir, ...devnetFiles], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  if (child.pid === undefined) throw new Error('server.ts did not start')
  // With the last of what it printed.
  const ended = once(child, 'close')
  const lines: string[] = []
  const enough = new Promise<void>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      lines.push(line)
      if (lines.length === lineCount) resolve()
    })
  })
  await Promise.race([enough, ended.then(() => Promise.reject(new Error(`server.ts ended after: ${lines.join('\n')}`)))])
  return { pid: child.pid, lines, ended }
}

/** Every process under this one: [pid, command]. */
export function descendants(pid: number): { pid: number; command: string }[] {
  const all = processes()
  const children = all.filter(({ parent }) => parent === pid)
  return children.flatMap((child) => [child, ...descendants(child.pid)])
}

/** Waits, for half a minute at most, until none of these processes runs; gives those that still do. */
export async function stillRunning(pids: readonly number[]): Promise<number[]> {
  for (let tries = 0; ; tries++) {
    const alive = processes().filter(({ pid, state }) => pids.includes(pid) && !state.startsWith('Z'))
    if (alive.length === 0 || tries === 300) return alive.map(({ pid }) => pid)
    await sleep(100)
  }
}

function processes(): { pid: number; parent: number; state: string; command: string }[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,comm='], { encoding: 'utf8' }).trim().split('\n')
  return lines.map((line) => {
    const [pid, parent, state = '', ...command] = line.trim().split(/\s+/)
    return { pid: Number(pid), parent: Number(parent), state, command: command.join(' ') }
  })
}
