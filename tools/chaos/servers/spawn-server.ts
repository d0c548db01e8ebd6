import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Flags } from '../../../core/config/settings.ts'
import { createClient, type Client } from '../../../testkit/client.ts'
import type { Home } from './home.ts'
import { compiledServer } from './compiled-tree.ts'

/** A point in the source, and the how manieth time that the server comes there. */
export interface CodePoint {
  point: string
  nth: number
}

export interface ServerOptions {
  home: Home
  /** Node of the devnet, where it is on one. */
  devnetUrl?: string | undefined
  /** Over those of the home. */
  flags?: Flags
  /** Changes of the source, by name: the defects that the checker must find, or the points where the server kills itself. */
  patches?: readonly string[]
  /** Where the server kills itself. */
  dieAt?: CodePoint
  /** Where the server stops itself, as SIGSTOP does. */
  stopAt?: CodePoint
  /** Of the process, besides what every server has. */
  env?: Readonly<Record<string, string>>
  /** What the command that starts it begins with. */
  prefix?: readonly string[]
  /** Its log goes into this file. */
  logFile?: string
  /** Waits until it answers, though it is not ready. */
  unready?: boolean
}

export interface Server {
  pid: number
  dieAt: CodePoint | undefined
  /** Of the interfaces of plugins that have a port. */
  interfaceUrls: Readonly<Record<string, string>>
  client: Client
  /** One with connections of its own, which end when it is closed. @param name of its certificate */
  newClient(name?: string): Client
  /** From the start of the process until it answered that it is ready. */
  readyInMs: number
  /** Settles when the process is gone, whoever ended it. */
  ended: Promise<unknown>
  hasEnded(): boolean
  /** It ended and nobody had asked it to, or it did not end when it was asked. */
  misbehaved(): boolean
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void
  /** SIGTERM, and until it is gone. */
  stop(): Promise<void>
  /** The end of its log. */
  log(): string
}

/** It came to the point where it was to die before it was ready: while it took up what another one had left. */
export class OrderedDeathError extends Error {}

/** On a machine with much else to do: a start that took longer than it may is told of by `readyInMs`. */
const startTimeoutMs = 240_000
/** It has 10 s, and a busy machine takes its own. */
const stopTimeoutMs = 30_000

/** Starts a server and waits until it is ready. */
export async function spawnServer(options: ServerOptions): Promise<Server> {
  const { home, devnetUrl, flags = {}, patches = [], dieAt, stopAt, env = {}, prefix = [], logFile, unready = false } = options
  const program = await compiledServer(patches)
  const startedAt = performance.now()
  const settings = { confDir: home.confDir, devnetUrl, env: home.env, flags: { ...home.flags, ...flags } }
  const [command, ...args] = [...prefix, process.execPath, program, JSON.stringify(settings)]
  const logTo = logFile === undefined ? 'pipe' : openSync(logFile, 'a')
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', logTo],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TMPDIR: process.env['TMPDIR'],
      CHAOS_DIE_AT: dieAt && `${dieAt.point}#${dieAt.nth}`,
      CHAOS_STOP_AT: stopAt && `${stopAt.point}#${stopAt.nth}`,
      ...env,
    },
  })
  if (typeof logTo === 'number') closeSync(logTo)
  const { pid, stdin, stdout } = child
  if (pid === undefined || !stdin || !stdout) throw new Error('The server did not start.')
  const ended = once(child, 'exit')
  const said: string[] = []
  child.stderr?.setEncoding('utf8').on('data', (text: string) => keep(text))
  // Writing to one that was killed is no error of ours.
  stdin.on('error', () => {})
  let wasAsked = dieAt !== undefined
  let wasForced = false
  const isGone = () => child.exitCode !== null || child.signalCode !== null

  function keep(text: string): void {
    said.push(text)
    if (said.length > 400) said.splice(0, 200)
  }
  const log = () => [logFile !== undefined && existsSync(logFile) ? readFileSync(logFile, 'utf8') : '', ...said].join('').slice(-6000)
  const died = () =>
    dieAt && child.signalCode === 'SIGKILL'
      ? new OrderedDeathError(`The server died ${dieAt.point}, before it was ready.`)
      : new Error(`The server ended (${child.signalCode ?? child.exitCode}) before it was ready. ${log()}`)

  const { url, interfaceUrls } = await new Promise<Pick<Server, 'interfaceUrls'> & { url: string }>((resolve, reject) => {
    createInterface(stdout).on('line', (line) => {
      if (line.startsWith('{"url"')) resolve(JSON.parse(line))
      else keep(`${line}\n`)
    })
    void ended.then(() => reject(died()))
    setTimeout(() => reject(new Error(`The server did not start in ${startTimeoutMs / 1000} s. ${log()}`)), startTimeoutMs).unref()
  })
  const client = createClient(url, home.certsDir)
  const end = performance.now() + startTimeoutMs
  for (;;) {
    if (isGone()) throw died()
    const ready = await client.get('/health/ready').catch(() => undefined)
    if (ready?.status === 200 || (ready && unready)) break
    if (performance.now() > end) throw new Error(`The server was not ready in ${startTimeoutMs / 1000} s: ${ready?.text} ${log()}`)
    await sleep(20)
  }
  const connectors = await client.get('/connectors').catch(() => undefined)
  // One that dies is heard of a moment later.
  if (!connectors) await Promise.race([ended, sleep(10_000, undefined, { ref: false })])
  if (isGone()) throw died()
  if (devnetUrl !== undefined && connectors?.body.uniswap === undefined) throw new Error(`The server has no exchange to trade on. ${log()}`)
  return {
    pid,
    dieAt,
    interfaceUrls,
    client,
    newClient: (name) => createClient(url, home.certsDir, name),
    readyInMs: performance.now() - startedAt,
    ended,
    hasEnded: isGone,
    misbehaved: () => wasForced || (isGone() && !wasAsked),
    signal(name) {
      wasAsked ||= name === 'SIGKILL'
      child.kill(name)
    },
    async stop() {
      if (!isGone()) {
        wasAsked = true
        child.kill('SIGCONT')
        child.kill('SIGTERM')
        const force = setTimeout(() => {
          wasForced = true
          keep(`It did not end within ${stopTimeoutMs / 1000} s of SIGTERM.\n`)
          child.kill('SIGKILL')
        }, stopTimeoutMs)
        await ended
        clearTimeout(force)
      }
      client.close()
    },
    log,
  }
}
