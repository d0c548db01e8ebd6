import type { PluginEntry, ShownQuarantine } from '../plugins/index.ts'
import type { ShownPlugin } from '../api/index.ts'
import { didYouMean } from '../config/problems.ts'
import type { NetworkNames } from '../contracts/index.ts'
import { badFields } from '../base/errors.ts'
import { momentForms, readMoment } from '../base/moments.ts'
import { named, printable } from '../base/printable.ts'
import { pairName } from '../store/entry-filters.ts'
import { dayMs } from '../transactions/archiver.ts'
import type { EndedPosition } from '../transactions/journal/journal.ts'
import { mayUseWallet, visibleWallets, type Handlers } from './context.ts'
import { journalView, showTransaction } from './journaled.ts'
import { shownLosses } from './mined-bounds.ts'
import { badCursor, readLimit } from './pages.ts'

export const serviceHandlers = {
  Status: async () => ({ status: 'ok' }),

  Connectors: async (_request, { services: { registry } }) =>
    Object.fromEntries(registry.connectors.map(({ name, available_networks }) => [name, copyNetworks(available_networks)])),

  Plugins: async (_request, { services: { registry }, caller }) =>
    registry.plugins.map((entry) => showPlugin(entry, ({ address }) => mayUseWallet(caller, address))),

  PluginsLift: async ({ plugin }, { services: { registry, quarantine } }) => {
    const lifted = await quarantine.lift(plugin)
    if (lifted.length === 0) {
      const known = registry.plugins.filter((each) => each.quarantine).map(({ name }) => name)
      const names = known.length === 0 ? 'no plugin is' : `these are: ${known.join(', ')}`
      throw badFields([{ field: 'plugin', problem: `"${plugin}" is not quarantined${didYouMean(plugin, known)}; ${names}` }])
    }
    return {
      plugin,
      lifted: lifted.map((breach) => {
        const { at: since, chain, network, address, txHash } = breach
        return { since, chain, network, address, txHash, lost: shownLosses(breach, registry.networks) }
      }),
    }
  },

  ConnectorConfig: async ({ connector }, { services: { registry } }) => {
    const { name, trading_type, available_networks, maskedConfig } = registry.connector(connector)
    return { ...maskedConfig, name, trading_type, available_networks }
  },

  HealthLive: async () => ({ status: 'ok' }),

  HealthReady: async (_request, { services }) => {
    // What to do about it is the operator's.
    const failing = (await services.failing()).map(({ part, reason }) => ({ part, reason }))
    return failing.length === 0 ? { status: 'ok' } : { status: 'failing', failing }
  },

  /** The addresses that the caller may use and that the server has keys of. */
  Wallet: async (_request, { services, caller }) =>
    services.wallets
      .all()
      .filter(({ address }) => mayUseWallet(caller, address))
      .map(({ chain, address, label }) => ({ chain, address, ...(label !== undefined && { label }) })),

  /** Reads the journal only, so it works also for networks that are down and for plugins that are gone. */
  Transactions: async (request, { services, caller }) => {
    if (request.cursor !== undefined && !cursorPattern.test(request.cursor)) throw badCursor()
    const limit = readLimit(request.limit, services.settings)
    const addresses = visibleWallets(caller)
    const { since, until, pair, ...others } = request
    const filter = { ...others, ...readPeriod(since, until), ...(pair !== undefined && { pair: readPair(pair) }) }
    const { entries, damaged, nextCursor } = await services.transactions.list({ ...filter, limit, ...(addresses && { addresses }) })
    const view = journalView(services.transactions, services.registry)
    return {
      transactions: entries.map((entry) => showTransaction(entry, view)),
      ...(damaged && { unavailable: damaged.map((id) => ({ id, reason: 'its row in the store is damaged: the log says how' })) }),
      ...(nextCursor !== undefined && { nextCursor }),
    }
  },

  TransactionsPrune: async ({ olderThanDays, dryRun, after }, { services: { archiver }, signal }) => {
    const position = after === undefined ? undefined : readPosition(after)
    const of = { olderThanMs: olderThanDays * dayMs, isDryRun: dryRun ?? false, ...(position && { after: position }) }
    const { archived, kept, next } = await archiver.prune(of, signal)
    return { archived, kept, folder: archiver.folder, ...(next && { next: `${next.endedAt}:${next.key}` }) }
  },
} satisfies Partial<Handlers>

/**
 * A plugin as callers see it.
 * @param seesWallet whether the caller is shown which wallet a quarantined one traded for
 */
export function showPlugin(entry: PluginEntry, seesWallet: (of: { address: string }) => boolean = () => false): ShownPlugin {
  const { name, kind, version, trading_type, available_networks, state, tier, allowedBy, sha256, reason, notTakenUp } = entry
  const { earlier = [], deprecated = [], starting, deaths, quarantine } = entry
  const stillStarting = starting?.() ?? []
  return {
    name,
    kind,
    version: named(version),
    trading_type: [...trading_type],
    available_networks: copyNetworks(available_networks),
    state,
    ...(tier && { tier }),
    ...(allowedBy && { allowedBy }),
    ...(sha256 !== undefined && { sha256 }),
    ...(reason !== undefined && { reason: printable(reason) }),
    ...(notTakenUp !== undefined && { notTakenUp: printable(notTakenUp) }),
    ...(earlier.length > 0 && { earlier: earlier.map((each) => ({ ...each, version: named(each.version) })) }),
    ...(deprecated.length > 0 && { deprecated: deprecated.map(printable) }),
    ...(quarantine && { quarantine: showQuarantine(quarantine, seesWallet) }),
    ...(stillStarting.length > 0 && { starting: stillStarting }),
    ...(deaths && { host: { deaths: deaths() } }),
  }
}

function showQuarantine({ address, txHash, lost, ...shown }: ShownQuarantine, seesWallet: (of: { address: string }) => boolean) {
  return { ...shown, lost: lost.map((each) => ({ ...each })), ...(seesWallet({ address }) && { txHash, address }) }
}

const copyNetworks = (available: readonly NetworkNames[]) => available.map(({ chain, networks }) => ({ chain, networks: [...networks] }))

function readPosition(after: string): EndedPosition {
  const [endedAt = '', key = ''] = after.split(':')
  return { endedAt: Number(endedAt), key }
}

/** @throws SluiceError INCOMPLETE_PARAMS */
function readPeriod(since: string | undefined, until: string | undefined): { from?: number; to?: number } {
  const [from, to] = [readField('since', since), readField('until', until)]
  if (from !== undefined && to !== undefined && from >= to)
    throw badFields([{ field: 'since', problem: `is "${since}", which is not before until, "${until}": there can be none in between` }])
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}

function readField(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const moment = readMoment(text)
  if (moment === undefined) throw badFields([{ field, problem: `is "${text}", but must be ${momentForms}` }])
  return moment
}

/** A request is read by its schema, so there are two. */
const readPair = (text: string): string => {
  const [one = '', other = ''] = text.split('-')
  return pairName(one, other)
}

/** The key of a journal entry, which is what a cursor is. */
const cursorPattern = /^[0-9a-z]{17}$/
