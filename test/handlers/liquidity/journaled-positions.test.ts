import { expect } from 'chai'
import { journaledIds, journaledPositions } from '../../../core/handlers/amm/journaled-positions.ts'
import type { NetworkEntry, VenueEntry } from '../../../core/plugins/registry.ts'
import type { Entry } from '../../../core/transactions/entry.ts'
import type { EntryFilter } from '../../../core/transactions/journal/journal.ts'

const landed = { id: '0x1', ok: true, blockNumber: 1, receipt: { tokenId: '7' } }
const entry = (fields: object) => ({ kind: 'liquidity', connector: 'lake', memo: null, landed, ...fields }) as unknown as Entry
/** Its receipts say the id themselves. */
const venueOf = () =>
  ({
    connector: 'lake',
    impl: { AMM_RANGE: { rangeFill: ({ tokenId }: { tokenId: string }) => ({ tokenId }) } },
  }) as unknown as VenueEntry
const network = { chain: 'ethereum', network: 'local' } as NetworkEntry

const idsOf = (pages: readonly (readonly Entry[])[], venue = venueOf()) => {
  const asked: EntryFilter[] = []
  const list = async (filter: EntryFilter) => {
    asked.push(filter)
    const entries = pages[asked.length - 1] ?? []
    return { entries, ...(asked.length < pages.length && { nextCursor: String(asked.length) }) }
  }
  let lastEvent = 1
  const transactions = { list, events: { lastId: async () => lastEvent } }
  const read = () => journaledIds('0xOwner', { network, venue }, { transactions: transactions as never })
  return { asked, read, write: () => (lastEvent += 1) }
}

describe('positions that the journal knows', () => {
  it('include those of mined changes of liquidity on the connector, by receipts or by what the journal kept', async () => {
    const { read, asked } = idsOf([
      [entry({}), entry({ kind: 'trade', landed: { ...landed, receipt: { tokenId: '1' } } })],
      [
        entry({ connector: 'other', landed: { ...landed, receipt: { tokenId: '2' } } }),
        entry({ landed: { ...landed, ok: false, receipt: { tokenId: '3' } } }),
        entry({ landed: undefined }),
        entry({ outcome: { tokenId: '9Vfc4Jk', liquidity: '1' } }),
        entry({ landed: { ...landed, receipt: {} } }),
        entry({}),
      ],
    ])
    expect(await read()).to.deep.equal(['7', '9Vfc4Jk'])
    expect(asked.map(({ address, cursor }) => [address, cursor])).to.deep.equal([
      ['0xOwner', undefined],
      ['0xOwner', '1'],
    ])
  })

  it('with the contracts that list them are those that are tokens: an id that is no number is none', async () => {
    const venue = venueOf()
    Object.assign(venue.impl.AMM_RANGE ?? {}, { positionsOf: () => {}, positionManagers: { v4: '0xManager' } })
    const entries = [entry({}), entry({ outcome: { tokenId: '9Vfc4Jk' } })]
    const services = {
      registry: { venuesOn: () => [venue] },
      transactions: { list: async () => ({ entries }), events: { lastId: async () => 1 } },
    }
    expect(await journaledPositions('0xOwner', network, services as never)).to.deep.equal([{ collection: '0xManager', tokenId: 7n }])
  })

  it('need another read only after a while and where something was written, and of no more than the newest 5,000 entries', async () => {
    const { read, asked, write } = idsOf(Array.from({ length: 40 }, () => [entry({})]))
    for (let times = 0; times < 3; times += 1) expect(await read()).to.deep.equal(['7'])
    expect(asked).to.have.length(10)
    write()
    await read()
    expect(asked).to.have.length(10)
    const { now } = performance
    try {
      performance.now = () => now.call(performance) + 6_000
      await read()
      expect(asked).to.have.length(20)
      performance.now = () => now.call(performance) + 12_000
      await read()
      expect(asked).to.have.length(20)
    } finally {
      performance.now = now
    }
  })
})
