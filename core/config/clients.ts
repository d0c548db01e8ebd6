import { permissions, type Permission } from '../api/endpoint.ts'
import { command } from '../base/layout.ts'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { amountPattern, hoursPattern, networkPattern } from './patterns.ts'
import type { ConfigProblem } from './problems.ts'
import { checkFile, compile } from './check.ts'
import { pointerOf, segmentsOf, type Environment, type Section } from './tree.ts'
import { locate, withoutEmptyKeys, type YamlFile } from './yaml.ts'

const bounds = {
  requestsPerSecond: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'Its own rate limit' })),
  inFlight: Type.Optional(Type.Integer({ minimum: 1, description: 'Its own limit, in place of limits.clientInFlight' })),
  connections: Type.Optional(Type.Integer({ minimum: 1, description: 'Its own limit, in place of limits.clientConnections' })),
  streams: Type.Optional(Type.Integer({ minimum: 1, description: 'Its own limit, in place of limits.clientStreams' })),
}

const Amount = (description: string) => Type.String({ pattern: amountPattern, description })

/** Coins differ in value: one amount for all networks, or one for each. */
const AmountByNetwork = (description: string) =>
  Type.Union(
    [
      Amount(description),
      Type.Record(Type.String({ pattern: networkPattern }), Amount(description), {
        additionalProperties: false,
        description: 'by network, such as ethereum/mainnet; on others nothing may be spent',
      }),
    ],
    { description },
  )

/** What a request can do, by what is signed. What only takes back or cancels is none of these: it is always allowed. */
export const actions = [
  'swap',
  'order',
  'liquidity',
  'shares',
  'perpetual',
  'deposit',
  'withdraw',
  'borrow',
  'transfer',
  'wrap',
  'approve',
  'account',
] as const
export type Action = (typeof actions)[number]

const names = (description: string) => Type.Optional(Type.Array(Type.String({ minLength: 1 }), { uniqueItems: true, description }))

const allowed = Type.Object(
  {
    connectors: names('Absent: those of this release'),
    networks: names('As chain/network. Absent: all that the server has'),
    tokens: names('Addresses, or symbols of listed tokens. Absent: the tokens of the lists'),
    pools: names('Addresses, or what identifies them. Absent: all'),
    recipients: names('Addresses, of those in sendTo. Absent: all in sendTo'),
    actions: Type.Optional(Type.Array(Type.Enum(actions), { uniqueItems: true, description: 'What it may do. Absent: all' })),
    hours: Type.Optional(
      Type.Array(Type.String({ pattern: hoursPattern }), {
        uniqueItems: true,
        description: 'Hours of the day in UTC, such as "08:00-18:00", by the clock of the server; also over midnight. Absent: all',
      }),
    ),
  },
  { additionalProperties: false, description: 'What it may touch. Cancels, and what only takes back, are always allowed' },
)
/** Lists of what a client may touch. What is not listed is not allowed. */
export type AllowedLists = Static<typeof allowed>

const Percent = (description: string) => Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 100, description }))

const Amounts = (what: string, description: string) =>
  Type.Object(
    {
      perTransaction: Type.Optional(Amount(`${what} by one request at most`)),
      perHour: Type.Optional(Amount(`${what} in a rolling hour`)),
      perDay: Type.Optional(Amount(`${what} in a rolling day`)),
    },
    { additionalProperties: false, minProperties: 1, description },
  )

const limits = Type.Object(
  {
    allowed: Type.Optional(allowed),
    maxSlippage: Percent('Greatest slippage, in percent'),
    maxPriceImpact: Percent(
      'How far the worst outcome may be below the market, in percent, where that is stricter than limits.maxPriceImpact',
    ),
    maxFee: Type.Optional(AmountByNetwork('Greatest fee of one transaction, in the coin of its network')),
    maxDailyGas: Type.Optional(
      AmountByNetwork('Fees of all transactions on one network in a rolling day, in its coin; a fifth of it is for cancels alone'),
    ),
    maxDailyLoss: Type.Optional(
      Amount('What trades may lose against the market in a rolling day, gains against losses, in the reference token'),
    ),
    maxLeverage: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description:
          'Greatest leverage of a perpetual account after an order: all that is open, by what the account is worth. With maxDailyLoss it is 1 unless it is set',
      }),
    ),
    maxOpenNotional: Type.Optional(
      Amount("Greatest sum of a wallet's positions and open orders of perpetuals on one exchange, in its unit of account"),
    ),
    transactionsPerHour: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Transactions in a rolling hour; cancels are not counted' }),
    ),
    tokens: Type.Optional(
      Type.Record(
        Type.String({ pattern: networkPattern }),
        Type.Record(Type.String({ minLength: 1 }), Amounts('What it gives', 'In whole units of the token')),
        {
          description:
            'By chain/network, and by symbol or address of a listed token: what it may give away of it. Others it may not give away',
        },
      ),
    ),
    value: Type.Optional(Amounts('What it gives', 'What it may give away of all tokens together, in the reference token')),
    approveAbove: Type.Optional(
      Amount('What gives away more than this, in the reference token, waits for the approval of another client; so does what has no price'),
    ),
    approveTokensAbove: Type.Optional(
      Type.Record(
        Type.String({ pattern: networkPattern }),
        Type.Record(Type.String({ minLength: 1 }), Amount('In whole units of the token')),
        {
          description:
            'By chain/network, and by symbol or address of a listed token: what gives away more of it waits for the approval of another client; so does what gives away a token that is not named',
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'What it may spend' },
)
/** What refusals call the limits of clients in `details.limit`. */
export const limitNames: ReadonlySet<string> = new Set([
  ...Object.keys(limits.properties),
  ...Object.keys(allowed.properties).map((list) => `allowed.${list}`),
  ...['value', 'tokens'].flatMap((kind) => ['perTransaction', 'perHour', 'perDay'].map((window) => `${kind}.${window}`)),
  'waitingApprovals',
])
/** What a client may spend. Amounts are decimal strings. */
export type ClientLimits = Static<typeof limits>
/** Limits of an amount by what it is counted over. */
export type AmountLimits = NonNullable<ClientLimits['value']>

/** `conf/clients.yml`: by the common name of a client certificate, or by its SHA-256 fingerprint. */
const clientsSchema = Type.Object(
  {
    clients: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            permissions: Type.Array(Type.Enum(permissions), { uniqueItems: true, description: 'What the certificate may do' }),
            wallets: Type.Optional(
              Type.Union([Type.Literal('all'), Type.Array(Type.String({ minLength: 1 }), { description: 'wallet addresses' })], {
                description: 'The wallets that it may use and see',
              }),
            ),
            sendTo: Type.Optional(
              Type.Record(Type.String(), Type.Array(Type.String({ minLength: 1 }), { description: 'addresses' }), {
                description: 'With the permission send: by the address of a wallet, the addresses that it may send to',
              }),
            ),
            limits: Type.Optional(limits),
            marketCheck: Type.Optional(
              Type.Boolean({
                description:
                  'true: a client that keeps the permission thin because it could trade before there was one gives it up; false: it keeps it, and nothing more is said',
              }),
            ),
            ...bounds,
          },
          { additionalProperties: false },
        ),
      ),
    ),
    unlisted: Type.Optional(Type.Object(bounds, { additionalProperties: false, description: 'Of each certificate that is not listed' })),
  },
  { additionalProperties: false },
)
const validate = compile(clientsSchema)

/** Of what another server says. */
export const isClientLimits = compile(limits)

/** What one certificate may use at once; absent: what `limits` say. */
export interface ClientBounds {
  readonly requestsPerSecond?: number
  readonly inFlight?: number
  readonly connections?: number
  readonly streams?: number
}

/** Who asks for what the server does by itself, where else the id of a client stands. */
export const ownId = 'sluice'

/** Ids that no client has, by what they name. */
const reservedIds: ReadonlyMap<string, string> = new Map([
  ['', 'nobody'],
  [ownId, 'the server itself, in the journal and in the log'],
  ['unlisted', 'all certificates that are not listed, in the log'],
])

/** What an id names that no client may have; undefined: a client may. */
export const reservedFor = (id: string): string | undefined => reservedIds.get(id)

/** The rights of one certificate. */
export interface Client extends ClientBounds {
  /** The key in clients.yml: common name or fingerprint. */
  readonly name: string
  /** SHA-256 of the certificate, lower-case hex without colons, where the key is one. */
  readonly fingerprint?: string
  readonly permissions: readonly Permission[]
  /** Of one that could trade before there was the permission thin: false keeps that, true gives it up; absent: it is kept, and said at each start. */
  readonly marketCheck?: boolean
  readonly limits?: ClientLimits
  readonly wallets: 'all' | readonly string[]
  /** By the address of a wallet, the addresses to which it may send: as they are written. */
  readonly sendTo?: ReadonlyMap<string, readonly string[]>
  /** What is wrong with its entry: then it has no permission, and its certificate counts as listed. */
  readonly closed?: string
}

/** Of each certificate that is not listed. */
export interface UnlistedClients extends ClientBounds {
  /** What is wrong with their entry: then they have no permission. */
  readonly closed?: string
}

/** A right that nobody gets, because the entry that gives it is wrong. */
export interface ClosedRight extends ConfigProblem {
  /** What is closed, for people: "the client bot has no permission". */
  readonly closed: string
}

/** For people: what is wrong and what that closes. The remedy is apart. */
export const describeClosed = ({ file, line, path, problem, closed }: ClosedRight): string =>
  `${line === undefined ? file : `${file}:${line}`} ${path} ${problem}, so ${closed}.`

/** What `conf/clients.yml` says. */
interface Clients {
  readonly clients: readonly Client[]
  readonly unlisted: UnlistedClients
  readonly closed: readonly ClosedRight[]
  readonly shown: Section
}

/**
 * A client whose entry is wrong is closed: it has no permission, and the others keep theirs. A wrong entry of `wallets` or `sendTo` closes itself
 * only. Undefined after a problem of the whole file.
 */
export function readClients(yaml: YamlFile | undefined, file: string, env: Environment, problems: ConfigProblem[]): Clients | undefined {
  /** By the JSON pointers of the entries. */
  const wrong = new Map<string, readonly ConfigProblem[]>()
  const entries = { at: rightAt, onLeftOut: (entry: string, why: readonly ConfigProblem[]) => void wrong.set(entry, why) }
  const checked = checkFile(validate, { file, yaml: yaml && withoutEmptyKeys(yaml, remedyOfEmpty), entries }, env, problems)
  if (!checked) return undefined
  const listed = Object.entries(checked.value.clients ?? {}).map(([name, { wallets = [], sendTo, ...rest }]): Client => {
    const recipients = sendTo && new Map(Object.entries(sendTo))
    return { ...named(name), ...rest, wallets, ...(recipients && { sendTo: recipients }) }
  })
  const close = (name: string, problem: string, remedy: string) => {
    const entry = pointerOf(['clients', name])
    wrong.set(entry, [...(wrong.get(entry) ?? []), { ...locate(entry, yaml ? [yaml] : [], file), problem, remedy }])
  }
  for (const { name, limits: { tokens, value, maxDailyGas } = {} } of listed)
    if ((tokens ?? value) && maxDailyGas === undefined)
      close(name, 'limits what it gives away, and not its fees', 'Write limits.maxDailyGas, too: fees leave the wallet as well.')
  for (const { name } of listed) {
    const use = reservedFor(name)
    if (use !== undefined)
      close(
        name,
        `is a name that stands for ${use}`,
        `Write the SHA-256 fingerprint of its certificate as the key, in quotes (${command} certs list shows it). Or make a certificate with another name.`,
      )
  }
  const names = [...listed.map(({ name }) => name), ...closedNames(wrong)]
  // Nobody can tell which of the two is right.
  for (const name of names.filter((each) => names.some((other) => other !== each && isSameFingerprint(other, each))))
    close(name, 'has the fingerprint of another entry, in another spelling', 'Keep one of the two.')
  const closed = closedNames(wrong)
  const unlisted = wrong.get(unlistedEntry)
  return {
    clients: [
      ...listed.filter(({ name }) => !closed.includes(name)),
      ...closed.map((name): Client => ({
        ...named(name),
        permissions: [],
        wallets: [],
        closed: inWords(wrong.get(pointerOf(['clients', name])) ?? []),
      })),
    ],
    unlisted: unlisted ? { closed: inWords(unlisted) } : (checked.value.unlisted ?? {}),
    closed: [...wrong].flatMap(([entry, why]) => why.map((each) => ({ ...each, closed: whatIsClosed(entry) }))),
    shown: checked.shown,
  }
}

const unlistedEntry = pointerOf(['unlisted'])

/** The narrowest entry that gives a right: of a client's lists of addresses one address, else the client. */
function rightAt(pointer: string): string | undefined {
  const [top = '', client, key, ...at] = segmentsOf(pointer)
  if (top === 'unlisted') return unlistedEntry
  if (top !== 'clients' || client === undefined) return undefined
  const depth = key === 'wallets' ? 1 : key === 'sendTo' ? 2 : 0
  return pointerOf([top, client, ...(key !== undefined && depth > 0 && at.length > 0 ? [key, ...at.slice(0, depth)] : [])])
}

function whatIsClosed(entry: string): string {
  const [, client, ...inside] = segmentsOf(entry)
  if (client === undefined) return 'certificates that are not listed have no permission'
  return inside.length === 0 ? `the client "${client}" has no permission` : `it gives the client "${client}" nothing`
}

/** Those whose whole entry is wrong. */
const closedNames = (wrong: ReadonlyMap<string, unknown>): string[] =>
  [...wrong.keys()].flatMap((entry) => {
    const [, client, ...inside] = segmentsOf(entry)
    return client !== undefined && inside.length === 0 ? [client] : []
  })

/** Without clients nobody has a permission. Any other key that is empty may be one that was to allow nothing. */
function remedyOfEmpty(pointer: string): string | undefined {
  const [top, ...at] = segmentsOf(pointer)
  if (top === 'clients' && at.length === 1) return 'Write its permissions, or remove it.'
  return top === 'clients' && at.length === 0
    ? undefined
    : 'Write a value, such as "0", or [] for a list: they allow nothing. Or remove the key.'
}

const inWords = (problems: readonly ConfigProblem[]): string => problems.map(({ path, problem }) => `${path} ${problem}`).join('; ')

function named(name: string): Pick<Client, 'name' | 'fingerprint'> {
  const fingerprint = fingerprintOf(name)
  return { name, ...(fingerprint !== undefined && { fingerprint }) }
}

const isSameFingerprint = (one: string, other: string): boolean => {
  const fingerprint = fingerprintOf(one)
  return fingerprint !== undefined && fingerprint === fingerprintOf(other)
}

/** The entry of a certificate: by its fingerprint, else by its common name; undefined where it is not listed. */
export function clientOf(clients: readonly Client[], certificate: { commonName: string; fingerprint256: string }): Client | undefined {
  const fingerprint = fingerprintOf(certificate.fingerprint256)
  return (
    clients.find((client) => client.fingerprint !== undefined && client.fingerprint === fingerprint) ??
    clients.find((client) => client.fingerprint === undefined && client.name === certificate.commonName)
  )
}

function fingerprintOf(text: string): string | undefined {
  const hex = text.replaceAll(':', '').toLowerCase()
  return /^[0-9a-f]{64}$/.test(hex) ? hex : undefined
}
