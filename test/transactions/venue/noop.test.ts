import { expect } from 'chai'
import { addressOf, reaches, soon, transactionsOn } from '../site.ts'
import { placing, settled, signTyped, startVenue } from './venue-site.ts'

describe('an expired action on a rail with an action that does nothing', () => {
  it('becomes CANCELLED once that action took the nonce, after a second try if the first failed', async () => {
    let lost: string | undefined
    // The first comes to nothing soon; the next has all the time that a busy machine takes.
    const noop = (user: string) => ({ do: 'noop', user, expiresAfter: Date.now() + (lost === undefined ? 300 : 60_000) })
    const venue = await startVenue({ livesMs: 600_000, marginMs: 100, noop })
    const agent = addressOf(5)
    venue.exchange.agents.set(agent.toLowerCase(), addressOf(0).toLowerCase())
    const transactions = await transactionsOn({ sites: [venue.site], sign: signTyped })
    try {
      venue.exchange.meddle = ({ action, signature }) => {
        if (action.do === 'order') return 'cut'
        lost ??= signature
        return signature === lost ? 'cut' : 'pass'
      }
      const order = placing(venue, { signer: agent })
      const { txHash, nonce } = await transactions.submit({ ...order, plan: { ...order.plan, deadline: 1 } }, soon())
      await reaches(transactions, txHash, 'CANCELLED')
      await settled(transactions)
      const { entries } = await transactions.list({})
      expect(entries.map(({ kind, state }) => `${kind} ${state}`)).to.deep.equal(['cancel CONFIRMED', 'cancel EXPIRED', 'order CANCELLED'])
      for (const entry of entries) expect(entry).to.include({ nonce, signer: agent, connector: 'book' })
      expect(venue.exchange.done.map(({ action }) => action.do)).to.deep.equal(['noop'])
      expect(entries[2]?.replacedBy).to.equal(entries[0]?.attempts[0]?.id)
    } finally {
      await transactions.stop(200)
      await venue.stop()
    }
  })
})
