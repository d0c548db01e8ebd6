import { Command } from 'commander'
import * as Type from 'typebox'
import * as Value from 'typebox/value'
import { divideRaw, formatRaw, normalize, parseDecimal } from '../base/decimal.ts'
import { LimitsResponse } from '../api/limits.ts'
import type { Settings } from '../config/settings.ts'
import { ask, hasTerminal } from '../wallet/prompt.ts'
import { isYes, printError, printResult, say, table } from './output.ts'
import { serverClient } from './server-client.ts'

/** `sluice limits`: what clients have left of theirs, and the signer's count of what wallets gave away. */
export function limitsCommand(settingsOf: () => Settings): Command {
  const limits = new Command('limits').description(
    "the limits of clients (conf/clients.yml) and of wallets (conf/limits.yml), and the signer's count of what it signed",
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
  limits
    .command('show')
    .description('what a client may spend by its limits in conf/clients.yml, and what is left, by the running server')
    .argument('[client]', 'another client than the one whose certificate is used; needs the permission admin')
    .option('--url <url>', 'the running server (default: that of these settings, on this machine)')
    .option('--certs <folder>', 'the folder of the certificates (default: that of these settings)')
    .option('--as <name>', 'the client whose certificate is used (default: operator, else client)')
    .option('--json', 'as JSON')
    .action((client: string | undefined, options: ShowOptions) => printResult(() => showLimits(client, options, settingsOf())))
  return limits
}

interface ShowOptions {
  readonly url?: string
  readonly certs?: string
  readonly as?: string
  readonly json?: true
}

const timeoutMs = 10_000
const maxWidth = 100
const Refusal = Type.Object({ name: Type.String(), message: Type.String() })

async function showLimits(client: string | undefined, { as, url, certs, json }: ShowOptions, settings: Settings): Promise<string> {
  const server = serverClient({
    settings,
    clients: as === undefined ? ['operator', 'client'] : [as],
    timeoutMs,
    ...(url !== undefined && { url }),
    ...(certs !== undefined && { certs }),
  })
  const { status, text } = await server.get('/limits', client === undefined ? {} : { client })
  const answer: unknown = jsonOrUndefined(text)
  if (Value.Check(Refusal, answer)) throw new Error(`${answer.message} (${answer.name})`)
  if (status !== 200 || !Value.Check(LimitsResponse, answer))
    throw new Error(`The response is not from a Sluice server of this version: HTTP ${status}.`)
  if (json) return JSON.stringify(answer, undefined, 2)
  if (answer.limits.length === 0) return `The client ${answer.client} has no limits. To set some: limits of its entry in conf/clients.yml.`
  const head = { cells: ['limit', 'allowed', 'used', 'left', 'unit', 'window', 'all free at'] }
  const [lists, others] = [true, false].map((isList) => answer.limits.filter(({ unit }) => (unit === 'list') === isList))
  const rows = (others ?? []).map(({ limit, allowed, used = '', left = '', unit, window, chain, network, freesAt }) => ({
    cells: [
      limit,
      allowed,
      used === '' ? '' : shortened(used, 'up'),
      left === '' ? '' : shortened(left, 'down'),
      chain === undefined || network === undefined ? unit : `${unit} on ${chain}/${network}`,
      window ?? 'each',
      freesAt === undefined ? '' : new Date(freesAt).toISOString().slice(0, 16),
    ],
  }))
  const shown = rows.length === 0 ? [] : [table([head, ...rows], maxWidth)]
  return [answer.client, ...shown, ...(lists ?? []).map(({ limit, allowed }) => `${limit}: ${allowed}`)].join('\n')
}

/** To six decimals: what was used is never shown as less, and what is left never as more. */
function shortened(amount: string, rounding: 'up' | 'down'): string {
  const { digits, scale } = parseDecimal(amount)
  return scale <= shownDecimals
    ? normalize(amount)
    : normalize(formatRaw(divideRaw(digits, 10n ** BigInt(scale - shownDecimals), rounding), shownDecimals))
}

const shownDecimals = 6

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
