import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import { ask, hasTerminal } from '../wallet/prompt.ts'
import { isYes, printError, say } from './output.ts'

/** `sluice limits`: what the signer lets wallets give away, and its count of what it signed. */
export function limitsCommand(settingsOf: () => Settings): Command {
  const limits = new Command('limits').description("the limits of wallets (conf/limits.yml), and the signer's count of what it signed")
  limits
    .command('reset-count')
    .description('begin a new count, in which nothing was signed yet; before the first start with limits, and where the count is lost')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Stop the server first, and run this as the user that it runs as. Until the next day is over, wallets can give away what they gave away before once
more: look at their transactions first, and lower conf/limits.yml for a day where that is too much.`,
    )
    .action(async ({ yes = false }: { yes?: boolean }) => {
      const { data } = settingsOf()
      const { beginCount, hasCount } = await import('../wallet/limits/count-file.ts')
      if (hasCount(data.dir) && !yes) {
        if (!hasTerminal()) return printError('There is no terminal for the question; give --yes to begin a new count.')
        const question =
          'What the signer counted is lost, and wallets can give away their whole limits again. Begin a new count? Type yes: '
        if (!isYes(await ask(question))) return printError('Nothing was changed.')
      }
      await beginCount(data.dir)
      say(`The signer's count in ${data.dir} begins anew at its next start.`)
    })
  return limits
}
