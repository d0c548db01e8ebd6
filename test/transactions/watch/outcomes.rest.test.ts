import { expect } from 'chai'
import { addressOf, order, reaches, soon, startSite, transactionsOn } from '../site.ts'

describe('outcomes of transactions that are final in one block', () => {
  it('come from one round of questions, whichever wallets they are of', async () => {
    const site = await startSite({ flags: ['--no-mining'] })
    const seen: string[] = []
    const readOutcome = () => async () => {
      seen.push('asked')
      await new Promise((done) => setTimeout(done, 20))
      return undefined
    }
    const onChange = ({ state }: { state: string }) => {
      if (state === 'MINED' || state === 'CONFIRMED') seen.push('written')
    }
    const transactions = await transactionsOn({ readOutcome, onChange })
    try {
      const sent = [0, 1, 2].map((index) => transactions.submit(order(site, { address: addressOf(index) }), soon()))
      const hashes = (await Promise.all(sent)).map(({ txHash }) => txHash)
      for (const hash of hashes) await reaches(transactions, hash, 'BROADCAST')
      await site.mine()
      for (const hash of hashes) await reaches(transactions, hash, 'CONFIRMED')
      expect(seen.slice(0, 4)).to.deep.equal(['asked', 'asked', 'asked', 'written'])
    } finally {
      await transactions.stop(1000)
      await site.stop()
    }
  })
})
