import { expect } from 'chai'
import type { Client } from '../../core/config/clients.ts'
import type { Spending } from '../../core/transactions/budgets.ts'
import type { Entry, Kind } from '../../core/transactions/entry.ts'
import { clientRights, withGuards } from '../../core/transactions/guards.ts'
import type { Journal } from '../../core/transactions/journal/journal.ts'

describe('the permissions of a client at the journal', () => {
  const journal = { open: async () => {}, reserve: async () => {} } as unknown as Journal
  const client = (permissions: Client['permissions'], more: Partial<Client> = {}): Client => ({
    name: 'bot',
    permissions,
    wallets: 'all',
    ...more,
  })
  let clients: readonly Client[] = []
  const held = withGuards(journal, [clientRights(() => clients)])
  const outcome = (work: Promise<void>) =>
    work.then(
      () => 'written',
      (error: Error & { httpStatus?: number }) => error.name,
    )
  const open = (kind: Kind = 'trade', by = 'bot') => outcome(held.open([{ client: by, kind } as Entry], {} as never))
  const raise = (by = 'bot') =>
    outcome(held.reserve({ client: by, is: 'raise', steps: [{ entry: { client: 'other' } }] } as unknown as Spending, {} as never))

  it('are those of now: what its request was allowed at its beginning does not count', async () => {
    clients = [client(['read', 'trade'])]
    expect([await open(), await raise()]).to.deep.equal(['written', 'written'])
    for (const now of [[], [client(['read'])], [client([], { closed: 'it is wrong' })], [client(['trade'], { name: 'other' })]]) {
      clients = now
      expect([await open(), await open('cancel'), await raise()]).to.deep.equal(['FORBIDDEN', 'FORBIDDEN', 'FORBIDDEN'])
    }
  })

  it('are send for what is sent, and trade for all else', async () => {
    clients = [client(['trade'])]
    expect([await open('send'), await open('wrap')]).to.deep.equal(['FORBIDDEN', 'written'])
    clients = [client(['send'])]
    expect([await open('send'), await open('wrap'), await raise()]).to.deep.equal(['written', 'FORBIDDEN', 'FORBIDDEN'])
  })

  it('bind nothing that the server does by itself', async () => {
    clients = []
    expect([await open('fill', 'sluice'), await raise('sluice')]).to.deep.equal(['written', 'written'])
  })
})
