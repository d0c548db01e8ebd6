// What is left of a client's limits.
import { formatRaw } from '../base/decimal.ts'
import { badFields } from '../base/errors.ts'
import { didYouMean } from '../config/problems.ts'
import type { LimitUsage } from '../limits/usage.ts'
import { requirePermission, type Handlers, type Services } from './context.ts'

export const limitHandlers = {
  Limits: async ({ client: asked }, { services, caller }) => {
    const client = asked ?? caller.id
    if (client !== caller.id) {
      requirePermission(caller, 'admin')
      const ids = services.clients.list.map(({ name }) => name)
      if (!ids.includes(client))
        throw badFields([{ field: 'client', problem: `"${client}" has no entry in conf/clients.yml${didYouMean(client, ids)}` }])
    }
    return { client, limits: (await services.limitUsage(client)).map((usage) => showUsage(usage, services)) }
  },
} satisfies Partial<Handlers>

function showUsage({ limit, allowed, unit, window, counted, network: on }: LimitUsage, { registry }: Pick<Services, 'registry'>) {
  const coin = on && registry.networks.find(({ chain, network }) => chain === on.chain && network === on.network)?.impl.nativeCurrency
  const leftRaw = counted && counted.allowedRaw > counted.usedRaw ? counted.allowedRaw - counted.usedRaw : 0n
  return {
    limit,
    allowed,
    unit: typeof unit === 'object' ? unit.token : unit === 'coin' ? (coin?.symbol ?? 'coin of the network') : unit,
    ...(window && { window }),
    ...(counted && { used: formatRaw(counted.usedRaw, counted.decimals), left: formatRaw(leftRaw, counted.decimals) }),
    ...(counted?.freesInMs !== undefined && { freesAt: Date.now() + counted.freesInMs }),
    ...on,
  }
}
