// Whose fees the server's own cancels and fills are.
import { expect } from 'chai'
import { createUpkeep, type UpkeepParts } from '../../../core/transactions/upkeep.ts'
import { newEntry } from '../journal/entries.ts'
import { silent } from '../site.ts'

describe('what the server does by itself', () => {
  it('is paid by the client of the cancelled transaction, or of the request that left the gap', async () => {
    const payers: (string | undefined)[] = []
    const works: Promise<unknown>[] = []
    const parts = {
      target: { chain: 'ethereum', impl: { bumpAfterSeconds: 1, rail: { transferGas: 21_000n, replace: { cancel: () => ({}) } } } },
      queues: { held: () => ({ queue: { releasedBy: (nonce: number) => (nonce === 7 ? 'thief' : undefined) } }) },
      submit: async ({ paidBy }: { paidBy?: string }) => {
        payers.push(paidBy)
        return { txHash: '0x1', nonce: 7 }
      },
      inBackground: <T>(work: Promise<T>) => {
        works.push(work)
        return work
      },
      closing: new AbortController().signal,
      log: silent,
      steadyMs: () => 0,
    }
    const upkeep = createUpkeep(parts as unknown as UpkeepParts)
    const entry = newEntry({ client: 'bot' })
    upkeep.fill(entry.address, 7)
    upkeep.cancel(entry, 'late')
    upkeep.cancel({ ...entry, key: 'empty', client: 'sluice', paidBy: 'bot' }, 'late')
    await Promise.all(works)
    expect(payers).to.deep.equal(['thief', 'bot', 'bot'])
  })
})
