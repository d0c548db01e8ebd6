import { badFields, type JournaledTransaction } from '../api/index.ts'
import { txHashOf, type Entry } from '../transactions/entry.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { visibleWallets, mayUseWallet } from './caller.ts'
import type { Handler, Handlers } from './context.ts'

/** What an entry's key looks like: a cursor is one. */
const cursorPattern = /^[0-9a-z]+(-[0-9a-z]+)+$/

const usualLimit = 100

/** From the journal alone: it answers also for networks that are down, or whose plugin is gone. */
const transactions: Handler<'Transactions'> = async (request, { services, caller }) => {
  const { pageSize } = services.settings.limits
  const { cursor, limit = Math.min(usualLimit, pageSize) } = request
  if (cursor !== undefined && !cursorPattern.test(cursor))
    throw badFields([{ field: 'cursor', problem: 'is no nextCursor of an earlier answer' }])
  if (limit > pageSize) throw badFields([{ field: 'limit', problem: `is above this server's limits.pageSize of ${pageSize}` }])
  const addresses = visibleWallets(caller)
  const { entries, nextCursor } = await services.transactions.list({ ...request, limit, ...(addresses && { addresses }) })
  return {
    transactions: entries.map((entry) => showTransaction(entry, services.transactions.status)),
    ...(nextCursor !== undefined && { nextCursor }),
  }
}

/** A transaction as the journal has it, in a caller's terms. */
export function showTransaction(entry: Entry, status: Transactions['status']): JournaledTransaction {
  const { chain, network, address, kind, connector, nonce, state, landed, replacedBy, reason, attempts, requestId } = entry
  const { signer, idempotencyKey, createdAt, updatedAt, deadline } = entry
  return {
    chain,
    network,
    address,
    kind,
    ...(connector !== undefined && { connector }),
    ...(signer !== undefined && { signer }),
    txHash: txHashOf(entry) ?? null,
    nonce,
    txState: state,
    txStatus: status(entry),
    txBlock: landed?.blockNumber ?? -1,
    ...(replacedBy !== undefined && { replacedBy }),
    ...(reason !== undefined && { reason }),
    attempts: attempts.map(({ id, signedAt, sends }) => ({ txHash: id, signedAt, sends })),
    requestId,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    createdAt,
    updatedAt,
    ...(deadline !== undefined && { deadline }),
  }
}

export const connectorConfig: Handler<'ConnectorConfig'> = async ({ connector }, { services: { registry: directory } }) => {
  const { name, trading_type, available_networks, maskedConfig: shownConfig } = directory.connector(connector)
  return { ...shownConfig, name, trading_type, available_networks }
}

const status: Handler<'Status'> = async () => ({ status: 'ok' })

const connectors: Handler<'Connectors'> = async (_request, { services }) =>
  Object.fromEntries(
    services.registry.connectors.map(({ name, available_networks }) => [
      name,
      available_networks.map(({ chain, networks }) => ({ chain, networks: [...networks] })),
    ]),
  )

const plugins: Handler<'Plugins'> = async (_request, { services: { registry: directory } }) =>
  directory.plugins.map(({ name, kind, version, trading_type, available_networks, state, reason, starting }) => ({
    name,
    kind,
    version,
    trading_type: [...trading_type],
    available_networks: available_networks.map(({ chain, networks }) => ({ chain, networks: [...networks] })),
    state,
    ...(reason !== undefined && { reason }),
    ...(starting && starting().length > 0 && { starting: starting() }),
  }))

const healthLive: Handler<'HealthLive'> = async () => ({ status: 'ok' })

const healthReady: Handler<'HealthReady'> = async (_request, { services }) => {
  const failing = [...(await services.failing())]
  return failing.length === 0 ? { status: 'ok' } : { status: 'failing', failing }
}

/** The addresses that the caller may use: those of its certificate that the server has keys of. */
const wallet: Handler<'Wallet'> = async (_request, { services, caller }) =>
  services.wallets
    .all()
    .filter(({ address }) => mayUseWallet(caller, address))
    .map(({ chain, address, label }) => ({ chain, address, ...(label !== undefined && { label }) }))

export const serviceHandlers = {
  Status: status,
  Connectors: connectors,
  Plugins: plugins,
  HealthLive: healthLive,
  HealthReady: healthReady,
  Wallet: wallet,
  Transactions: transactions,
} satisfies Partial<Handlers>
