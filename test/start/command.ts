import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** What a test needs that is not about all of them: each command reads every plugin there is. */
export const twoPlugins = ['ethereum', 'uniswap'].map((name) => path.join(root, 'plugins', name))

/** A home as an operator has one: its own conf, certs and data, with the plugins of the checkout. */
export async function makeHome(server: Record<string, unknown> = {}): Promise<{ home: string; remove(): Promise<void> }> {
  const home = await mkdtemp(path.join(tmpdir(), 'sluice-home-'))
  await cp(path.join(root, 'conf'), path.join(home, 'conf'), { recursive: true })
  await writeFile(
    path.join(home, 'conf', 'server.yml'),
    stringify({
      server: { port: 0 },
      devnet: { enabled: true, port: 0 },
      plugins: { folders: [path.join(root, 'plugins')] },
      // A machine that tests much at once is slow.
      limits: { pluginLoadSeconds: 60 },
      ...server,
    }),
  )
  return { home, remove: () => rm(home, { recursive: true, force: true }) }
}

/** Takes what is deployed from earlier runs: how it is deployed is tested elsewhere. */
export async function keepDevnet(home: string): Promise<void> {
  const kept = path.join(tmpdir(), `sluice-devnet-${process.getuid?.() ?? ''}`)
  await mkdir(kept, { recursive: true, mode: 0o700 })
  await mkdir(path.join(home, 'data'), { recursive: true })
  await symlink(kept, path.join(home, 'data', 'devnet'))
}

export interface RunningCommand {
  child: ChildProcess
  /** Everything that was printed so far, both streams. */
  printed(): string
  /** Resolves when the text is there. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

/** `bin/sluice …`, the command line as it is. */
export const sluice = (home: string, ...args: string[]): RunningCommand => sluiceWith({}, home, ...args)

function environmentWith(variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...env } = process.env
  const clean = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SLUICE_')))
  return { ...clean, ...variables, NO_COLOR: '1' }
}

/** The same with variables of the environment. */
export function sluiceWith(variables: Readonly<Record<string, string>>, home: string, ...args: string[]): RunningCommand {
  const child = spawn(process.execPath, [path.join(root, 'bin/launch.mjs'), ...args], {
    cwd: home,
    env: environmentWith(variables),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      for (const look of waiting) look()
    })
  }
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  )
  return {
    child,
    ended,
    printed: () => text,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(text)
          if (!found) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        void ended.then(() => reject(new Error(`It ended before it printed ${pattern}:\n${text}`)))
        look()
      }),
  }
}

interface FinishedCommand {
  code: number | null
  /** Both streams. */
  said: string
}

/**
 * Types commands that end by themselves, for the tests of the surrounding `describe`: one after another in one process (command-process.mjs), each with
 * the arguments, the folder and the variables that it would have in a process of its own.
 */
export function commandsInOneProcess(): (
  variables: Readonly<Record<string, string>>,
  home: string,
  ...args: string[]
) => Promise<FinishedCommand> {
  let child: ChildProcess
  let last: Promise<unknown> = Promise.resolve()
  before(async () => {
    child = fork(path.join(root, 'test/start/command-process.mjs'), { execArgv: [], env: environmentWith({}) })
    await once(child, 'message')
  })
  after(async () => {
    const ended = once(child, 'exit')
    child.disconnect()
    await ended
  })
  return (variables, home, ...args) => {
    const command = last.then(async (): Promise<FinishedCommand> => {
      const over = new AbortController()
      const broken = once(child, 'exit', { signal: over.signal }).then(() =>
        Promise.reject(new Error(`The process ended: ${args.join(' ')}`)),
      )
      const answered = once(child, 'message', { signal: over.signal })
      child.send({ args, cwd: home, env: environmentWith(variables) })
      const [answer] = await Promise.race([answered, broken]).finally(() => over.abort())
      return answer
    })
    last = command.catch(() => {})
    return command
  }
}

export async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 2_000; tries++) {
    if (await condition()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`never: ${what}`)
}
