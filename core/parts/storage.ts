// Certificates, the store and what is kept in it.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import path from 'node:path'
import { isSameAddress } from '../base/addresses.ts'
import type { Client } from '../config/clients.ts'
import { clientsFileName, createLiveClients, readClientsFile, type LiveClients } from '../config/live-clients.ts'
import { StartError } from '../config/problems.ts'
import { observeJournal } from '../http/metrics.ts'
import { readKeptThin } from '../store/kept-thin.ts'
import { approvalBudgets } from '../limits/approval-check.ts'
import { createApprovals, type Approvals } from '../limits/approvals.ts'
import { allowListGuard, createAllowLists, type AllowLists } from '../limits/allow-lists.ts'
import { createServerLimits, type ServerLimits } from '../limits/server-limits.ts'
import { createClientLimits, type ClientLimitsBook } from '../limits/client-limits.ts'
import { maxLeverageOf } from '../limits/perpetual-limits.ts'
import { createSpendingLimits, type SpendingLimits } from '../limits/spending-limits.ts'
import { openStore } from '../store/open-store.ts'
import { StoreError, type Store } from '../store/store.ts'
import { createRevokedCertificates } from '../tls/revoked-certificates.ts'
import { ensureCertificates } from '../tls/ensure-certificates.ts'
import { clientRights, withGuards } from '../transactions/guards.ts'
import { createDeliveries, type Deliveries } from '../transactions/deliveries.ts'
import { createIdempotency, type Idempotency } from '../transactions/idempotency.ts'
import type { Journal } from '../transactions/journal/journal.ts'
import { sqlJournal } from '../transactions/journal/sql-journal.ts'
import { createStopFiles, stopFileGuard, type StopFiles } from '../transactions/stop-files.ts'
import { sqlLeases, type Leases } from '../transactions/leases.ts'
import { closeWrongAddresses } from '../config/wrong-addresses.ts'
import { readSigningLimits } from '../wallet/signing-networks.ts'
import type { Drain, ServerParts } from './server-parts.ts'

export function createDrain({ settings }: ServerParts): Drain {
  let endsAt: number | undefined
  return {
    remainingMs() {
      endsAt ??= performance.now() + settings.server.drainSeconds * 1000
      return Math.max(0, endsAt - performance.now())
    },
  }
}

export async function makeCertificates({ settings: { ssl }, options }: ServerParts): Promise<void> {
  const { made } = await ensureCertificates({ certsDir: ssl.certsDir })
  if (made) options.print(`Made certificates in ${ssl.certsDir}.`)
}

/** Unique to this process: a predecessor that died has another id, so its claims are recognised as dead. */
export const newIdentity = (): ServerParts['identity'] => ({ serverId: randomUUID(), serverName: `${hostname()}, process ${process.pid}` })

/** @throws StartError where another server holds the store, or a newer version wrote it */
export async function openServerStore({ settings: { data, store }, identity, log }: ServerParts): Promise<Store> {
  try {
    return await openStore({ dataDir: data.dir, url: store.url, serverName: identity.serverName, log })
  } catch (error) {
    if (error instanceof StoreError) throw new StartError(error.message)
    throw error
  }
}

export const openStopFiles = ({ settings, clients }: ServerParts): StopFiles => createStopFiles(settings, () => clients.list)

export async function openServerLimits({ store, identity, clients, log }: ServerParts): Promise<ServerLimits> {
  const limits = createServerLimits({ store, serverId: identity.serverId, clients, log })
  await limits.refresh()
  return limits
}

export const openClientLimits = ({ clients, serverLimits, settings }: ServerParts): ClientLimitsBook =>
  createClientLimits({ clients: () => clients.list, ownOf: serverLimits.strictestOf, settings: settings.limits })

export const openAllowLists = ({ serverLimits, clientLimits, settings: { confDir } }: ServerParts): AllowLists =>
  createAllowLists({
    limitsOf: serverLimits.limitsOf,
    maxLeverageOn: (client, on) => maxLeverageOf(clientLimits.on(client, on) ?? {}),
    isLimitedWallet: (address) => Object.keys(readSigningLimits(confDir).limits).some((each) => isSameAddress(each, address)),
  })

/** Idle where nothing bounds a client, and nothing is reserved since something did: another server on the store may have reserved it. */
export async function openSpendingLimits({ store, serverLimits, clientLimits }: ServerParts): Promise<SpendingLimits> {
  const reserved = await store.read((db) =>
    db.selectFrom('reservations').select('owner').unionAll(db.selectFrom('refundable').select('owner')).limit(1).execute(),
  )
  const limits = createSpendingLimits(clientLimits.on, store.kind)
  return { ...limits, isIdle: () => reserved.length === 0 && !serverLimits.areThere() && !clientLimits.mayBind() }
}

export const openApprovals = ({ store, settings: { limits, ssl }, log }: ServerParts): Approvals =>
  createApprovals({
    store,
    minutes: limits.approvalMinutes,
    maxWaiting: limits.waitingApprovals,
    isRevoked: createRevokedCertificates(ssl.certsDir),
    log,
  })

export function openJournal(parts: ServerParts): Journal {
  const { store, log, metrics, stopFiles, spendingLimits, allowLists, serverLimits, clients, unkeyedRequests } = parts
  const journal = sqlJournal(store, log, [spendingLimits, approvalBudgets(serverLimits.strictestOf)])
  const guards = [stopFileGuard(stopFiles), clientRights(() => clients.list), allowListGuard(allowLists)]
  return observeJournal(withGuards(journal, guards, unkeyedRequests), metrics)
}

export const openLeases = ({ store, identity, log, metrics, unkeyedRequests: { settled: beforeRenewal } }: ServerParts): Leases =>
  sqlLeases({ store, ...identity, log, onChange: (change) => metrics.queueChanges.inc({ change }), beforeRenewal })

export const openIdempotency = ({ store, identity: { serverId }, log, metrics }: ServerParts): Idempotency =>
  createIdempotency({ store, serverId, log, onReplay: () => metrics.replays.inc() })

export const openDeliveries = ({
  store,
  identity: { serverId },
  journal,
  log,
  metrics,
  unkeyedRequests: requests,
}: ServerParts): Deliveries =>
  createDeliveries({ store, serverId, journal, log, requests, onChange: (change) => metrics.deliveries.inc({ change }) })

/** Those of conf/clients.yml, as it is now. One that could trade before there was the permission thin keeps it. */
export async function openClients({ store, settings, log }: ServerParts): Promise<LiveClients> {
  const { confDir, clients: first, unlisted, shown } = settings
  const traders = first.filter(({ permissions }) => permissions.includes('trade'))
  const kept = await readKeptThin(
    store,
    traders.map(({ name }) => name),
  )
  const prepare = (clients: readonly Client[]) =>
    clients.map((client) => {
      const { name, permissions, marketCheck } = client
      const keeps = kept.has(name) && permissions.includes('trade') && !permissions.includes('thin') && marketCheck !== true
      return keeps ? { ...client, permissions: [...permissions, 'thin' as const] } : client
    })
  const read = () => {
    const found = readClientsFile(confDir)
    if ('problems' in found) return found
    const { clients, closed } = closeWrongAddresses({ ...settings, clients: found.clients, closed: [] })
    return closed.length > 0 ? { problems: closed } : { ...found, clients }
  }
  const wasWrong = settings.closed.some(({ file }) => path.basename(file) === clientsFileName)
  return createLiveClients({ confDir, first: { clients: first, unlisted, shown }, wasWrong, read, prepare, log })
}

/** For the operator, at each start until conf/clients.yml decides. */
export const keptThinWarnings = (asRead: Pick<ServerParts['settings'], 'clients'>, clients: readonly Client[]): readonly string[] =>
  clients.flatMap(({ name, permissions, marketCheck }) => {
    const had = asRead.clients.find((each) => each.name === name)?.permissions.includes('thin')
    if (!permissions.includes('thin') || had === true || marketCheck === false) return []
    return [
      `The client "${name}" may trade far below the market, as before this version. Write marketCheck: true in its entry of conf/clients.yml to hold what it signs against the market, or marketCheck: false to leave it so.`,
    ]
  })
