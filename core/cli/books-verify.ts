// `sluice books verify`: the server holds the journal against the chain, a few hours of blocks at a time.
import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { fits } from '../base/schema-check.ts'
import { PluginsResponse, WalletResponse } from '../api/index.ts'
import { BooksVerifyResponse } from '../api/books-verify.ts'
import { addressKey, isSameAddress } from '../base/addresses.ts'
import { add, isZero } from '../base/decimal.ts'
import { command } from '../base/layout.ts'
import { plainJson } from '../base/printable.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import type { Settings } from '../config/settings.ts'
import { complain, examples, printError, say } from './output.ts'
import { showProgress, type Progress } from './progress.ts'
import { isForLaterOrLess, patiently, readResponse, type ServerClient } from './server-client.ts'
import { addServerOptions, requestedBy, serverOf, type ServerOptions } from './server-options.ts'
import { reasonOf } from '../base/errors.ts'

interface VerifyOptions extends ServerOptions {
  from?: string
  to?: string
  wallet?: string
  chain?: string
  network?: string
  json?: true
}

export function verifyCommand(settingsOf: () => Settings): Command {
  return addServerOptions(
    new Command('verify')
      .description(
        'hold what wallets hold against what the journal says that moved, to the unit; exits with 1 where something is unexplained',
      )
      .option(
        '--from <date>',
        'from the balances before this moment, e.g. 2026-03-01 (UTC) or 2026-03-01T12:00Z (default: a day before the end)',
      )
      .option('--to <date>', 'to the balances before this moment (default: the newest final block)')
      .option('--wallet <address>', 'only this wallet (default: all that the certificate may use)')
      .option('--chain <chain>', 'only this chain')
      .option('--network <network>', 'only networks of this name (default: where a wallet has transactions)'),
  )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `${examples('books verify', 'books verify --from 2026-03-01 --to 2026-04-01 --chain ethereum --network mainnet')}

Needs the permission read. After Ctrl-C the same command goes on where it stopped, within a day.`,
    )
    .action(async (options: VerifyOptions) => {
      try {
        const checks = await verifyBooks(settingsOf(), options)
        say(options.json ? plainJson(JSON.stringify(checks, null, 2)) : describeChecks(checks))
        if (checks.some(({ unexplained, failed }) => unexplained.length > 0 || failed !== undefined)) process.exitCode = 1
      } catch (error) {
        printError(reasonOf(error))
      }
    })
}

type Answer = Static<typeof BooksVerifyResponse>
const Tokens = BooksVerifyResponse.properties.tokens
const Differences = BooksVerifyResponse.properties.unexplained

/** All answers about a wallet on a network. */
const Check = Type.Object({
  chain: Type.String(),
  network: Type.String(),
  address: Type.String(),
  start: Type.Optional(BooksVerifyResponse.properties.start),
  end: Type.Optional(BooksVerifyResponse.properties.end),
  tokens: Tokens,
  unexplained: Differences,
  transactions: BooksVerifyResponse.properties.transactions,
  unlistedTokens: Type.Number(),
  lost: BooksVerifyResponse.properties.lost,
  /** Why it could not be checked. */
  failed: Type.Optional(Type.String()),
  nextCursor: Type.Optional(Type.String()),
  isDone: Type.Boolean(),
})
type Check = Static<typeof Check>
const Checks = Type.Array(Check)

interface Target {
  readonly chain: string
  readonly network: string
  readonly address: string
}

async function verifyBooks(settings: Settings, options: VerifyOptions): Promise<readonly Check[]> {
  const server = serverOf(settings, options)
  const targets = await targetsOf(server, options)
  const file = stateFile(settings.data.dir, server.as, options)
  const known = await readState(file)
  const progress = showProgress('Verifying')
  const onInterrupt = () => {
    progress.end()
    complain('Stopped. The same command goes on from here.')
    process.exit(130)
  }
  process.once('SIGINT', onInterrupt)
  try {
    const checks: Check[] = []
    for (const [index, target] of targets.entries()) {
      const before = known.find((each) => isTarget(each, target))
      checks.push(before ?? emptyCheck(target))
      await verifyOne(
        server,
        options,
        checks,
        (part) => progress.update({ text: nameOf(target), part: (index + part) / targets.length }),
        () => keepState(file, checks, progress),
      )
    }
    await rm(file, { force: true })
    return checks.map(({ isDone: _isDone, nextCursor: _nextCursor, ...check }) => ({ ...check, isDone: true }))
  } finally {
    process.off('SIGINT', onInterrupt)
    progress.end()
  }
}

const nameOf = ({ chain, network, address }: Target) => `${chain}/${network} ${address}`
const isTarget = (check: Target, { chain, network, address }: Target) =>
  check.chain === chain && check.network === network && isSameAddress(check.address, address)

const emptyCheck = (target: Target): Check => ({
  ...target,
  tokens: [],
  unexplained: [],
  transactions: { own: 0, foreign: 0 },
  unlistedTokens: 0,
  isDone: false,
})

/** Of one request. */
const maxTokens = 500

/** Goes on with the last of the checks, and puts what was found in its place. */
async function verifyOne(
  server: ServerClient,
  { from, to }: VerifyOptions,
  checks: Check[],
  show: (part: number) => void,
  keep: () => Promise<void>,
): Promise<void> {
  show(0)
  for (let check = checks.at(-1); check && !check.isDone; check = checks.at(-1)) {
    const { chain, network, address, nextCursor } = check
    const period = requestedBy({ from, to })
    // What is on no list is held against the chain as long as the wallet holds it.
    const tokens = check.tokens.flatMap(({ token, end }) => (isZero(end) ? [] : token)).slice(0, maxTokens)
    const request = { chain, network, address, ...(nextCursor === undefined ? period : { cursor: nextCursor, tokens }) }
    const response = await patiently(() => server.post('/books/verify', request), isForLaterOrLess)
    try {
      const answer = readResponse(BooksVerifyResponse, response)
      checks[checks.length - 1] = withAnswer(check, answer)
      const { first, last } = answer.range
      show(last > first ? (answer.end.blockNumber - first) / (last - first) : 1)
    } catch (error) {
      // The others are checked all the same.
      checks[checks.length - 1] = { ...check, failed: reasonOf(error), isDone: true }
    }
    await keep()
  }
}

/** A later answer begins where the one before ended. */
function withAnswer(check: Check, answer: Answer): Check {
  const { start, end, tokens, unexplained, transactions, unlistedTokens, lost, nextCursor } = answer
  const added = new Map(check.tokens.map((each) => [each.token, each] as const))
  for (const each of tokens) {
    const before = added.get(each.token)
    // What has no decimals has no symbol either, and is told in smallest units.
    if (before && (before.symbol === undefined) !== (each.symbol === undefined))
      throw new Error(`the decimals of ${each.token} are not known in all answers of the server: the same command begins again.`)
    added.set(
      each.token,
      before
        ? {
            ...each,
            start: before.start,
            own: add(before.own, each.own),
            fees: add(before.fees, each.fees),
            foreign: add(before.foreign, each.foreign),
            unexplained: add(before.unexplained, each.unexplained),
          }
        : each,
    )
  }
  const { nextCursor: _before, ...known } = check
  return {
    ...known,
    start: check.start ?? start,
    end,
    tokens: [...added.values()],
    unexplained: [...check.unexplained, ...unexplained],
    transactions: { own: check.transactions.own + transactions.own, foreign: check.transactions.foreign + transactions.foreign },
    unlistedTokens: Math.max(check.unlistedTokens, unlistedTokens),
    ...(lost && !check.lost && { lost }),
    ...(nextCursor !== undefined && { nextCursor }),
    isDone: nextCursor === undefined,
  }
}

/** Where wallets have transactions, unless the options name the network. */
async function targetsOf(server: ServerClient, { wallet, chain, network }: VerifyOptions): Promise<readonly Target[]> {
  const wallets = readResponse(WalletResponse, await server.get('/wallet')).filter(
    (each) => (wallet === undefined || isSameAddress(each.address, wallet)) && (chain === undefined || each.chain === chain),
  )
  if (wallets.length === 0)
    throw new Error(
      `The certificate "${server.as}" may use no such wallet${wallet === undefined ? '' : ` as ${wallet}`}: \`${command} wallet list\` shows those of the server.`,
    )
  const plugins = readResponse(PluginsResponse, await server.get('/plugins'))
  const places = plugins.flatMap(({ kind, available_networks: available }) => (kind === 'chain' ? available : []))
  const all = wallets.flatMap((each) =>
    places.flatMap((place) =>
      place.chain === each.chain
        ? place.networks.flatMap((name) =>
            network === undefined || name === network ? { chain: place.chain, network: name, address: each.address } : [],
          )
        : [],
    ),
  )
  if (network !== undefined) return all
  const found: Target[] = []
  for (const each of all) {
    if (await hasTransactions(server, each)) found.push(each)
  }
  if (found.length === 0) throw new Error('These wallets have no transactions in the journal: name a network with --network.')
  return found
}

const Page = Type.Object({ transactions: Type.Array(Type.Unknown()), nextCursor: Type.Optional(Type.String()) })

/** A page may be empty although more come: the archive is looked through piece by piece. */
async function hasTransactions(server: ServerClient, of: Target): Promise<boolean> {
  for (let cursor: string | undefined; ;) {
    const query = { ...of, limit: '1', archived: 'true', ...(cursor !== undefined && { cursor }) }
    const page = readResponse(Page, await patiently(() => server.get('/transactions', query), isForLaterOrLess))
    if (page.transactions.length > 0) return true
    if (page.nextCursor === undefined) return false
    cursor = page.nextCursor
  }
}

/** What is kept longer was asked for from another day on. */
const keptMs = 86_400_000

function stateFile(folder: string, as: string, { from, to, wallet, chain, network, url }: VerifyOptions): string {
  const asked = JSON.stringify([as, from, to, wallet === undefined ? undefined : addressKey(wallet), chain, network, url])
  return path.join(folder, `books-verify-${createHash('sha256').update(asked).digest('hex').slice(0, 16)}.json`)
}

async function readState(file: string): Promise<readonly Check[]> {
  try {
    const { mtimeMs } = await stat(file)
    const kept: unknown = JSON.parse(await readFile(file, 'utf8'))
    return Date.now() - mtimeMs < keptMs && fits(Checks, kept) ? kept.filter(({ failed }) => failed === undefined) : []
  } catch {
    return []
  }
}

/** Without it an interrupted check begins anew: that is said, and is no reason to stop. */
async function keepState(file: string, checks: readonly Check[], progress: Progress): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    await writeWholeFile(file, JSON.stringify(checks))
  } catch (error) {
    progress.say(
      `warning: ${file} cannot be written, so that this could not go on after Ctrl-C: ${error instanceof Error ? error.message : ''}`,
    )
  }
}

function describeChecks(checks: readonly Check[]): string {
  return checks.map(describeCheck).join('\n\n')
}

function describeCheck(check: Check): string {
  const { start, end, tokens, unexplained, transactions, unlistedTokens, lost, failed } = check
  const head = nameOf(check)
  if (!start || !end) return `${head}\n  not verified: ${failed}`
  const lines = [
    head,
    `  blocks ${start.blockNumber} to ${end.blockNumber}, ${moment(start.timestamp)} to ${moment(end.timestamp)}`,
    `  ${transactions.own} of the journal, ${transactions.foreign} foreign`,
    ...tokens.flatMap(describeToken),
    ...(unlistedTokens > 0 ? [`  ${unlistedTokens} tokens of strangers came, which are on no list`] : []),
    ...(lost ? [`  the nodes have no ${lost.what} before block ${lost.before}: it begins there`] : []),
    ...unexplained.map(describeDifference),
    ...(unexplained.length === 0 && failed === undefined ? ['  every unit is explained'] : []),
    ...(unexplained.length === 0 && failed !== undefined ? [`  every unit is explained up to block ${end.blockNumber}`] : []),
    ...(failed === undefined ? [] : [`  not verified further: ${failed}`]),
  ]
  return lines.join('\n')
}

const moment = (ms: number) => new Date(ms).toISOString().replace('.000', '')
const called = ({ symbol, token }: { symbol?: string; token: string }) => symbol ?? token

function describeToken(row: Static<typeof Tokens>[number]): readonly string[] {
  const parts = (['own', 'fees', 'foreign', 'unexplained'] as const).flatMap((part) => (isZero(row[part]) ? [] : [`${part} ${row[part]}`]))
  return parts.length === 0 ? [] : [`  ${called(row)}: ${row.start} to ${row.end}`, `    ${parts.join(', ')}`]
}

function describeDifference(difference: Static<typeof Differences>[number]): string {
  const { kind, amount, firstBlock, lastBlock, txHash, unknownTransactions, ...token } = difference
  const where = firstBlock === lastBlock ? `in block ${firstBlock}` : `in blocks ${firstBlock} to ${lastBlock}`
  const sent =
    unknownTransactions === undefined ? '' : `\n    transactions of the wallet in these blocks that nobody knows: ${unknownTransactions}`
  return `  UNEXPLAINED ${amount} ${called(token)} ${where}: ${kind}${txHash === undefined ? '' : `\n    ${txHash}`}${sent}`
}
