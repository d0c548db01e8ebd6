import { Command } from 'commander'
import { StartError } from '../config/problems.ts'
import { loadSettings, type Settings, type Flags } from '../config/settings.ts'
import { command, version } from '../base/layout.ts'
import { oneLine } from '../base/printable.ts'
import { containsKey } from '../keys/curves.ts'
import { passphraseForSeals } from '../keys/get-passphrase.ts'
import { complain, say, showFinding } from './output.ts'
import type { WalletContext } from './wallet.ts'
import { reasonOf } from '../base/errors.ts'

interface GlobalOptions {
  home?: string
  conf?: string
  set: Record<string, string>
}

type SettingsOf = (flags?: Flags) => Settings

/** Each command, and how it is loaded: what one needs, another would load for nothing. */
const commands: Readonly<Record<string, (settings: SettingsOf) => Command | Promise<Command>>> = {
  start: async (settings) => (await import('./start.ts')).startCommand(settings),
  doctor: doctorCommand,
  health: healthCommand,
  stop: async (settings) => (await import('./stop.ts')).stopCommand('stop', settings),
  'reduce-only': async (settings) => (await import('./stop.ts')).stopCommand('reduce-only', settings),
  resume: async (settings) => (await import('./stop.ts')).resumeCommand(settings),
  alerts: async (settings) => (await import('./alerts.ts')).alertsCommand(settings),
  approve: async (settings) => (await import('./approve.ts')).approveCommand(settings),
  approvals: async (settings) => (await import('./approvals.ts')).approvalsCommand(settings),
  tx: async (settings) => (await import('./tx.ts')).txCommand(settings),
  books: async (settings) => (await import('./books.ts')).booksCommand(settings),
  positions: async (settings) => (await import('./positions.ts')).positionsCommand(settings),
  certs: async (settings) => (await import('./certs.ts')).certsCommand(() => settings().ssl.certsDir),
  proxy: async (settings) => (await import('./proxy.ts')).proxyCommand(settings),
  dashboard: async (settings) => (await import('./dashboard.ts')).dashboardCommand(settings),
  wallet: async (settings) => (await import('./wallet.ts')).walletCommand(async () => walletContext(settings())),
  hummingbot: async (settings) => {
    const { hummingbotCommand } = await import('./hummingbot.ts')
    return hummingbotCommand(async () => ({ settings: settings(), wallets: await walletContext(settings()) }), settings)
  },
  limits: async (settings) => (await import('./limits.ts')).limitsCommand(settings),
  signer: async (settings) => (await import('./signer.ts')).signerCommand(settings),
  plugin: async (settings) => (await import('./plugin.ts')).pluginCommand(settings),
  'plugin-host': async (settings) => (await import('./plugin-host.ts')).pluginHostCommand(settings),
  devnet: devnetCommand,
}

/**
 * The command line, with the commands that the arguments name, or else with all of them. Commands read the settings when they need them, so
 * that `--help` works with a wrong configuration.
 */
export async function program(args: readonly string[]): Promise<Command> {
  const root = new Command(command)
    .description('One HTTP interface over mutual TLS from trading bots to decentralized exchanges.')
    .version(version)
    .option('--home <folder>', 'the folder with conf, certs and data (default: this one, or SLUICE_HOME)')
    .option('--conf <folder>', 'the folder of the configuration (default: conf in the home, or SLUICE_CONF)')
    .option('--set <key=value>', 'a setting for this run, e.g. server.port=9000; may be repeated', readFlag, {} as Record<string, string>)
    .showHelpAfterError('(--help shows the commands and options)')
    // Commander quotes unknown arguments, which may be keys.
    .configureOutput({
      outputError: (text, write) =>
        write(
          containsKey(text)
            ? `error: an argument looks like a private key. It is compromised now: see \`${command} wallet add --help\`.\n`
            : text,
        ),
    })

  const settings = (more: Flags = {}): Settings => {
    const { home, conf, set } = root.opts<GlobalOptions>()
    return loadSettings({ flags: { ...set, ...more }, ...(home !== undefined && { home }), ...(conf !== undefined && { confDir: conf }) })
  }

  const named = Object.entries(commands).filter(([name]) => args.includes(name))
  for (const [, load] of named.length > 0 ? named : Object.entries(commands)) root.addCommand(await load(settings))
  return root
}

function readFlag(text: string, flags: Record<string, string>): Record<string, string> {
  const [key = '', ...value] = text.split('=')
  return { ...flags, [key]: value.join('=') }
}

async function walletContext(settings: Settings): Promise<WalletContext> {
  const { installedChains } = await import('./chains.ts')
  const { passphraseFromFile } = await import('../keys/get-passphrase.ts')
  const passphrase = passphraseFromFile({ SLUICE_WALLET_PASSPHRASE_FILE: settings.wallet.passphraseFile })
  const { socket } = settings.signer
  return {
    dataDir: settings.data.dir,
    chains: async () => new Map([...(await installedChains(settings))].map(([name, { curve }]) => [name, curve])),
    ...(passphrase !== undefined && { passphrase }),
    ...(socket !== undefined && { signerSocket: socket }),
  }
}

/** The certificate `health` needs no permission but `read`; without it, the one made in set-up is used. */
const clients = ['health', 'client']

interface Health {
  ok: boolean
  what: string
}

/** `sluice health`: asks the running server for its health over mutual TLS, and exits with 0 or 1. For supervisors. */
function healthCommand(settingsOf: () => Settings): Command {
  return new Command('health')
    .description('ask the running server whether it is alive; exits with 1 when not')
    .option('--ready', 'ask whether it can serve: with the store, the signer and every required network')
    .option('--timeout <seconds>', 'how long to wait for the answer', '4')
    .addHelpText(
      'after',
      `\nUses the certificate of the client "health" if it exists (${command} certs new health), else that of "client".`,
    )
    .action(async ({ ready, timeout }: { ready?: true; timeout: string }) => {
      const { ok, what } = await askHealth(settingsOf(), ready ? '/health/ready' : '/health/live', Number(timeout) * 1000)
      say(what)
      process.exit(ok ? 0 : 1)
    })
}

async function askHealth(settings: Settings, target: string, timeoutMs: number): Promise<Health> {
  try {
    const { serverClient } = await import('./server-client.ts')
    const { status, text } = await serverClient({ settings, clients, timeoutMs }).get(target)
    return { ok: status === 200, what: text }
  } catch (error) {
    return { ok: false, what: reasonOf(error) }
  }
}

/** `sluice doctor`: shows what is wrong and what to do about it; exits with 1 when something must be done. */
function doctorCommand(settingsOf: () => Settings): Command {
  return new Command('doctor')
    .description('check configuration, certificates, keystore, store, plugins, nodes, disk and clock')
    .option('--all', 'ask the nodes of every network, also of those that conf/chains does not name')
    .action(async ({ all = false }: { all?: boolean }) => {
      const settings = settingsOf()
      const { examine } = await import('./doctor.ts')
      const findings = await examine(settings, { all })
      say(findings.map(showFinding).join('\n'))
      const bad = findings.filter(({ state }) => state === 'bad').length
      say(bad === 0 ? '\nNothing stops the server from starting.' : `\n${bad} ${bad === 1 ? 'thing' : 'things'} to mend.`)
      process.exit(bad === 0 ? 0 : 1)
    })
}

/** `sluice devnet`: runs the local chain without a server until it is stopped. */
async function devnetCommand(settingsOf: (flags?: Flags) => Settings): Promise<Command> {
  const { programsCommand } = await import('./devnet-programs.ts')
  return new Command('devnet')
    .addCommand(programsCommand())
    .description('run the local chain alone, with the exchanges of the loaded plugins deployed on it')
    .option('--port <number>', 'port of its node (devnet.port)')
    .action(async ({ port }: { port?: string }) => {
      const settings = settingsOf(port === undefined ? {} : { 'devnet.port': port })
      const [{ bringUpDevnet }, { allowedForCommand }] = await Promise.all([
        import('../devnet/start-devnet.ts'),
        import('../plugins/index.ts'),
      ])
      try {
        const allowed = await allowedForCommand(settings, passphraseForSeals(settings.wallet))
        for (const { name, reason, remedy } of allowed.refused) say(oneLine(`${name} is left out: ${reason}. ${remedy}`))
        const devnet = await bringUpDevnet(settings, say, { allowed })
        say(`The devnet (chain id ${devnet.chainId}) answers at ${devnet.rpcUrl}; Ctrl-C ends it.`)
        const ended = devnet.ended.then(() => 'The devnet ended.')
        const stopped = new Promise<string>((resolve) => {
          for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('Stopped.'))
        })
        const outcome = await Promise.race([ended, stopped])
        await devnet.stop()
        say(outcome)
        process.exit(outcome === 'Stopped.' ? 0 : 1)
      } catch (error) {
        if (!(error instanceof StartError)) throw error
        complain(error.message)
        process.exit(1)
      }
    })
}
