import { mkdir } from 'node:fs/promises'
import { Command } from 'commander'
import type { Static, TSchema } from 'typebox'
import { divideRaw, formatRaw, normalize, parseDecimal } from '../base/decimal.ts'
import type { FolderLock } from '../base/folder-lock.ts'
import { LimitsCheckResponse, LimitsResponse } from '../api/limits.ts'
import type { Settings } from '../config/settings.ts'
import { ask, hasTerminal } from '../base/terminal.ts'
import { isYes, printError, printResult, say, table } from './output.ts'
import { readResponse } from './server-client.ts'
import { addServerOptions, serverOf, type ServerOptions } from './server-options.ts'

/** `sluice limits`: what clients have left of theirs, and the signer's count of what wallets gave away. */
export function limitsCommand(settingsOf: () => Settings): Command {
  const limits = new Command('limits').description(
    "what clients have left of their limits (conf/clients.yml); and a new count for the signer's limits of wallets (conf/limits.yml), which only the signer knows",
  )
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
      const { data, signer } = settingsOf()
      if (signer.socket !== undefined)
        return printError(
          `The count is that of the signer service at ${signer.socket} (signer.socket): run this as its user, with its --home and without signer.socket.`,
        )
      const { beginCount, countFolder, hasCount } = await import('../wallet/limits/count-file.ts')
      const { HeldFolderError, lockFolder } = await import('../base/folder-lock.ts')
      const folder = countFolder(data.dir)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      let lock: FolderLock
      try {
        lock = lockFolder(folder, 'a reset of the count')
      } catch (error) {
        if (!(error instanceof HeldFolderError)) throw error
        return printError(
          `The count is in use by ${error.holder}: the signer is running. Stop the server, or the signer service, and run this again: nothing was changed.`,
        )
      }
      try {
        if (hasCount(data.dir) && !yes) {
          if (!hasTerminal()) return printError('There is no terminal for the question; give --yes to begin a new count.')
          const question =
            'What the signer counted is lost, and wallets can give away their whole limits again. Begin a new count? Type yes: '
          if (!isYes(await ask(question))) return printError('Nothing was changed.')
        }
        await beginCount(data.dir)
      } finally {
        lock.release()
      }
      say(`The signer's count in ${data.dir} begins anew at its next start.`)
    })
  const withServer = (name: string, description: string) =>
    addServerOptions(
      limits
        .command(name)
        .description(description)
        .argument('[client]', 'another client than the one whose certificate is used; needs the permission admin'),
    ).option('--json', 'as JSON')
  withServer('show', 'what a client may spend by its limits in conf/clients.yml, and what is left, by the running server').action(
    (client: string | undefined, options: AskOptions) => printResult(() => showLimits(client, options, settingsOf())),
  )
  withServer('check', 'what the transactions of the last days would have hit, had the limits that a client has now held')
    .option('--days <number>', 'how far back, from 1 to 30', '7')
    .action((client: string | undefined, options: AskOptions & { days: string }) =>
      printResult(() => checkLimits(client, options, settingsOf())),
    )
  return limits
}

interface AskOptions extends ServerOptions {
  readonly json?: true
}

const timeoutMs = 10_000
/** What is no terminal, such as a pipe or a file, gets every cell whole. */
const maxWidth = process.stdout.isTTY ? 100 : Infinity

/** @throws Error with the server's message, or where its answer has another form */
async function askServer<T extends TSchema>(
  schema: T,
  target: string,
  query: Readonly<Record<string, string>>,
  options: AskOptions,
  settings: Settings,
): Promise<Static<T>> {
  const server = serverOf(settings, options, { timeoutMs })
  return readResponse(schema, await server.get(target, query))
}

async function checkLimits(client: string | undefined, options: AskOptions & { days: string }, settings: Settings): Promise<string> {
  const query = { days: options.days, ...(client !== undefined && { client }) }
  const answer = await askServer(LimitsCheckResponse, '/limits/check', query, options, settings)
  if (options.json) return JSON.stringify(answer, undefined, 2)
  const { transactions, hits, notTold, problems = [] } = answer
  const looked = `${answer.client}: ${transactions} ${transactions === 1 ? 'transaction' : 'transactions'} ${answer.since === undefined ? `in ${answer.days} days` : `since ${minuteOf(answer.since)}, and more before that`}`
  const head = { cells: ['limit', 'would have refused', 'first', 'last'] }
  const rows = hits.map(({ limit, transactions: count, first, last, txHash }) => ({
    cells: [limit, String(count), minuteOf(first), minuteOf(last)],
    ...(txHash !== null && { below: [`the last: ${txHash}`] }),
  }))
  return [
    looked,
    rows.length === 0 ? 'The limits that the client has now would have refused none of them.' : table([head, ...rows], maxWidth),
    ...problems.map((each) => `! ${each}`),
    ...(notTold.length === 0 ? [] : [`Not known, because the journal does not tell, of all of them or of some: ${notTold.join(', ')}`]),
  ].join('\n')
}

const minuteOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16)

async function showLimits(client: string | undefined, options: AskOptions, settings: Settings): Promise<string> {
  const answer = await askServer(LimitsResponse, '/limits', client === undefined ? {} : { client }, options, settings)
  if (options.json) return JSON.stringify(answer, undefined, 2)
  if (answer.unlisted && answer.limits.length === 0)
    return `The certificate ${answer.client} has no entry in conf/clients.yml, so it has no limits: what \`unlisted\` gives there holds for it.`
  if (answer.limits.length === 0) return `The client ${answer.client} has no limits. To set some: limits of its entry in conf/clients.yml.`
  const head = { cells: ['limit', 'allowed', 'used', 'left', 'unit', 'window', 'all free at'] }
  const [lists, others] = [true, false].map((isList) => answer.limits.filter(({ unit }) => (unit === 'list') === isList))
  const rows = inOrder(others ?? []).map(
    ({ limit, allowed, default: isDefault, basis, used = '', left = '', unit, window, place = '', freesAt }) => ({
      cells: [
        isDefault ? `${limit} (default)` : limit,
        allowed,
        used === '' ? '' : shortened(used, 'up'),
        left === '' ? '' : shortened(left, 'down'),
        `${unit}${place}`,
        window ?? 'each',
        freesAt === undefined ? '' : minuteOf(freesAt),
      ],
      ...(basis && { below: [`${basis.percent} % of ${basis.of}${basis.atLeast === undefined ? '' : `, and at least ${basis.atLeast}`}`] }),
    }),
  )
  const shown = rows.length === 0 ? [] : [table([head, ...rows], maxWidth)]
  const wrong = (answer.problems ?? []).map((each) => `! ${each}`)
  return [answer.client, ...shown, ...(lists ?? []).map(({ limit, allowed }) => `${limit}: ${allowed}`), ...wrong].join('\n')
}

type ShownLimit = LimitsResponse['limits'][number]

/** The client's own first. Defaults of fees on networks where it has paid none are one row for each amount. */
function inOrder(limits: readonly ShownLimit[]): readonly (ShownLimit & { readonly place?: string })[] {
  const placeOf = ({ chain, network }: ShownLimit) =>
    chain === undefined || network === undefined ? {} : { place: ` on ${chain}/${network}` }
  const isUntouched = ({ default: isDefault, network, used = '0' }: ShownLimit) => isDefault && network !== undefined && used === '0'
  const groups = new Map<string, ShownLimit[]>()
  for (const each of limits.filter(isUntouched)) {
    const key = [each.limit, each.allowed, each.unit].join(' ')
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return [
    ...limits.filter((each) => !each.default).map((each) => ({ ...each, ...placeOf(each) })),
    ...limits.filter((each) => each.default && !isUntouched(each)).map((each) => ({ ...each, ...placeOf(each) })),
    ...[...groups.values()].flatMap(([first, ...more]) =>
      first ? [{ ...first, ...(more.length > 0 ? { place: ` on each of ${more.length + 1} networks` } : placeOf(first)) }] : [],
    ),
  ]
}

/** To six decimals: what was used is never shown as less, and what is left never as more. */
function shortened(amount: string, rounding: 'up' | 'down'): string {
  const { digits, scale } = parseDecimal(amount)
  return scale <= shownDecimals
    ? normalize(amount)
    : normalize(formatRaw(divideRaw(digits, 10n ** BigInt(scale - shownDecimals), rounding), shownDecimals))
}

const shownDecimals = 6
