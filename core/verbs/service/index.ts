import type { Verb, Verbs } from '../../handlers/context.ts'
import { mayUseWallet } from '../../handlers/caller.ts'
import { transactions } from '../../handlers/service.ts'

const status: Verb<'Status'> = async () => ({ status: 'ok' })

const connectors: Verb<'Connectors'> = async (_request, { services }) =>
  Object.fromEntries(
    services.directory.connectors.map(({ name, available_networks }) => [
      name,
      available_networks.map(({ chain, networks }) => ({ chain, networks: [...networks] })),
    ]),
  )

const plugins: Verb<'Plugins'> = async (_request, { services: { directory } }) =>
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

const healthLive: Verb<'HealthLive'> = async () => ({ status: 'ok' })

const healthReady: Verb<'HealthReady'> = async (_request, { services }) => {
  const failing = [...(await services.failing())]
  return failing.length === 0 ? { status: 'ok' } : { status: 'failing', failing }
}

/** The addresses that the caller may use: those of its certificate that the server has keys of. */
const wallet: Verb<'Wallet'> = async (_request, { services, caller }) =>
  services.wallets
    .all()
    .filter(({ address }) => mayUseWallet(caller, address))
    .map(({ chain, address, label }) => ({ chain, address, ...(label !== undefined && { label }) }))

export const serviceVerbs = {
  Status: status,
  Connectors: connectors,
  Plugins: plugins,
  HealthLive: healthLive,
  HealthReady: healthReady,
  Wallet: wallet,
  Transactions: transactions,
} satisfies Partial<Verbs>
