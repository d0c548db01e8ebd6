import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import { verifyCommand } from './books-verify.ts'

/** `sluice books`: what wallets hold, held against what the journal says, by the running server. */
export function booksCommand(settingsOf: () => Settings): Command {
  return (
    new Command('books')
      .description('what wallets hold, held against the chain by the running server: verify')
      // An option behind a subcommand is the subcommand's own.
      .enablePositionalOptions()
      .addCommand(verifyCommand(settingsOf))
  )
}
