import { constants } from 'node:os'
import { Command } from 'commander'
import { ConfigError } from '../config/problems.ts'
import { type Flags } from '../config/settings/overrides.ts'
import { type Settings } from '../config/settings.ts'
import { DevnetError } from '../devnet/devnet-error.ts'
import { StartError } from '../start-error.ts'
import { summary } from './summary.ts'

const endingSignals = ['SIGINT', 'SIGTERM'] as const

interface StartOptions {
  host?: string
  port?: string
  devnet: boolean
  logLevel?: string
}

/** `sluice start`: everything up, a summary, and a clean end at SIGINT and SIGTERM. */
export function startCommand(settingsOf: (flags?: Flags) => Settings): Command {
  return new Command('start')
    .description('start the server')
    .option('--host <address>', 'listen on this address (server.host)')
    .option('--port <number>', 'listen on this port (server.port)')
    .option('--no-devnet', 'without the local chain (devnet.enabled)')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent (log.level)')
    .action(async ({ host, port, devnet, logLevel }: StartOptions) => {
      const settings = settingsOf({
        ...(host !== undefined && { 'server.host': host }),
        ...(port !== undefined && { 'server.port': port }),
        ...(!devnet && { 'devnet.enabled': false }),
        ...(logLevel !== undefined && { 'log.level': logLevel }),
      })
      await start(settings)
    })
}

/** What ending the parts may take after the requests had their time. */
const lastSeconds = 3.5

async function start(settings: Settings): Promise<void> {
  // Only here: the other commands do not need a server to be loaded.
  const { startKernel } = await import('../kernel.ts')
  try {
    const stopping = new AbortController()
    const duringStart = endOnSignal()
    const kernel = await startKernel(settings, { say: (line) => console.log(line) })
    duringStart.over()
    onSignals(stopping)
    console.log(await summary(kernel, settings))
    if (!stopping.signal.aborted) await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve, { once: true }))
    console.log(`\n${String(stopping.signal.reason)}: finishing what is under way (at most ${settings.server.drainSeconds} s) ...`)
    endAtLast(settings.server.drainSeconds)
    await kernel.stop()
    console.log('Stopped.')
    process.exit(0)
  } catch (error) {
    if (error instanceof ConfigError || error instanceof StartError || error instanceof DevnetError)
      console.error(`\nSluice did not start. ${error.message}`)
    else console.error(error)
    process.exit(1)
  }
}

/** What hangs at the end (a disk, a database, a plugin) loses nothing: the journal has what is open. */
function endAtLast(drainSeconds: number): void {
  const end = () => {
    console.error('Something did not stop in time: ended without it. Open transactions are in the journal.')
    process.exit(1)
  }
  setTimeout(end, (drainSeconds + lastSeconds) * 1000).unref()
}

/** Before the server is up there is nothing to finish: whatever the start makes is whole or not there, and every process ends with this one. */
function endOnSignal(): { over(): void } {
  for (const signal of endingSignals) process.on(signal, endAtOnce)
  return { over: () => endingSignals.forEach((signal) => process.off(signal, endAtOnce)) }
}

function endAtOnce(signal: NodeJS.Signals): never {
  console.error(`\n${signal}: ended before the server was up.`)
  process.exit(128 + constants.signals[signal])
}

/** The first signal ends the server in order; a second one of the terminal ends it at once. */
function onSignals(stopping: AbortController): void {
  for (const signal of endingSignals) {
    process.on(signal, () => {
      if (stopping.signal.aborted && signal === 'SIGINT') process.exit(130)
      stopping.abort(signal)
    })
  }
}
