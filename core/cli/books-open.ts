// `sluice books open`: writes what a wallet held before the journal begins, and what it had cost, into conf/server.yml.
import path from 'node:path'
import { Command } from 'commander'
import { openingForm, readOpening } from '../config/openings.ts'
import type { Settings } from '../config/settings.ts'
import { createConfEdits } from './conf-edits.ts'
import { examples, printResult } from './output.ts'

interface OpenOptions {
  readonly at: string
  readonly network: string
  readonly wallet: string
  readonly held: string
  readonly cost: string
}

export function openCommand(settingsOf: () => Settings): Command {
  return new Command('open')
    .description('writes what a wallet held before the journal begins, with its cost, into books.opening of conf/server.yml')
    .requiredOption('--at <date>', 'from when on it counts, e.g. 2026-01-01 (UTC): it has no part in a book that begins later')
    .requiredOption('--network <chain/network>', 'where, e.g. ethereum/mainnet')
    .requiredOption('--wallet <address>', 'the wallet')
    .requiredOption('--held <amount-token>', 'how much of which token, e.g. "2 WETH"')
    .requiredOption('--cost <amount-token>', 'what all of it had cost, e.g. "6000 USDC"')
    .addHelpText(
      'after',
      examples('books open --at 2026-01-01 --network ethereum/mainnet --wallet 0x7099… --held "2 WETH" --cost "6000 USDC"'),
    )
    .action((options: OpenOptions) => printResult(() => writeOpening(options, settingsOf())))
}

export async function writeOpening(
  { at, network, wallet, held, cost }: OpenOptions,
  { confDir, books: { opening } }: Pick<Settings, 'confDir'> & { readonly books: Pick<Settings['books'], 'opening'> },
): Promise<string> {
  const text = [at, network, wallet, held, cost].map((each) => each.trim().replaceAll(/\s+/g, ' ')).join(' ')
  if (readOpening(text) === undefined) throw new Error(`"${text}" is no opening balance: it has to be ${openingForm}. Nothing was written.`)
  if (opening.includes(text)) throw new Error(`"${text}" is in books.opening already. Nothing was written.`)
  const file = path.join(confDir, 'server.yml')
  const edits = createConfEdits()
  edits.setYaml(file, ['books', 'opening'], [...opening, text])
  await edits.write()
  return `${file} has it: "${text}". Restart the server for its books to have it, too.`
}
