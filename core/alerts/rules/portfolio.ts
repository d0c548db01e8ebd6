// Wallets and positions: gas, liquidations, ranges. Shares and distances are for people; amounts are compared exactly.
import { command } from '../../base/layout.ts'
import type { PortfolioResponse } from '../../api/portfolio.ts'
import { isLess, isZero, normalize } from '../../base/decimal.ts'
import { networkPath } from '../../base/networks.ts'
import type { AlertSources, Reader, Reading, Rule } from '../sources.ts'
import { createRemoval } from './over-time.ts'

type Wallet = PortfolioResponse['networks'][number]['wallets'][number] & { readonly place: string }
type Account = { readonly accountValue?: string | undefined; readonly maintenanceMargin?: string | undefined }

type HeldPosition = { readonly side: string; readonly markPrice: string; readonly liquidationPrice?: string }

type Missing = NonNullable<PortfolioResponse['unavailable']>[number]

/** What a rule looks at of a wallet. */
interface LooksAt {
  /** The parts of the answer. */
  readonly parts: readonly string[]
  /** Whether they are of connectors. */
  readonly ofConnectors?: boolean
  find(wallet: Wallet): Reading['found']
  /** Whether it goes by all that the wallet has. */
  needsAll?(wallet: Wallet): boolean
}

/** A rule of what one wallet has. Subjects are the place, the wallet and then the connector, so that it is known what could not be read. */
function ofWallets(
  sources: Pick<AlertSources, 'portfolio'>,
  { parts, ofConnectors = false, find, needsAll = () => false }: LooksAt,
): Reader {
  const removed = createRemoval()
  return async ({ signal, steadyMs }) => {
    const { networks, unavailable = [] } = await sources.portfolio(signal)
    const wallets = networks.flatMap((on) => on.wallets.map((each) => ({ ...each, place: networkPath(on) })))
    const areGone = removed(steadyMs)
    const read = new Set(networks.map(networkPath))
    const doubtful = new Set(wallets.filter(needsAll).map(nameOf))
    const isAbout = ({ part, connector }: Missing) => (part === undefined ? connector === undefined || ofConnectors : parts.includes(part))
    return {
      found: wallets.flatMap((wallet) => find(wallet)),
      isUnknown(subject) {
        const [place = '', address = '', connector] = subject.split(' ')
        // A network without a wallet, or that the server does not have any more, is neither read nor missing.
        if (!read.has(place)) return !areGone || unavailable.some((each) => networkPath(each) === place)
        const missing = unavailable.filter((each) => networkPath(each) === place && (each.address ?? address) === address)
        const isDoubtful = missing.length > 0 && doubtful.has(`${place} ${address}`)
        return isDoubtful || missing.some((each) => isAbout(each) && (each.connector ?? connector) === connector)
      },
      unread: wordsOfMissing(unavailable.filter(isAbout)),
    }
  }
}

function wordsOfMissing(missing: readonly Missing[]): string | undefined {
  const [first] = missing
  if (!first) return undefined
  const { chain, network, address, connector, part, reason } = first
  const what = [`${chain}/${network}`, address, connector, part].filter((each) => each !== undefined).join(' ')
  return `${what}: ${reason}${missing.length > 1 ? ` And ${missing.length - 1} more.` : ''}`
}

const nameOf = ({ place, address }: Wallet): string => `${place} ${address}`

const isEmpty = ({ balances, liquidity, shares, exchangeBalances, margin, perpetuals }: Wallet): boolean =>
  [balances, liquidity, shares, exchangeBalances, margin, perpetuals].every((list) => list.length === 0)

export const lowGas: Rule<'lowGas'> = {
  title: 'Low on gas',
  remedy: 'Send the wallet some of the coin of its network: without it nothing is traded, cancelled or closed.',
  about: 'a wallet on a network',
  looksAt: '/portfolio: the balance of the coin, and its use of the last seven days',
  every: 'portfolio',
  triggers: ['journal', 'blocks'],
  create: ({ days, minBalance = {} }, sources) =>
    ofWallets(sources, {
      parts: ['balances', 'gas'],
      needsAll: ({ gas }) => gas !== undefined && isZero(gas.balance),
      find(wallet) {
        const { gas } = wallet
        if (!gas) return []
        const { balance, symbol, daysLeft } = gas
        const least = minBalance[wallet.place]
        const isBelow = least !== undefined && isLess(balance, least)
        // One that holds nothing is one that nobody uses there.
        const hasNone = isZero(balance) && !isEmpty(wallet)
        if (!isBelow && !hasNone && !(daysLeft !== undefined && Number(daysLeft) < days)) return []
        const how = hasNone
          ? `has no ${symbol}`
          : daysLeft === undefined
            ? `has ${normalize(balance)} ${symbol}`
            : `has ${normalize(balance)} ${symbol}, for ${daysLeft} days`
        return [{ subject: nameOf(wallet), words: `${wallet.address} on ${wallet.place} ${how}` }]
      },
    }),
}

/** How much of what an account has is needed to keep it; from 1 on it is liquidated, also where it has nothing left. */
function marginUsed({ accountValue, maintenanceMargin }: Account): number {
  const [has, needs] = [Number(accountValue), Number(maintenanceMargin)]
  if (has <= 0 && (needs > 0 || has < 0)) return Infinity
  return has > 0 && needs > 0 ? needs / has : 0
}

/** Also where it is beyond that price: a market that leaps, or an exchange that is late, has not ended the position yet. */
function isNearItsPrice({ side, markPrice, liquidationPrice }: HeldPosition, percent: number): boolean {
  const [mark, end] = [Number(markPrice), Number(liquidationPrice)]
  return end > 0 && (side === 'SHORT' ? end - mark : mark - end) * 100 < percent * mark
}

export const nearLiquidation: Rule<'nearLiquidation'> = {
  title: 'Near liquidation',
  remedy: `Add collateral, or close a part. "${command} reduce-only" lets only what closes go through.`,
  about: 'an account of a wallet on an exchange, or one of its positions',
  looksAt: '/portfolio: margin of accounts, mark and liquidation prices of positions',
  every: 'portfolio',
  triggers: ['journal', 'blocks'],
  create: ({ marginPercent, pricePercent }, sources) =>
    ofWallets(sources, {
      parts: ['perpetuals', 'margin'],
      ofConnectors: true,
      find: (wallet) => {
        const accounts = [
          ...wallet.perpetuals.map((each) => ({ ...each, name: each.connector })),
          ...wallet.margin.map((each) => ({ ...each, accountValue: each.equity, name: `${each.connector} ${each.mode}` })),
        ]
        return [
          ...accounts
            .filter((account) => marginUsed(account) * 100 >= marginPercent)
            .map(({ name, accountValue = '?', maintenanceMargin = '?' }) => ({
              subject: `${nameOf(wallet)} ${name}`,
              words: `${name} of ${wallet.address} on ${wallet.place} is worth ${accountValue}, and needs ${maintenanceMargin}`,
            })),
          ...wallet.perpetuals.flatMap(({ connector, positions = [] }) =>
            positions
              .filter((position) => isNearItsPrice(position, pricePercent))
              .map(({ market, side, markPrice, liquidationPrice }) => ({
                subject: `${nameOf(wallet)} ${connector} ${market}`,
                words: `${connector} ${market} ${side} of ${wallet.address}: the price is ${markPrice}, the liquidation at ${liquidationPrice}`,
              })),
          ),
        ]
      },
    }),
}

export const outOfRange: Rule<'outOfRange'> = {
  title: 'Liquidity out of range',
  remedy: `It earns no fees: move it, or wait. See "${command} positions".`,
  about: 'a position of a wallet',
  looksAt: '/portfolio: positions of liquidity',
  every: 'portfolio',
  triggers: ['journal', 'blocks'],
  create: (_, sources) =>
    ofWallets(sources, {
      parts: ['liquidity'],
      ofConnectors: true,
      find: (wallet) =>
        wallet.liquidity
          .filter(({ inRange }) => !inRange)
          .map(({ connector, tokenId, pool }) => ({
            subject: `${nameOf(wallet)} ${connector} ${tokenId}`,
            words: `Position ${tokenId} of ${wallet.address} in ${connector} on ${wallet.place}, pool ${pool}`,
          })),
    }),
}
