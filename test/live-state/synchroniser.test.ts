import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'chai'
import { array, assert, asyncProperty, boolean, constantFrom, nat, record } from 'fast-check'
import { SluiceError } from '../../core/api/index.ts'
import { createSynchroniser, type Synchroniser } from '../../core/live-state/synchroniser.ts'
import type { StateAtBlock, StateSource } from '../../core/live-state/tracked-states.ts'
import { createForkChain, type ForkChain, type ChainEvent } from './fork-chain.ts'
import { keeping } from './keeping.ts'
import { createRecorder, until } from './recorder.ts'

const at = { signal: new AbortController().signal }
type State = readonly string[]

/** An exchange whose states are the list of what happened to them. */
function exchange(test: ForkChain, topic = 'a', connector = 'dex') {
  const loads: string[][] = []
  const wrong: State[] = []
  const followed = {
    follow: [topic],
    keysOf: (change: ChainEvent) => (change.topic === topic ? [change.key] : []),
    async load(keys: readonly string[], after: { hash?: string; number: bigint; timestamp: number }, { signal }: { signal: AbortSignal }) {
      loads.push([...keys])
      await test.read('load', signal)
      return { head: after, states: new Map(keys.map((key) => [key, test.replay(key, after.hash ?? '')])) }
    },
    apply: (state: State, { what }: ChainEvent): State | 'reload' => (what === 'unclear' ? 'reload' : [...state, what]),
    foundWrong: (state: State) => void wrong.push(state),
  }
  const source: StateSource = {
    subject: { chain: 'ethereum', network: 'local', connector },
    followed,
    same: (_key, a, b) => isDeepStrictEqual(a, b),
  }
  return { source, followed, loads, wrong }
}

/** A process that had to wait long, on a busy machine, says that the network was lost. */
const isNotOfWaiting = (each: string): boolean => each !== 'lost'

const happened = (key: string, what: string, topic = 'a'): ChainEvent => ({ topic, key, what })

describe('states that follow a chain', () => {
  let test: ForkChain
  let sync: Synchroniser
  let told: string[]
  let warned: Record<string, unknown>[]
  // By blocks of ten seconds the network is not asked whether it is still there where this process stands still for two.
  const start = (options: Partial<Parameters<typeof createSynchroniser>[0]> = {}, blockSeconds = 10, bornAt = 0, local = true) => {
    test = createForkChain(blockSeconds, bornAt)
    const recorder = createRecorder()
    told = recorder.told
    warned = recorder.warned
    const subject = { chain: 'ethereum', network: 'local' }
    const chain = { ...test.chain, local }
    sync = createSynchroniser({ chain, subject, telemetry: recorder.telemetry, ...keeping, ...options })
  }
  beforeEach(() => start())
  afterEach(() => sync.stop())
  /** Until memory is at the newest block. */
  const settled = () => until(() => sync.tip?.hash === test.tip.hash, `${sync.tip?.number} is ${test.tip.number}`)
  const stateOf = async (source: StateSource, key: string) => (await sync.read(source, key, at)).state

  it('load at the first read, change with blocks, and are read without asking the network', async () => {
    const { source, loads } = exchange(test)
    test.make(0, [[happened('x', 'before')]])
    expect(await sync.read(source, 'x', at)).to.deep.equal({ state: ['before'], head: test.tip })
    test.make(0, [[happened('x', '1'), happened('y', 'other'), happened('x', '2')]])
    await settled()
    test.asked.length = 0
    for (let i = 0; i < 100; i++) expect(await stateOf(source, 'x')).to.deep.equal(['before', '1', '2'])
    expect(test.asked).to.deep.equal([])
    expect(loads).to.deep.equal([['x']])
  })

  it('cost one query a block for all exchanges and keys of a network, and none while nothing is followed', async () => {
    const [one, other] = [exchange(test, 'a', 'one'), exchange(test, 'b', 'other')]
    expect(test.following).to.equal(0)
    for (let i = 0; i < 20; i++) await Promise.all([sync.read(one.source, `x${i}`, at), sync.read(other.source, `y${i}`, at)])
    test.asked.length = 0
    for (let i = 0; i < 5; i++) {
      test.make(0, [[happened('x3', String(i)), happened('y4', String(i), 'b')]])
      await settled()
    }
    expect(test.asked).to.deep.equal(Array.from({ length: 5 }, () => 'changes'))
    expect(await stateOf(one.source, 'x3')).to.deep.equal(['0', '1', '2', '3', '4'])
    expect(await stateOf(other.source, 'y4')).to.deep.equal(['0', '1', '2', '3', '4'])
    sync.stop()
    await until(() => test.following === 0)
  })

  describe('of pools whose addresses only their states tell', () => {
    interface FactoryState {
      readonly pool: string | undefined
      readonly trades: readonly string[]
    }
    /** A factory tells which pool it made for a pair, and later the pool tells of trades. */
    function factory() {
      let loads = 0
      const poolIn = (log: readonly string[]) => log.findLast((what) => what.startsWith('pool'))
      const followed = {
        follow: ['a'],
        keysOf: ({ key }: ChainEvent) => [key],
        aliases: ({ pool }: FactoryState) => (pool === undefined ? [] : [pool]),
        emitters: (keys: readonly string[]) => keys,
        async load(keys: readonly string[], after: { hash?: string; number: bigint; timestamp: number }) {
          loads += 1
          const made = (pair: string): FactoryState => {
            const pool = poolIn(test.replay(pair, after.hash ?? ''))
            return { pool, trades: pool === undefined ? [] : test.replay(pool, after.hash ?? '') }
          }
          return { head: after, states: new Map(keys.map((key) => [key, made(key)])) }
        },
        apply: (state: FactoryState, { key, what }: ChainEvent): FactoryState =>
          key === state.pool ? { ...state, trades: [...state.trades, what] } : { pool: poolIn([what]), trades: [] },
      }
      const source = {
        subject: { chain: 'ethereum', network: 'local', connector: 'factory' },
        followed,
        same: (_key: string, a: unknown, b: unknown) => isDeepStrictEqual(a, b),
      } satisfies StateSource
      return { source, loads: () => loads }
    }

    it('take up the events of a pool that was made meanwhile, in the block that made it too, and forget it with a fork', async () => {
      const { source, loads } = factory()
      expect(await stateOf(source, 'pair')).to.deep.equal({ pool: undefined, trades: [] })

      test.make(0, [[happened('pair', 'pool1'), happened('pool1', 'first')], [happened('pool1', 'second')]])
      await settled()
      expect(await stateOf(source, 'pair')).to.deep.equal({ pool: 'pool1', trades: ['first', 'second'] })
      test.make(2, [[happened('pool1', 'nobody’s')], [happened('pair', 'pool2'), happened('pool2', 'third')]])
      await settled()
      expect(await stateOf(source, 'pair')).to.deep.equal({ pool: 'pool2', trades: ['third'] })
      expect(loads()).to.equal(1)
    })

    it('load again where nodes return the events of named contracts only, and are named from then on', async () => {
      const { source } = factory()
      test.nameKeys()
      await stateOf(source, 'pair')

      test.make(0, [[happened('pair', 'pool1'), happened('pool1', 'first')]])
      await settled()
      expect(await stateOf(source, 'pair')).to.deep.equal({ pool: 'pool1', trades: ['first'] })
      test.make(0, [[happened('pool1', 'second')]])
      await settled()
      expect(await stateOf(source, 'pair')).to.deep.equal({ pool: 'pool1', trades: ['first', 'second'] })
    })
  })

  it('load together if they are requested together', async () => {
    const { source, loads } = exchange(test)
    await Promise.all(['x', 'y', 'z', 'x'].map((key) => sync.read(source, key, at)))
    expect(loads).to.deep.equal([['x', 'y', 'z']])
  })

  it('return to the version before a fork without being loaded', async () => {
    const { source, loads } = exchange(test)
    await stateOf(source, 'x')
    for (const what of ['1', '2', '3']) {
      test.make(0, [[happened('x', what)]])
      await settled()
    }
    test.make(2, [[happened('x', 'two')], [], [happened('x', 'four')]])
    await settled()
    expect(await stateOf(source, 'x')).to.deep.equal(['1', 'two', 'four'])
    test.make(2, [])
    await settled()
    expect(await stateOf(source, 'x')).to.deep.equal(['1', 'two'])
    expect(loads).to.deep.equal([['x']])
    expect(told.filter(isNotOfWaiting)).to.deep.equal(['reorganisation', 'reorganisation'])
  })

  it('load again if a fork is older than the load, if too many blocks were missed, or if an event does not determine the state', async () => {
    const { source, loads } = exchange(test)
    test.make(0, [[happened('x', '1')]])
    await stateOf(source, 'x')
    test.make(1, [[happened('x', 'one')], []])
    await settled()
    expect(await stateOf(source, 'x')).to.deep.equal(['one'])
    test.make(
      0,
      Array.from({ length: 70 }, (_, index) => [happened('x', String(index))]),
    )
    await settled()
    expect(await stateOf(source, 'x')).to.have.length(71)
    test.make(0, [[happened('x', 'unclear')]])
    await settled()
    expect(await stateOf(source, 'x')).to.have.length(72)
    expect(loads).to.deep.equal([['x'], ['x'], ['x'], ['x']])
  })

  it('miss no event during their load, even of a block that was queried before they were followed', async () => {
    const [one, other] = [exchange(test, 'a', 'one'), exchange(test, 'b', 'other')]
    await sync.read(one.source, 'x', at)
    let release = test.hold()
    // Under way with the topics of one alone.
    test.make(0, [[happened('y', 'missed', 'b')]])
    await until(() => test.asked.at(-1) === 'changes')
    const reading = sync.read(other.source, 'y', at)
    await until(() => test.asked.at(-1) === 'load')
    release()
    expect((await reading).state).to.deep.equal(['missed'])
    release = test.hold('load')
    const again = sync.read(other.source, 'z', at)
    await until(() => other.loads.flat().includes('z'))
    test.make(0, [[happened('z', 'during', 'b')]])
    await settled()
    release()
    expect((await again).state).to.deep.equal(['during'])
    expect(other.loads.flat().filter((key) => key === 'z')).to.have.length(1)
  })

  it('miss no event of a block that was queried without their key’s topics', async () => {
    const { source, followed } = exchange(test)
    Object.assign(followed, { follow: [], followOf: (key: string) => [key], keysOf: ({ key }: ChainEvent) => [key] })
    await sync.read(source, 'x', at)
    const release = test.hold('changes')
    test.make(0, [[happened('y', 'missed', 'y'), happened('x', 'told', 'x')]])
    await until(() => test.asked.at(-1) === 'changes')
    expect(await stateOf(source, 'y')).to.deep.equal([])
    release()
    await settled()
    expect(await stateOf(source, 'y')).to.deep.equal(['missed'])
    expect(await stateOf(source, 'x')).to.deep.equal(['told'])
  })

  it('miss no event of a block that was queried without their emitters', async () => {
    const { source, followed, loads } = exchange(test)
    Object.assign(followed, { emitters: (keys: readonly string[]) => keys })
    test.nameKeys()
    await sync.read(source, 'x', at)
    const release = test.hold('changes')
    test.make(0, [[happened('y', 'missed'), happened('x', 'told')]])
    await until(() => test.asked.at(-1) === 'changes')
    expect(await stateOf(source, 'y')).to.deep.equal([])
    release()
    await settled()
    expect(await stateOf(source, 'y')).to.deep.equal(['missed'])
    test.make(0, [[happened('y', 'more')]])
    await settled()
    expect(await stateOf(source, 'y')).to.deep.equal(['missed', 'more'])
    expect(await stateOf(source, 'x')).to.deep.equal(['told'])
    expect(loads).to.deep.equal([['x'], ['y'], ['y']])
  })

  it('tell listeners every new version, and nothing without one', async () => {
    const { source } = exchange(test)
    const seen: unknown[] = []
    const unwatch = sync.watch(source, 'x', (each) => void seen.push(each && [each.head.number, each.state]))
    await until(() => seen.length === 1)
    test.make(0, [[happened('x', '1')], [happened('x', '2')]])
    await settled()
    test.make(0, [[happened('y', '1')]])
    await settled()
    test.make(2, [[happened('x', 'two')]])
    await settled()
    expect(seen).to.deep.equal([
      [100n, []],
      [102n, ['1', '2']],
      [102n, ['1', 'two']],
    ])
    unwatch()
    test.make(0, [[happened('x', '3')]])
    await settled()
    expect(seen).to.have.length(3)
  })

  it('fail while the network is away for too long, tell listeners, and recover by themselves', async function () {
    this.timeout(60_000)
    const { source } = exchange(test)
    const seen: (StateAtBlock | undefined)[] = []
    sync.watch(source, 'x', (each) => void seen.push(each))
    await until(() => seen.length === 1)
    test.fail()
    await until(() => seen.length === 2, 'the watcher hears of it')
    expect(seen[1]).to.equal(undefined)
    const refused = await sync.read(source, 'x', at).catch((error: unknown) => error)
    expect(refused).to.include({ name: 'NETWORK', retryAfterSeconds: 1 })
    test.heal()
    expect(await stateOf(source, 'x')).to.deep.equal([])
    await until(() => seen.length === 3, 'the watcher hears of it again')
    expect(seen[2]?.state).to.deep.equal([])
  })

  it('fail if the nodes stand still: their newest block is older than allowed and than ten blocks take', async () => {
    const stale = { staleBlockSeconds: 5 }
    const born = (ageSeconds: number) => Date.now() / 1000 - 100 * 10 - ageSeconds
    const { source } = exchange(test)
    start(stale, 10, born(30), false)
    const refused = await sync.read(source, 'x', at).catch((error: unknown) => error)
    expect(refused).to.include({ name: 'NETWORK' })
    expect(refused)
      .to.have.property('message')
      .that.matches(/is too old to be shown: the newest block .* is 3\d s old; check them, and this machine's clock/)
    test.make(0, [[], []])
    expect((await sync.read(source, 'x', at)).head).to.equal(test.tip)
    sync.stop()
    start(stale, 10, born(500), false)
    test.make(0, [[], []])
    expect(await sync.read(source, 'x', at).catch((error: unknown) => error)).to.include({ name: 'NETWORK' })
  })

  for (const hours of [26, -26])
    it(`return from the next block on when this machine's clock jumps by ${hours} hours`, async () => {
      const { now } = Date
      const { source } = exchange(test)
      start({ staleBlockSeconds: 60 }, 2, now() / 1000 - 100 * 2, false)
      await sync.read(source, 'x', at)
      try {
        Date.now = () => now() + hours * 3_600_000
        test.make(0, [[], []])
        await settled()
        expect((await sync.read(source, 'x', at)).head).to.equal(test.tip)
      } finally {
        Date.now = now
      }
    })

  it('reach listeners once the network is there, if it was away at first', async () => {
    const { source } = exchange(test)
    const seen: unknown[] = []
    test.fail()
    sync.watch(source, 'x', (each) => void seen.push(each?.state))
    await until(() => seen.length === 1)
    test.make(0, [[happened('x', '1')]], false)
    test.heal()
    await until(() => isDeepStrictEqual(seen.at(-1), ['1']))
    expect(seen.filter((each) => each === undefined)).to.have.length(1)
  })

  it('tell a listener once that nothing can be shown, where they were hidden before it came', async () => {
    const { source } = exchange(test)
    const [first, later]: [unknown[], unknown[]] = [[], []]
    sync.watch(source, 'x', (each) => void first.push(each?.state))
    await until(() => first.length === 1)
    test.fail()
    await until(() => first.length === 2)
    sync.watch(source, 'y', (each) => void later.push(each?.state))
    expect(later).to.deep.equal([undefined])
    test.heal()
    await until(() => later.at(-1) !== undefined)
    expect(later).to.deep.equal([undefined, []])
  })

  it('load again if the load took longer than blocks are remembered', async () => {
    const { source, loads } = exchange(test)
    await sync.read(source, 'x', at)
    const release = test.hold('load')
    const reading = sync.read(source, 'y', at)
    await until(() => loads.length === 2)
    for (let i = 0; i < 12; i++) {
      test.make(0, [[happened('y', String(i))]])
      await settled()
    }
    release()
    expect((await reading).state).to.have.length(12)
    expect(loads).to.deep.equal([['x'], ['y'], ['y']])
  })

  it('fail once they are too far behind because changes of blocks cannot be read', async () => {
    const { source } = exchange(test)
    await stateOf(source, 'x')
    test.fail()
    for (let i = 0; i < 2; i++) test.make(0, [[happened('x', String(i))]])
    await until(() => told.includes('lost'))
    expect(await stateOf(source, 'x')).to.deep.equal([])
    test.make(0, [[happened('x', '2')]])
    await new Promise((resolve) => setImmediate(resolve))
    expect(await sync.read(source, 'x', at).catch((error: unknown) => error)).to.include({ name: 'NETWORK' })
    test.fail(new TypeError('https://key@node'), 'changes')
    const refused = await sync.read(source, 'x', at).catch((error: unknown) => error)
    expect(refused).to.include({ name: 'NETWORK' })
    expect(refused).to.have.property('message').that.does.not.contain('key')
    test.heal()
    await settled()
    expect(await stateOf(source, 'x')).to.deep.equal(['0', '1', '2'])
  })

  it('make a reader wait if too many blocks came during a read', async () => {
    start({
      chain: {
        local: true,
        head: (...args) => test.chain.head(...args),
        heads: (...args) => test.chain.heads(...args),
        async changes(...args) {
          await sleep(60)
          return test.chain.changes?.(...args) ?? 'forked'
        },
      },
    })
    const { source } = exchange(test)
    await sync.read(source, 'x', at)
    test.make(0, [[], [], [happened('x', '1')]])
    await sleep(5)
    test.make(0, [[], [], [], [happened('x', '2')]])
    await sleep(5)
    expect(await stateOf(source, 'x')).to.deep.equal(['1', '2'])
  })

  it('make a reader wait if the network is slow with the first answer', async () => {
    const { source } = exchange(test)
    const release = test.hold('head')
    const reading = sync.bundle([{ source, key: 'x' }]).read(at)
    await sleep(1_500)
    release()
    expect((await reading).states).to.deep.equal([[]])
  })

  it('stay readable for two seconds of block time, if blocks come faster than their changes can be read', async () => {
    start({}, 0.25)
    const { source } = exchange(test)
    await stateOf(source, 'x')
    const release = test.hold('changes')
    test.make(0, [[], [], [], [happened('x', '1')]])
    await until(() => test.asked.at(-1) === 'changes')
    test.asked.length = 0
    expect((await sync.read(source, 'x', at)).head.number).to.equal(100n)
    expect(test.asked).to.deep.equal([])
    test.make(0, [...Array.from({ length: 7 }, () => []), [happened('x', '2')]])
    await sleep(5)
    const waiting = sync.read(source, 'x', at)
    await until(() => test.asked.at(-1) === 'head')
    release()
    expect((await waiting).head.number >= 104n).to.equal(true)
    await settled()
    expect(await stateOf(source, 'x')).to.deep.equal(['1', '2'])
  })

  it('become cut off if changes cannot be read: after a few failures readers do not wait, until a read succeeds', async () => {
    const { source } = exchange(test)
    await stateOf(source, 'x')
    test.fail(undefined, 'changes')
    test.make(0, [[], [], [happened('x', '1')]])
    await until(() => sync.isCutOff)
    const isRefusedAtOnce = async () => {
      test.asked.length = 0
      expect(await sync.read(source, 'x', at).catch((error: unknown) => error)).to.include({ name: 'NETWORK' })
      return !test.asked.includes('head')
    }
    while (!(await isRefusedAtOnce())) continue
    test.heal()
    await settled()
    expect(sync.isCutOff).to.equal(false)
    expect(await stateOf(source, 'x')).to.deep.equal(['1'])
  })

  it('fail alone if the connector fails on one of them, and recover', async () => {
    const { source, followed } = exchange(test)
    const { load, apply } = followed
    let broken = true
    followed.load = async (keys, after, within) => {
      if (broken && keys.includes('bad')) throw new TypeError('of the connector')
      return load(keys, after, within)
    }
    const [bad, good] = await Promise.allSettled([sync.read(source, 'bad', at), sync.read(source, 'good', at)])
    expect(bad).to.have.nested.property('reason.name', 'UNKNOWN_ERROR')
    expect(good).to.have.property('status', 'fulfilled')
    expect(told.filter(isNotOfWaiting)).to.deep.equal(['defect dex bad'])
    broken = false
    await until(() => sync.size === 2)
    while ((await sync.read(source, 'bad', at).catch(() => undefined)) === undefined)
      await new Promise((resolve) => setTimeout(resolve, 50))

    followed.apply = (state, change) => {
      if (change.what === 'bad') throw new TypeError('of the connector')
      return apply(state, change)
    }
    test.make(0, [[happened('bad', 'bad'), happened('good', '1')]])
    await settled()
    expect(await stateOf(source, 'good')).to.deep.equal(['1'])
    expect(await stateOf(source, 'bad')).to.deep.equal(['bad'])
    expect(told.filter((each) => each === 'defect dex bad')).to.have.length(2)

    followed.keysOf = () => {
      throw new TypeError('of the connector')
    }
    test.make(0, [[happened('good', '2')]])
    await settled()
    expect(await stateOf(source, 'good')).to.deep.equal(['1', '2'])
  })

  it('fail if the connector read another block, returned nothing, or has no such key', async () => {
    const { source, followed } = exchange(test)
    const { load } = followed
    const outcome = async (key: string) => sync.read(source, key, at).catch((error: unknown) => error)
    followed.load = async (...args) => ({ ...(await load(...args)), head: { number: 1n, timestamp: 1 } })
    expect(await outcome('x')).to.include({ name: 'UNKNOWN_ERROR' })
    followed.load = async (...args) => ({ ...(await load(...args)), states: new Map() })
    expect(await outcome('y')).to.include({ name: 'PAIR_NOT_FOUND' })
    // @ts-expect-error -- a plugin
    followed.load = async () => undefined
    expect(await outcome('z')).to.include({ name: 'UNKNOWN_ERROR' })
    followed.load = async () => {
      throw new SluiceError('RATE_LIMIT', 'later', { retryAfterSeconds: 1 })
    }
    expect(await outcome('w')).to.include({ name: 'RATE_LIMIT' })
    expect(told.filter(isNotOfWaiting)).to.deep.equal(['defect dex x', 'defect dex z'])
  })

  it('make a reader wait during a second load, instead of throwing the last failure', async () => {
    const { source } = exchange(test)
    test.fail(undefined, 'load')
    expect(await sync.read(source, 'x', at).catch((error: unknown) => error)).to.include({ name: 'NETWORK' })
    test.heal()
    const release = test.hold('load')
    test.make(0, [[happened('x', '1')]])
    await settled()
    const reading = stateOf(source, 'x')
    release()
    expect(await reading).to.deep.equal(['1'])
  })

  it('load with what a reader found missing, even if a load without it was in progress', async () => {
    const { source, followed } = exchange(test)
    const asked: unknown[] = []
    const { load } = followed
    Object.assign(followed, {
      load: (keys: string[], after: typeof test.tip, when: typeof at, known?: ReadonlyMap<string, { more: readonly unknown[] }>) => {
        asked.push(known?.get('x')?.more)
        return load(keys, after, when)
      },
    })
    const bundle = sync.bundle([{ source, key: 'x' }])
    await bundle.read(at)
    const release = test.hold('load')
    const widen = async (more: string) => {
      await bundle.loadMissing([{ index: 0, more }], at)
      return asked.length
    }
    const down = widen('down')
    await until(() => asked.length === 2)
    const up = widen('up')
    await sleep(10)
    const upToo = widen('up')
    await sleep(10)
    release()
    expect(await Promise.all([down, up, upToo])).to.deep.equal([2, 3, 3])
    expect(asked).to.deep.equal([undefined, ['down'], ['down', 'up']])
  })

  it('load at first without waiting for others that are read further, and do not fail with them', async () => {
    const { source, followed } = exchange(test)
    const { load } = followed
    let fail = () => {}
    Object.assign(followed, {
      async load(keys: string[], after: typeof test.tip, when: typeof at, known?: ReadonlyMap<string, { more: readonly unknown[] }>) {
        if ([...(known?.values() ?? [])].some(({ more }) => more.length > 0))
          await new Promise((_resolve, reject) => (fail = () => reject(new SluiceError('NETWORK', 'The node is too weak.'))))
        return load(keys, after, when)
      },
    })
    test.make(0, [[happened('x', '1')]])
    const bundle = sync.bundle([{ source, key: 'x' }])
    const before = await bundle.read(at)
    const further = bundle.loadMissing([{ index: 0, more: 'all' }], at).catch((error: unknown) => error)
    expect(await stateOf(source, 'y')).to.deep.equal([])
    // Twice, as a node that failed is asked again.
    fail()
    await sleep(150)
    fail()
    expect(await further).to.include({ name: 'NETWORK' })
    expect(bundle.peek()?.states).to.equal(before.states)
    bundle.forgetMissing([{ index: 0, more: 'all' }])
    // It would be read further and held up again, if that were not forgotten.
    test.make(1, [[happened('x', 'one')]])
    await settled()
    expect(await stateOf(source, 'x')).to.deep.equal(['one'])
  })

  it('match the chain at regular comparisons; a difference is reported and loaded again', async function () {
    this.timeout(60_000)
    start({ checkSeconds: 0.5 })
    const { source, followed, wrong } = exchange(test)
    await sync.read(source, 'x', at)
    await until(() => told.includes('equal dex x'))
    const { apply } = followed
    followed.apply = (state, change) => [...state, `${change.what}, wrongly`]
    test.make(0, [[happened('x', '1')]])
    await settled()
    followed.apply = apply
    await until(() => told.includes('different dex x'))
    expect(await stateOf(source, 'x')).to.deep.equal(['1'])
    expect(wrong).to.deep.equal([['1, wrongly']])
    const difference = { field: '0', inMemory: '1, wrongly', onChain: '1' }
    expect(warned.find(({ what }) => what === 'x')).to.deep.include({ block: String(test.tip.number), differences: [difference] })
  })

  it('are loaded again where they differ, also where a state or its connector throws when it is told of that', async function () {
    this.timeout(60_000)
    start({ checkSeconds: 0.5 })
    const { source, followed } = exchange(test)
    class Silent extends Array<string> {
      toJSON(): never {
        throw new Error('says nothing')
      }
    }
    const { load } = followed
    let isWrong = true
    followed.load = async (asked, after, when) => {
      const { head, states } = await load(asked, after, when)
      return { head, states: new Map([...states].map(([key]) => [key, Silent.of(isWrong ? 'wrong' : 'right')])) }
    }
    followed.foundWrong = () => {
      throw new Error('nor does the connector')
    }
    for (const key of ['x', 'y']) await sync.read(source, key, at)
    isWrong = false
    await until(() => told.includes('different dex x'))
    for (const key of ['x', 'y']) expect(await stateOf(source, key)).to.have.property('0', 'right')
  })

  it('get compared in time, in as many loads as there are comparisons, however many states there are', async function () {
    this.timeout(60_000)
    start({ checkSeconds: 0.5, compareWithinSeconds: 2, maxKeys: 1_000 })
    const { source, followed, loads } = exchange(test)
    const keys = Array.from({ length: 200 }, (_, index) => `x${index}`)
    await Promise.all(keys.map((key) => sync.read(source, key, at)))
    loads.length = 0
    // A change that no block tells of.
    const { load } = followed
    followed.load = async (asked, after, when) => {
      const { head, states } = await load(asked, after, when)
      return { head, states: new Map([...states].map(([key, state]) => [key, key === 'x150' ? ['changed silently'] : state])) }
    }
    await until(() => keys.every((key) => told.includes(`${key === 'x150' ? 'different' : 'equal'} dex ${key}`)))
    expect(await stateOf(source, 'x150')).to.deep.equal(['changed silently'])
    // Four comparisons, the second reading of the one that differs, and its load.
    expect(loads.slice(0, 6).map(({ length }) => length)).to.deep.equal([50, 50, 50, 50, 1, 1])
  })

  it('cause no report for an answer that a node does not repeat', async function () {
    this.timeout(60_000)
    start({ checkSeconds: 0.5 })
    const { source, followed, loads, wrong } = exchange(test)
    await sync.read(source, 'x', at)
    const { load } = followed
    followed.load = async (keys, after, when) => {
      const answer = await load(keys, after, when)
      return loads.length === 2 ? { ...answer, states: new Map(keys.map((key) => [key, ['of the next block']])) } : answer
    }
    await until(() => told.includes('equal dex x'))
    expect(told.filter(isNotOfWaiting).slice(0, 2)).to.deep.equal(['unclear dex x', 'equal dex x'])
    expect(wrong).to.deep.equal([])
    expect(loads.length).to.be.at.least(4)
  })

  it('leave memory when they are idle, and then the network is asked nothing', async function () {
    this.timeout(60_000)
    start({ idleSeconds: 0.5 })
    const { source } = exchange(test)
    const unwatch = sync.watch(source, 'watched', () => {})
    await sync.read(source, 'x', at)
    await until(() => sync.size === 1)
    expect(test.following).to.equal(1)
    unwatch()
    await until(() => sync.size === 0 && test.following === 0)
    test.make(0, [[happened('x', '1')]])
    expect(await stateOf(source, 'x')).to.deep.equal(['1'])
  })

  it('have a maximum number: the longest unused are dropped, those with listeners stay', async () => {
    start({ maxKeys: 3 })
    const { source, loads } = exchange(test)
    sync.watch(source, 'watched', () => {})
    for (const key of ['x', 'y', 'x', 'z', 'x']) await sync.read(source, key, at)
    expect(sync.size).to.equal(3)
    expect(loads.flat().filter((key) => key === 'x')).to.have.length(1)
    for (const key of ['x', 'z']) sync.watch(source, key, () => {})
    expect(await sync.read(source, 'more', at).catch((error: unknown) => error)).to.include({ name: 'OVERLOADED' })
  })

  it('equal a replay of the chain from its beginning, after any forks, gaps and failures', async () => {
    const keys = ['x', 'y', 'z']
    const block = array(record({ key: constantFrom(...keys), what: constantFrom('1', '2', 'unclear') }), { maxLength: 3 })
    const move = record({
      back: nat(6),
      blocks: array(block, { minLength: 1, maxLength: 6 }),
      tell: boolean(),
      fail: nat(9),
      wait: boolean(),
      read: constantFrom(...keys),
    })
    await assert(
      asyncProperty(array(move, { minLength: 1, maxLength: 12 }), async (moves) => {
        sync.stop()
        start()
        const { source } = exchange(test)
        const watched: unknown[] = []
        sync.watch(
          source,
          'x',
          (seen) => void (seen && watched.push(isDeepStrictEqual(seen.state, test.replay('x', seen.head.hash ?? '')))),
        )
        for (const { back, blocks, tell, fail, wait, read } of moves) {
          if (fail === 0) test.fail()
          else if (fail === 1) test.fail(new TypeError('of the chain plugin'), 'changes')
          test.make(
            back,
            blocks.map((each) => each.map(({ key, what }) => happened(key, what))),
            tell,
          )
          await new Promise((resolve) => setImmediate(resolve))
          test.heal()
          const seen = await sync.read(source, read, at).catch(() => undefined)
          if (seen) expect(seen.state).to.deep.equal(test.replay(read, seen.head.hash ?? ''))
          if (wait && tell) await settled()
        }
        test.make(0, [[]])
        await settled()
        for (const key of keys) {
          const { state, head } = await sync.read(source, key, at)
          expect(head).to.equal(test.tip)
          expect(state).to.deep.equal(test.replay(key, test.tip.hash ?? ''))
        }
        expect(watched).to.not.include(false)
      }),
      { numRuns: 60 },
    )
  }).timeout(180_000)
})
