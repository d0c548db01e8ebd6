import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import { serverClient, type ServerClient } from './server-client.ts'
import { journalClient, type JournalClient } from './tx/journal-client.ts'
import { listTransactions, transactionTable, type ListOptions } from './tx/list.ts'
import { cancelling, replace, speedingUp, type ReplaceOptions } from './tx/replace.ts'
import { describe, findTransactions } from './tx/show.ts'

interface AccessOptions {
  url?: string
  certs?: string
  client?: string
  json?: true
}

/** A person's certificate first, when there is one: it needs `read`, and `trade` to cancel. */
const clients = ['operator', 'client']

/** `sluice tx list|show|cancel|speed-up`: the journal of a running server, through its own interface. */
export function txCommand(settingsOf: () => Settings): Command {
  const tx = new Command('tx').description('the transactions of a running server: what became of them, and what to do about one')

  const subcommand = (name: string, description: string) =>
    tx
      .command(name)
      .description(description)
      .option('--url <url>', 'the server (default: that of these settings, on this machine)')
      .option('--certs <folder>', 'the folder of the certificates (default: that of these settings)')
      .option('--client <name>', `whose certificate to show (default: ${clients.join(', else ')})`)
      .option('--json', 'print JSON as the server gives it')

  const connect = ({ url, certs, client }: AccessOptions): { server: ServerClient; journal: JournalClient } => {
    const settings = settingsOf()
    const server = serverClient({
      settings,
      clients: client === undefined ? clients : [client],
      // Longer than the server takes at most: its own word is worth waiting for.
      timeoutMs: (settings.server.requestTimeoutSeconds + 5) * 1000,
      ...(url !== undefined && { url }),
      ...(certs !== undefined && { certs }),
    })
    return { server, journal: journalClient(server) }
  }

  subcommand('list', 'list transactions, newest first')
    .option('--open', 'only those that are not final yet')
    .option('--state <state>', 'only those in this state, e.g. BROADCAST')
    .option('--address <address>', 'only those of this wallet')
    .option('--chain <chain>', 'only those on this chain')
    .option('--network <network>', 'only those on networks of this name')
    .option('--limit <number>', 'at most so many', '20')
    .addHelpText('after', examples('tx list --open', 'tx list --chain ethereum --network mainnet --state REVERTED --limit 100 --json'))
    .action((options: ListOptions & AccessOptions) =>
      run(async () => {
        const { server, journal } = connect(options)
        const { transactions, isMore } = await listTransactions(journal, options)
        if (options.json) return JSON.stringify(transactions, null, 2)
        if (transactions.length === 0) return `None that the certificate "${server.as}" may see.`
        return `${transactionTable(transactions, Date.now())}${isMore ? `\nThe newest ${transactions.length}; --limit shows more.` : ''}`
      }),
    )

  subcommand('show', 'show everything about one, and what happens next')
    .argument('<transaction>', 'its hash, the id of its request, or its Idempotency-Key')
    .addHelpText('after', examples('tx show 0x5c50…'))
    .action((given: string, options: AccessOptions) =>
      run(async () => {
        const found = await findTransactions(connect(options).journal, given)
        if (options.json) return JSON.stringify(found, null, 2)
        return found.map((each) => describe(each, Date.now())).join('\n\n')
      }),
    )

  for (const [name, description, way] of [
    ['cancel', 'replace one that is pending by one that does nothing', cancelling],
    ['speed-up', 'sign one that is pending again, at higher fees', speedingUp],
  ] as const) {
    subcommand(name, description)
      .argument('<transaction>', 'its hash, or the id of its request')
      .option('--max-fee <gwei>', 'the most to pay per gas (default: the least that replaces it, or what the network asks)')
      .option('--tip <gwei>', 'the tip per gas')
      .option('--yes', 'do not ask')
      .addHelpText('after', examples(`tx ${name} 0x5c50…`, `tx ${name} 0x5c50… --max-fee 90 --tip 2 --yes`))
      .action((given: string, options: ReplaceOptions & AccessOptions) =>
        run(async () => {
          const { said, ...answer } = await replace(connect(options).journal, given, way, options)
          return options.json ? JSON.stringify(answer) : said
        }),
      )
  }
  return tx
}

const examples = (...lines: string[]) => `\nFor example:\n${lines.map((line) => `  sluice ${line}`).join('\n')}`

async function run(action: () => Promise<string>): Promise<void> {
  try {
    process.stdout.write(`${await action()}\n`)
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
