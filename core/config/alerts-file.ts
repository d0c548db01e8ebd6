// `conf/alerts.yml`: whom to tell of what. Without the file nobody is told, and nothing runs for it.
import { existsSync } from 'node:fs'
import path from 'node:path'
import * as Type from 'typebox'
import type { Static, TProperties } from 'typebox'
import { checkFile, compile, type Override } from './check.ts'
import { amountPattern, networkPattern } from './patterns.ts'
import type { ConfigProblem } from './problems.ts'
import { settingsFile } from './settings-schema.ts'
import type { Environment } from './tree.ts'
import { locate, readTextFile, readYaml, type YamlFile } from './yaml.ts'

const closed = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })
const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 10_000, description }))
const count = (value: number, description: string) => Type.Integer({ minimum: 1, maximum: 1_000_000, default: value, description })
const amount = (value: number, description: string) => Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, default: value, description })

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]

const rule = <P extends TProperties>(severity: Severity, thresholds: P, enabled = true) =>
  closed({
    enabled: Type.Boolean({ default: enabled, description: 'Whether anybody is told' }),
    severity: Type.Enum(severities, { default: severity, description: 'How urgent it is: channels may leave out what is less' }),
    ...thresholds,
  })

/** Each rule with its thresholds. What it looks at, and what it says: `core/alerts/rules.ts`. */
const rules = closed({
  notReady: rule('critical', { seconds: amount(20, 'How long the store, the signer or a required network has to fail') }),
  noGoodNode: rule('critical', { seconds: amount(30, 'How long no node of a network in use has to be good') }),
  approvalWaits: rule('warning', {}),
  tradingStopped: rule('warning', {}),
  clientsFileWrong: rule('critical', {}),
  pluginRefused: rule('warning', { seconds: amount(60, 'How long it has to be so') }),
  lowGas: rule('warning', {
    days: amount(3, 'Days for which the coin has to last at the use of the last seven days'),
    minBalance: Type.Optional(
      Type.Record(Type.String({ pattern: networkPattern }), Type.String({ pattern: amountPattern }), {
        description: 'By chain/network: the coin that a wallet has to have at least, such as "0.05"',
      }),
    ),
  }),
  stuckTransaction: rule('critical', { seconds: amount(900, 'How long a transaction may be open') }),
  nodeBehind: rule('warning', {
    blocks: count(5, 'How many blocks a node may be behind the best of the others'),
    seconds: amount(60, 'How long it has to be so, or not to be good'),
  }),
  nodeFlapping: rule('warning', {
    changes: count(6, 'How often the state of a node changes'),
    minutes: amount(10, 'Within so many minutes'),
  }),
  networkBehind: rule('critical', { seconds: amount(120, 'How old the newest block of a network may be; not of local networks') }),
  limitNearlyUsed: rule('warning', {
    percent: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 100, default: 80, description: 'Of a limit of a client' }),
  }),
  limitReached: rule('critical', {
    requests: count(10, 'How many requests a limit has to refuse within minutes, where it is not used up'),
    minutes: amount(15, 'How long a refusal by a limit counts'),
  }),
  booksDiffer: rule('critical', { days: amount(7, 'How many days a difference counts after the last check that found it') }),
  pluginQuarantined: rule('critical', {}),
  nearLiquidation: rule('critical', {
    marginPercent: Type.Number({
      exclusiveMinimum: 0,
      maximum: 100,
      default: 80,
      description: 'How much of what an account is worth may be needed to keep its positions',
    }),
    pricePercent: Type.Number({
      exclusiveMinimum: 0,
      maximum: 100,
      default: 5,
      description: 'How near the mark price may be to the price of a liquidation',
    }),
  }),
  outOfRange: rule('warning', {}),
  certificateExpiring: rule('warning', { days: amount(14, 'Days that a certificate has to be valid for') }),
  memoryDiffers: rule('critical', { minutes: amount(60, 'How long a difference counts') }),
  noQuote: rule('info', { minutes: amount(60, 'How long a connector that gave quotes may give none') }),
})

export const chatTemplates = ['json', 'slack', 'discord', 'mattermost', 'teams'] as const
export const channelKinds = ['webhook', 'telegram', 'email'] as const

const channel = closed({
  kind: Type.Enum(channelKinds, { description: 'What it is' }),
  minSeverity: Type.Optional(Type.Enum(severities, { description: 'The least urgent that it is told; info where absent' })),
  resolved: Type.Optional(Type.Boolean({ description: 'Whether it is told when something is over; true where absent' })),
  allowPrivate: Type.Optional(
    Type.Boolean({ description: 'Whether its host may have an address of a private network, and a webhook be http://' }),
  ),
  url: text('Of a webhook: where to post. It is a secret with most services'),
  urlFile: text('A file with it'),
  secret: text('Of a webhook: the key that signs what is posted'),
  secretFile: text('A file with it'),
  template: Type.Optional(Type.Enum(chatTemplates, { description: 'Of a webhook: whose form the body has; json where absent' })),
  body: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Of a webhook: a form of your own. {{text}}, {{title}}, {{severity}}, {{status}}, {{rule}}, {{count}} in its texts are replaced',
    }),
  ),
  token: text('Of Telegram: the token of the bot'),
  tokenFile: text('A file with it'),
  chat: Type.Optional(
    Type.String({ pattern: String.raw`^(-?\d{1,20}|@\w{1,64})$`, description: 'Of Telegram: the id of the chat, in quotes' }),
  ),
  apiUrl: text('Of Telegram: another server of the Bot API than https://api.telegram.org'),
  host: text('Of e-mail: the server that takes mail'),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535, description: '465 where absent' })),
  security: Type.Optional(
    Type.Enum(['tls', 'starttls', 'none'], {
      description: 'Of e-mail: tls where absent. none sends no password, and only to this machine',
    }),
  ),
  user: text('Of e-mail: the name to log in with'),
  password: text('Of e-mail'),
  passwordFile: text('A file with it'),
  ca: text('Of e-mail: certificates of CAs that its server may have, in PEM, in place of those of the system'),
  caFile: text('A file with them'),
  from: text('Of e-mail: the address of the sender'),
  to: Type.Optional(Type.Array(Type.String({ minLength: 3, maxLength: 254 }), { minItems: 1, maxItems: 20, description: 'Of e-mail' })),
})

export const alertsSchema = closed({
  channels: Type.Record(Type.String({ pattern: String.raw`^[\w-]{1,40}$` }), channel, {
    description: 'Whom to tell, by name',
    default: {},
  }),
  heartbeat: closed({
    url: text('Is asked for while the server is healthy: a service that misses it tells you (a dead man’s switch)'),
    urlFile: text('A file with it'),
    seconds: Type.Number({ minimum: 1, maximum: 86_400, default: 60, description: 'How often' }),
    allowPrivate: Type.Boolean({ default: false, description: 'Whether its host may have an address of a private network' }),
  }),
  rules,
  groupSeconds: Type.Number({
    minimum: 1,
    maximum: 86_400,
    default: 60,
    description: 'After a message of a rule, more of the same rule waits so long and becomes one message',
  }),
  resolveSeconds: Type.Number({
    minimum: 0,
    maximum: 86_400,
    default: 30,
    description: 'How long something has to be over before that is told',
  }),
  portfolioSeconds: Type.Number({
    minimum: 1,
    maximum: 86_400,
    default: 12,
    description: 'How often at most the balances and positions of wallets are read for the rules about them',
  }),
})

export type ChannelSettings = Static<typeof channel>
export type RuleSettings = Static<typeof rules>
export type RuleName = keyof RuleSettings
export const alertRuleNames = Object.keys(rules.properties) as RuleName[]
export type AlertSettings = Static<typeof alertsSchema>

const file = settingsFile('alerts.yml', alertsSchema, 'alerts.')
/** A file with the URL is named in the environment as for each setting, by SLUICE_ALERTS_HEARTBEAT_URL_FILE. */
export const alertsFile = { ...file, keys: file.keys.filter(({ name }) => !name.endsWith('File')) }
const validate = compile(alertsSchema)

interface AlertsFolder {
  readonly confDir: string
  readonly home: string
  readonly env: Environment
}

/** Undefined without the file, or after a problem, which is added. Files with secrets are read, and stand in place of their names. */
export function readAlerts(
  { confDir, home, env }: AlertsFolder,
  overrides: readonly Override[],
  problems: ConfigProblem[],
): AlertSettings | undefined {
  const alertsPath = path.join(confDir, 'alerts.yml')
  if (!existsSync(alertsPath)) return undefined
  const shown = path.join(path.basename(confDir), 'alerts.yml')
  const yaml = readYaml(alertsPath, shown, problems)
  const checked = yaml && checkFile(validate, { file: shown, defaults: alertsFile.defaults, yaml, overrides }, env, problems)
  if (!checked) return undefined
  const settings = checked.value
  const report = problemsAt(yaml, shown, problems)
  const from = (of: Readonly<Record<string, unknown>>, key: string, pointer: string) => withSecret(of, key, { pointer, home, report })
  for (const [name, of] of Object.entries(settings.channels)) {
    const pointer = `/channels/${name}`
    for (const key of ['url', 'secret', 'token', 'password', 'ca'] as const) Object.assign(of, from(of, key, pointer))
    for (const [key, problem, remedy] of wrongIn(of)) report(`${pointer}/${key}`, problem, remedy)
  }
  Object.assign(settings.heartbeat, from(settings.heartbeat, 'url', '/heartbeat'))
  const { url } = settings.heartbeat
  if (url !== undefined) for (const why of wrongUrl(url, settings.heartbeat.allowPrivate)) report('/heartbeat/url', why, urlRemedy)
  return settings
}

type Report = (pointer: string, problem: string, remedy: string) => void

const problemsAt =
  (yaml: YamlFile, shown: string, problems: ConfigProblem[]): Report =>
  (pointer, problem, remedy) =>
    void problems.push({ ...locate(pointer, [yaml], shown), problem, remedy })

function withSecret(
  of: Readonly<Record<string, unknown>>,
  key: string,
  { pointer, home, report }: { readonly pointer: string; readonly home: string; readonly report: Report },
): Readonly<Record<string, string>> {
  const named = of[`${key}File`]
  if (typeof named !== 'string') return {}
  const at = `${pointer}/${key}File`
  if (of[key] !== undefined) {
    report(at, `is set together with ${key}`, 'Set only one of the two.')
    return {}
  }
  const read = readTextFile(path.resolve(home, named), 100_000)
  const value = read.is === 'text' ? read.text.trim() : ''
  if (read.is === 'absent') report(at, 'names a file that does not exist', 'Create it, or correct its name.')
  else if (read.is === 'bad') report(at, `names a file that ${read.problem}`, read.remedy)
  else if (value === '') report(at, 'names a file that is empty', 'Write the value into it.')
  return value === '' ? {} : { [key]: value }
}

const urlRemedy = 'Write an https:// URL without a user. http:// and private addresses need allowPrivate: true.'

function wrongUrl(url: string, allowPrivate = false): string[] {
  const read = URL.canParse(url) ? new URL(url) : undefined
  if (!read || !['https:', 'http:'].includes(read.protocol)) return ['is not a URL of the web']
  if (read.username !== '' || read.password !== '') return ['has a user in it']
  return read.protocol === 'http:' && !allowPrivate ? ['is not encrypted'] : []
}

/** What a channel of its kind lacks. */
function wrongIn(of: ChannelSettings): readonly (readonly [key: string, problem: string, remedy: string])[] {
  const needed = { webhook: ['url'], telegram: ['token', 'chat'], email: ['host', 'from', 'to'] } as const
  const missing = needed[of.kind]
    .filter((key) => of[key] === undefined && !(`${key}File` in of))
    .map((key) => [key, 'is missing', `A channel of the kind ${of.kind} needs ${needed[of.kind].join(', ')}.`] as const)
  const urls = (['url', 'apiUrl'] as const).flatMap((key) =>
    wrongUrl(of[key] ?? 'https://localhost', of.allowPrivate).map((problem) => [key, problem, urlRemedy] as const),
  )
  const addresses = [['from', of.from] as const, ...(of.to ?? []).map((each) => ['to', each] as const)]
    .filter(([, address]) => address !== undefined && !isMailAddress(address))
    .map(([key]) => [key, 'is not an address of e-mail', 'Write the address alone, such as ops@example.org.'] as const)
  const logsIn = of.kind === 'email' && of.security === 'none' && (of.user !== undefined || of.password !== undefined)
  const plain = logsIn ? [['security', 'would send the password unencrypted', 'Use tls or starttls.'] as const] : []
  const [hasUser, hasPassword] = [of.user !== undefined, of.password !== undefined || of.passwordFile !== undefined]
  const half =
    of.kind === 'email' && hasUser !== hasPassword
      ? [
          [
            hasUser ? 'password' : 'user',
            'is missing',
            'To log in takes both user and password; to send without a login leave out both.',
          ] as const,
        ]
      : []
  const both = of.body !== undefined && of.template !== undefined
  return [
    ...missing,
    ...urls,
    ...addresses,
    ...plain,
    ...half,
    ...(both ? [['body', 'is set together with template', 'Set only one.'] as const] : []),
  ]
}

/** Nothing that could be a command or a header. */
const isMailAddress = (address: string): boolean => /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w-]+(\.[\w-]+)*$/.test(address)
