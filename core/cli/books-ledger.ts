// `sluice books ledger`: each change of a balance, as the server streams them, to a file or to the standard output.
import { once } from 'node:events'
import { open, rename, rm } from 'node:fs/promises'
import { Command } from 'commander'
import { streamTypes } from '../api/endpoint.ts'
import type { Settings } from '../config/settings.ts'
import { reasonOf } from '../base/errors.ts'
import { examples, printResult } from './output.ts'
import { addServerOptions, requestedBy, serverOf, type ServerOptions } from './server-options.ts'
import { readFormat } from './tx-export.ts'

interface LedgerOptions extends ServerOptions {
  readonly from?: string
  readonly to?: string
  readonly chain?: string
  readonly network?: string
  readonly wallet?: string
  readonly client?: string
  readonly connector?: string
  readonly kind?: string
  readonly format?: string
  readonly out?: string
}

export function ledgerCommand(settingsOf: () => Settings): Command {
  return addServerOptions(
    new Command('ledger')
      .description('each change of a balance by a final transaction, as CSV: the sum of a wallet and token is the change of its balance')
      .option('--from <date>', 'only what was requested at this date or later, e.g. 2026-03-01 (UTC) or 2026-03-01T12:00Z')
      .option('--to <date>', 'only what was requested before this date')
      .option('--wallet <address>', 'only changes of this wallet')
      .option('--client <name>', 'only what this client asked for')
      .option('--connector <name>', 'only what was done on this connector')
      .option('--kind <kind>', 'only transactions of this kind, e.g. trade')
      .option('--chain <chain>', 'only those on this chain')
      .option('--network <network>', 'only those on networks of this name')
      .option('--format <format>', 'csv or ndjson; without it by the name of the file, else csv')
      .option('--out <file>', 'the file, which has its name once it is whole; without it the standard output'),
  )
    .addHelpText(
      'after',
      examples('books ledger --out ledger.csv', 'books ledger --from 2026-08-01 --to 2026-09-01 --wallet 0x7099… --out august.csv'),
    )
    .action((options: LedgerOptions) => printResult(() => writeLedger(options, settingsOf())))
}

async function writeLedger(options: LedgerOptions, settings: Settings): Promise<string> {
  const { as: _as, url: _url, certs: _certs, format, out, ...filters } = options
  const server = serverOf(settings, options)
  const query = requestedBy(filters)
  const type = streamTypes[format === undefined && !out?.endsWith('.ndjson') ? 'csv' : readFormat({ format, out: out ?? '' })]
  const text = server.stream('/ledger', query, type, new AbortController().signal)
  if (out === undefined) {
    for await (const each of text) if (!process.stdout.write(each)) await once(process.stdout, 'drain')
    return ''
  }
  const unfinished = `${out}.${process.pid}.part`
  try {
    const handle = await open(unfinished, 'wx', 0o600)
    try {
      for await (const each of text) await handle.write(each)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(unfinished, out)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw new Error(`${out} was not written: ${reasonOf(error)}`, { cause: error })
  }
  return `${out} is written.`
}
