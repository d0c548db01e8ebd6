// `sluice plugin dev`: while a plugin is written. The devnet and the server stay up in a process of their own; each save is taken up by them, and the
// cards run again.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { styleText } from 'node:util'
import { Command, InvalidArgumentError } from 'commander'
import { isObject } from '../base/json.ts'
import { command, programUrl } from '../base/layout.ts'
import { inspectPlugin, weaklyContained } from '../plugins/index.ts'
import { printable } from '../base/printable.ts'
import { printError } from './output.ts'
import { devnetParts, watchSources } from './watch-sources.ts'

/** What the process that holds the devnet and the server is asked to do. */
export type DevRequest = { readonly do: 'run'; readonly reload: boolean } | { readonly do: 'stop'; readonly reload: boolean }

/** What it tells. */
export type DevNews =
  | {
      readonly is: 'ready'
      readonly url: string
      readonly certsDir: string
      /** Why the plugin's code is not contained here, where it should be. */
      readonly notContained?: string
    }
  /** The plugin was not loaded; the version before goes on where there was one. */
  | { readonly is: 'refused'; readonly step: string; readonly reason: string; readonly remedy: string }
  /** It is neither blocked nor gone. */
  | { readonly is: 'alive' }
  /** A quick one sends no transaction. */
  | { readonly is: 'begins'; readonly title: string; readonly isQuick: boolean }
  | {
      readonly is: 'card'
      readonly title: string
      readonly state: 'passed' | 'failed' | 'not run'
      readonly ms: number
      readonly error?: string
    }
  /** The run is over. */
  | {
      readonly is: 'done'
      readonly example?: string
      readonly processorMs: number
      /** The cards left the devnet such that they cannot run on it again. */
      readonly isUsedUp: boolean
    }
  | { readonly is: 'devnet ended' }
  | { readonly is: 'failed'; readonly why: string }

interface DevOptions {
  readonly trusted?: boolean
  readonly network?: string
  readonly port: number
  readonly inspect?: number | true
}

/** A process that does not even tell that it is alive is blocked by a loop. Hooks and cards have deadlines of their own. */
const silentMs = 75_000
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

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('Give a number from 0 to 65535.')
  return Number(text)
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
  let { port } = options
  let child: ChildProcess | undefined
  let isReady = false
  let isStopping = false
  let isDone = true
  let isUsedUp = false
  let began = performance.now()
  let saidCard = ''
  let counts = { passed: 0, failed: 0, 'not run': 0 }
  let isQuickSaid = false
  let isContainmentSaid = false
  let url = ''
  /** What the running devnet was made of. */
  let deployed = ''
  let certsDir = ''
  let silent: NodeJS.Timeout | undefined
  /** Lines of the log in this run: a plugin may fail at each block. */
  const said = new Set<string>()
  /** Saved while it started. */
  let isStale = false
  /** Runs that were asked for, and those that are over: news of a run that another one follows is not shown. */
  let [asked, over] = [0, 0]
  let fail = () => {}
  const failed = new Promise<void>((resolve) => (fail = resolve))

  const say = (text: string): void => console.log(text)
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(1)} s`

  function start(): void {
    isReady = false
    isStale = false
    isUsedUp = false
    ;[asked, over] = [0, 0]
    deployed = devnetParts(folder)
    const { url: program, flags } = programUrl('testkit/dev-process')
    const inspecting = inspect === undefined ? [] : [`--inspect=127.0.0.1:${inspect}`, '--enable-source-maps']
    const env = {
      ...process.env,
      DEV_FOLDER: folder,
      DEV_HOME: home,
      DEV_PORT: String(port),
      ...(isTrusted && { DEV_TRUSTED: '1' }),
      ...(options.network !== undefined && { DEV_NETWORK: options.network }),
    }
    // A group of its own: Ctrl-C at the terminal is this process' to hear.
    const started = spawn(process.execPath, [...inspecting, ...flags, program.pathname], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
      env,
    })
    child = started
    for (const stream of [started.stdout, started.stderr]) if (stream) readLines(stream)
    started.on('message', (news: DevNews) => {
      if (child === started) hear(news)
    })
    started.once('exit', (code, signal) => {
      if (child === started) ended(code, signal)
    })
    stillThere()
  }

  /** What the server logs of the plugin, and what its code prints. */
  function readLines(stream: Readable): void {
    createInterface({ input: stream }).on('line', (line) => {
      const text = logText(line, name)
      if (text === undefined || said.has(text)) return
      said.add(text)
      say(`    ${styleText('dim', printable(text))}`)
    })
  }

  function stillThere(): void {
    clearTimeout(silent)
    silent = setTimeout(() => {
      // A slow machine, or much to deploy: loading the plugin has a limit of its own.
      if (!isReady) {
        say(`The start takes more than ${silentMs / 1000} s, and goes on. Ctrl-C ends it.`)
        return stillThere()
      }
      say(
        `${saidCard || 'The first card'} has blocked the server for ${silentMs / 1000} s: the server is started anew. Look for a loop that does not end.`,
      )
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
    if (isOld && news.is !== 'devnet ended') return
    switch (news.is) {
      case 'ready':
        isReady = true
        ;({ url, certsDir } = news)
        port = Number(new URL(url).port)
        sayNotContained(news.notContained)
        return run(isStale)
      case 'refused':
        counts.failed += 1
        return say(`  ${bad('✗')} ${name} is refused (${news.step}): ${printable(news.reason)}\n    ${printable(news.remedy)}`)
      case 'begins':
        saidCard = news.title
        if (!news.isQuick && !isQuickSaid) sayQuick()
        return
      case 'card':
        return showCard(news)
      case 'done':
        return showDone(news)
      case 'devnet ended':
        return again('The devnet has ended. It and the server are started anew.')
      case 'failed':
        say(`  ${bad('✗')} ${printable(news.why)}`)
        if (isReady) isDone = true
        clearTimeout(silent)
    }
  }

  function sayNotContained(why: string | undefined): void {
    if (why === undefined || isContainmentSaid) return
    isContainmentSaid = true
    say(`${styleText('yellow', `Nothing contains ${name} here`)}: ${weaklyContained}. ${printable(why)}`)
  }

  function showCard({ title, state, ms, error }: Extract<DevNews, { is: 'card' }>): void {
    counts[state] += 1
    const mark = { passed: styleText('green', '✓'), failed: bad('✗'), 'not run': styleText('dim', '-') }[state]
    say(`  ${mark} ${title} ${styleText('dim', `(${ms} ms)`)}`)
    if (error !== undefined) say(printable(error).replaceAll(/^/gm, '      '))
  }

  function sayQuick(): void {
    isQuickSaid = true
    say(`  quick cards, which send no transaction: ${result()} after ${seconds()}`)
  }

  const result = (): string =>
    `${counts.passed} passed, ${counts.failed > 0 ? bad(`${counts.failed} failed`) : '0 failed'}${counts['not run'] > 0 ? `, ${counts['not run']} not run` : ''}`

  function showDone({ example, processorMs, isUsedUp: used }: Extract<DevNews, { is: 'done' }>): void {
    clearTimeout(silent)
    isDone = true
    isUsedUp ||= used
    say(`  all: ${result()} after ${seconds()} (${(processorMs / 1000).toFixed(1)} s of processor time in the server)`)
    if (example !== undefined) sayExample(example)
    say(`\nWaiting for a save in ${folder}; Ctrl-C ends it.`)
  }

  function sayExample(example: string): void {
    const certs = ['--cacert', 'ca_cert.pem', '--cert', 'client_cert.pem', '--key', 'client_key.pem']
    const curl = ['curl', ...certs.map((each) => (each.startsWith('--') ? each : path.join(certsDir, each)))].join(' ')
    say(`\n${curl} '${url}${example}'`)
  }

  function run(reload: boolean): void {
    counts = { passed: 0, failed: 0, 'not run': 0 }
    isQuickSaid = false
    isDone = false
    saidCard = ''
    asked += 1
    said.clear()
    stillThere()
    child?.send({ do: 'run', reload } satisfies DevRequest)
  }

  function again(why: string): void {
    say(why)
    began = performance.now()
    void stopChild().then(() => {
      if (!isStopping) start()
    })
  }

  function ended(code: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(silent)
    child = undefined
    if (isStopping) return
    if (!isReady && url === '') {
      process.exitCode = 1
      return fail()
    }
    say(
      `  ${bad('✗')} The server's process has ended (${signal ?? code})${isDone ? '' : ` during: ${saidCard || 'the start'}`}. It is started anew after the next save.`,
    )
  }

  async function stopChild(): Promise<void> {
    clearTimeout(silent)
    const stopped = child
    child = undefined
    if (!stopped || stopped.exitCode !== null || stopped.signalCode !== null) return
    const gone = new Promise<void>((resolve) => void stopped.once('exit', () => resolve()))
    stopped.send({ do: 'stop', reload: false } satisfies DevRequest, () => {})
    const force = setTimeout(() => stopped.kill('SIGKILL'), stopMs)
    await gone
    clearTimeout(force)
  }

  began = performance.now()
  say(`Starting the devnet and the server with ${name}${inspect === undefined ? '' : `; the debugger listens at 127.0.0.1:${inspect}`} ...`)
  start()
  return {
    failed,
    changed({ files, isGone }) {
      if (isStopping) return
      if (isGone) return say(`${folder} is gone. Put it there again.`)
      if (process.stdout.isTTY) process.stdout.write('\u001b[2J\u001b[3J\u001b[H')
      began = performance.now()
      say(`\n${new Date().toLocaleTimeString('en-GB')}  ${files.join(', ')}`)
      if (!child) return start()
      if (isTrusted) return again('Its code runs in the server, which is started anew.')
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

const bad = (text: string): string => styleText('red', text)

/** The words of a line of the server's log about the plugin, with the author's line; other lines are what its code printed. */
function logText(line: string, name: string): string | undefined {
  const entry = parsed(line)
  if (!isObject(entry) || typeof entry['msg'] !== 'string') return line
  if (entry['plugin'] !== name || entry['msg'].endsWith(weaklyContained)) return undefined
  // What a host says of itself is text within the server's own line.
  const said = typeof entry['said'] === 'string' ? parsed(entry['said']) : undefined
  const { at, err } = isObject(said) ? said : entry
  const thrown = isObject(err) ? err['message'] : err
  return [at, thrown, entry['msg'], entry['reason']].filter((each) => typeof each === 'string').join(': ')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
