// Keys, the devnet, live state, and the life of transactions.
import path from 'node:path'
import { isSameAddress } from '../base/addresses.ts'
import { subtract } from '../base/decimal.ts'
import { command } from '../base/layout.ts'
import { namedPrograms } from '../devnet/named-programs.ts'
import { openLocalSites, wantedSites, type LocalSites } from '../devnet/local-sites.ts'
import type { Devnet } from '../devnet/start-devnet.ts'
import { outcomeToJournal } from '../handlers/fills.ts'
import { findPools } from '../handlers/amm/pools.ts'
import { bookSets, bookVenueOf, marketName } from '../handlers/clob/markets.ts'
import { createFillLosses } from '../handlers/clob/fill-losses.ts'
import { storeStates } from '../handlers/clob/open-orders.ts'
import { createOrderFills, type OrderFills } from '../handlers/clob/order-fills.ts'
import { readAboutOrder } from '../handlers/clob/order-state.ts'
import { walletOrders, type WalletOrders } from '../handlers/clob/wallet-orders.ts'
import type { OrderMarket } from '../transactions/order-fills.ts'
import { limitedToken, networkOf, valueOf } from '../handlers/limited-amounts.ts'
import { gainsOf, gasCostOf, heldChangesOf, liquidityMadeBy, paidCostOf, tellsOf } from '../handlers/mined-amounts.ts'
import { allowedImpact, compareDeposit, isBeyond } from '../handlers/market-check.ts'
import { createWaitingIndexes, type WaitingIndexes } from '../handlers/perp/waiting-indexes.ts'
import { compareMined, shownLosses, shownQuarantines } from '../handlers/mined-bounds.ts'
import { createMovementReadings } from '../handlers/movements.ts'
import { createMinedReadings, type MinedReadings } from '../handlers/mined-readings.ts'
import { countChanges, liveStateCounters } from '../http/metrics.ts'
import { createLiveState, type LiveState } from '../live-state/live-state.ts'
import { newestHead } from '../live-state/newest-head.ts'
import type { Amounts } from '../limits/account.ts'
import type { LimitReader } from '../limits/spending-limits.ts'
import { defaultGas, defaultTransactions, type NetworkTerms } from '../limits/client-limits.ts'
import { followExpiries, type ExpiredAllowances } from '../limits/expired-allowances.ts'
import { createHoldings, type HoldingsReader } from '../limits/holdings.ts'
import { heldValue } from '../market/held-value.ts'
import { createMarketAges } from '../market/market-ages.ts'
import { createEarlierSamples } from '../market/earlier-samples.ts'
import { createKeptSamples, type KeptSamples } from '../market/kept-samples.ts'
import { createMarket, marketPools, type Market } from '../market/market.ts'
import { createBookReader, type OwnOrder } from '../market/order-books.ts'
import { transactionTargets } from '../plugins/index.ts'
import { createArchiveFiles } from '../transactions/archive-files.ts'
import { createDailyChecks, type DailyChecks } from '../books/daily-checks.ts'
import { createArchiver, type Archiver } from '../transactions/archiver.ts'
import { waitForWriters } from '../transactions/journal/postgres.ts'
import { clientRights, createClaimCheck } from '../transactions/guards.ts'
import { createQuarantine, type Quarantine } from '../transactions/quarantine.ts'
import { createStops, type Stops } from '../transactions/stops.ts'
import type { TransactionTarget } from '../transactions/submit-request.ts'
import { createTransactions, type Transactions } from '../transactions/transactions.ts'
import { keyInterfaces } from '../config/key-interfaces.ts'
import { addressOfBytes, curves } from '../keys/curves.ts'
import { askPassphrase, draftOf, openSigner, permitDraft, signerFiles } from '../wallet/signing.ts'
import { keeperWatch } from './plugins.ts'
import type { ServerParts, PendingSigner } from './server-parts.ts'
import type { NetworkName } from '../base/networks.ts'

/** The passphrase is asked for before code of plugins runs. */
export async function beginUnlocking({ settings, options: { devnet }, log, allowed }: ServerParts): Promise<PendingSigner> {
  const siteNames = devnet === undefined && settings.devnet.enabled ? wantedSites(settings, allowed.found) : []
  const files = signerFiles(settings, allowed)
  const keysFrom = keyInterfaces(settings.confDir, allowed.found)
  const acceptsKeys = keysFrom.length > 0
  if (acceptsKeys)
    log.warn(
      { interfaces: keysFrom },
      'Clients may send private keys to this server: whoever takes it over reads those that come (keys: accept)',
    )
  const passphrase = await askPassphrase(settings, acceptsKeys)
  const watch = keeperWatch({ settings, allowed })
  const signer = openSigner({ settings, log, passphrase, files, devnetChains: siteNames, acceptsKeys, watch })
  return { siteNames, keysFrom, signer }
}

export async function openDevnet({ settings, options: { print, devnet: running }, allowed }: ServerParts): Promise<Devnet | undefined> {
  if (running || !settings.devnet.enabled) return running
  const { bringUpDevnet } = await import('../devnet/start-devnet.ts')
  return bringUpDevnet(settings, print, { allowed, hostsLater: true })
}

/** A devnet of the server's own begins anew: what the store has of the one before is over. */
export async function forgetEarlierDevnet({ options, devnet, store, unlocking }: ServerParts): Promise<void> {
  if (devnet === undefined || devnet === options.devnet) return
  const { forgetDevnet } = await import('../devnet/start-devnet.ts')
  await forgetDevnet(store)
  for (const name of unlocking.siteNames) await forgetDevnet(store, name)
}

export const openSites = async ({ devnet, unlocking: { siteNames }, settings, log }: ServerParts): Promise<LocalSites | undefined> =>
  devnet && openLocalSites(siteNames, devnet.rpcUrl, log, (chain) => namedPrograms(settings.confDir, chain))

export const openLiveState = ({ settings: { market, data }, log, metrics }: ServerParts): LiveState =>
  createLiveState(market, data.dir, log, liveStateCounters(metrics))

/** Blocks that somebody knows of are those that prices are expected to be of. */
export const followBlocks = ({ liveState: { following }, hosts }: ServerParts): ServerParts['following'] => ({
  ageSeconds: following.ageSeconds,
  expectBlock(network, number) {
    following.expectBlock(network, number)
    hosts.expectBlock(network, number)
  },
  newestHead: ({ chain, network, impl }, at) => newestHead(following, { chain, network, chainImpl: impl }, at),
})

/** @param steadyMs a clock that is never set */
export function openMarket(
  { settings, clients, serverLimits, log, store, journal, registry, signer, liveState: { quotes, books }, following }: ServerParts,
  steadyMs: () => number = () => performance.now(),
): Market {
  const { limits, market } = settings
  const isNeeded = () =>
    clients.list.some(({ name, permissions }) => {
      if (!permissions.includes('trade')) return false
      if (!permissions.includes('thin')) return true
      const { maxDailyLoss, maxPriceImpact, value, approveAbove } = serverLimits.strictestOf(name) ?? {}
      return maxDailyLoss !== undefined || maxPriceImpact !== undefined || value !== undefined || approveAbove !== undefined
    })
  const kept = createKeptSamples(store, limits.marketMinutes * 60_000)
  if (isNeeded()) void sayFirst(kept, limits.marketMinutes, log)
  return createMarket({
    networks: () => registry.networks,
    isChecked: ({ impl }) => (!impl.local || limits.onLocalNetworks) && isNeeded(),
    venuesOn: ({ chain, network }) => registry.venuesOn(chain, network).filter(({ builtIn, impl }) => builtIn && impl.AMM),
    readPools: async (network, venue, pair, at) =>
      (await findPools([pair], marketPools, venue, { network, services: { quotes } }, at)).pools,
    readBooks: createBookReader({
      venuesOn: ({ chain, network }) => registry.venuesOn(chain, network).filter(({ builtIn, impl }) => builtIn && impl.CLOB),
      readBook: async (network, venue, of, at) => books.book(bookVenueOf('CLOB', network, venue), of, at),
      ownWallets: () => signer.wallets().map(({ address }) => address),
      async ownOrders({ chain, network }, { connector }, of) {
        const found: OwnOrder[] = []
        for (const { chain: on, address } of signer.wallets()) {
          if (on !== chain) continue
          const query = { chain, network, connector, address, market: marketName(of), openOnly: true, limit: ownOrdersOfWallet }
          const orders = await journal.orders.list(query)
          // Of more it is not known how much stands in the book, so that the book says nothing.
          if (orders.length === ownOrdersOfWallet) throw new Error(`${address} has ${ownOrdersOfWallet} open orders and more`)
          for (const order of orders) {
            const { side, price, amount } = readAboutOrder(order)
            found.push({ side, price, amount: subtract(amount, order.report?.filledAmount ?? '0') })
          }
        }
        return found
      },
      isStale: (network, timestamp) =>
        !network.impl.local && following.ageSeconds(network, { timestamp: timestamp / 1000 }) > market.staleBlockSeconds,
      steadyMs,
    }),
    quotedTokens: (network) => quotes.quotedTokens(network, quotedWithinMs),
    settings: { referenceTokens: limits.referenceTokens, minDepth: limits.marketDepth, minutes: limits.marketMinutes },
    ages: createMarketAges({ store, log, steadyMs }),
    earlier: createEarlierSamples({
      kept,
      connectorsOn: ({ chain, network }) =>
        registry.venuesOn(chain, network).filter(({ builtIn, impl }) => builtIn && (impl.AMM !== undefined || impl.CLOB !== undefined)),
      newestHead: (network, at) => following.newestHead(network, at),
      minDepth: limits.marketDepth,
      log,
      steadyMs,
    }),
    log,
    steadyMs,
  })
}

/** After other starts it is seconds. A store that cannot be read says so itself. */
async function sayFirst(kept: KeptSamples, marketMinutes: number, log: ServerParts['log']): Promise<void> {
  const isFirst = await kept.isEmpty().catch(() => false)
  if (isFirst)
    log.info(
      { minutes: marketMinutes / 4 },
      'the store has no market yet: clients without the permission thin can trade on a network once its market was read for so many minutes, from the first price that somebody asks for on; /health/ready counts down',
    )
}

/**
 * Reads what wallets hold, and tells the limits of clients what their defaults are made of.
 * @param steadyMs a clock that is never set
 */
export function openHoldings(
  { settings: { limits }, clients, clientLimits, log, registry, market, signer, store }: ServerParts,
  steadyMs?: () => number,
): HoldingsReader {
  const holdings = createHoldings({
    store,
    clients: () => clientLimits.withDefaultLoss().map(({ name }) => name),
    async valueOf(client, place, signal) {
      const network = networkOf(place, registry)
      const wallets = clients.list.find(({ name }) => name === client)?.wallets ?? []
      const isOwn = (address: string) => wallets === 'all' || wallets.some((each) => isSameAddress(each, address))
      const addresses = signer.wallets().flatMap((each) => (each.chain === place.chain && isOwn(each.address) ? [each.address] : []))
      return network && network.notReady() === undefined ? heldValue(addresses, { network, market, client }, { signal }) : undefined
    },
    isServed: (place) => networkOf(place, registry) !== undefined,
    log,
    ...(steadyMs && { steadyMs }),
  })
  clientLimits.setDefaults({
    termsOf(place: NetworkName): NetworkTerms | undefined {
      const { impl } = networkOf(place, registry) ?? {}
      if (!impl || (impl.local && !limits.onLocalNetworks)) return undefined
      const feesAtCapRaw = impl.feeCapRaw * (impl.evm ? defaultGas : defaultTransactions)
      return { feesAtCapRaw, decimals: impl.nativeCurrency.decimals }
    },
    heldMicros: holdings.heldMicros,
  })
  return holdings
}

/** The newest that are not known to have ended. */
const ownOrdersOfWallet = 200
const quotedWithinMs = 24 * 3_600_000

export function openQuarantine({ store, log, metrics, registry }: ServerParts): Quarantine {
  return createQuarantine({
    store,
    log,
    onBreach(breach) {
      metrics.breaches.inc({ plugin: breach.plugin })
      const { plugin, version, chain, network, address, txHash } = breach
      const lost = shownLosses(breach, registry.networks)
      const words = lost.map(({ symbol, token, amount, how }) => `${amount} ${symbol ?? `of ${token}`} ${how}`).join(', ')
      log.error(
        { plugin, version, chain, network, address, txHash, lost },
        `plugin quarantined: ${txHash} did more to the wallet than its plan was allowed (${words}); nothing is signed for ${plugin} until you have looked at it and type: ${command} plugin lift ${plugin}`,
      )
    },
    onChange: (inForce) => registry.setQuarantined(shownQuarantines(inForce, registry.networks)),
  })
}

export function openStops({ store, log, signer, stopFiles }: ServerParts): Stops {
  stopFiles.know(signer.wallets)
  return createStops({
    store,
    log,
    // In the embedded store writes are one after another.
    waitForWriters: async () => store.kind === 'postgres' && waitForWriters(store),
    readFiles: stopFiles.read,
    onChange: signer.hold,
  })
}

export const listTargets = ({ registry }: ServerParts): TransactionTarget[] => [...transactionTargets(registry)]

export function openTransactions(parts: ServerParts): Transactions {
  const {
    journal,
    leases,
    targets,
    signer,
    registry,
    log,
    quarantine,
    settings,
    metrics,
    following,
    market,
    spendingLimits,
    clientLimits,
    allowLists,
    clients,
    stops,
    unkeyedRequests,
  } = parts
  const count = countChanges(metrics)
  const timeoutMs = settings.server.requestTimeoutSeconds * 1000
  const readings = createMinedReadings({
    registry,
    isLimited: (entry) => clientLimits.on(entry.client, entry) !== undefined,
    isIdle: () => spendingLimits.isIdle?.() === true,
    timeoutMs,
  })
  const indexes = createWaitingIndexes(registry)
  spendingLimits.readBy(limitReader({ registry, market, settings, clients, allowLists, following }, readings, indexes))
  return createTransactions({
    journal: {
      ...journal,
      async revalue(waiting, lease) {
        if (spendingLimits.isIdle?.() !== true) await indexes.read(waiting)
        return journal.revalue(waiting, lease)
      },
    },
    leases,
    targets,
    sign: ({ signable, replaces, newAccounts, signsAs, ...request }) =>
      signer.sign({ ...request, draft: draftOf(signable, { replaces, newAccounts, signsAs }) }),
    newAccount: async ({ id, ...wallet }) => {
      const { address } = curves.ed25519
      const bytes = await signer.sign({ ...wallet, draft: { scheme: 'new-account', id } })
      const found = address(addressOfBytes(bytes.subarray(0, 32)))
      if (found === undefined || !Buffer.from(bytes.subarray(0, 32)).equals(bytes.subarray(32)))
        throw new Error('The signer gave no address.')
      return found
    },
    signPermit({ permit, ...request }) {
      const { chainId } = registry.network(request.chain, request.network).impl
      return signer.sign({ ...request, draft: permitDraft(permit, chainId) })
    },
    log,
    readOutcome: (entry) => outcomeToJournal(entry, registry),
    compareMined(entry) {
      const entriesOf = async (of: Parameters<typeof journal.list>[0]) => (await journal.list({ ...of, limit: 100 })).entries
      const comparison = compareMined(entry, { registry, quarantine, entriesOf, timeoutMs })
      const reading = readings.read(entry)
      return comparison && reading ? async () => void (await Promise.all([comparison(), reading()])) : (comparison ?? reading)
    },
    movements: createMovementReadings({ registry, timeoutMs }),
    mayBegin: allowLists.requireRequest,
    mayClaim: createClaimCheck({ rights: clientRights(() => clients.list), clients, stops, requests: unkeyedRequests }),
    mayRaise: async ({ connector }) => (connector === undefined ? undefined : quarantine.refuse(connector)),
    ageSeconds: ({ connector, ...place }, head) =>
      connector !== undefined || networkOf(place, registry)?.impl.local ? 0 : following.ageSeconds(place, head),
    isLoading: () => registry.plugins.some(({ state }) => state === 'pending'),
    walletQueue: settings.limits.walletQueue,
    onChange(entry, before) {
      count(entry, before)
      if (entry.landed && entry.signer === undefined) following.expectBlock(entry, BigInt(entry.landed.blockNumber))
    },
  })
}

export const followAllowances = ({ store, spendingLimits: limits, registry, log }: ServerParts): ExpiredAllowances =>
  followExpiries({
    store,
    limits,
    async leftOf(name, asked, signal) {
      const on = networkOf(name, registry)
      return (on?.notReady() === undefined && (await on?.impl.evm?.expiredAllowances?.(asked, { signal }))) || []
    },
    log,
  })

/** What limits ask of networks and their market. */
export const limitReader = (
  {
    registry,
    market,
    settings,
    clients,
    allowLists,
    following,
  }: Pick<ServerParts, 'registry' | 'market'> & Partial<Pick<ServerParts, 'settings' | 'clients' | 'allowLists' | 'following'>>,
  readings?: MinedReadings,
  indexes?: WaitingIndexes,
): LimitReader => ({
  lossNow(on, { gives, gets, prices, at }) {
    const network = networkOf(on, registry)
    if (!network) return undefined
    const impact = impactOf(on.client, { settings, clients, allowLists })
    const isTooFar = (compared: { givenMicros: bigint; lostMicros: bigint }) => impact !== undefined && isBeyond(compared, impact)
    if (at) {
      const byIndex = indexes?.compare(on, { at, gives, gets })
      return byIndex && { lossMicros: byIndex.lostMicros, isTooFar: market.isChecked(network) && isTooFar(byIndex) }
    }
    if (!market.isChecked(network)) return undefined
    const compare = (exchanged: { gives: Amounts; gets: Amounts }) => market.compare(network, exchanged, on.client)
    const pool = prices && { prices, ...(Object.keys(gets).length > 0 && { leastGot: gets }) }
    const compared = pool ? compareDeposit(gives, pool, compare) : compare({ gives, gets })
    return compared.is === 'priced' ? { lossMicros: compared.mostLostMicros, isTooFar: isTooFar(compared) } : undefined
  },
  lossWhenMined({ landed, ...on }, gains) {
    const network = networkOf(on, registry)
    if (!network || landed?.seenAt === undefined) return undefined
    const side = (sign: bigint) => Object.fromEntries([...gains].flatMap(([token, raw]) => (raw * sign > 0n ? [[token, raw * sign]] : [])))
    const ageSeconds = network.impl.local ? 0 : (following?.ageSeconds(on, { timestamp: landed.seenAt }) ?? 0)
    const lost = market.lostBefore(network, { gives: side(-1n), gets: side(1n) }, Math.max(0, ageSeconds) * 1000)
    return typeof lost === 'bigint' ? lost : undefined
  },
  gains: (entry) => gainsOf(entry, registry, readings),
  tells: (entry, gains) => tellsOf(entry, registry, gains),
  liquidityMade: (entry) => liquidityMadeBy(entry, registry),
  heldChanges: (entry) => (readings ? heldChangesOf(entry, registry, readings) : []),
  gasCost: (entry) => gasCostOf(entry, registry),
  token: (on, name) => limitedToken(on, name, registry),
  value: (on, gives) => valueOf(on, gives, { registry, market }),
  reference(on) {
    const network = networkOf(on, registry)
    return network && market.referenceOf(network)
  },
})

/** As for a request of the client: in percent. */
function impactOf(
  client: string,
  { settings, clients, allowLists }: { readonly [K in 'settings' | 'clients' | 'allowLists']: ServerParts[K] | undefined },
): number | undefined {
  const permissions = new Set(clients?.list.find(({ name }) => name === client)?.permissions)
  return settings && allowLists ? allowedImpact({ services: { settings, allowLists }, caller: { id: client, permissions } }) : undefined
}

export function openOrderFills({ registry, transactions, market: prices, log }: ServerParts): OrderFills {
  function ordersOf({ chain, network: on, connector, type, address }: OrderMarket, signal: AbortSignal): WalletOrders | undefined {
    const set = bookSets.find((each) => each === type)
    if (!set) return undefined
    const venue = registry.venue(connector, chain, on)
    const network = registry.networkOf(venue, chain, on)
    // Nothing is shown by it, so that nothing is wanted either.
    const services = { transactions, registry, orderFills: { want: () => {} } }
    return walletOrders(set, address, { network, venue, services, signal })
  }
  return createOrderFills({
    registry,
    orders: transactions.orders,
    idsOf: async (of, signal) => (await ordersOf(of, signal)?.newIds(of.market)) ?? new Map<string, string>(),
    lossOf: createFillLosses(prices),
    async storeStates(of, signal) {
      const wallet = ordersOf(of, signal)
      if (wallet) await storeStates(wallet, of.market)
    },
    log,
  })
}

export const openArchiver = ({ settings: { data, store }, journal, leases, registry, log, metrics }: ServerParts): Archiver =>
  createArchiver({
    journal,
    leases,
    costOf: (entry) => paidCostOf(entry, registry),
    files: createArchiveFiles(path.join(data.dir, 'archive')),
    // A database keeps everything unless it is told otherwise: the archive is on this server's disk, which may not outlive the server.
    keepDays: store.keepDays ?? (store.url === undefined ? 90 : undefined),
    log,
    onArchived: (count) => metrics.archived.inc(count),
    onFailing: (isFailing) => metrics.archiveFailing.set(Number(isFailing)),
  })

/** Not on local networks, where tests set balances as they like. */
export function openDailyChecks(parts: ServerParts): DailyChecks | undefined {
  const { settings, registry, signer, transactions, checkpoints, leases, log, metrics } = parts
  if (!settings.books.verifyDaily) return undefined
  return createDailyChecks({
    networks: () => registry.networks.filter((each) => !each.impl.local && each.notReady() === undefined),
    wallets: signer.wallets,
    source: transactions,
    checkpoints,
    leases,
    rebasing: settings.books.rebasingTokens,
    log,
    onChecked(counts) {
      for (const { count, ...labels } of counts) metrics.booksUnexplained.set(labels, count)
    },
  })
}
