import * as Type from 'typebox'
import type { Static, TSchema } from 'typebox'
import { type ConfigProblem, expected } from './problems.ts'
import { type Section, variable, type Environment } from './tree.ts'
import { locate, type YamlFile } from './yaml.ts'
import { isObject } from '../base/json.ts'
import { openingForm, openingPattern } from './openings.ts'
import { defaultKeySources, keySourceSchema } from '../keys/sources.ts'

const closed = <P extends Record<string, TSchema>>(properties: P) => Type.Object(properties, { additionalProperties: false })
const seconds = (value: number, description: string) => Type.Number({ exclusiveMinimum: 0, maximum: 3600, default: value, description })
const count = (value: number, description: string) => Type.Integer({ minimum: 1, default: value, description })
const port = (value: number, description: string) => Type.Integer({ minimum: 0, maximum: 65535, default: value, description })
/** A path; a relative one is resolved against the home folder. */
const path = (value: string, description: string) => Type.String({ minLength: 1, default: value, description })

/** The default of `limits.referenceTokens`. Where no network lists one of them nothing is said: nobody wrote it. */
export const usualReferences: string[] = ['USDC', 'USDT', 'DAI', 'USDG']

/** `conf/server.yml`: type, defaults, validation and documentation in one declaration. */
export const serverSchema = closed({
  server: closed({
    host: Type.String({ minLength: 1, default: '127.0.0.1', description: 'Address to listen on; 0.0.0.0 is every address of the machine' }),
    port: port(15888, 'Port of the HTTPS listener; 0 takes any free port'),
    requestTimeoutSeconds: seconds(30, 'How long a request may take; then it is answered with TIMEOUT'),
    drainSeconds: seconds(6, 'How long requests in progress may take after the server is told to stop'),
  }),
  plugins: closed({
    folders: Type.Array(path('plugins', 'Folder of plugins, or of one plugin'), {
      minItems: 1,
      default: ['plugins'],
      description: 'Folders in which plugins are searched',
    }),
    disabled: Type.Array(Type.String({ minLength: 1 }), {
      uniqueItems: true,
      default: [],
      description: 'Names of plugins that are not loaded',
    }),
    hostSocket: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Unix socket of the plugin-host service, which contains plugins of third parties; absent: namespaces of this system do',
      }),
    ),
    weakContainment: Type.Boolean({
      default: false,
      description: 'Whether plugins of third parties may run where the system cannot contain them: they can do what this user can',
    }),
  }),
  data: closed({
    dir: path('data', 'Folder of the keystore, the journal and the devnet'),
  }),
  store: closed({
    url: Type.Optional(
      Type.String({
        pattern: '^postgres(ql)?://',
        description: 'PostgreSQL for several servers, postgres://…; absent: the embedded store in data.dir',
      }),
    ),
    keepDays: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 36_500,
        description:
          'How long the store keeps transactions that are final, in days in which servers ran; then they move to data.dir/archive. Absent: 90 with the embedded store, for ever with PostgreSQL',
      }),
    ),
  }),
  wallet: closed({
    allowedSpenders: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description: 'Addresses beside those of the connectors that may be approved',
    }),
    keySources: Type.Array(keySourceSchema(), {
      uniqueItems: true,
      minItems: 1,
      default: defaultKeySources.map(({ kind }) => kind),
      description: 'Key sources, which make signatures: the kind alone, or a mapping with kind and the options of the kind',
    }),
  }),
  signer: closed({
    socket: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Unix socket of the signer service, which holds the keys as a user of its own; absent: the server starts a signer of its own user',
      }),
    ),
  }),
  devnet: closed({
    enabled: Type.Boolean({
      default: false,
      description: 'Whether the local chain is started; it is true in conf/server.yml of a fresh checkout',
    }),
    port: port(8545, 'Port of the local chain’s node'),
    only: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        uniqueItems: true,
        description: 'Chains whose network local comes with it; ethereum always does. Absent: all that can be simulated',
      }),
    ),
  }),
  log: closed({
    level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      default: 'info',
      description: 'Lowest level that is logged',
    }),
  }),
  market: closed({
    staleBlocks: count(
      2,
      'Maximum age of a chain’s state in memory, in blocks; older than this and than 2 s by the time of the blocks is an error',
    ),
    staleBlockSeconds: seconds(
      60,
      'Maximum age of a chain’s newest block; older than this and than ten blocks take is an error; not for local networks',
    ),
    staleSeconds: seconds(15, 'Maximum silence of an exchange’s stream about a book; then the book is an error'),
    checkSeconds: seconds(
      30,
      'How often some of the state in memory is compared with the chain or the exchange: of the chain so much that all is compared within two minutes',
    ),
    cachedQuotes: count(10_000, 'Maximum quotes kept in memory for the same question again, of all pairs together; about 1 kB each'),
  }),
  limits: closed({
    bodyBytes: count(100_000, 'Largest request body, in bytes'),
    clientBodyBytes: count(8_000_000, 'Maximum bytes of all bodies of one client certificate’s requests in progress; above that 429'),
    allBodyBytes: count(64_000_000, 'The same of the whole server; above that 503'),
    walletQueue: count(
      256,
      'Maximum requests in progress of one wallet on one network; above that 503. Also how far ahead of the lowest free nonce a request may name one',
    ),
    inFlight: count(1024, 'Maximum requests in progress in the whole server; above that 503'),
    clientInFlight: count(
      256,
      'Maximum requests in progress of one client certificate; more wait for their turn, up to eight times as many',
    ),
    connectionInFlight: count(16, 'The same of one connection, whose answers have not been taken yet'),
    clientConnections: count(2048, 'Maximum connections of one client certificate; above that 429, and the connection is closed'),
    clientUnsentBytes: count(32_000_000, 'Maximum bytes of answers that one client certificate has not taken; above that 429'),
    streams: count(512, 'Maximum streams of /events in the whole server; above that 503'),
    clientStreams: count(64, 'The same of one client certificate'),
    handshakes: count(
      2048,
      'Maximum connections that have not shown a certificate yet; above that, the one that has waited for its client longest is closed',
    ),
    addressHandshakes: Type.Integer({
      minimum: 0,
      default: 256,
      description: 'The same of one address; 0: no limit, for a server behind a proxy, where all clients have one address',
    }),
    pageSize: count(500, 'Maximum entries in one page of a list'),
    approvalMinutes: Type.Integer({
      minimum: 1,
      maximum: 1_440,
      default: 15,
      description: 'Minutes for which a request waits for its approval (approveAbove of its client); then it expires',
    }),
    waitingApprovals: count(20, 'Maximum requests of one client that wait for an approval; above that 403'),
    maxPriceImpact: Type.Number({
      minimum: 0,
      maximum: 100,
      default: 5,
      description:
        'How much worse than the market the worst outcome of a request may be, in percent, of a client without the permission thin; what is worse is 403',
    }),
    marketMinutes: Type.Number({
      minimum: 1,
      maximum: 240,
      default: 20,
      description: 'Minutes whose median is the market, beside its price now; a token needs to have had a market for a quarter of them',
    }),
    marketDepth: Type.Number({
      exclusiveMinimum: 0,
      default: 20_000,
      description:
        'What a pool has to take in both directions within 2 % of its price, and an order book to have on each side, to count for the market: in the reference token',
    }),
    referenceTokens: Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      default: usualReferences,
      description: 'Symbols of the tokens that values are counted in: the first that a network lists',
    }),
    maxDailyLossPercent: Type.Number({
      minimum: 0,
      maximum: 100,
      default: 2,
      description:
        'Of a client without thin and without maxDailyLoss of its own: what its trades may lose against the market in a rolling day, in percent of what its wallets held in listed tokens when the day began',
    }),
    minDailyLoss: Type.Number({
      minimum: 0,
      maximum: 1e12,
      default: 20,
      description: 'The least that it is, in the reference token, so that small wallets can trade',
    }),
    maxFeePercent: Type.Number({
      exclusiveMinimum: 0,
      maximum: 100,
      default: 10,
      description:
        'Of a client without thin and without maxFee of its own: the greatest fee of one transaction, in percent of what 1,000,000 gas costs at the feeCap of the network; on Solana, of a hundred times feeCap',
    }),
    maxDailyGasPercent: Type.Number({
      exclusiveMinimum: 0,
      maximum: 100_000,
      default: 100,
      description: 'The same of maxDailyGas, the fees of a rolling day on one network',
    }),
    onLocalNetworks: Type.Boolean({
      default: false,
      description: 'Whether requests on local networks, such as the devnet, are held against the market and the default limits, too',
    }),
    pluginLoadSeconds: seconds(10, 'Processor time that a plugin from outside may use to load; it also has at most 60 s by the clock'),
    pluginStallSeconds: seconds(
      10,
      'How long a plugin may block the process, without what it waits for a processor; then the process is ended',
    ),
  }),
  books: closed({
    verifyDaily: Type.Boolean({
      default: true,
      description: 'Whether one server holds the journal of each wallet against the chain once a day; never on local networks',
    }),
    rebasingTokens: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        'Symbols or addresses of tokens whose balances change without events: the daily check counts these changes, and does not warn of them',
    }),
    coinAsWrapped: Type.Boolean({
      default: false,
      description: 'Whether trades of the native coin and of its wrapped form, as ETH and WETH, are one pair in books',
    }),
    opening: Type.Array(Type.String({ pattern: openingPattern, description: openingForm }), {
      default: [],
      description:
        'What wallets held before the journal begins, and what it had cost: "2026-01-01 ethereum/mainnet 0x7099… 2 WETH 6000 USDC"; the command books open adds one',
    }),
  }),
})
export type ServerSettings = Static<typeof serverSchema>

/** `conf/ssl.yml`. */
export const sslSchema = closed({
  certsDir: path('certs', 'Folder of the certificates and keys'),
})
export type SslSettings = Static<typeof sslSchema>

/** One setting. */
export interface SettingKey {
  /** E.g. `server.port`; those of ssl.yml begin with `ssl.`. */
  name: string
  /** JSON pointer in its file. */
  pointer: string
  environmentName: string
  /** Its piece of JSON Schema. */
  schema: Section
}

export interface SettingsFile {
  file: 'server.yml' | 'ssl.yml' | 'alerts.yml'
  keys: readonly SettingKey[]
  /** The settings of an empty file. */
  defaults: Section
}

export const serverFile = settingsFile('server.yml', serverSchema, '')
export const sslFile = settingsFile('ssl.yml', sslSchema, 'ssl.')
export const settingKeys: readonly SettingKey[] = [...serverFile.keys, ...sslFile.keys]

/** `server.requestTimeoutSeconds` → `SLUICE_SERVER_REQUEST_TIMEOUT_SECONDS`. */
function environmentName(name: string): string {
  return `SLUICE_${name.replace(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`
}

/** @param prefix of the names of its settings */
export function settingsFile(file: SettingsFile['file'], schema: unknown, prefix: string): SettingsFile {
  return { file, keys: keysOf(schema, '', prefix), defaults: defaultsOf(schema) }
}

function propertiesOf(schema: unknown): [string, Section][] {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
  return Object.entries(properties).flatMap(([key, value]) => (isObject(value) ? [[key, value]] : []))
}

function keysOf(schema: unknown, pointer: string, prefix: string): SettingKey[] {
  return propertiesOf(schema).flatMap(([key, inner]) => {
    const name = prefix + key
    const at = `${pointer}/${key}`
    return inner['type'] === 'object'
      ? keysOf(inner, at, `${name}.`)
      : [{ name, pointer: at, environmentName: environmentName(name), schema: inner }]
  })
}

function defaultsOf(schema: unknown): Section {
  const defaults: Section = {}
  for (const [key, inner] of propertiesOf(schema)) {
    if (inner['type'] === 'object') defaults[key] = defaultsOf(inner)
    else if ('default' in inner) defaults[key] = structuredClone(inner['default'])
  }
  return defaults
}

/** The only source of the passphrase besides a terminal: a file can be protected, while variables and settings are copied around. */
export const passphraseVariable = 'SLUICE_WALLET_PASSPHRASE_FILE'

/** Names a file with a passphrase for the seals of sluice.lock. Without it the keystore's passphrase makes them. */
export const sealVariable = 'SLUICE_SEAL_PASSPHRASE_FILE'

const remedy = (name: string) => `Write it into a file that only the user of Sluice can read, and name that file in ${name}.`

/** Reports a passphrase in a file of settings or in a variable, and removes it from what was read. */
export function refusePassphrase(yaml: YamlFile | undefined, env: Environment, problems: ConfigProblem[]): void {
  const wallet = yaml?.value['wallet']
  if (yaml && isObject(wallet) && wallet['passphrase'] !== undefined) {
    const pointer = '/wallet/passphrase'
    problems.push({
      ...locate(pointer, [yaml], yaml.file),
      problem: 'may not stand in a file of settings',
      remedy: remedy(passphraseVariable),
    })
    delete wallet['passphrase']
  }
  for (const named of [passphraseVariable, sealVariable]) {
    const name = named.replace(/_FILE$/, '')
    if (variable(env, name) !== undefined)
      problems.push({ file: 'environment', path: name, problem: 'may not hold the passphrase itself', remedy: remedy(named) })
  }
}

interface SettingRow {
  name: string
  file: string
  /** As it would be written in the file; empty without a default. */
  default: string
  environmentName: string
  /** The possible values, and what they do. */
  description: string
}

/** Every setting with its default and its environment variable, from the schemas that validate it. */
export function describeSettings(): SettingRow[] {
  const rows = settingKeys.map((key) => ({
    name: key.name,
    file: serverFile.keys.includes(key) ? 'conf/server.yml' : 'conf/ssl.yml',
    default: defaultOf(key),
    environmentName: key.environmentName,
    description: expected({ ...key.schema, default: undefined }),
  }))
  const secrets = [
    {
      name: 'wallet.passphrase',
      environmentName: passphraseVariable,
      description: 'file that holds the passphrase of the keystore; without it, it is asked for at a terminal',
    },
    {
      name: 'wallet.sealPassphrase',
      environmentName: sealVariable,
      description: 'file that holds the passphrase of the seals of sluice.lock; without it, the keystore’s makes them',
    },
  ].map((each) => ({ ...each, file: 'none', default: '' }))
  const after = rows.findLastIndex(({ name }) => name.startsWith('wallet.')) + 1
  return rows.toSpliced(after, 0, ...secrets)
}

export function defaultOf({ schema }: SettingKey): string {
  const value = schema['default']
  if (Array.isArray(value)) return `[${value.join(', ')}]`
  return typeof value === 'string' ? value : JSON.stringify(value ?? '').replace(/^""$/, '')
}
