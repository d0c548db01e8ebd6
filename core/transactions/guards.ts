// What refuses entries before the store is asked: the permissions of their client, its lists, and files that stop. Asked in every write of new entries and
// before fees are raised, so what has changed while a request was under way holds for it.
import { SluiceError } from '../base/errors.ts'
import { ownId, type Client } from '../config/clients.ts'
import type { Spending } from './budgets.ts'
import type { Entry } from './entry.ts'
import type { Journal } from './journal/journal.ts'

/** What a write of the journal is about to do. */
export interface GuardedWrite extends Pick<Spending, 'is' | 'client' | 'touches'> {
  /** One at least. Of a raise those whose fees are raised. */
  readonly entries: readonly [Entry, ...Entry[]]
}

/** Decides by what is in memory or in files. @throws SluiceError to refuse: then nothing is written, and nothing is signed */
export type Guard = (write: GuardedWrite) => void

/** The journal, which asks each guard in their order before it writes. */
export function withGuards(journal: Journal, guards: readonly Guard[]): Journal {
  function ask([first, ...others]: readonly Entry[], of: Omit<GuardedWrite, 'entries'>): void {
    if (first) for (const guard of guards) guard({ ...of, entries: [first, ...others] })
  }
  return {
    ...journal,
    async open(entries, lease, claim, orders, spending) {
      const { touches } = spending ?? {}
      ask(entries, { is: 'new', client: spending?.client ?? entries[0]?.client ?? '', ...(touches && { touches }) })
      await journal.open(entries, lease, claim, orders, spending)
    },
    async reserve(spending, lease) {
      ask(
        spending.steps.map(({ entry }) => entry),
        { is: 'raise', client: spending.client },
      )
      await journal.reserve(spending, lease)
    },
  }
}

/** The permissions of clients as they are now: a request that is under way when its certificate is revoked signs nothing. */
export function clientRights(clients: () => readonly Client[]): Guard {
  let known: { readonly of: readonly Client[]; readonly byName: ReadonlyMap<string, Client> } = { of: [], byName: new Map() }

  return ({ is, client: name, entries }) => {
    if (name === ownId) return
    const now = clients()
    if (known.of !== now) known = { of: now, byName: new Map(now.map((client) => [client.name, client])) }
    const client = known.byName.get(name)
    // Raising is trading, whatever is raised.
    const permission = is === 'new' && entries.some(({ kind }) => kind === 'send') ? 'send' : 'trade'
    if (client?.closed === undefined && client?.permissions.includes(permission)) return
    throw new SluiceError(
      'FORBIDDEN',
      `The client certificate "${name}" lacks the permission ${permission} by now: nothing was signed. An operator gives it in conf/clients.yml.`,
    )
  }
}
