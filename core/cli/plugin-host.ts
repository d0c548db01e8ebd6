import path from 'node:path'
import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import { complain, printError, say } from './output.ts'
import { reasonOf } from '../base/errors.ts'

/** `sluice plugin-host`: starts processes of plugins for servers that cannot contain them, until it is stopped. */
export function pluginHostCommand(settingsOf: () => Settings): Command {
  return new Command('plugin-host')
    .description('contain plugins for servers in containers: starts their processes, each as a user of its own, without network')
    .option('--socket <file>', 'the Unix socket that servers connect to (plugins.hostSocket)')
    .option('--copies <folder>', "the servers' copies of plugins, read-only (default: plugins in data.dir)")
    .addHelpText(
      'after',
      `
It runs in a container of its own, as root with the capabilities SETUID, SETGID and SETPCAP and no others, and without a network: see
docker-compose.yml. It never sees the configuration, keys or other data.`,
    )
    .action(async (options: { socket?: string; copies?: string }) => {
      const socket = options.socket ?? settingsOf().plugins.hostSocket
      if (socket === undefined) return printError('Name the socket: --socket <file>, or plugins.hostSocket.')
      const { startPluginHost } = await import('../plugins/isolate/service.ts')
      try {
        const service = await startPluginHost({
          socket: path.resolve(socket),
          folder: path.resolve(options.copies ?? path.join(settingsOf().data.dir, 'plugins')),
          log: say,
        })
        await new Promise<void>((resolve) => {
          for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
        })
        await service.stop()
        process.exit(0)
      } catch (error) {
        complain(reasonOf(error))
        process.exit(1)
      }
    })
}
