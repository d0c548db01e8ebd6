// What needs somebody, most urgent first. A function of what endpoints answered: it asks for nothing.
import type { ResponseAt } from './api.ts'
import { duration } from './age.tsx'
import { isWaiting } from './approvals.tsx'
import type { NetworkStatus } from './networks.tsx'
import type { Plugin } from './plugins.tsx'
import { isNearItsPrice, marginUsed, nearLiquidation } from './positions.tsx'
import { heldBy } from './stops.tsx'
import { isStuck, linkOf, wordsOf, type Transaction } from './transaction-words.ts'
import { hasNoGas, isEmpty, isLowOnGas, walletsIn } from './wallets.tsx'
import { linkTo } from './route.ts'

export interface Item {
  readonly tone: 'bad' | 'warn'
  readonly text: string
  readonly link: string
}

/** Each is absent until it was answered. */
export interface Known {
  readonly now: number
  readonly health?: ResponseAt<'GET', '/health/ready'> | undefined
  readonly stops?: ResponseAt<'GET', '/stops'> | undefined
  readonly open?: readonly Transaction[] | undefined
  /** There are more than `open`. */
  readonly hasMoreOpen?: boolean
  readonly networks?: readonly NetworkStatus[] | undefined
  readonly portfolio?: ResponseAt<'GET', '/portfolio'> | undefined
  readonly approvals?: ResponseAt<'GET', '/approvals'> | undefined
  readonly plugins?: readonly Plugin[] | undefined
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
  const items = [
    ...ofServer(known),
    ...ofTransactions(known),
    ...ofWallets(known),
    ...ofNetworks(known),
    ...ofPeople(known),
    ...ofUnread(known),
  ]
  return items.toSorted((one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'))
}

const ofServer = ({ health, stops }: Known): Item[] => [
  ...(health?.failing ?? []).map(({ part, reason }): Item => ({ tone: 'bad', text: `${part} fails: ${reason}`, link: linkTo('') })),
  ...(stops?.stops ?? []).map((stop): Item => ({ tone: 'bad', text: `${stop.mode} is set for ${heldBy(stop)}`, link: linkTo('') })),
]

const ofTransactions = ({ open = [], hasMoreOpen = false, now }: Known): Item[] => [
  ...open
    .filter((each) => isStuck(each, now))
    .map((each): Item => ({
      tone: 'bad',
      text: `Stuck for ${duration((now - each.createdAt) / 1000)} as ${each.txState}: ${wordsOf(each)}`,
      link: linkTo('transactions', linkOf(each)),
    })),
  ...(hasMoreOpen ? [{ tone: 'bad', text: 'More are stuck than are listed here', link: linkTo('transactions') } as const] : []),
]

function ofWallets({ portfolio }: Known): Item[] {
  if (!portfolio) return []
  return walletsIn(portfolio).flatMap((wallet): Item[] => {
    const where = `${wallet.address.slice(0, 10)}… on ${wallet.chain}/${wallet.network}`
    const accounts = [...wallet.perpetuals, ...wallet.margin.map((each) => ({ ...each, accountValue: each.equity }))]
    return [
      ...accounts
        .filter((account) => (marginUsed(account) ?? 0) >= nearLiquidation)
        .map(({ connector }): Item => ({ tone: 'bad', text: `Near liquidation: ${connector}, ${where}`, link: linkTo('positions') })),
      ...wallet.perpetuals.flatMap(({ connector, positions = [] }) =>
        positions.filter(isNearItsPrice).map(({ market, liquidationPrice }): Item => ({
          tone: 'bad',
          text: `Near liquidation: ${connector} ${market} at ${liquidationPrice}, ${where}`,
          link: linkTo('positions'),
        })),
      ),
      // A wallet that holds nothing is one that nobody uses there.
      ...(hasNoGas(wallet) && !isEmpty(wallet) ? [{ tone: 'bad', text: `No gas: ${where}`, link: linkTo('wallets') } as const] : []),
      ...(isLowOnGas(wallet) && !hasNoGas(wallet)
        ? [{ tone: 'warn', text: `Gas of ${where} lasts ${wallet.gas?.daysLeft} days`, link: linkTo('wallets') } as const]
        : []),
      ...wallet.liquidity
        .filter(({ inRange }) => !inRange)
        .map(({ connector, tokenId }): Item => ({
          tone: 'warn',
          text: `Out of range: ${connector} ${tokenId}, ${where}`,
          link: linkTo('positions'),
        })),
    ]
  })
}

const ofNetworks = ({ networks = [] }: Known): Item[] =>
  networks.flatMap(({ chain, network, rpcUrl, error, currentBlockSeconds, nodes }): Item[] => {
    const name = `${chain}/${network}`
    // Without a node it was never set up. Not each network tells of its nodes.
    const isSetUp = nodes === undefined ? rpcUrl !== '' : nodes.length > 0
    if (error !== undefined) return !isSetUp ? [] : [{ tone: 'bad', text: `${name} is down: ${error}`, link: linkTo('') }]
    const isBehind = currentBlockSeconds > oldBlockSeconds && network !== 'local'
    return [
      ...(isBehind
        ? [{ tone: 'bad', text: `${name} is behind: its newest block is ${duration(currentBlockSeconds)} old`, link: linkTo('') } as const]
        : []),
      ...(nodes ?? [])
        .filter(({ trouble }) => trouble !== undefined)
        .map(({ url, state, trouble }): Item => ({
          tone: 'warn',
          text: `Node ${url} of ${name} is ${state}: ${trouble}`,
          link: linkTo(''),
        })),
    ]
  })

const ofPeople = ({ approvals, plugins = [] }: Known): Item[] => [
  ...plugins
    .filter(({ quarantine }) => quarantine !== undefined)
    .map(({ name }): Item => ({ tone: 'bad', text: `The plugin ${name} is quarantined`, link: linkTo('plugins') })),
  ...(approvals?.approvals ?? []).filter(isWaiting).map(({ id, client, path }): Item => ({
    tone: 'warn',
    text: `Request ${id} of ${client} waits for a second person: ${path}`,
    link: linkTo('approvals'),
  })),
  ...plugins
    .filter(({ state }) => state === 'refused')
    .map(({ name }): Item => ({ tone: 'warn', text: `The plugin ${name} is refused`, link: linkTo('plugins') })),
]

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
