import { Command } from 'commander'
import { BooksResponse } from '../api/books.ts'
import { pause } from '../base/async.ts'
import { csvWriter } from '../base/csv.ts'
import { plainJson } from '../base/printable.ts'
import type { Settings } from '../config/settings.ts'
import { bookColumns, bookLines, pairNameOf, positionNameOf } from '../handlers/book-columns.ts'
import { ledgerCommand } from './books-ledger.ts'
import { openCommand } from './books-open.ts'
import { verifyCommand } from './books-verify.ts'
import { examples, printResult, table } from './output.ts'
import { showProgress } from './progress.ts'
import { readResponse } from './server-client.ts'
import { addServerOptions, requestedBy, serverOf, type ServerOptions } from './server-options.ts'
import { networkPath } from '../base/networks.ts'

interface BooksOptions extends ServerOptions {
  readonly from?: string
  readonly to?: string
  readonly chain?: string
  readonly network?: string
  readonly wallet?: string
  readonly client?: string
  readonly connector?: string
  readonly pair?: string
  readonly json?: true
  readonly csv?: true
}

/** Options that both have are read as those of `books`, wherever they stand. */
function handOn(books: Command, subcommand: Command): void {
  for (const option of subcommand.options) {
    const name = option.attributeName()
    if (books.getOptionValueSource(name) === 'cli') subcommand.setOptionValueWithSource(name, books.getOptionValue(name), 'cli')
  }
}

/** `sluice books`: what transactions moved, earned and cost together, by the running server. */
export function booksCommand(settingsOf: () => Settings): Command {
  return addServerOptions(
    new Command('books')
      .description(
        'what transactions moved, earned and cost: totals, profit of trades, fees, liquidity; verify, against the chain; ledger, each change of a balance; open, what was held before',
      )
      .hook('preSubcommand', handOn)
      .addCommand(verifyCommand(settingsOf))
      .addCommand(ledgerCommand(settingsOf))
      .addCommand(openCommand(settingsOf))
      .option('--from <date>', 'only those requested at this date or later, e.g. 2026-03-01 (UTC) or 2026-03-01T12:00Z')
      .option('--to <date>', 'only those requested before this date')
      .option('--client <name>', 'only those that this client asked for')
      .option('--wallet <address>', 'only those of this wallet')
      .option('--pair <pair>', 'only those of two tokens, in either order, e.g. WETH-USDC')
      .option('--connector <name>', 'only those on this connector')
      .option('--chain <chain>', 'only those on this chain')
      .option('--network <network>', 'only those on networks of this name'),
  )
    .option('--json', 'print the JSON of the server')
    .option('--csv', 'print a line for each value, for a spreadsheet')
    .addHelpText('after', examples('books --from 2026-03-01 --to 2026-03-02', 'books --client maker --pair WETH-USDC --json'))
    .action((options: BooksOptions) =>
      printResult(async () => {
        const book = await readBook(options, settingsOf())
        if (options.csv) return bookCsv(book)
        return options.json ? plainJson(JSON.stringify(book, null, 2)) : describeBook(book)
      }),
    )
}

const pauseMs = 500

/** The server reads a long book in the background: it is asked again until it has all. @throws Error with the server's message */
async function readBook(options: BooksOptions, settings: Settings): Promise<BooksResponse> {
  const { as: _as, url: _url, certs: _certs, json: _json, csv: _csv, ...filters } = options
  const server = serverOf(settings, options)
  const query = requestedBy(filters)
  const progress = showProgress('Reading the book')
  try {
    for (;;) {
      const answer = readResponse(BooksResponse, await server.get('/books', query))
      if (answer.complete) return answer
      const { transactions, readUntil: until, part } = answer
      const where = until === undefined ? '' : `, up to ${new Date(until).toISOString().slice(0, 10)}`
      progress.update({ text: `${transactions} transactions${where}`, ...(part !== undefined && { part }) })
      await pause(pauseMs)
    }
  } finally {
    progress.end()
  }
}

export async function bookCsv(book: BooksResponse): Promise<string> {
  const { header, lines } = await csvWriter(bookColumns)
  return `${header}${lines(bookLines(book))}`.trimEnd()
}

/** What is no terminal, such as a pipe or a file, gets every cell whole. */
const maxWidth = process.stdout.isTTY ? 100 : Infinity

export function describeBook(book: BooksResponse): string {
  const { transactions, damaged = 0, pairs, tokens, fees, perpetuals, liquidity, lacking } = book
  const parts = [
    section(
      'Trades',
      ['network', 'pair', 'trades', 'position', 'realized', 'by FIFO', 'unrealized'],
      pairs.map((each) => ({
        cells: [
          networkPath(each),
          pairNameOf(each),
          String(each.trades),
          each.position,
          each.realized.averageCost,
          each.realized.fifo,
          each.unrealized?.averageCost ?? 'not known',
        ],
        below: [
          ...(each.opening ? [`held before: ${each.opening.amount} ${each.base}, which had cost ${each.opening.cost} ${each.quote}`] : []),
          `bought ${each.bought} ${each.base} for ${each.spent} ${each.quote}, sold ${each.sold} for ${each.received}`,
          ...(each.otherFees ?? []).map(({ token, amount }) => `fees of orders, in no profit: ${amount} ${token}`),
          ...(each.noValue === undefined ? [] : [each.noValue]),
        ],
      })),
    ),
    section(
      'Fees of the networks',
      ['network', 'transactions', 'fee', 'worth now'],
      fees.map((each) => ({
        cells: [
          networkPath(each),
          String(each.transactions),
          each.fee === undefined ? `${each.rawFee} (smallest unit)` : `${each.fee} ${each.feeToken}`,
          each.value === null ? 'not known' : `${each.value} ${each.valueToken}`,
        ],
        ...(each.noValue !== undefined && { below: [each.noValue] }),
      })),
    ),
    section(
      'What moved',
      ['network', 'token', 'came', 'left', 'net'],
      tokens.map((each) => ({
        cells: [
          networkPath(each),
          each.symbol ?? each.token,
          each.came ?? '',
          each.left ?? '',
          each.net ?? `${each.rawNet} (smallest unit)`,
        ],
      })),
    ),
    section(
      'Perpetuals',
      ['network', 'market', 'fills', 'fee', 'funding', 'realized, with both'],
      perpetuals.map((each) => ({
        cells: [networkPath(each), `${each.connector} ${each.market}`, String(each.fills), each.fee, each.funding, each.realizedProfit],
        below: [
          ...(each.liquidations === undefined ? [] : [`liquidated ${each.liquidations} times, with the penalties in its fees`]),
          ...(each.noFunding === undefined ? [] : [`funding is not known: ${each.noFunding}`]),
          ...(each.lacksFills === undefined ? [] : [`fills are lacking: ${each.lacksFills}`]),
        ],
      })),
    ),
    section(
      'Liquidity',
      ['network', 'position', 'state', 'against holding'],
      liquidity.map((each) => ({
        cells: [
          networkPath(each),
          positionNameOf(each),
          each.ended ?? (each.closed ? 'closed' : 'open'),
          each.againstHolding ?? 'not known',
        ],
        below: [
          ...each.tokens.map(
            ({ token, symbol = token, paid, received, fees: collected }) =>
              `${symbol}: paid ${paid}, received ${received}, of that fees ${collected}`,
          ),
          ...(each.lacksFees ? ['fees that removals have paid out with the rest are not told apart'] : []),
          ...(each.noValue === undefined || !each.closed ? [] : [each.noValue]),
        ],
      })),
    ),
  ].flatMap((each) => each ?? [])
  const notes = [
    ...(lacking.movements > 0 ? [`${lacking.movements} do not tell what they moved.`] : []),
    ...(lacking.coin > 0 ? [`Of ${lacking.coin} nobody could tell what they moved of the native coin.`] : []),
    ...(lacking.fills > 0 ? [`Of ${lacking.fills} not all fills are known: the sums lack them.`] : []),
    ...(lacking.fees > 0 ? [`Of ${lacking.fees} the receipt does not say what they cost.`] : []),
    ...(damaged > 0 ? [`${damaged} cannot be read: the log names them.`] : []),
  ]
  return [`${transactions} transactions`, ...parts, ...notes.map((each) => `! ${each}`)].join('\n\n')
}

function section(
  title: string,
  head: readonly string[],
  rows: readonly { cells: readonly string[]; below?: readonly string[] }[],
): string | undefined {
  return rows.length === 0 ? undefined : `${title}\n${table([{ cells: head }, ...rows], maxWidth)}`
}
