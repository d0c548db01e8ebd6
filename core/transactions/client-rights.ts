// The permissions of clients, held in every write of the journal of this server: a request that is under way when its certificate is revoked signs nothing.
import { SluiceError } from '../base/errors.ts'
import type { Client } from '../config/clients.ts'
import type { Entry } from './entry.ts'
import type { Journal } from './journal/journal.ts'
import { ownId } from './upkeep.ts'

/** The journal, which asks the list of clients, as it is now, before each new entry and before fees are raised. */
export function withClientRights(journal: Journal, clients: () => readonly Client[]): Journal {
  let known: { readonly of: readonly Client[]; readonly byName: ReadonlyMap<string, Client> } = { of: [], byName: new Map() }

  /** @throws SluiceError FORBIDDEN */
  function refuse(name: string | undefined, entries: readonly Entry[]): void {
    if (name === undefined || name === ownId) return
    const now = clients()
    if (known.of !== now) known = { of: now, byName: new Map(now.map((client) => [client.name, client])) }
    const client = known.byName.get(name)
    const permission = entries.some(({ kind }) => kind === 'send') ? 'send' : 'trade'
    if (client?.closed === undefined && client?.permissions.includes(permission)) return
    throw new SluiceError(
      'FORBIDDEN',
      `The client certificate "${name}" lacks the permission ${permission} by now: nothing was signed. An operator gives it in conf/clients.yml.`,
    )
  }
  return {
    ...journal,
    async open(entries, lease, claim, orders, spending) {
      refuse(spending?.client ?? entries[0]?.client, entries)
      await journal.open(entries, lease, claim, orders, spending)
    },
    async reserve(spending, lease) {
      // Raising is trading, whatever is raised.
      refuse(spending.client, [])
      await journal.reserve(spending, lease)
    },
  }
}
