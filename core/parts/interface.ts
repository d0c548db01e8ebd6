// What callers reach: the services behind the endpoints, and the listener.
import { createBookRuns } from '../books/runs.ts'
import { isSameAddress } from '../base/addresses.ts'
import { withTimeout } from '../base/async.ts'
import { createApprovalRuns } from '../handlers/approval-runs.ts'
import { heldPositions } from '../handlers/amm/held-positions.ts'
import { createApprovedSpenders } from '../handlers/amm/approved.ts'
import type { Services } from '../handlers/context.ts'
import { limitedToken, networkOf, valueOf } from '../handlers/limited-amounts.ts'
import { fundingOf, lastBlockBefore, liquidationsOf, orderLiquidationsOf, positionsOf } from '../handlers/clob/funding-sums.ts'
import { openingsOf, orderTokens, wrappedFor } from '../handlers/books.ts'
import { paidCostOf } from '../handlers/mined-amounts.ts'
import { failingParts } from '../handlers/readiness.ts'
import {
  measureApprovals,
  measureClientsFile,
  measureLiveState,
  measureNodes,
  measurePlugins,
  measureQuotes,
  measureSignerCount,
  measureStops,
  measureStore,
  measureTransactions,
} from '../http/gauges.ts'
import { createInterfaceApp } from '../http/interface-plugin.ts'
import { createInterface } from '../http/interface.ts'
import { listenOnAll, type Listener, type Listeners, type ServedApp } from '../http/server.ts'
import { createPerpetualTurns } from '../limits/perpetual-limits.ts'
import { minedTouches } from '../handlers/mined-touches.ts'
import { createReplay, type Replay } from '../limits/replay.ts'
import { createApprovalCheck } from '../limits/approval-check.ts'
import { readUsage, type LimitUsage } from '../limits/usage.ts'
import { createKeyIntake, type KeyIntake } from '../wallet/key-intake.ts'
import { requiredHere } from '../plugins/index.ts'
import { perpetualsBefore } from '../transactions/order-markets.ts'
import { readChangesBefore } from '../transactions/position-changes.ts'
import type { ServerParts } from './server-parts.ts'
import { limitReader } from './trading.ts'
import type { NetworkName } from '../base/networks.ts'
import { createCertificateEnds } from '../tls/issued-certificates.ts'

/** After the time for requests under way: for the answers to those that are aborted. */
const lastAnswersMs = 500

export function openGauges({
  metrics,
  store,
  signer,
  stops,
  approvals,
  registry,
  liveState,
  journal,
  targets,
  clients,
  log,
}: ServerParts): void {
  measureStore(metrics, store)
  measureSignerCount(metrics, signer)
  measureStops(metrics, stops)
  measureApprovals(metrics, approvals)
  measureClientsFile(metrics, clients)
  measurePlugins(metrics, registry)
  measureNodes(metrics, registry)
  measureLiveState(metrics, liveState)
  measureQuotes(metrics, registry)
  measureTransactions(metrics, { journal, networks: targets, log })
}

export function openServices(parts: ServerParts): Services {
  const {
    registry,
    settings,
    liveState,
    market,
    holdings,
    turns,
    following,
    transactions,
    archiver,
    checkpoints,
    orderFills,
    deliveries,
    refusedPositions,
    quarantine,
    stops,
    clients,
    serverLimits,
    clientLimits,
    allowLists,
    signer,
    store,
    allowed,
    devnet,
    approvals,
    idempotency,
    alertDesk,
  } = parts
  const check = createApprovalCheck({
    limitsOf: serverLimits.strictestOf,
    tokenOf: (on, name) => limitedToken(on, name, registry),
    valueOf: (on, gives) => valueOf(on, gives, parts),
    admit: transactions.admit,
  })
  const required = requiredHere(settings, allowed.found, devnet !== undefined)
  return {
    registry,
    settings,
    books: liveState.books,
    market,
    holdings,
    quotes: liveState.quotes,
    walletChecks: liveState.walletChecks,
    approvedSpenders: createApprovedSpenders(),
    turns,
    following,
    transactions: check.holding(transactions),
    approvals: { ...approvals, ...check },
    approvalRuns: createApprovalRuns({ approvals, clients, idempotency }),
    archiver,
    checkpoints,
    orderFills,
    deliveries,
    refusedPositions,
    bookRuns: createBookRuns(transactions.list, {
      costOf: (entry) => paidCostOf(entry, registry),
      tokenOf: orderTokens(registry),
      fundingOf: (of, signal) => fundingOf(of, registry, signal),
      marketsBefore: (filter, beforeMs, signal) => perpetualsBefore(store, filter, beforeMs, signal),
      changesBefore: (filter, beforeMs, tells, signal) => readChangesBefore(store, filter, beforeMs, tells, signal),
      liquidationsOf: (of, signal) => liquidationsOf(of, registry, signal),
      orderLiquidationsOf: (of, signal) => orderLiquidationsOf(of, registry, signal),
      blockBefore: (of, momentMs, signal) => lastBlockBefore(of, momentMs, registry, signal),
      positionsOf: (of, signal) => positionsOf(of, registry, signal),
      heldPositions: heldPositions(registry),
      openings: openingsOf(settings.books.opening, registry),
      tokenFor: (on, token) => (settings.books.coinAsWrapped ? wrappedFor(on, token, registry) : token),
      isWallet: (chain, address) => signer.wallets().some((each) => each.chain === chain && isSameAddress(each.address, address)),
    }),
    quarantine,
    stops,
    alerts: alertDesk,
    clients,
    allowLists,
    limitsOf: serverLimits.strictestOf,
    limitsOn: clientLimits.on,
    limitReplay: (client) => limitReplay(client, parts),
    limitUsage: (client) => limitUsage(client, parts),
    perpetuals: createPerpetualTurns(store),
    wallets: { all: signer.wallets },
    certificateEnds: createCertificateEnds(settings.ssl.certsDir),
    failing: () => failingParts({ signer, store, registry, required }),
  }
}

function limitReplay(client: string, parts: ServerParts): Replay | undefined {
  const { registry, serverLimits, clientLimits } = parts
  const own = serverLimits.strictestOf(client)
  const limitsOn = (on: NetworkName) => clientLimits.on(client, on)
  if (!own && !registry.networks.some((on) => limitsOn(on) !== undefined)) return undefined
  return createReplay(
    client,
    { own, limitsOn },
    {
      ...limitReader(parts),
      coin: (on) => networkOf(on, registry)?.impl.nativeCurrency,
      touches: (entry) => minedTouches(entry, registry),
    },
  )
}

/** None where the client has no limits. */
async function limitUsage(client: string, { store, serverLimits, clientLimits, registry }: ServerParts): Promise<readonly LimitUsage[]> {
  return readUsage(store, client, {
    own: serverLimits.strictestOf(client),
    limitsOn: (on) => clientLimits.on(client, on),
    networks: registry.networks.map(({ chain, network, impl }) => ({ chain, network, decimals: impl.nativeCurrency.decimals })),
    token: (on, name) => limitedToken(on, name, registry),
  })
}

export const ownInterface = (parts: ServerParts): ServedApp => ({ app: createInterface(parts), address: parts.settings.server })

export const openKeyIntake = ({ unlocking: { keysFrom }, signer, log }: ServerParts): KeyIntake =>
  createKeyIntake({ acceptedBy: keysFrom, signer, log })

/** The server's own interface, and those of plugins that have a port. */
export const openInterfaces = (parts: ServerParts): ServerParts['interfaces'] => [
  ownInterface(parts),
  ...parts.plugins.interfaces.flatMap(({ name, listener }): ServedApp[] => {
    if (!listener) return []
    const { port, host = parts.settings.server.host } = listener
    return [{ name, app: createInterfaceApp(name, listener.interface, parts), address: { host, port } }]
  }),
]

/** On all interfaces. */
export const openListener = ({ interfaces, settings, log }: ServerParts): Promise<Listeners> => listenOnAll(interfaces, { settings, log })

/** Requests under way may end, within the time that they have. */
export async function closeListener(listener: Listener, { drain, transactions }: ServerParts): Promise<void> {
  const closed = listener.stop(drain.remainingMs() + lastAnswersMs)
  await withTimeout(closed, drain.remainingMs(), () => {})
  // Requests that still run are aborted now. Their callers are told the state of their transactions.
  await Promise.all([closed, transactions.stop(0)])
}
