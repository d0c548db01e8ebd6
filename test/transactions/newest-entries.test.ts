import { expect } from 'chai'
import { readGas } from '../../core/handlers/portfolio/gas-runway.ts'
import type { WalletReading } from '../../core/handlers/portfolio/reading.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import type { EntryFilter, EntryPage } from '../../core/transactions/journal/journal.ts'
import { newestEntries } from '../../core/transactions/newest-entries.ts'

const { signal } = new AbortController()
const entryOf = (key: string) => ({ key }) as Entry

describe('the newest entries of journal and archive', () => {
  /** Pages as an archive gives them of which few entries match. */
  const pages: readonly EntryPage[] = [
    { entries: [], nextCursor: '1' },
    { entries: [entryOf('b')], damaged: ['c'], nextCursor: '2' },
    { entries: [entryOf('a')] },
  ]
  const list = async ({ cursor = '0', limit = 100 }: EntryFilter): Promise<EntryPage> => {
    const page = pages[Number(cursor)] ?? { entries: [] }
    return { ...page, entries: page.entries.slice(0, limit) }
  }

  it('are found behind pages that are empty', async () => {
    const found = await newestEntries(list, { limit: 10 }, { signal })
    expect(found).to.deep.equal({ entries: [entryOf('b'), entryOf('a')], damaged: ['c'], isCut: false })
  })

  it('are said to be cut where there may be more', async () => {
    expect(await newestEntries(list, { limit: 1 }, { signal })).to.deep.include({ entries: [entryOf('b')], isCut: true })
    expect(await newestEntries(list, { limit: 10 }, { signal, maxPages: 1 })).to.deep.include({ entries: [], isCut: true })
  })

  it('are all counted in the gas that a wallet uses', async () => {
    const now = Date.UTC(2026, 0, 8)
    const landed = { id: '0x1', ok: true, blockNumber: 7, receipt: null, cost: { feeRaw: '500' } }
    // What an account keeps that the transaction made is not spent.
    const step = { rent: '2000' }
    const spent = { step, chain: 'ethereum', network: 'local', createdAt: now - 2 * 86_400_000, attempts: [], landed } as unknown as Entry
    const rail = { outline: (of: { rent: string }) => ({ rentRaw: BigInt(of.rent) }) }
    const network = { chain: 'ethereum', network: 'local', impl: { nativeCurrency: { symbol: 'ETH', decimals: 0 }, rail } }
    const registry = { networks: [network] }
    const transactions = {
      list: async ({ cursor }: EntryFilter): Promise<EntryPage> =>
        cursor === undefined ? { entries: [], nextCursor: 'x' } : { entries: [spent] },
    }
    const reading = { network, owner: '0x1', services: { transactions, registry }, signal } as unknown as WalletReading
    expect(await readGas(reading, 1_000n, now)).to.include({ transactions: 1, spent: '500', perDay: '250', daysLeft: '4.0000' })
  })
})
