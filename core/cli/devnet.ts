import { Command } from 'commander'
import type { Flags } from '../config/settings/overrides.ts'
import type { Settings } from '../config/settings.ts'

/** `sluice devnet`: the local chain alone, until it is stopped. */
export function devnetCommand(settingsOf: (flags?: Flags) => Settings): Command {
  return new Command('devnet')
    .description('run the local chain alone, with the exchanges of the loaded plugins deployed on it')
    .option('--port <number>', 'port of its node (devnet.port)')
    .action(async ({ port }: { port?: string }) => {
      const settings = settingsOf(port === undefined ? {} : { 'devnet.port': port })
      const { bringUpDevnet } = await import('../devnet/bring-up.ts')
      const { DevnetError } = await import('../devnet/index.ts')
      try {
        const devnet = await bringUpDevnet(settings, (line) => console.log(line))
        console.log(`The devnet (chain id ${devnet.chainId}) answers at ${devnet.rpcUrl}; Ctrl-C ends it.`)
        const ended = devnet.ended.then(() => 'The devnet ended.')
        const stopped = new Promise<string>((resolve) => {
          for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('Stopped.'))
        })
        const outcome = await Promise.race([ended, stopped])
        await devnet.stop()
        console.log(outcome)
        process.exit(outcome === 'Stopped.' ? 0 : 1)
      } catch (error) {
        if (!(error instanceof DevnetError)) throw error
        console.error(error.message)
        process.exit(1)
      }
    })
}
