import { expect } from 'chai'
import type { Client } from '../../core/config/clients.ts'
import type { Spending } from '../../core/transactions/budgets.ts'
import type { Entry, Kind } from '../../core/transactions/entry.ts'
import { clientRights, withGuards } from '../../core/transactions/guards.ts'
import type { Journal } from '../../core/transactions/journal/journal.ts'

describe('the rights of a client at the journal', () => {
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
  const open = (kind: Kind = 'trade', by = 'bot') => {
    const spending = { client: by, touches: () => ({ recipient: '0x01' }) } as unknown as Spending
    return outcome(held.open([{ client: by, kind, address: '0x02' } as Entry], {} as never, undefined, undefined, spending))
  }
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
    clients = [client(['send'], { sendTo: new Map([['0x02', ['0x01']]]) })]
    expect([await open('send'), await open('wrap'), await raise()]).to.deep.equal(['written', 'FORBIDDEN', 'FORBIDDEN'])
  })

  const [wallet, other] = ['0x00000000000000000000000000000000000000a1', '0x00000000000000000000000000000000000000b2']

  it('are for the wallets of now', async () => {
    const openOf = (address: string) => outcome(held.open([{ client: 'bot', kind: 'trade', address } as Entry], {} as never))
    const raiseOf = (address: string) => {
      const spending = { client: 'bot', is: 'raise', steps: [{ entry: { client: 'other', address } }] }
      return outcome(held.reserve(spending as unknown as Spending, {} as never))
    }
    clients = [client(['trade'], { wallets: [wallet.toUpperCase().replace('0X', '0x')] })]
    expect([await openOf(wallet), await raiseOf(wallet)]).to.deep.equal(['written', 'written'])
    expect([await openOf(other), await raiseOf(other)]).to.deep.equal(['FORBIDDEN', 'FORBIDDEN'])
    clients = [client(['trade'], { wallets: [other] })]
    expect([await openOf(wallet), await raiseOf(wallet)]).to.deep.equal(['FORBIDDEN', 'FORBIDDEN'])
  })

  it('are for the addresses of now to which it may send', async () => {
    const send = (to?: string) => {
      const spending = { client: 'bot', is: 'new', steps: [], touches: () => ({ action: 'transfer', tokens: [], recipient: to }) }
      const entry = { client: 'bot', kind: 'send', address: wallet } as Entry
      return outcome(held.open([entry], {} as never, undefined, undefined, spending as unknown as Spending))
    }
    clients = [client(['send'], { sendTo: new Map([[wallet, [other]]]) })]
    expect([await send(other), await send(wallet), await send()]).to.deep.equal(['written', 'FORBIDDEN', 'FORBIDDEN'])
    for (const sendTo of [new Map([[other, [other]]]), new Map([[wallet, [wallet]]]), new Map<string, string[]>()]) {
      clients = [client(['send'], { sendTo })]
      expect(await send(other)).to.equal('FORBIDDEN')
    }
  })

  it('are without thin for what was not held against the market, unless it takes back', async () => {
    const openBy = (hadThin: boolean, more: Partial<Entry> = {}) => {
      const spending = { client: 'bot', is: 'new', steps: [], ...(hadThin && { hadThin }) } as unknown as Spending
      return outcome(held.open([{ client: 'bot', kind: 'trade', ...more } as Entry], {} as never, undefined, undefined, spending))
    }
    clients = [client(['trade', 'thin'])]
    expect(await openBy(true)).to.equal('written')
    clients = [client(['trade'])]
    expect([await openBy(true), await openBy(false)]).to.deep.equal(['FORBIDDEN', 'written'])
    expect([await openBy(true, { kind: 'cancel' }), await openBy(true, { reduces: true })]).to.deep.equal(['written', 'written'])
  })

  it('bind nothing that the server does by itself', async () => {
    clients = []
    expect([await open('fill', 'sluice'), await raise('sluice')]).to.deep.equal(['written', 'written'])
  })
})
