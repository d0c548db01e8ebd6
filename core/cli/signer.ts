import { chmod, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { createLog } from '../config/log.ts'
import { ConfigError, StartError } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { complain, printError, say } from './output.ts'
import { reasonOf } from '../base/errors.ts'

/** `sluice signer`: holds the keys as a user of its own, and signs for the servers that connect to its socket, until it is stopped. */
export function signerCommand(settingsOf: () => Settings): Command {
  return new Command('signer')
    .description('sign for servers that run as another user: with the keys, limits and count of a home of its own')
    .option('--socket <file>', 'the Unix socket that servers connect to (their setting signer.socket)')
    .addHelpText(
      'after',
      `
It reads conf (limits.yml, clients.yml, server.yml, chains, connectors, tokens) and sluice.lock of its own --home and --conf, and has the keystore, the
count and the stop files in its data folder. Its user's group is that of the servers, and nobody else's: who may connect may have everything signed
that its policy and limits allow. See docs/operators/signer.md.`,
    )
    .action(async ({ socket: given }: { socket?: string }) => {
      const settings = settingsOf()
      const socket = given === undefined ? settings.signer.socket : path.resolve(given)
      if (socket === undefined) return printError('Name the socket: --socket <file>, or signer.socket.')
      try {
        const stop = await begin(settings, socket)
        await new Promise<void>((resolve) => {
          for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
        })
        await stop()
        process.exit(0)
      } catch (error) {
        if (!(error instanceof StartError) && !(error instanceof ConfigError)) throw error
        complain(`\nThe signer did not start. ${error.message}`)
        process.exit(1)
      }
    })
}

/** @returns what stops it @throws StartError, ConfigError */
async function begin(asRead: Settings, socket: string): Promise<() => Promise<void>> {
  for (const signal of ['SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})
  const [
    { askPassphrase, limitsAtStart, openKeys, serviceFiles },
    { unboundWallets },
    { closeWrongAddresses },
    { changerWords, findChangers },
    { startSignerService },
    { lockStore },
  ] = await Promise.all([
    import('../wallet/signing.ts'),
    import('../wallet/signing-networks.ts'),
    import('../config/wrong-addresses.ts'),
    import('../wallet/service/bound.ts'),
    import('../wallet/service/service.ts'),
    import('../store/embedded.ts'),
  ])
  const settings = closeWrongAddresses(asRead)
  const { data } = settings
  // Its own keys: the setting is the servers'.
  const own = { ...settings, signer: {} }
  await closeFolder(data.dir)
  const lock = lockFolder(lockStore, data.dir)
  try {
    const log = createLog({ settings })
    for (const { closed, ...why } of settings.closed) log.error(why, `a right in conf is wrong: ${closed}`)
    const { limits, doubtful } = limitsAtStart(settings.confDir)
    const limited = Object.keys(limits).length
    const changers = findChangers(settings)
    const signer = await openKeys({ settings: own, log, passphrase: await askPassphrase(own), files: serviceFiles(settings) })
    const service = await startSignerService({
      socket,
      signer,
      facts: { limits: limited, changers: changers.slice(0, maxTold) },
      log,
    }).catch(async (error: unknown) => {
      await signer.stop()
      throw error
    })
    say(`Signs for the servers that connect to ${socket}, with ${signer.wallets().length} wallets. conf/limits.yml bounds ${limited}.`)
    for (const each of changers) complain(`Warning: ${changerWords(each)}`)
    for (const each of [...settings.warnings, ...doubtful, ...unboundWallets(limits, signer), ...signer.locked()])
      complain(`Warning: ${each}`)
    return async () => {
      await service.stop()
      lock.release()
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

const maxTold = 100

/** Nobody else reads what is in it. @throws StartError */
async function closeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const { mode, uid } = await stat(folder)
    if ((mode & 0o077) === 0) return
    if (uid !== process.getuid?.()) throw new Error('it belongs to another user')
    await chmod(folder, mode & 0o700)
    say(`${folder} was open to other users: it is not any more.`)
  } catch (error) {
    throw new StartError(`The signer needs the folder ${folder} (data.dir) for itself: ${reasonOf(error)}.`)
  }
}

/** One process signs by a count. @throws StartError */
function lockFolder(lockStore: (dataDir: string, name: string) => { release(): void }, dataDir: string): { release(): void } {
  try {
    return lockStore(dataDir, 'sluice signer')
  } catch (error) {
    throw new StartError(reasonOf(error))
  }
}
