// Setting, lifting and showing what is stopped.
import { isSameAddress } from '../base/addresses.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { didYouMean } from '../config/problems.ts'
import { showStop, type Stop, type StopScope } from '../config/stops.ts'
import { hasPermission, mayUseWallet, requirePermission, type Caller, type Handlers, type Services } from './context.ts'

export const stopHandlers = {
  Stops: async (_request, { services: { stops }, caller }) => ({
    stops: (await stops.list()).filter((stop) => isShownTo(caller, stop)).map(showStop),
  }),

  StopsPost: async ({ mode, reason, ...of }, { services, caller, requestId }) => {
    requireMayStop(caller, of.client, of.address)
    const scope = readScope(of, services, caller)
    return showStop(await services.stops.set({ mode, scope, reason }, { client: caller.id, requestId }))
  },

  // What is not known here any more may be lifted, too.
  StopsDelete: async ({ mode, address, client }, { services: { stops }, caller, requestId }) => ({
    lifted: (await stops.lift({ scope: scopeOf(address, client), mode }, { client: caller.id, requestId })).map(showStop),
  }),
} satisfies Partial<Handlers>

/** @throws SluiceError FORBIDDEN */
function requireMayStop(caller: Caller, client: string | undefined, address: string | undefined): void {
  if (hasPermission(caller, 'stop')) return
  if (client === caller.id && address === undefined) return requirePermission(caller, 'trade')
  if (!hasPermission(caller, 'trade')) return requirePermission(caller, 'stop')
  throw new SluiceError(
    'FORBIDDEN',
    `The client certificate "${caller.id}" lacks the permission stop, so it may stop itself only: with "client": "${caller.id}", and no address. An operator gives the permission in conf/clients.yml.`,
  )
}

/** What nobody here has would be stopped by a mistyped name, and nothing would be. @throws SluiceError INCOMPLETE_PARAMS */
function readScope(
  { address, client }: { address?: string; client?: string },
  { wallets, clients }: Pick<Services, 'wallets' | 'clients'>,
  { id }: Caller,
): StopScope {
  const scope = scopeOf(address, client)
  if (address !== undefined) {
    const all = wallets.all().map((each) => each.address)
    if (!all.some((each) => isSameAddress(each, address)))
      throw badFields([{ field: 'address', problem: `${address} is not a wallet of this server (GET /wallet); nothing was stopped` }])
  }
  if (client !== undefined) {
    const ids = [id, ...clients.list.map(({ name }) => name)]
    if (!ids.includes(client))
      throw badFields([
        { field: 'client', problem: `"${client}" has no entry in conf/clients.yml${didYouMean(client, ids)}; nothing was stopped` },
      ])
  }
  return scope
}

function scopeOf(address: string | undefined, client: string | undefined): StopScope {
  if (address !== undefined && client !== undefined)
    throw badFields([{ field: 'client', problem: 'cannot be given together with address: stop each by itself' }])
  if (address !== undefined) return { of: 'wallet', subject: address }
  return client === undefined ? { of: 'all' } : { of: 'client', subject: client }
}

export function isShownTo(caller: Caller, { scope }: Stop): boolean {
  if (scope.of === 'all' || (['stop', 'resume', 'admin'] as const).some((each) => hasPermission(caller, each))) return true
  return scope.of === 'wallet' ? mayUseWallet(caller, scope.subject) : scope.subject === caller.id
}
