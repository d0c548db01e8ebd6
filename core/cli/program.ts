import { Command } from 'commander'
import { loadSettings, type Settings } from '../config/settings.ts'
import { type Flags } from '../config/settings/overrides.ts'
import { certsCommand } from './certs.ts'
import { chainNames } from './chain-names.ts'
import { devnetCommand } from './devnet.ts'
import { doctorCommand } from './doctor.ts'
import { healthCommand } from './health.ts'
import { pluginCommand } from './plugin.ts'
import { startCommand } from './start.ts'
import { txCommand } from './tx.ts'
import { passphraseFromFile } from '../wallet/prompt.ts'
import { version } from '../version.ts'
import { holdsKey } from '../wallet/keys/secrets.ts'
import { walletCommand, type WalletContext } from './wallet.ts'

interface GlobalOptions {
  conf?: string
  set: Record<string, string>
}

/** The command line. Settings are read when a command needs them: `--help` works with a broken configuration. */
export function program(): Command {
  const root = new Command('sluice')
    .description('One HTTP interface over mutual TLS from trading bots to decentralized exchanges.')
    .version(version)
    .option('--conf <folder>', 'the folder of the configuration (default: conf, or SLUICE_CONF)')
    .option('--set <key=value>', 'a setting for this run, e.g. server.port=9000; may be repeated', readFlag, {} as Record<string, string>)
    .showHelpAfterError('(--help shows what there is)')
    // Commander quotes what it does not understand, and that may be a key.
    .configureOutput({
      outputError: (text, write) =>
        write(
          holdsKey(text)
            ? 'error: what looks like a private key was given as an argument: consider it burnt. See `sluice wallet add --help`.\n'
            : text,
        ),
    })

  const settings = (more: Flags = {}): Settings => {
    const { conf, set } = root.opts<GlobalOptions>()
    return loadSettings({ flags: { ...set, ...more }, ...(conf !== undefined && { confDir: conf }) })
  }

  return root
    .addCommand(startCommand(settings))
    .addCommand(doctorCommand(settings))
    .addCommand(healthCommand(settings))
    .addCommand(txCommand(settings))
    .addCommand(certsCommand(() => settings().ssl.certsDir))
    .addCommand(walletCommand(async () => walletContext(settings())))
    .addCommand(pluginCommand(settings))
    .addCommand(devnetCommand(settings))
}

function readFlag(text: string, flags: Record<string, string>): Record<string, string> {
  const [key = '', ...value] = text.split('=')
  return { ...flags, [key]: value.join('=') }
}

const walletContext = (settings: Settings): WalletContext => ({
  dataDir: settings.data.dir,
  chains: () => chainNames(settings),
  passphrase: passphraseFromFile({ SLUICE_WALLET_PASSPHRASE_FILE: settings.wallet.passphraseFile }),
})
