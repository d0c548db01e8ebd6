import { isDeepStrictEqual } from 'node:util'
import { expect } from 'chai'
import { SluiceError } from '../../core/api/index.ts'
import type { AccountImage, Head } from '../../core/contracts/index.ts'
import { OneBlock } from '../../core/live-state/one-block.ts'
import { createSynchroniser, type Synchroniser, type SynchroniserOptions } from '../../core/live-state/synchroniser.ts'
import { createStateSource } from '../../core/live-state/tracked-states.ts'
import { keeping } from './keeping.ts'
import { createRecorder, until } from './recorder.ts'

const at = { signal: new AbortController().signal }
const subject = { chain: 'ledger', network: 'local' }

/** What an account holds: a number, and perhaps which other account belongs to it. */
type AccountContent = { readonly value: number; readonly part?: string }
type Image = AccountImage<AccountContent>

/** A chain of accounts in memory. Its nodes know no past, and its heads have no hashes. */
function createLedger() {
  const accounts = new Map<string, AccountContent>()
  const followers = new Set<(head: Head) => void>()
  const asked: (readonly string[])[] = []
  /** `ahead`: by how many slots the node that answers is newer than the newest head. `later`: what of its changes is of the slot after that. */
  const node = { ahead: 0, forked: false, failing: false, later: [] as readonly string[] }
  let slot = 100
  const headAt = (number: number): Head => ({ number: BigInt(number), timestamp: number })
  const imagesOf = (addresses: readonly string[], of: number): Image[] =>
    addresses.map((address) => ({ address, slot: of, data: accounts.get(address) ?? null }))

  const chain: SynchroniserOptions['chain'] = {
    local: true,
    images: true,
    head: async () => headAt(slot),
    async *heads(signal) {
      let next: Head | undefined = headAt(slot)
      let wake = () => {}
      followers.add((head) => {
        next = head
        wake()
      })
      signal.addEventListener('abort', () => wake(), { once: true })
      while (!signal.aborted) {
        const head = next
        next = undefined
        if (head) yield head
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
    async changes(_after, _to, { follow }) {
      asked.push([...follow])
      if (node.failing) throw new SluiceError('NETWORK', 'away')
      if (node.forked) return 'forked'
      const read = slot + node.ahead
      const changes = follow.flatMap((each) => imagesOf([each], node.later.includes(each) ? read + 1 : read))
      return [{ head: headAt(read), changes }]
    },
  }
  return {
    chain,
    asked,
    node,
    imagesOf,
    headAt,
    get slot() {
      return slot
    },
    write: (address: string, held: AccountContent) => void accounts.set(address, held),
    tell(slots = 1) {
      slot += slots
      for (const hear of followers) hear(headAt(slot))
    },
  }
}

interface Pool extends AccountContent {
  /** What the part holds. */
  readonly inPart?: number | undefined
}

describe('states that are made of accounts', () => {
  let ledger: ReturnType<typeof createLedger>
  let sync: Synchroniser
  let told: string[]
  let loads: string[]
  beforeEach(() => {
    ledger = createLedger()
    loads = []
    const recorder = createRecorder()
    told = recorder.told
    sync = createSynchroniser({ ...keeping, chain: ledger.chain, subject, telemetry: recorder.telemetry, checkSeconds: 1 })
  })
  afterEach(() => sync.stop())

  /** An exchange whose pools are accounts, each with a part that another account holds. */
  const exchange = (readAt = (slot: number) => slot + ledger.node.ahead) =>
    createStateSource(
      { ...subject, connector: 'pools' },
      {
        follow: [],
        followOf: (key: string, state?: Pool) => [key, ...(state?.part === undefined ? [] : [state.part])],
        aliases: ({ part }: Pool) => (part === undefined ? [] : [part]),
        keysOf: ({ address }: Image) => [address],
        async load(keys: readonly string[]) {
          loads.push(...keys)
          const slot = readAt(ledger.slot)
          const states = ledger.imagesOf(keys, slot).flatMap(({ address, data }) => {
            const [part] = data?.part === undefined ? [] : ledger.imagesOf([data.part], slot)
            return data ? [[address, { ...data, ...(part && { inPart: part.data?.value }) }] as const] : []
          })
          return { head: ledger.headAt(slot), states: new Map(states) }
        },
        apply(state: Pool, { address, data }: Image): Pool | 'reload' {
          if (!data) return 'reload'
          const next = address === state.part ? { ...state, inPart: data.value } : { ...data, inPart: state.inPart }
          return isDeepStrictEqual(next, state) ? state : next
        },
      },
    )
  const settled = () => until(() => (sync.tip?.number ?? 0n) >= BigInt(ledger.slot), `${sync.tip?.number} is ${ledger.slot}`)

  it('cost one question a slot for all of them, and are read from memory', async () => {
    const pools = exchange()
    for (const key of ['a', 'b', 'c']) {
      ledger.write(key, { value: 1 })
      expect((await sync.read(pools, key, at)).state).to.include({ value: 1 })
    }
    ledger.asked.length = 0
    for (const value of [2, 3]) {
      for (const key of ['a', 'b', 'c']) ledger.write(key, { value })
      ledger.tell()
      await settled()
      for (const key of ['a', 'b', 'c']) expect((await sync.read(pools, key, at)).state).to.include({ value })
    }
    expect(ledger.asked).to.deep.equal([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ])
    expect(loads).to.deep.equal(['a', 'b', 'c'])
  })

  it('may be newer than the head, and do not go back to an older image', async () => {
    const pools = exchange()
    ledger.write('a', { value: 2 })
    ledger.node.ahead = 3
    expect(await sync.read(pools, 'a', at)).to.deep.equal({ state: { value: 2 }, head: ledger.headAt(100) })
    // A node that lags behind the one that was asked first.
    ledger.node.ahead = 0
    ledger.write('a', { value: 1 })
    ledger.tell()
    await settled()
    expect(await sync.read(pools, 'a', at)).to.deep.equal({ state: { value: 2 }, head: ledger.headAt(101) })
    ledger.write('a', { value: 3 })
    ledger.tell(3)
    await settled()
    expect((await sync.read(pools, 'a', at)).state).to.include({ value: 3 })
    expect(loads).to.deep.equal(['a'])
  })

  it('stand at the slot at which they were read: heads before it ask nothing', async () => {
    const pools = exchange()
    ledger.write('a', { value: 1 })
    await sync.read(pools, 'a', at)
    ledger.node.ahead = 5
    ledger.tell()
    await until(() => sync.tip?.number === 106n)
    ledger.asked.length = 0
    ledger.tell(4)
    expect((await sync.read(pools, 'a', at)).head).to.deep.equal(ledger.headAt(106))
    expect(ledger.asked).to.deep.equal([])
  })

  it('follow the accounts that they name themselves, and are loaded again where these change', async () => {
    const pools = exchange()
    ledger.write('a', { value: 1, part: 'low' })
    ledger.write('low', { value: 10 })
    ledger.write('high', { value: 20 })
    expect((await sync.read(pools, 'a', at)).state).to.deep.equal({ value: 1, part: 'low', inPart: 10 })
    ledger.write('low', { value: 11 })
    ledger.tell()
    await settled()
    expect((await sync.read(pools, 'a', at)).state).to.deep.equal({ value: 1, part: 'low', inPart: 11 })
    expect(loads).to.deep.equal(['a'])
    ledger.write('a', { value: 2, part: 'high' })
    ledger.tell()
    await settled()
    expect((await sync.read(pools, 'a', at)).state).to.deep.equal({ value: 2, part: 'high', inPart: 20 })
    ledger.write('high', { value: 21 })
    ledger.tell()
    await settled()
    expect((await sync.read(pools, 'a', at)).state).to.deep.equal({ value: 2, part: 'high', inPart: 21 })
    expect(loads).to.deep.equal(['a', 'a'])
  })

  it('are loaded again where what changed was read at another slot than the rest', async () => {
    const pools = exchange()
    ledger.write('a', { value: 1, part: 'low' })
    ledger.write('low', { value: 10 })
    await sync.read(pools, 'a', at)
    ledger.node.later = ['low']
    ledger.tell()
    await settled()
    expect((await sync.read(pools, 'a', at)).state).to.deep.equal({ value: 1, part: 'low', inPart: 10 })
    expect(loads, 'nothing changed').to.deep.equal(['a'])
    ledger.write('low', { value: 11 })
    ledger.tell(2)
    await settled()
    expect((await sync.read(pools, 'a', at)).state).to.deep.equal({ value: 1, part: 'low', inPart: 11 })
    expect(loads).to.deep.equal(['a', 'a'])
    ledger.node.later = []
    ledger.write('a', { value: 2, part: 'low' })
    ledger.write('low', { value: 12 })
    ledger.tell(2)
    await settled()
    expect((await sync.read(pools, 'a', at)).state).to.deep.equal({ value: 2, part: 'low', inPart: 12 })
    expect(loads, 'all are of one slot').to.deep.equal(['a', 'a'])
  })

  it('change with an account that is one of them and a part of another', async () => {
    const pools = exchange()
    ledger.write('a', { value: 1, part: 'b' })
    ledger.write('b', { value: 2 })
    for (const key of ['a', 'b']) await sync.read(pools, key, at)
    ledger.write('b', { value: 3 })
    ledger.tell()
    await settled()
    expect((await sync.read(pools, 'b', at)).state).to.deep.include({ value: 3 })
    expect((await sync.read(pools, 'a', at)).state).to.deep.equal({ value: 1, part: 'b', inPart: 3 })
    expect(loads).to.deep.equal(['a', 'b'])
  })

  it('need another read after a fork that images do not undo', async () => {
    const pools = exchange()
    ledger.write('a', { value: 2 })
    await sync.read(pools, 'a', at)
    ledger.node.forked = true
    ledger.write('a', { value: 1 })
    ledger.tell()
    await settled()
    expect((await sync.read(pools, 'a', at)).state).to.include({ value: 1 })
    expect(loads).to.deep.equal(['a', 'a'])
  })

  it('refuse what a node says of a slot older than the head', async () => {
    const stale = exchange((slot) => slot - 1)
    ledger.write('a', { value: 1 })
    const refusal = await sync.read(stale, 'a', at).then(
      () => 'read',
      ({ name }: Error) => name,
    )
    expect(refusal).to.equal('UNKNOWN_ERROR')
    const pools = exchange()
    await sync.read(pools, 'a', at)
    ledger.node.ahead = -1
    ledger.write('a', { value: 2 })
    ledger.tell()
    await until(() => told.some((each) => each.startsWith('lost')))
    ledger.node.ahead = 0
    ledger.tell()
    await settled()
    expect((await sync.read(pools, 'a', at)).state).to.include({ value: 2 })
  })

  it('take what one request reads further of them from a newer slot, too', async () => {
    const pools = exchange()
    ledger.write('a', { value: 1 })
    const bundle = sync.bundle([{ source: pools, key: 'a' }])
    const pinned = await new OneBlock().statesOf(bundle, at)
    ledger.write('a', { value: 2 })
    ledger.node.ahead = 2
    await pinned.readMore([{ index: 0, more: 'wider' }], at)
    expect(pinned.snapshot).to.deep.equal({ states: [{ value: 2 }], head: ledger.headAt(100) })
  })
})
