import path from 'node:path'
import { Command } from 'commander'
import { closest } from 'fastest-levenshtein'
import type { JournaledTransaction } from '../api/transactions.ts'
import type { Settings } from '../config/settings.ts'
import { isObject } from '../base/json.ts'
import { command } from '../base/layout.ts'
import type { TransactionState } from '../transactions/entry.ts'
import { ask, hasTerminal } from '../base/terminal.ts'
import { plainJson } from '../base/printable.ts'
import { complain, examples, isYes, printNotice, printResult } from './output.ts'
import { age, fieldsOf, transactionTable } from './tx-table.ts'
import { countOf, describePruned, pruneTransactions, type PruneOptions } from './tx-archive.ts'
import type { ArchiveExportOptions } from './archive-export.ts'
import { exportTransactions, isFiltered, type ExportOptions } from './tx-export.ts'
import { undoneBy } from './tx-undone.ts'
import { type ServerClient, journalClient, type JournalClient, type TransactionFilter } from './server-client.ts'
import { addServerOptions, certificateName, formerAs, serverOf, type ServerOptions } from './server-options.ts'

interface AccessOptions extends ServerOptions {
  json?: true
}

interface FormerOptions extends AccessOptions {
  client?: string
}

/** `sluice tx`: shows, replaces, exports and archives the transactions of a running server over its HTTP interface. */
export function txCommand(settingsOf: () => Settings): Command {
  const tx = new Command('tx').description('the transactions of a running server: list, show, cancel, speed up, export, archive, prune')

  /** Its `--client` is whose transactions are wanted. */
  const ofClients = (name: string, description: string) => addServerOptions(tx.command(name).description(description))
  const subcommand = (name: string, description: string) => ofClients(name, description).addOption(formerAs())
  const jsonOption = ['--json', 'print the JSON of the server'] as const

  const connect = (options: AccessOptions): { server: ServerClient; journal: JournalClient } => {
    const server = serverOf(settingsOf(), options)
    const missing = ({ id, reason }: { id: string; reason: string }) =>
      complain(`warning: a transaction is missing here, since its row ${id} of the journal cannot be read: ${reason}`)
    return { server, journal: journalClient(server, missing) }
  }

  filtered(ofClients('list', 'list transactions, newest first'))
    .option(...jsonOption)
    .option('--open', 'only those that are not final yet')
    .option('--limit <number>', 'at most so many', '20')
    .addHelpText(
      'after',
      examples(
        'tx list --open',
        'tx list --client maker --pair WETH-USDC --from 2026-03-01',
        'tx list --chain ethereum --network mainnet --state REVERTED --limit 100 --json',
      ),
    )
    .action((options: ListOptions & AccessOptions) =>
      printResult(async () => {
        const { server, journal } = connect(options)
        const { transactions, isMore } = await listTransactions(journal, options)
        if (options.json) return plainJson(JSON.stringify(transactions, null, 2))
        if (transactions.length === 0) return `There are no transactions that the certificate "${server.as}" may see.`
        return `${transactionTable(transactions, Date.now())}${isMore ? `\nThe newest ${transactions.length}; --limit shows more.` : ''}`
      }),
    )

  subcommand('show', 'show everything about a transaction, and what happens next')
    .argument('<transaction>', 'its hash, the id of its request, or its Idempotency-Key')
    .option(...jsonOption)
    .addHelpText('after', examples('tx show 0x5c50…'))
    .action((given: string, options: FormerOptions) =>
      printResult(async () => {
        const { journal } = connect(named(options))
        const found = await findTransactions(journal, given)
        if (options.json) return plainJson(JSON.stringify(found, null, 2))
        const described = await Promise.all(found.map(async (each) => describe(each, Date.now(), await undoneBy(each, journal))))
        return described.join('\n\n')
      }),
    )

  for (const [name, description, way] of [
    ['cancel', 'replace a pending transaction by one that does nothing', cancelling],
    ['speed-up', 'sign a pending transaction again with higher fees', speedingUp],
  ] as const) {
    subcommand(name, description)
      .argument('<transaction>', 'its hash, or the id of its request')
      .option('--max-fee <gwei>', 'the maximum fee per gas (default: the minimum that replaces it, or what the network asks)')
      .option('--tip <gwei>', 'the tip per gas')
      .option('--yes', 'do not ask')
      .option(...jsonOption)
      .addHelpText('after', examples(`tx ${name} 0x5c50…`, `tx ${name} 0x5c50… --max-fee 90 --tip 2 --yes`))
      .action((given: string, options: ReplaceOptions & FormerOptions) =>
        printResult(async () => {
          const { said, ...answer } = await replace(connect(named(options)).journal, given, way, options)
          return options.json ? plainJson(JSON.stringify(answer)) : said
        }),
      )
  }

  filtered(ofClients('export', 'write every transaction, archived ones too, as CSV or NDJSON (one JSON object a line), newest first'))
    .option('--format <format>', 'csv or ndjson (default: csv if the name of the file ends in .csv or .csv.gz, else ndjson)')
    .option('--out <file>', 'a file, compressed if its name ends in .gz; - is the standard output', '-')
    .addHelpText(
      'after',
      `${examples('tx export --out book.csv', 'tx export --from 2026-03-01 --to 2026-04-01 --chain ethereum --out march.ndjson.gz')}

Dates begin at midnight UTC, wherever this runs and whatever clocks do there. The same command goes on where it
was interrupted: after Ctrl-C, a full disk or a server that was stopped.`,
    )
    .action((options: ExportOptions & AccessOptions) =>
      printNotice(async () => {
        const { server } = connect(options)
        const { count, unavailable, missingAfter, part } = await untilInterrupted((signal) => exportTransactions(server, options, signal))
        if (unavailable > 0)
          complain(
            `warning: of ${countOf(unavailable)} there is an id alone: the rows in the store are damaged, and the server's log says how`,
          )
        if (missingAfter !== undefined)
          complain(
            `warning: it goes on with what an earlier run began: nothing requested after ${new Date(missingAfter).toISOString()} is certain to be there`,
          )
        if (part !== undefined) return `Stopped. ${countOf(count)} are in ${part}: the same command goes on from there.`
        return `${countOf(count)} exported: all that the certificate "${server.as}" may see${isFiltered(options) ? ' and that match' : ''}.`
      }),
    )

  tx.command('archive')
    .description('write what was archived as CSV or NDJSON; it reads the files, and no server has to run')
    .option('--month <month>', 'only those requested in this month (UTC), e.g. 2026-08')
    .option('--folder <folder>', 'the folder of the archive (default: that of these settings)')
    .option('--format <format>', 'csv or ndjson (default: csv if the name of the file ends in .csv, else ndjson)')
    .option('--out <file>', 'a file; - is the standard output', '-')
    .addHelpText('after', examples('tx archive --month 2026-08 --out august.csv'))
    .action(
      ({ folder = path.join(settingsOf().data.dir, 'archive'), ...options }: Omit<ArchiveExportOptions, 'folder'> & { folder?: string }) =>
        printNotice(async () => {
          const { exportArchive } = await import('./archive-export.ts')
          const { count, files, damaged } = await exportArchive({ folder, ...options })
          if (damaged > 0) process.exitCode = 1
          const lacking = damaged === 0 ? '' : ` What is damaged in ${damaged} of them is missing: restore these from a backup.`
          return `${countOf(count)} written, of ${files} ${files === 1 ? 'file' : 'files'} in ${folder}.${lacking}`
        }),
    )

  subcommand('prune', 'move final transactions from the journal to the archive now; their outcomes stay')
    .option('--days <number>', 'those that are final for so many days or longer, 1 or more')
    .option('--before <date>', 'those that were final before this date, e.g. 2026-03-01 (UTC)')
    .option('--dry-run', 'only count them')
    .option(...jsonOption)
    .addHelpText(
      'after',
      `${examples('tx prune --days 30 --dry-run', 'tx prune --before 2026-01-01')}

Needs the permission admin. Days are those in which servers ran: a transaction is never moved sooner than
asked for, whatever clocks say. The server moves by itself what is older than store.keepDays.`,
    )
    .action((options: PruneOptions & FormerOptions) =>
      printResult(async () => {
        const result = await pruneTransactions(connect(named(options)).journal, options, Date.now())
        return options.json ? plainJson(JSON.stringify(result)) : describePruned(result, options)
      }),
    )
  return tx
}

function named({ as, client, ...options }: FormerOptions): AccessOptions {
  const name = certificateName({ as, client })
  return { ...options, ...(name !== undefined && { as: name }) }
}

/** The filters of the journal. */
const filtered = (of: Command) =>
  of
    .option('--from <date>', 'only those requested at this date or later, e.g. 2026-03-01 (UTC) or 2026-03-01T12:00Z')
    .option('--to <date>', 'only those requested before this date')
    .option('--chain <chain>', 'only those on this chain')
    .option('--network <network>', 'only those on networks of this name')
    .option('--address <address>', 'only those of this wallet')
    .option('--client <name>', 'only those that this client asked for')
    .option('--state <state>', 'only those in this state, e.g. CONFIRMED')
    .option('--kind <kind>', 'only those of this kind, e.g. trade')
    .option('--connector <name>', 'only those on this connector')
    .option('--pair <pair>', 'only those of two tokens, in either order, e.g. WETH-USDC')

/** Ctrl-C ends the work in good order; pressed again it ends the process. */
async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController()
  const interrupt = () => {
    interrupted.abort()
    process.exitCode = 130
  }
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    return await work(interrupted.signal)
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

interface ListOptions {
  client?: string
  state?: string
  address?: string
  chain?: string
  network?: string
  kind?: string
  connector?: string
  pair?: string
  from?: string
  to?: string
  open?: true
  limit: string
}

interface TransactionPage {
  transactions: JournaledTransaction[]
  isMore: boolean
}

/** Newest first. @throws Error that says which option is wrong and how */
async function listTransactions(journal: JournalClient, options: ListOptions): Promise<TransactionPage> {
  const atMost = readLimit(options.limit)
  const { chain, network, address, client, kind, connector, pair, from, to } = options
  const given = Object.entries({ chain, network, address, client, kind, connector, pair, since: from, until: to })
  const filter: TransactionFilter = Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  if (options.state === undefined && !options.open) return journal.list(filter, atMost)
  if (options.state !== undefined && options.open) throw new Error('Give --state or --open, not both.')
  if (options.state !== undefined) return journal.list({ ...filter, state: readState(options.state) }, atMost)

  // In the order in which transactions go through the states: one that changes its state meanwhile is found, perhaps twice.
  const found = new Map<string, JournaledTransaction>()
  let isMore = false
  for (const state of openStates) {
    const page = await journal.list({ ...filter, state }, atMost)
    for (const each of page.transactions) found.set(identityOf(each), each)
    isMore ||= page.isMore
  }
  const transactions = [...found.values()].toSorted((a, b) => b.createdAt - a.createdAt)
  return { transactions: transactions.slice(0, atMost), isMore: isMore || transactions.length > atMost }
}

const identityOf = ({ chain, network, address, nonce, requestId, createdAt }: JournaledTransaction) =>
  [chain, network, address, nonce, requestId, createdAt].join(' ')

function readLimit(given: string): number {
  const limit = Number(given)
  if (/^\d{1,6}$/.test(given) && limit > 0) return limit
  throw new Error(`--limit is "${given}", but must be a whole number from 1 to 999999.`)
}

function readState(given: string): string {
  const state = given.toUpperCase()
  if (stateNames.includes(state)) return state
  throw new Error(`There is no state "${given}"; did you mean ${closest(state, [...stateNames])}? There are: ${stateNames.join(', ')}.`)
}

/** More than the steps of a plan. */
const maxOfOneRequest = 100

/** Finds transactions by the hash of an attempt, the id of the request or its Idempotency-Key. @throws Error where there is none */
async function findTransactions(journal: JournalClient, given: string): Promise<JournaledTransaction[]> {
  const fields = isHash(given) ? ['txHash'] : ['requestId', 'idempotencyKey']
  for (const field of fields) {
    const { transactions } = await journal.list({ [field]: given }, maxOfOneRequest)
    if (transactions.length > 0) return transactions
  }
  const half = /^0x[0-9a-f]*$/i.test(given) && !isHash(given) ? ' A hash has 0x and 64 hexadecimal digits.' : ''
  throw new Error(
    `The journal has no transaction "${given}" that this certificate may see.${half} Give a transaction's hash, a request's id or an Idempotency-Key; "${command} tx list" shows the transactions.`,
  )
}

const isHash = (text: string): boolean => /^0x[0-9a-f]{64}$/i.test(text)

/**
 * Everything about a transaction, and what happens next.
 * @param undone the hash of what was mined later on its nonce
 */
export function describe(transaction: JournaledTransaction, nowMs: number, undone?: string): string {
  const { txHash, txState, kind, connector, chain, network, address, nonce, txBlock, replacedBy, reason, attempts } = transaction
  const { requestId, idempotencyKey, createdAt, updatedAt, deadline, client, request, cost, delivery } = transaction
  const lines: [string, string | undefined][] = [
    ['state', txState],
    ['next', undone === undefined ? whatIsNext(transaction) : goneFrom(undone)],
    ['what', `${kind}${connector === undefined ? '' : ` on ${connector}`}`],
    ['where', `${chain}/${network}`],
    ['wallet', address],
    ['client', client],
    ['asked', request && `${request.path} ${fieldsOf(request.fields)}`],
    ...tradeLines(transaction),
    ['cost', cost && costText(cost)],
    ['simulated', transaction.simulated && movementsText(transaction.simulated)],
    ['moved', transaction.movements && movementsText(transaction.movements)],
    ...orderLines(transaction),
    ['nonce', String(nonce)],
    ['block', txBlock < 0 ? undefined : String(txBlock)],
    ['replaced by', replacedBy],
    ['reason', reason],
    ['request', requestId],
    ['key', idempotencyKey],
    ['made', at(createdAt, nowMs)],
    ['changed', at(updatedAt, nowMs)],
    ['deadline', deadline === undefined ? undefined : at(deadline * 1000, nowMs)],
    [
      'answers',
      delivery && `${delivery.lost} did not reach the client, ${delivery.joined} given to an equal request; now ${delivery.state}`,
    ],
    ['archived', transaction.archived ? "the server's archive has all of it" : undefined],
    ...attempts.map((each, index): [string, string] => [
      index === 0 ? 'signed' : '',
      `${each.txHash}, ${at(each.signedAt, nowMs)}, ${sent(each.sends)}`,
    ]),
  ]
  const shown = lines.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(11)}  ${value}`]))
  return [txHash ?? 'not signed', ...shown].join('\n')
}

/** Of a trade: its prices, and what it really gave. */
function tradeLines({ kind, planned, quote, fill, slippage }: JournaledTransaction): [string, string | undefined][] {
  if (kind !== 'trade' || !isObject(planned)) return []
  const { price, limitPrice, expectedAmount } = planned
  const market = quote?.marketPrice
  return [
    ['quoted', `${text(price)} for ${text(expectedAmount)}${quote ? `, at block ${quote.blockNumber}` : ''}`],
    ['market', market],
    ['bound', typeof limitPrice === 'string' ? limitPrice : undefined],
    ['filled', fill && 'amountIn' in fill ? `${fill.price}: ${fill.amountIn} for ${fill.amountOut}` : undefined],
    ['slippage', slippage && `${slippage.quote} of the quote${slippage.market === undefined ? '' : `, ${slippage.market} of the market`}`],
  ]
}

/** What came into the wallet, and below 0 what left it. */
const movementsText = (movements: NonNullable<JournaledTransaction['movements']>): string =>
  movements.length === 0
    ? 'nothing'
    : movements.map(({ token, symbol = token, amount, rawAmount }) => `${amount ?? rawAmount ?? 'unknown'} ${symbol}`).join(', ')

/** Of each order that it placed: what it was, and each fill since. */
const orderLines = ({ orders = [] }: JournaledTransaction): [string, string][] =>
  orders.flatMap(({ clientOrderId, side, amount, market, price, state, fills }): [string, string][] => [
    ['order', `${side} ${amount} of ${market} at ${price}${state === undefined ? '' : `, ${state}`} (${clientOrderId})`],
    ...fills.map((fill): [string, string] => [
      'fill',
      `${fill.amount} at ${fill.price}, fee ${fill.fee} ${fill.feeToken}, ${new Date(fill.timestamp).toISOString()}`,
    ]),
  ])

const text = (value: unknown): string => (typeof value === 'string' ? value : '?')

const costText = ({ fee, feeToken, feeInQuote, rawFee, gasUsed, layer1Fee }: NonNullable<JournaledTransaction['cost']>): string =>
  [
    fee === undefined ? `${rawFee} of the smallest unit` : `${fee} ${feeToken ?? ''}`,
    feeInQuote === undefined ? '' : `, ${feeInQuote} of the quote token`,
    gasUsed === undefined ? '' : ` (gas ${gasUsed}${layer1Fee === undefined ? '' : `, of it ${layer1Fee} for layer 1`})`,
  ].join('')

const sent = (times: number) => (times === 0 ? 'not sent yet' : times === 1 ? 'sent once' : `sent ${times} times`)

function at(ms: number, nowMs: number): string {
  const date = new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
  return `${date} UTC (${ms <= nowMs ? `${age(nowMs - ms)} ago` : `in ${age(ms - nowMs)}`})`
}

interface ReplaceOptions {
  maxFee?: string
  tip?: string
  yes?: true
}

interface Way {
  path: string
  verb: string
  /** What it does, for who is asked. */
  means: string
  done(txHash: string): string
}

const cancelling: Way = {
  path: '/evm/cancel',
  verb: 'Cancel',
  means:
    'A transfer of 0 to the same wallet takes its nonce with higher fees. Until that is mined, the transaction itself may still be mined.',
  done: (txHash) => `${txHash} replaces it; "${command} tx show ${txHash}" shows which of the two was mined.`,
}

const speedingUp: Way = {
  path: '/evm/speedUp',
  verb: 'Speed up',
  means: 'The same transaction is signed again with its nonce and higher fees: one of the two is mined.',
  done: (txHash) => `Signed again as ${txHash} with higher fees; "${command} tx show ${txHash}" shows which of the two was mined.`,
}

/** Asks the server to replace a transaction. @throws Error where there is nothing to replace, or the server refuses */
async function replace(
  journal: JournalClient,
  given: string,
  { path, verb, means, done }: Way,
  { maxFee, tip, yes }: ReplaceOptions,
): Promise<{ txHash: string; nonce: number; said: string }> {
  const transaction = await theOpenOne(journal, given)
  const { chain, network, address, nonce, kind, txHash, txState } = transaction
  const name = `${kind} ${txHash ?? ''} (nonce ${nonce} of ${address} on ${chain}/${network}, ${txState})`
  if (!yes) {
    if (!hasTerminal()) throw new Error(`There is no terminal for the question; give --yes to ${verb.toLowerCase()} ${name}.`)
    const answer = await ask(`${verb} the ${name}? ${means} Type yes to go on: `)
    if (!isYes(answer)) throw new Error('Nothing was done.')
  }
  const fees = { ...(maxFee !== undefined && { maxFeePerGas: maxFee }), ...(tip !== undefined && { maxPriorityFeePerGas: tip }) }
  const answer = await journal.act(path, { chain, network, address, nonce, ...fees })
  return { ...answer, said: done(answer.txHash) }
}

async function theOpenOne(journal: JournalClient, given: string): Promise<JournaledTransaction> {
  const found = await findTransactions(journal, given)
  const [open, ...others] = found.filter(isOpen)
  const [first] = found
  if (!open) throw new Error(`It is ${first?.txState}. ${first ? whatIsNext(first) : ''}`)
  if (others.length > 0)
    throw new Error(
      `Several open transactions match: name one by its hash. ${[open, ...others].map(({ txHash }) => txHash ?? 'not signed yet').join(', ')}`,
    )
  if (open.txState === 'QUEUED') throw new Error('It is not signed yet, and nothing was sent: try again in a moment.')
  if (open.txState === 'MINED') throw new Error(`It is mined already. ${whatIsNext(open)}`)
  if (open.replacedBy !== undefined) throw new Error(`${open.replacedBy} already replaces it: name that one.`)
  return open
}

/** What happens next, by state. The first four states are open. */
const sentences: Readonly<Record<TransactionState, (transaction: JournaledTransaction) => string>> = {
  QUEUED: () => 'It is being signed, and nothing was sent yet. If the server dies before that, it becomes EXPIRED and has no effect.',
  SIGNED: () => 'It is signed and in the journal; the server sends the same bytes until a node has them.',
  BROADCAST: ({ txStatus, replacedBy, kind }) =>
    replacedBy !== undefined
      ? `It or ${replacedBy}, which has the same nonce, will be mined: the first one ends the other.`
      : txStatus === 3
        ? `It pays too little for the next block. The server raises its fees after a while, unless the request set them; "${command} tx speed-up" does so now${kind === 'cancel' ? '' : `, "${command} tx cancel" gives it up`}.`
        : 'It waits for a block, and the server sends it again if the nodes forget it.',
  MINED: ({ txBlock }) => `It is in block ${txBlock}, and final once enough blocks follow; until then a reorganisation can move it back.`,
  CONFIRMED: () => 'Nothing: it is final and had its effect.',
  REVERTED: () => 'Nothing: it is final. The chain reverted it, so it only cost gas.',
  REPLACED: ({ replacedBy }) => `Nothing: it is final and had no effect. ${replacedBy ?? 'Another'} took its nonce.`,
  CANCELLED: () => 'Nothing: it is final and had no effect. It was cancelled.',
  DROPPED: () => 'Nothing: it is final and had no effect. A transaction of other software took its nonce.',
  OVERTAKEN: () => 'Nothing: it is final and had no effect. The transaction that it was to replace was mined first.',
  EXPIRED: () => 'Nothing: it is final and had no effect. It was never signed, or can never be mined.',
}

const goneFrom = (undone: string): string =>
  `Nothing: it was final, and is not on the chain any more, which went back behind it. What it moved is back. ${undone} has its nonce now.`

const next = new Map<string, (transaction: JournaledTransaction) => string>(Object.entries(sentences))

const stateNames: readonly string[] = [...next.keys()]
/** In the order that a transaction goes through them. */
const openStates: readonly string[] = ['QUEUED', 'SIGNED', 'BROADCAST', 'MINED']

const isOpen = ({ txState }: Pick<JournaledTransaction, 'txState'>): boolean => openStates.includes(txState)

function whatIsNext(transaction: JournaledTransaction): string {
  return (
    next.get(transaction.txState)?.(transaction) ??
    'This version of the command does not know that state: use the command that came with the server.'
  )
}
