// What needs somebody, most urgent first. A function of what endpoints answered: it asks for nothing.
import type { ResponseAt } from './api.ts'
import { duration } from './age.tsx'
import type { Alert } from './alerts.tsx'
import { isWaiting } from './approvals.tsx'
import { nearLimit, shareUsed, type Limit } from './clients.tsx'
import type { NetworkStatus } from './networks.tsx'
import type { Plugin } from './plugins.tsx'
import { isNearItsPrice, marginUsed, nearLiquidation } from './positions.tsx'
import { heldBy } from './stops.tsx'
import { isStuck, linkOf, wordsOf, type Transaction } from './transaction-words.ts'
import { hasNoGas, isEmpty, isLowOnGas, walletsIn, type PlacedWallet } from './wallets.tsx'
import { linkTo } from './route.ts'

export interface Item {
  readonly tone: 'bad' | 'warn'
  readonly text: string
  readonly link: string
  /** As the rules of alerts name it: rule and subject. */
  readonly told?: readonly string[]
  /** Those that are raised of it. */
  readonly alerts?: readonly Alert[]
}

/** Each is absent until it was answered. */
export interface Known {
  readonly now: number
  readonly health?: ResponseAt<'GET', '/health/ready'> | undefined
  readonly stops?: ResponseAt<'GET', '/stops'> | undefined
  readonly open?: readonly Transaction[] | undefined
  /** There are more than `open`. */
  readonly hasMoreOpen?: boolean
  readonly limits?: readonly (Limit & { readonly client: string })[] | undefined
  readonly networks?: readonly NetworkStatus[] | undefined
  readonly portfolio?: ResponseAt<'GET', '/portfolio'> | undefined
  readonly approvals?: ResponseAt<'GET', '/approvals'> | undefined
  readonly plugins?: readonly Plugin[] | undefined
  readonly certificates?: ResponseAt<'GET', '/caller'>['certificates'] | undefined
  readonly alerts?: Pick<ResponseAt<'GET', '/alerts'>, 'alerts' | 'channels'> | undefined
  readonly unread?: readonly Unread[] | undefined
}

/** What was refused, so that nobody knows what it has, or has now. */
export interface Unread {
  readonly what: string
  readonly reason: string
  /** Of the answer that is shown in its place. */
  readonly at?: number | undefined
}

/** Older than blocks of any network that is followed. Local networks make blocks when something is sent. */
const oldBlockSeconds = 120

export function attention(known: Known): Item[] {
  const wallets = known.portfolio ? walletsIn(known.portfolio) : []
  const own = withAlerts(
    [
      ...ofServer(known),
      ...ofTransactions(known),
      ...ofLimits(known),
      ...wallets.flatMap(ofGas),
      ...ofNetworks(known),
      ...wallets.flatMap(ofMargin),
      ...wallets.flatMap(ofRanges),
      ...ofPeople(known),
      ...ofCertificates(known),
    ],
    known.alerts?.alerts,
  )
  const items = [...own, ...ofAlerts(known, own), ...ofUnread(known)]
  return items.toSorted((one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'))
}

const alertKey = ({ rule, subject }: Pick<Alert, 'rule' | 'subject'>): string => `${rule} ${subject}`

/** Of what the page finds itself no more is shown than which rules tell people of it. */
function withAlerts(items: readonly Item[], alerts: readonly Alert[] = []): Item[] {
  const raised = new Map(alerts.map((each) => [alertKey(each), each]))
  return items.map((item) => ({ ...item, alerts: (item.told ?? []).flatMap((key) => raised.get(key) ?? []) }))
}

/** A storm of one rule is not a page of it. */
const mostOfRule = 10

/** What no item of the page itself is about. */
function ofAlerts({ alerts }: Pick<Known, 'alerts'>, own: readonly Item[]): Item[] {
  const shown = new Set(own.flatMap((item) => item.alerts ?? []))
  const others = (alerts?.alerts ?? []).filter((each) => !shown.has(each))
  const byRule = new Map<string, Alert[]>()
  for (const each of others) byRule.set(each.rule, [...(byRule.get(each.rule) ?? []), each])
  return [
    ...[...byRule.values()].flatMap((all) => [
      ...all.slice(0, mostOfRule).map((alert): Item => ({
        tone: toneOf(alert),
        text: `${alert.title}: ${alert.words}`,
        link: linkTo(viewOf[alert.rule] ?? ''),
        alerts: [alert],
      })),
      ...(all.length > mostOfRule && all[0]
        ? [
            {
              tone: toneOf(all[0]),
              text: `${all[0].title}: ${all.length - mostOfRule} more`,
              link: linkTo(viewOf[all[0].rule] ?? ''),
            } as const,
          ]
        : []),
    ]),
    ...(alerts?.channels ?? [])
      .filter(({ waiting, reason }) => waiting > 0 && reason !== undefined)
      .map(({ name, reason }): Item => ({ tone: 'warn', text: `Messages to ${name} are not delivered: ${reason}`, link: linkTo('') })),
  ]
}

const toneOf = ({ severity, silenced }: Alert): Item['tone'] => (severity === 'critical' && !silenced ? 'bad' : 'warn')

/** Where more is said of what a rule finds. */
const viewOf: Readonly<Record<string, string>> = {
  lowGas: 'wallets',
  stuckTransaction: 'transactions',
  limitNearlyUsed: 'clients',
  limitReached: 'clients',
  booksDiffer: 'wallets',
  pluginQuarantined: 'plugins',
  pluginRefused: 'plugins',
  approvalWaits: 'approvals',
  nearLiquidation: 'positions',
  outOfRange: 'positions',
  certificateExpiring: 'clients',
}

const ofServer = ({ health, stops }: Known): Item[] => [
  ...(health?.failing ?? []).map(({ part, reason }): Item => ({
    tone: 'bad',
    text: `${part} fails: ${reason}`,
    link: linkTo(''),
    told: [`notReady ${part}`],
  })),
  ...(stops?.stops ?? []).map((stop): Item => ({
    tone: 'bad',
    text: `${stop.mode} is set for ${heldBy(stop)}`,
    link: linkTo(''),
    told: [`tradingStopped ${stop.mode} ${stop.of === 'all' ? 'all' : `the ${heldBy(stop)}`}`],
  })),
]

const ofTransactions = ({ open = [], hasMoreOpen = false, now }: Known): Item[] => [
  ...open
    .filter((each) => isStuck(each, now))
    .map((each): Item => ({
      tone: 'bad',
      text: `Stuck for ${duration((now - each.createdAt) / 1000)} as ${each.txState}: ${wordsOf(each)}`,
      link: linkTo('transactions', linkOf(each)),
      told: [`stuckTransaction ${each.id}`],
    })),
  ...(hasMoreOpen ? [{ tone: 'bad', text: 'More are stuck than are listed here', link: linkTo('transactions') } as const] : []),
]

const ofLimits = ({ limits = [] }: Known): Item[] =>
  limits.flatMap((limit): Item[] => {
    const { client, limit: name, chain, network } = limit
    const share = shareUsed(limit)
    if (share === undefined || share < nearLimit) return []
    return [
      {
        tone: share >= 1 ? 'bad' : 'warn',
        text: `${client} has used ${Math.round(share * 100)} % of ${name}${chain === undefined ? '' : ` on ${chain}/${network}`}`,
        link: linkTo('clients'),
        told: [`limitNearlyUsed ${client} ${name}`, `limitReached ${client} ${name}`],
      },
    ]
  })

/** For people, and as the rules of alerts name it. */
const placeOf = ({ chain, network, address }: PlacedWallet): string => `${address.slice(0, 10)}… on ${chain}/${network}`
const subjectOf = ({ chain, network, address }: PlacedWallet): string => `${chain}/${network} ${address}`

function ofGas(wallet: PlacedWallet): Item[] {
  const [link, told] = [linkTo('wallets'), [`lowGas ${subjectOf(wallet)}`]]
  // A wallet that holds nothing is one that nobody uses there.
  if (hasNoGas(wallet)) return isEmpty(wallet) ? [] : [{ tone: 'bad', text: `No gas: ${placeOf(wallet)}`, link, told }]
  return isLowOnGas(wallet) ? [{ tone: 'warn', text: `Gas of ${placeOf(wallet)} lasts ${wallet.gas?.daysLeft} days`, link, told }] : []
}

function ofMargin(wallet: PlacedWallet): Item[] {
  const near = (what: string, subject: string): Item => ({
    tone: 'bad',
    text: `Near liquidation: ${what}, ${placeOf(wallet)}`,
    link: linkTo('positions'),
    told: [`nearLiquidation ${subjectOf(wallet)} ${subject}`],
  })
  const accounts = [
    ...wallet.perpetuals.map((each) => ({ ...each, name: each.connector })),
    ...wallet.margin.map((each) => ({ ...each, accountValue: each.equity, name: `${each.connector} ${each.mode}` })),
  ]
  return [
    ...accounts.filter((account) => (marginUsed(account) ?? 0) >= nearLiquidation).map(({ name }) => near(name, name)),
    ...wallet.perpetuals.flatMap(({ connector, positions = [] }) =>
      positions
        .filter(isNearItsPrice)
        .map(({ market, liquidationPrice }) => near(`${connector} ${market} at ${liquidationPrice}`, `${connector} ${market}`)),
    ),
  ]
}

const ofRanges = (wallet: PlacedWallet): Item[] =>
  wallet.liquidity
    .filter(({ inRange }) => !inRange)
    .map(({ connector, tokenId }): Item => ({
      tone: 'warn',
      text: `Out of range: ${connector} ${tokenId}, ${placeOf(wallet)}`,
      link: linkTo('positions'),
      told: [`outOfRange ${subjectOf(wallet)} ${connector} ${tokenId}`],
    }))

/** With more that are down for one reason, as when the line is cut, they are one item. */
const mostDownAlone = 2

function ofNetworks({ networks = [] }: Known): Item[] {
  const byError = new Map<string, NetworkStatus[]>()
  for (const each of networks)
    if (each.error !== undefined && isSetUp(each)) byError.set(each.error, [...(byError.get(each.error) ?? []), each])
  const together = [...byError].filter(([, of]) => of.length > mostDownAlone)
  const names = (of: readonly NetworkStatus[]) => of.map(({ chain, network }) => `${chain}/${network}`)
  return [
    ...together.map(([error, of]): Item => ({
      tone: 'bad',
      text: `${of.length} networks are down (${names(of).slice(0, mostDownAlone).join(', ')} and ${of.length - mostDownAlone} more): ${error}`,
      link: linkTo(''),
      told: names(of).flatMap(toldOf),
    })),
    ...ofEachNetwork(networks.filter(({ error = '' }) => together.every(([of]) => of !== error))),
  ]
}

/** Of a network that is down or behind. */
const toldOf = (name: string): string[] => ['networkBehind', 'noGoodNode', 'notReady'].map((rule) => `${rule} ${name}`)

/** Without a node it was never set up. Not each network tells of its nodes. */
const isSetUp = ({ nodes, rpcUrl }: NetworkStatus): boolean => (nodes === undefined ? rpcUrl !== '' : nodes.length > 0)

const ofEachNetwork = (networks: readonly NetworkStatus[]): Item[] =>
  networks.flatMap((status): Item[] => {
    const { chain, network, error, currentBlockSeconds, nodes } = status
    const name = `${chain}/${network}`
    if (error !== undefined)
      return !isSetUp(status) ? [] : [{ tone: 'bad', text: `${name} is down: ${error}`, link: linkTo(''), told: toldOf(name) }]
    const isBehind = currentBlockSeconds > oldBlockSeconds && network !== 'local'
    return [
      ...(isBehind
        ? [
            {
              tone: 'bad',
              text: `${name} is behind: its newest block is ${duration(currentBlockSeconds)} old`,
              link: linkTo(''),
              told: toldOf(name),
            } as const,
          ]
        : []),
      ...(nodes ?? [])
        .filter(({ trouble }) => trouble !== undefined)
        .map(({ url, state, trouble }): Item => ({
          tone: 'warn',
          text: `Node ${url} of ${name} is ${state}: ${trouble}`,
          link: linkTo(''),
          told: [`nodeBehind ${name} ${url}`, `nodeFlapping ${name} ${url}`],
        })),
    ]
  })

const ofPeople = ({ approvals, plugins = [] }: Known): Item[] => [
  ...plugins
    .filter(({ quarantine }) => quarantine !== undefined)
    .map(({ name }): Item => ({
      tone: 'bad',
      text: `The plugin ${name} is quarantined`,
      link: linkTo('plugins'),
      told: [`pluginQuarantined ${name}`],
    })),
  ...(approvals?.approvals ?? []).filter(isWaiting).map(({ id, client, path }): Item => ({
    tone: 'warn',
    text: `Request ${id} of ${client} waits for a second person: ${path}`,
    link: linkTo('approvals'),
    told: [`approvalWaits ${id}`],
  })),
  ...plugins
    .filter(({ state }) => state === 'refused')
    .map(({ name }): Item => ({
      tone: 'warn',
      text: `The plugin ${name} is refused`,
      link: linkTo('plugins'),
      told: [`pluginRefused ${name}`],
    })),
]

/** As long as the server's log has warned of its own. */
const soonMs = 30 * 86_400_000

const ownNames: Readonly<Record<string, string>> = { server: 'the server', ca: 'the CA' }

const ofCertificates = ({ certificates = [], now }: Known): Item[] =>
  certificates
    .filter(({ expiresAt }) => expiresAt - now < soonMs)
    .map(({ name, expiresAt }): Item => ({
      tone: expiresAt > now ? 'warn' : 'bad',
      text:
        expiresAt > now
          ? `The certificate of ${name} expires in ${duration((expiresAt - now) / 1000)}`
          : `The certificate of ${name} expired ${duration((now - expiresAt) / 1000)} ago`,
      link: linkTo('clients'),
      told: [`certificateExpiring certificate of ${ownNames[name] ?? `client ${name}`}`],
    }))

/** A refusal looks like a quiet day where it is not said. */
function ofUnread({ unread = [], portfolio, networks = [], now }: Known): Item[] {
  const places = new Map<string, string[]>()
  for (const { chain, network, address, connector, part, reason } of portfolio?.unavailable ?? []) {
    // It is said already that the network is down, or nobody has set it up.
    const isKnown = connector === undefined && networks.some((on) => on.chain === chain && on.network === network && on.error !== undefined)
    const place = [connector, part, address && `${address.slice(0, 10)}…`, `${chain}/${network}`].filter(Boolean).join(' ')
    if (!isKnown) places.set(reason, [...(places.get(reason) ?? []), place])
  }
  return [
    ...unread.map(({ what, reason, at }): Item => ({
      tone: 'warn',
      text: at === undefined ? `${what} are not known: ${reason}` : `${what} are as of ${duration((now - at) / 1000)} ago: ${reason}`,
      link: linkTo(''),
    })),
    ...[...places].map(([reason, of]): Item => ({
      tone: 'warn',
      text: `Not read of ${of.join(', ')}: ${reason}`,
      link: linkTo('wallets'),
    })),
  ]
}
