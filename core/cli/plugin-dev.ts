// `sluice plugin dev`: while a plugin is written. The devnet and the server stay up in a process of their own; each save is taken up by them, and the
// cards run again.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Command } from 'commander'
import { command, programUrl } from '../base/layout.ts'
import { inspectPlugin } from '../plugins/index.ts'
import { printable } from '../base/printable.ts'
import { bad, createRunReport, silentMs, type DevNews } from './dev-report.ts'
import { printError } from './output.ts'
import { devnetParts, watchSources } from './watch-sources.ts'
import { portOf } from './proxy.ts'

/** What the process that holds the devnet and the server is asked to do. */
export type DevRequest = { readonly do: 'run'; readonly reload: boolean } | { readonly do: 'stop'; readonly isLast: boolean }

interface DevOptions {
  readonly trusted?: boolean
  readonly network?: string
  readonly port: number
  readonly inspect?: number | true
}

interface ProcessOptions extends DevOptions {
  readonly addresses: Addresses
}

/** Where the server and the plugin's interface listen: the same after each start. */
interface Addresses {
  readonly port: number
  /** 0: any. */
  readonly interfacePort: number
  /** Where requests for the plugin go; empty before the first start. */
  readonly url: string
  readonly certsDir: string
  /** Listeners are opened when a server starts. */
  readonly isInterface: boolean
}

/** What the process gets to stop. */
const stopMs = 5_000

export function devCommand(): Command {
  return new Command('dev')
    .description('while you write a plugin: devnet and server stay up, and each save runs the contract tests again')
    .argument('<folder>', "the plugin's folder")
    .option('--network <name>', 'for a chain: its network that has a node here')
    .option('--port <number>', 'where the server listens (default: any free port, the same until the end)', portOf, 0)
    .option('--trusted', 'run its code with your rights: for what cannot be contained, such as chains and exchanges of signed actions')
    .option('--inspect [port]', 'open the debugger of Node on this port of 127.0.0.1; the code runs with your rights', portOf)
    .action((folder: string, options: DevOptions) => develop(path.resolve(folder), options))
}

const usualInspectPort = 9229

async function develop(folder: string, options: DevOptions): Promise<void> {
  const problem = problemWith(folder)
  if (problem !== undefined) return printError(problem)
  const home = await mkdtemp(path.join(tmpdir(), 'sluice-dev-'))
  const session = createSession(folder, home, options)
  const watching = watchSources(folder, (change) => session.changed(change))
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const each of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(each, () => resolve(each))
    void session.failed.then(() => resolve('SIGTERM'))
  })
  watching.stop()
  // Asked twice, it ends at once: the process ends with its channel.
  if (signal === 'SIGINT') process.once('SIGINT', () => process.exit(130))
  await session.stop()
  await rm(home, { recursive: true, force: true })
  process.exit(process.exitCode ?? 0)
}

/** Why the folder is not that of a plugin, with what to do. */
export function problemWith(folder: string): string | undefined {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    return `There is no folder ${folder}. Name the plugin's folder, or write a new one: ${command} plugin new my-exchange --kind amm`
  try {
    inspectPlugin(folder)
    return undefined
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return `${folder}: ${error.message}. ${'remedy' in error ? String(error.remedy) : ''}`.trim()
  }
}

/** The process that holds the devnet and the server. */
function startProcess(
  folder: string,
  home: string,
  { addresses: { port, interfacePort }, trusted, network, inspect }: ProcessOptions,
): ChildProcess {
  const { url: program, flags } = programUrl('testkit/dev-process')
  const inspecting = typeof inspect === 'number' ? [`--inspect=127.0.0.1:${inspect}`, '--enable-source-maps'] : []
  const env = {
    ...process.env,
    DEV_FOLDER: folder,
    DEV_HOME: home,
    DEV_PORT: String(port),
    DEV_INTERFACE_PORT: String(interfacePort),
    ...(trusted && { DEV_TRUSTED: '1' }),
    ...(network !== undefined && { DEV_NETWORK: network }),
  }
  // A group of its own: Ctrl-C at the terminal is this process' to hear.
  return spawn(process.execPath, [...inspecting, ...flags, program.pathname], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
    env,
  })
}

/** @param isLast no other one follows, so that it removes the home: this process may be killed before it does */
async function endProcess(child: ChildProcess, isLast: boolean): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  child.send({ do: 'stop', isLast } satisfies DevRequest, () => {})
  const force = setTimeout(() => child.kill('SIGKILL'), stopMs)
  await gone
  clearTimeout(force)
}

const addressesOf = (
  { url, interfaceUrl, certsDir }: Extract<DevNews, { is: 'ready' }>,
  { interfacePort }: Pick<Addresses, 'interfacePort'>,
): Addresses => ({
  port: Number(new URL(url).port),
  interfacePort: interfaceUrl === undefined ? interfacePort : Number(new URL(interfaceUrl).port),
  url: interfaceUrl ?? url,
  certsDir,
  isInterface: interfaceUrl !== undefined,
})

const startsAnew = 'Interfaces are taken up when a server starts: devnet and server are started anew.'

interface Session {
  changed(change: { readonly files: readonly string[]; readonly isGone: boolean }): void
  /** Settles where there is nothing to go on with. */
  readonly failed: Promise<void>
  stop(): Promise<void>
}

function createSession(folder: string, home: string, options: DevOptions): Session {
  const name = path.basename(folder)
  const inspect = options.inspect === true ? usualInspectPort : options.inspect
  /** Its code runs in the server's process, which has to be a new one for other code. */
  const isTrusted = options.trusted === true || inspect !== undefined
  let addresses: Addresses = { port: options.port, interfacePort: 0, url: '', certsDir: '', isInterface: false }
  let child: ChildProcess | undefined
  let isReady = false
  let isStopping = false
  let isDone = true
  let isUsedUp = false
  const report = createRunReport(folder, name)
  /** What the running devnet was made of. */
  let deployed = ''
  let silent: NodeJS.Timeout | undefined
  /** Saved while it started. */
  let isStale = false
  /** Runs that were asked for, and those that are over: news of a run that another one follows is not shown. */
  let [asked, over] = [0, 0]
  let fail = () => {}
  const failed = new Promise<void>((resolve) => (fail = resolve))

  function start(): void {
    ;[isReady, isStale, isUsedUp] = [false, false, false]
    ;[asked, over] = [0, 0]
    deployed = devnetParts(folder)
    const started = startProcess(folder, home, { ...options, addresses, trusted: isTrusted, inspect })
    child = started
    for (const stream of [started.stdout, started.stderr]) if (stream) createInterface({ input: stream }).on('line', report.line)
    started.on('message', (news: DevNews) => {
      if (child === started) hear(news)
    })
    started.once('exit', (code, signal) => {
      if (child === started) ended(code, signal)
    })
    stillThere()
  }

  function stillThere(): void {
    clearTimeout(silent)
    silent = setTimeout(() => {
      // A slow machine, or much to deploy: loading the plugin has a limit of its own.
      if (!isReady) {
        console.log(`The start takes more than ${silentMs / 1000} s, and goes on. Ctrl-C ends it.`)
        return stillThere()
      }
      report.blocked()
      child?.kill('SIGKILL')
    }, silentMs)
  }

  function hear(news: DevNews): void {
    if (news.is === 'alive') {
      if (isReady && !isDone) stillThere()
      return
    }
    stillThere()
    const isOld = over + 1 < asked
    if (news.is === 'done' || (news.is === 'failed' && isReady)) over += 1
    if (isOld && news.is !== 'devnet ended' && news.is !== 'needs a start') return
    switch (news.is) {
      case 'ready':
        isReady = true
        addresses = addressesOf(news, addresses)
        report.notContained(news.notContained)
        return isStale && addresses.isInterface ? again(startsAnew) : run(isStale)
      case 'refused':
        return report.refused(news)
      case 'begins':
        return report.begins(news)
      case 'card':
        return report.card(news)
      case 'done':
        clearTimeout(silent)
        isDone = true
        isUsedUp ||= news.isUsedUp
        return report.done(news, addresses)
      case 'needs a start':
        return again(startsAnew)
      case 'devnet ended':
        return again('The devnet has ended. It and the server are started anew.')
      case 'failed':
        console.log(`  ${bad('✗')} ${printable(news.why)}`)
        if (isReady) isDone = true
        clearTimeout(silent)
    }
  }

  function run(reload: boolean): void {
    report.reset()
    isDone = false
    asked += 1
    stillThere()
    child?.send({ do: 'run', reload } satisfies DevRequest)
  }

  function again(why: string): void {
    console.log(why)
    report.start()
    void stopChild().then(() => {
      if (!isStopping) start()
    })
  }

  function ended(code: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(silent)
    child = undefined
    if (isStopping) return
    if (!isReady && addresses.url === '') {
      process.exitCode = 1
      return fail()
    }
    report.ended(signal ?? code, isDone)
  }

  async function stopChild(): Promise<void> {
    clearTimeout(silent)
    const stopped = child
    child = undefined
    if (stopped) await endProcess(stopped, isStopping)
  }

  console.log(
    `Starting the devnet and the server with ${name}${inspect === undefined ? '' : `; the debugger listens at 127.0.0.1:${inspect}`} ...`,
  )
  start()
  return {
    failed,
    changed({ files, isGone }) {
      if (isStopping) return
      if (isGone) return console.log(`${folder} is gone. Put it there again.`)
      if (process.stdout.isTTY) process.stdout.write('\u001b[2J\u001b[3J\u001b[H')
      report.start()
      console.log(`\n${new Date().toLocaleTimeString('en-GB')}  ${files.join(', ')}`)
      if (!child) return start()
      if (isTrusted) return again('Its code runs in the server, which is started anew.')
      if (addresses.isInterface && isReady) return again(startsAnew)
      if (devnetParts(folder) !== deployed) return again('What it deploys has changed: devnet and server are started anew.')
      if (isUsedUp) return again('The cards could not put back what they changed on the devnet: it and the server are started anew.')
      if (isReady) run(true)
      else isStale = true
    },
    async stop() {
      isStopping = true
      await stopChild()
    },
  }
}
