import { expect } from 'chai'
import { isProvenGone, noteAbsent } from '../../../core/handlers/amm/absent-positions.ts'
import type { Services, TargetContext } from '../../../core/handlers/context.ts'
import type { Entry, TransactionState } from '../../../core/transactions/entry.ts'
import type { EntryFilter } from '../../../core/transactions/journal/journal.ts'

const confirmations = 3
const position = { tokenId: '7', version: 'v3' }
const at = { signal: AbortSignal.timeout(60_000) }
const day = 24 * 3_600_000

/** What servers on one store have in common: the journal, and a chain that does not have the position. */
class SharedStore {
  readonly #entries = new Map<string, Entry>()
  readonly #events: { id: number; entry: Entry }[] = []
  height = 100n

  /** @param made the id that its receipt tells */
  write(key: string, state: TransactionState, made?: string, createdAt = Date.now()): void {
    const landed = made === undefined ? undefined : { id: '0x1', ok: true, blockNumber: Number(this.height), receipt: { tokenId: made } }
    const of = { chain: 'ethereum', network: 'local', connector: 'lake', kind: 'liquidity', address: '0xOwner' }
    const entry = {
      ...of,
      key,
      state,
      createdAt,
      memo: null,
      request: { path: '/amm/liquidity/add', fields: {} },
      ...(landed && { landed }),
    }
    this.#entries.set(key, entry as unknown as Entry)
    this.#events.push({ id: this.#events.length + 1, entry: entry as unknown as Entry })
  }

  /** @param witness whether each node can be asked */
  server(witness = true) {
    const positionWitnesses = async () => [{ number: this.height, exists: false }]
    const rangeFill = (receipt: unknown) => receipt
    const venue = { connector: 'lake', impl: { AMM_RANGE: { rangeFill, ...(witness && { positionWitnesses }) } } }
    const network = { chain: 'ethereum', network: 'local', impl: { local: true, confirmations } }
    const target = { venue, network } as unknown as TargetContext<'connector'>
    const transactions = {
      list: async ({ state, to = Infinity }: EntryFilter) => ({
        entries: [...this.#entries.values()].filter((each) => each.state === state && each.createdAt < to),
      }),
      events: { lastId: async () => this.#events.length, after: async (id: number) => this.#events.filter((each) => each.id > id) },
    }
    const services = { transactions, following: {}, settings: {} } as unknown as Services
    return async (): Promise<boolean> => {
      const head = { number: this.height, timestamp: 0 }
      return (await noteAbsent(position, head, target, services)) && (await isProvenGone(position, head, target, services, at))
    }
  }
}

/** Whether it is gone once it was missed for as long as makes that final. */
async function afterAll(shared: SharedStore, isGone: () => Promise<boolean>): Promise<boolean> {
  for (let block = 1; block < confirmations; block += 1) {
    expect(await isGone()).to.equal(false)
    shared.height += 1n
  }
  return isGone()
}

describe('a position that is missed', () => {
  it('counts as gone once it is final that no node has it', async () => {
    const shared = new SharedStore()
    expect(await afterAll(shared, shared.server())).to.equal(true)
  })

  it('does not count as gone where each node cannot be asked, as of the connector of a contained plugin', async () => {
    const shared = new SharedStore()
    expect(await afterAll(shared, shared.server(false))).to.equal(false)
  })

  for (const [whose, ahead] of [
    ['ahead', day],
    ['behind', -day],
  ] as const)
    it(`does not count as gone while an open of another server is under way that was when it was first missed, whose clock is ${whose} by a day`, async () => {
      const shared = new SharedStore()
      shared.write('a', 'BROADCAST', undefined, Date.now() + ahead)
      const isGone = shared.server()
      expect(await afterAll(shared, isGone)).to.equal(false)
      shared.write('a', 'CONFIRMED', '9', Date.now() + ahead)
      shared.height += 1n
      expect(await isGone()).to.equal(true)
    })

  it('does not count as gone any more once an open by another server was told as it, until that is final', async () => {
    const shared = new SharedStore()
    const here = shared.server()
    expect(await afterAll(shared, here)).to.equal(true)
    shared.write('a', 'BROADCAST')
    shared.write('a', 'MINED', '7')
    expect(await here()).to.equal(false)
    // A reorganisation takes its block back: nobody looked here while it was there.
    shared.write('a', 'BROADCAST')
    for (let block = 0; block < 2 * confirmations; block += 1) {
      shared.height += 1n
      expect(await here()).to.equal(false)
    }
    shared.write('a', 'DROPPED')
    expect(await here()).to.equal(true)
  })

  it('counts as gone though others are being opened since all the time, that nobody was told of as it', async () => {
    const shared = new SharedStore()
    const isGone = shared.server()
    expect(await isGone()).to.equal(false)
    shared.write('a', 'MINED', '8')
    shared.write('b', 'BROADCAST')
    expect(await afterAll(shared, isGone)).to.equal(true)
  })
})
