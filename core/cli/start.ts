import { constants } from 'node:os'
import { inspect } from 'node:util'
import { Command } from 'commander'
import { pause } from '../base/async.ts'
import { ConfigError, StartError } from '../config/problems.ts'
import { unusedProxy, type Flags, type Settings } from '../config/settings.ts'
import { refuseCoreFiles } from '../base/core-files.ts'
import type { Kernel } from '../kernel.ts'
import { complain, say } from './output.ts'
import { pluginLines, readyLine, summary } from './start-summary.ts'

const endingSignals = ['SIGINT', 'SIGTERM'] as const
/** They would end the process without a word, or, as SIGUSR1, open a debugger. */
const ignoredSignals = ['SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const

interface StartOptions {
  host?: string
  port?: string
  devnet?: boolean
  only?: string
  logLevel?: string
}

/** `sluice start`: starts the server, prints a summary, and stops the server in order at SIGINT and SIGTERM. */
export function startCommand(settingsOf: (flags?: Flags) => Settings): Command {
  return new Command('start')
    .description('start the server')
    .option('--host <address>', 'listen on this address (server.host)')
    .option('--port <number>', 'listen on this port (server.port)')
    .option('--devnet', 'with the local chain, on which everything can be tried (devnet.enabled)')
    .option('--no-devnet', 'without the local chain')
    .option('--only <chains>', 'with ethereum, or more chains with commas between them, in place of all local networks (devnet.only)')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent (log.level)')
    .action(async ({ host, port, devnet, only, logLevel }: StartOptions) => {
      const flags = {
        ...(host !== undefined && { 'server.host': host }),
        ...(port !== undefined && { 'server.port': port }),
        ...(devnet !== undefined && { 'devnet.enabled': devnet }),
        ...(only !== undefined && { 'devnet.only': only }),
        ...(logLevel !== undefined && { 'log.level': logLevel }),
      }
      await start(() => settingsOf(flags))
    })
}

/** How long the parts may take to stop after the requests were drained. */
const stopSeconds = 3.5

async function start(readSettings: () => Settings): Promise<void> {
  let settings = readSettings()
  goOnUnheard()
  // Loaded here, so that other commands do not load a server.
  const [{ startKernel }, { closeToOthers, makeConf, refuseBeforeStart }] = await Promise.all([import('../kernel.ts'), import('./home.ts')])
  try {
    const stopping = new AbortController()
    const duringStart = endOnSignal()
    await refuseBeforeStart(settings)
    if (await closeToOthers(settings.data.dir)) say(`${settings.data.dir} was open to every user: it is not any more.`)
    if (await makeConf(settings)) {
      say(`Made the default configuration in ${settings.confDir}.`)
      settings = readSettings()
    }
    const exposed = refuseCoreFiles()
    if (exposed !== undefined) complain(`Warning: ${exposed}.`)
    const proxy = unusedProxy(process.env)
    if (proxy !== undefined) complain(`Warning: ${proxy}.`)
    const kernel = await startKernel(settings, { print: say })
    duringStart.over()
    onSignals(stopping, kernel.log)
    const failing = await failingAfter(kernel, firstWaitMs, stopping.signal)
    const late = new Set(kernel.services.registry.plugins.filter(({ state }) => state === 'pending').map(({ name }) => name))
    say(await summary(kernel, settings, failing))
    if (failing.length > 0)
      void failingAfter(kernel, Infinity, stopping.signal).then(() => {
        if (!stopping.signal.aborted) say(`\n${readyLine(kernel)}`)
      })
    if (late.size > 0)
      void kernel.pluginsLoaded.then(() => {
        if (!stopping.signal.aborted) say(pluginLines(kernel, late).join('\n'))
      })
    if (!stopping.signal.aborted) await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve, { once: true }))
    say(`\n${String(stopping.signal.reason)}: finishing what is under way (at most ${settings.server.drainSeconds} s) ...`)
    endAtLast(settings.server.drainSeconds)
    await kernel.stop()
    say('Stopped.')
    process.exit(0)
  } catch (error) {
    if (error instanceof ConfigError || error instanceof StartError) complain(`\nSluice did not start. ${error.message}`)
    else complain(inspect(error))
    process.exit(1)
  }
}

/** What the server prints is for people. Where it cannot be written (a full disk, a closed terminal), the server goes on. */
function goOnUnheard(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** Ends the process where a part hangs (a disk, a database, a plugin). Nothing is lost: open transactions are in the journal. */
function endAtLast(drainSeconds: number): void {
  const end = () => {
    complain('A part did not stop in time, so the process ends without it. Open transactions are in the journal.')
    process.exit(1)
  }
  setTimeout(end, (drainSeconds + stopSeconds) * 1000).unref()
}

/**
 * Until the server is up, a signal ends the process at once: the start writes files whole or not at all, and child processes end with this
 * one.
 */
function endOnSignal(): { over(): void } {
  const signals = [...endingSignals, 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, endAtOnce)
  return { over: () => signals.forEach((signal) => process.off(signal, endAtOnce)) }
}

function endAtOnce(signal: NodeJS.Signals): never {
  complain(`\n${signal}: ended before the server was up.`)
  process.exit(128 + constants.signals[signal])
}

/** The first signal stops the server in order; a second SIGINT ends the process at once. */
function onSignals(stopping: AbortController, log: Kernel['log']): void {
  for (const signal of endingSignals) {
    process.on(signal, () => {
      if (stopping.signal.aborted && signal === 'SIGINT') process.exit(130)
      stopping.abort(signal)
    })
  }
  for (const signal of ignoredSignals) {
    process.on(signal, () =>
      log.warn(`${signal} ignored: changed certificates are loaded without it, other changes need a restart; SIGTERM stops the server`),
    )
  }
}

/** The required networks connect in this time where their nodes are well. */
const firstWaitMs = 2_000
const lookMs = 500

/** What keeps the server from being ready: as soon as that is nothing, or when the time is over. Never rejects. */
async function failingAfter({ services }: Kernel, waitMs: number, signal: AbortSignal): ReturnType<Kernel['services']['failing']> {
  const until = performance.now() + waitMs
  for (;;) {
    const failing = await services.failing()
    if (failing.length === 0 || signal.aborted || performance.now() >= until) return failing
    await pause(lookMs, signal, { ref: false }).catch(() => {})
  }
}
