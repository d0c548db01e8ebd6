import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { SluiceError } from '../../../core/api/index.ts'
import type { Store } from '../../../core/store/store.ts'
import { createIdempotency, type Idempotency } from '../../../core/transactions/idempotency.ts'
import type { KeyClaim } from '../../../core/transactions/journal/journal.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { giveLease, newEntry, next, attempt } from '../journal/entries.ts'
import type { StorePlace } from '../../store/stores.ts'
import { silent, until } from '../site.ts'

const hourMs = 3_600_000
const rightMs = 1_700_000_000_000

let count = 0
const newKey = () => ({ client: 'bot', path: '/amm/trade', key: `key-${(count += 1)}` })
const never = () => Promise.reject(new Error('It was done twice.'))

/** Outcomes of requests with keys while the clocks of servers are wrong or jump. */
export function clockJumpTests(place: () => StorePlace): void {
  let store: Store
  const opened: Idempotency[] = []
  beforeEach(async () => {
    store = await place().open()
    await giveLease(store)
  })
  afterEach(() => {
    for (const each of opened.splice(0)) each.stop()
  })

  /** A server with a clock of its own, which the test sets. */
  function server(offsetHours = 0, on: Store = store) {
    const clock = { offsetHours }
    const idempotency = createIdempotency({
      store: on,
      serverId: randomUUID(),
      log: silent,
      nowMs: () => rightMs + clock.offsetHours * hourMs,
    })
    opened.push(idempotency)
    return { clock, idempotency }
  }

  const once = (
    at: { idempotency: Idempotency },
    key: Omit<KeyClaim, 'claim'>,
    act: (claim: KeyClaim) => Promise<{ answer: { status: number; body: string }; isRecorded: boolean }> = never,
    request: object = { amount: '1' },
  ) => at.idempotency.once({ key, request, requestId: `request-of-${key.key}`, act })

  /** Journals a signed trade with its answer, as a submission does. */
  const trade =
    (on: Store = store, body = `traded ${(count += 1)}`) =>
    async (claim: KeyClaim) => {
      const lease = { queue: 'ethereum/local/0xAbCdEf0000000000000000000000000000000001', fencingToken: 1 }
      const queued = newEntry({ idempotencyKey: claim.key, requestId: `request-of-${claim.key}` })
      const journal = sqlJournal(on)
      await journal.open([queued], lease, claim)
      const signed = next(queued, { state: 'SIGNED', attempts: [attempt(`0x${randomUUID()}`)] })
      await journal.write([signed], lease, { claim, status: 200, body })
      return { answer: { status: 200, body }, isRecorded: true }
    }
  const unsigned = (body: string) => async () => ({ answer: { status: 200, body }, isRecorded: false })

  /** Until whatever a request starts beside itself is done. */
  async function settled(at: { idempotency: Idempotency }): Promise<void> {
    const counted = async () => (await store.read((db) => db.selectFrom('requests').select('key').execute())).length
    let before = -1
    await until('nothing changes any more', async () => {
      await once(at, { client: 'bot', path: '/settle', key: 'settle' }, unsigned('1'))
      const now = await counted()
      const isSame = now === before
      before = now
      return isSame
    })
  }

  it('gives the one outcome on two servers whose clocks are 26 hours apart, whichever is asked', async () => {
    const [right, ahead] = [server(), server(26)]
    const keys = [newKey(), newKey()] as const
    const first = await once(right, keys[0], trade())
    const second = await once(ahead, keys[1], trade())
    await settled(ahead)
    await settled(right)
    for (const each of [right, ahead]) {
      expect(await once(each, keys[0])).to.deep.equal(first)
      expect(await once(each, keys[1])).to.deep.equal(second)
    }
  })

  it('gives the one outcome after a restart with the right clock where it was 26 hours behind', async () => {
    const [key, behind] = [newKey(), server(-26)]
    const first = await once(behind, key, trade())
    behind.idempotency.stop()
    await store.close()
    store = await place().open()
    const right = server(0, store)
    await once(right, newKey(), unsigned('1'))
    await settled(right)
    expect(await once(right, key)).to.deep.equal(first)
  })

  it('gives the outcome, and not that nothing was sent, when the clock is 26 hours ahead for the repeat alone', async () => {
    const [key, at] = [newKey(), server()]
    const first = await once(at, key, trade())
    at.clock.offsetHours = 26
    // What a trade answers where the newest block is too old by this clock.
    const refusing = () => Promise.reject(new SluiceError('NETWORK', 'The node is behind. Nothing was sent.'))
    expect(await once(at, key, refusing)).to.deep.equal(first)
    at.clock.offsetHours = 0
    expect(await once(at, key)).to.deep.equal(first)
  })

  it('does not carry a request out twice when the clock jumps while it is under way', async () => {
    const [key, at] = [newKey(), server()]
    const act = trade()
    const first = once(at, key, async (claim) => {
      at.clock.offsetHours = 26
      await once(at, newKey(), unsigned('1'))
      await settled(at)
      at.clock.offsetHours = -26
      await once(at, newKey(), unsigned('1'))
      return act(claim)
    })
    expect((await first).status).to.equal(200)
    expect(await once(at, key)).to.deep.equal(await first)
  })

  it('keeps an answer that nothing was signed for through any jump of the clock', async () => {
    const [key, at] = [newKey(), server()]
    const first = await once(at, key, unsigned('nothing to do'))
    for (const offsetHours of [26, -26, 24 * 365, 0]) {
      at.clock.offsetHours = offsetHours
      const other = server(offsetHours)
      await once(other, newKey(), unsigned('1'))
      await settled(other)
      expect(await once(at, key)).to.deep.equal(first)
    }
  })

  it('keeps key, fingerprint and outcome of a transaction that has left the journal', async () => {
    const [key, at] = [newKey(), server()]
    const first = await once(at, key, trade())
    await store.write((tx) => tx.deleteFrom('entries').execute())
    at.clock.offsetHours = 26
    const later = server(26)
    await once(later, newKey(), unsigned('1'))
    await settled(later)
    expect(await once(later, key)).to.deep.equal(first)
    const other = await once(later, key, never, { amount: '2' }).catch((error: unknown) => error)
    expect(other).to.include({ name: 'IDEMPOTENCY_CONFLICT' })
  })
}
