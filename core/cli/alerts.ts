// `sluice alerts`: what people are told of, keeping them from being told for a while, and whether they can be reached.
import { Command } from 'commander'
import { AlertsResponse, AlertsSilencesDeleteResponse, AlertsSilencesPostResponse, AlertsTestResponse } from '../api/alerts.ts'
import { pause } from '../base/async.ts'
import { command } from '../base/layout.ts'
import type { Settings } from '../config/settings.ts'
import { examples, printResult, table } from './output.ts'
import { readResponse, type ServerClient } from './server-client.ts'
import { addServerOptions, serverOf, type ServerOptions } from './server-options.ts'

interface ScopeOptions extends ServerOptions {
  readonly rule?: string
  readonly subject?: string
}

const maxWidth = 120

export function alertsCommand(settingsOf: () => Settings): Command {
  const alerts = new Command('alerts').description('what people are told of by conf/alerts.yml: list, silence, unsilence, test')
  const subcommand = (name: string, description: string) =>
    addServerOptions(alerts.command(name).description(description), undefined, 'admin')
  const scoped = (name: string, description: string) =>
    subcommand(name, description)
      .option('--rule <rule>', 'one rule (default: all)')
      .option('--subject <subject>', 'one thing of the rule, as list shows it')
  subcommand('list', 'list what lasts, what is silenced, and whether messages arrive')
    .option('--json', 'as JSON')
    .action((options: ServerOptions & { readonly json?: true }) => printResult(() => list(options, settingsOf())))
  scoped('silence', 'tell nobody for a while')
    .requiredOption('--for <time>', 'for how long: 30m, 4h, 2d')
    .option('--reason <text>', 'shown to whoever asks')
    .addHelpText('after', examples('alerts silence --rule outOfRange --for 2d', 'alerts silence --for 30m --reason "moving the nodes"'))
    .action((options: ScopeOptions & { readonly for: string; readonly reason?: string }) =>
      printResult(() => silence(options, settingsOf())),
    )
  scoped('unsilence', 'end a silence, by what it was set for').action((options: ScopeOptions) =>
    printResult(() => unsilence(options, settingsOf())),
  )
  subcommand('test', 'send a message to a channel, or to all, and wait for what becomes of it')
    .argument('[channel]', 'its name in conf/alerts.yml')
    .action((channel: string | undefined, options: ServerOptions) => printResult(() => test(channel, options, settingsOf())))
  return alerts
}

const readAlerts = async (server: ServerClient): Promise<AlertsResponse> => readResponse(AlertsResponse, await server.get('/alerts'))

const dateOf = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')

async function list(options: ServerOptions & { readonly json?: true }, settings: Settings): Promise<string> {
  const { enabled, alerts, total, failing = [], silences, channels } = await readAlerts(serverOf(settings, options))
  if (options.json)
    return JSON.stringify({ enabled, alerts, total, ...(failing.length > 0 && { failing }), silences, channels }, undefined, 2)
  if (!enabled) throw new Error('This server tells nobody of anything: it has no conf/alerts.yml.')
  const rows = alerts.map(({ rule, severity, since, words, subject, silenced, toldAt, remedy }) => ({
    cells: [severity, rule, dateOf(since), silenced ? 'silenced' : toldAt === undefined ? 'not told yet' : 'told'],
    below: [words, ...(words.includes(subject) ? [] : [`subject: ${subject}`]), ...(remedy === '' ? [] : [`→ ${remedy}`])],
  }))
  return [
    rows.length === 0
      ? 'There is nothing to be told of.'
      : table([{ cells: ['severity', 'rule', 'since', 'people were'] }, ...rows], maxWidth),
    ...(total > alerts.length ? [`and ${total - alerts.length} more`] : []),
    ...failing.map(({ rule, since, reason }) => `${rule} cannot see everything since ${dateOf(since)}: ${reason}`),
    ...silences.map(
      (each) =>
        `Silenced until ${dateOf(each.until)} by "${each.setBy}": ${scopeWords(each)}${each.reason === undefined ? '' : ` (${each.reason})`}`,
    ),
    ...channels.map(
      ({ name, waiting, reason, deliveredAt }) =>
        `Channel ${name}: ${waiting} waiting, ${deliveredAt === undefined ? 'nothing delivered in the last week' : `last delivered ${dateOf(deliveredAt)}`}${reason === undefined ? '' : `; last tried: ${reason}`}`,
    ),
    ...(channels.length === 0 ? ['There is no channel: nobody is told. Name one in conf/alerts.yml.'] : []),
  ].join('\n')
}

const scopeWords = ({ rule, subject }: { readonly rule?: string; readonly subject?: string }): string =>
  rule === undefined ? 'all rules' : subject === undefined ? rule : `${rule}, ${subject}`

const fieldsOf = ({ rule, subject }: ScopeOptions) => ({ ...(rule !== undefined && { rule }), ...(subject !== undefined && { subject }) })

const minutesIn = { m: 1, h: 60, d: 24 * 60 } as const

/** @throws Error */
function readMinutes(text: string): number {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
  if (count === undefined || (unit !== 'm' && unit !== 'h' && unit !== 'd') || Number(count) === 0)
    throw new Error(`--for is "${text}", but must be a time such as 30m, 4h or 2d.`)
  return Number(count) * minutesIn[unit]
}

async function silence(options: ScopeOptions & { readonly for: string; readonly reason?: string }, settings: Settings): Promise<string> {
  const { reason } = options
  const fields = { ...fieldsOf(options), minutes: readMinutes(options.for), ...(reason !== undefined && { reason }) }
  const set = readResponse(AlertsSilencesPostResponse, await serverOf(settings, options).post('/alerts/silences', fields))
  return `Nobody is told of ${scopeWords(set)} until ${dateOf(set.until)}. What lasts longer is told then. To end it: ${command} alerts unsilence${argumentsOf(set)}`
}

const argumentsOf = ({ rule, subject }: { readonly rule?: string; readonly subject?: string }): string =>
  `${rule === undefined ? '' : ` --rule ${rule}`}${subject === undefined ? '' : ` --subject '${subject.replaceAll("'", String.raw`'\''`)}'`}`

async function unsilence(options: ScopeOptions, settings: Settings): Promise<string> {
  const { lifted } = readResponse(
    AlertsSilencesDeleteResponse,
    await serverOf(settings, options).delete('/alerts/silences', fieldsOf(options)),
  )
  if (lifted.length === 0) return `Nothing was silenced for ${scopeWords(options)}. "${command} alerts list" shows what is.`
  return `People are told of ${scopeWords(options)} again.`
}

/** A service that hangs is given up by the server after 15 s. */
const arrivalMs = 20_000

interface TestedChannel {
  readonly isDelivered: boolean
  readonly reason: string | undefined
  /** As it was before: it may be that of an earlier message, which is what was tried last. */
  readonly isOldReason: boolean
}

/** Undefined: nobody knows yet. */
function wordsOf({ isDelivered, reason, isOldReason }: TestedChannel): string | undefined {
  if (reason === undefined) return isDelivered ? 'delivered' : undefined
  if (isDelivered) return `delivered, but ${reason}`
  return isOldReason ? undefined : `not delivered: ${reason}`
}

const notYet = ({ reason }: TestedChannel): string =>
  reason === undefined
    ? 'nobody knows yet: it is tried for a day'
    : `not delivered yet: it is tried for a day, and the last message that was tried was not delivered: ${reason}`

async function test(channel: string | undefined, options: ServerOptions, settings: Settings): Promise<string> {
  const server = serverOf(settings, options)
  const before = new Map((await readAlerts(server)).channels.map((each) => [each.name, each]))
  const sent = readResponse(AlertsTestResponse, await server.post('/alerts/test', channel === undefined ? {} : { channel }))
  if (sent.channels.length === 0) return 'There is no channel: name one in conf/alerts.yml.'
  for (const until = performance.now() + arrivalMs; ; await pause(500)) {
    const states = (await readAlerts(server)).channels.filter(({ name }) => sent.channels.includes(name))
    const tested = states.map(({ name, deliveredAt = 0, reason }) => ({
      name,
      isDelivered: deliveredAt > (before.get(name)?.deliveredAt ?? 0),
      reason,
      isOldReason: reason === before.get(name)?.reason,
    }))
    const isKnown = tested.every((each) => wordsOf(each) !== undefined)
    if (!isKnown && performance.now() < until) continue
    const text = tested.map((each) => `${each.name}: ${wordsOf(each) ?? notYet(each)}`).join('\n')
    if (tested.every((each) => wordsOf(each) === 'delivered')) return text
    throw new Error(text)
  }
}
