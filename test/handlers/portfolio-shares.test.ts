import { expect } from 'chai'
import { readShares } from '../../core/handlers/portfolio/exchanges.ts'
import type { WalletReading } from '../../core/handlers/portfolio/reading.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import type { EntryFilter, EntryPage } from '../../core/transactions/journal/journal.ts'

const connectors = ['one', 'two', 'three', 'four', 'five']
const pages = 7

describe('shares of a wallet', () => {
  /** An archive of which each page is full of strangers' entries; the last has one of the wallet at each connector. */
  function archive() {
    const filters: EntryFilter[] = []
    const list = async (filter: EntryFilter): Promise<EntryPage> => {
      filters.push(filter)
      const page = Number(filter.cursor ?? '0') + 1
      if (page < pages) return { entries: [], nextCursor: String(page) }
      const isAsked = (each: string) => (filter.connector ?? each) === each && (filter.connectors?.has(each) ?? true)
      const own = connectors.filter(isAsked).map((connector) => ({ connector, request: { fields: { tokens: [connector, 'USDC'] } } }))
      return { entries: own as unknown as Entry[] }
    }
    return { list, filters }
  }

  it('are looked for once in the journal, however many connectors have shares, and read at each of them', async () => {
    const { list, filters } = archive()
    const asked: string[] = []
    const trading = (connector: string) => ({
      sharePositions: async (tokens: readonly { symbol: string }[]) => {
        asked.push(`${connector}: ${tokens.map(({ symbol }) => symbol).join(' ')}`)
        return { positions: [] }
      },
    })
    const venues = [
      ...connectors.map((connector) => ({ connector, impl: { AMM_SHARES: trading(connector) } })),
      { connector: 'ranges', impl: { AMM_RANGE: {} } },
    ]
    const missed: string[] = []
    const resolveAll = async (symbols: readonly string[]) => symbols.map((symbol) => ({ symbol, address: symbol, decimals: 6 }))
    const reading = {
      network: { chain: 'ethereum', network: 'local', tokens: { resolveAll } },
      owner: '0x1',
      venues,
      services: { transactions: { list } },
      signal: new AbortController().signal,
      part: async (_: unknown, read: () => Promise<unknown>) => read(),
      miss: (_: unknown, reason: string) => void missed.push(reason),
    }
    expect(await readShares(reading as unknown as WalletReading)).to.deep.equal([])
    expect(filters).to.have.length(pages)
    expect(asked).to.have.members(connectors.map((connector) => `${connector}: ${connector} USDC`))
    expect(missed).to.deep.equal([])
  })
})
