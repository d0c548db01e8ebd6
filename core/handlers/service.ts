import type { PluginEntry, ShownQuarantine } from '../plugins/index.ts'
import type { ShownPlugin } from '../api/index.ts'
import { didYouMean } from '../config/problems.ts'
import type { NetworkNames } from '../contracts/index.ts'
import { badFields } from '../base/errors.ts'
import { version } from '../base/layout.ts'
import { named, printable } from '../base/printable.ts'
import { mayUseWallet, type Handlers } from './context.ts'
import { shownLosses } from './mined-bounds.ts'

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
    const warming = services.market.warmingUp().map(({ leftMs, ...place }) => ({ ...place, seconds: Math.ceil(leftMs / 1000) }))
    const market = warming.length > 0 && { market: warming }
    return failing.length === 0 ? { status: 'ok', ...market } : { status: 'failing', failing, ...market }
  },

  /** The addresses that the caller may use and that the server has keys of. */
  Wallet: async (_request, { services, caller }) =>
    services.wallets
      .all()
      .filter(({ address }) => mayUseWallet(caller, address))
      .map(({ chain, address, label }) => ({ chain, address, ...(label !== undefined && { label }) })),

  Caller: async (_request, { services: { clients, certificateEnds }, caller: { id, fingerprint, permissions } }) => {
    const names = clients.list.map(({ name }) => name)
    const others = permissions.has('admin') ? names.filter((name) => name !== id) : []
    const isShown = (of?: string) => of === undefined || of === fingerprint || permissions.has('admin')
    const ends = (await certificateEnds())?.filter(({ fingerprint256 }) => isShown(fingerprint256))
    return {
      client: id,
      ...(!names.includes(id) && { unlisted: true as const }),
      permissions: [...permissions],
      clients: [id, ...others],
      ...(ends && { certificates: ends.map(({ name, expiresAt }) => ({ name, expiresAt })) }),
      version,
    }
  },
} satisfies Partial<Handlers>

/**
 * A plugin as callers see it.
 * @param seesWallet whether the caller is shown which wallet a quarantined one traded for
 */
export function showPlugin(entry: PluginEntry, seesWallet: (of: { address: string }) => boolean = () => false): ShownPlugin {
  const { name, kind, version, trading_type, available_networks, state, tier, allowedBy, sha256, reason, notTakenUp } = entry
  const { deprecated = [], starting, deaths, quarantine } = entry
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
