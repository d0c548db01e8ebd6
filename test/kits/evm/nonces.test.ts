import { expect } from 'chai'
import { array, assert, constant, integer, nat, oneof, option, property, record } from 'fast-check'
import { claimNonces, isDoubtful, mergeCounts, nonceGaps, nonceStatus, type NonceCounts } from '../../../kits/evm/nonces.ts'
import { evmRail } from '../../../kits/evm/rail.ts'
import { createNonceQueue } from '../../../core/transactions/nonce-queue.ts'
import { never } from '../../transactions/never.ts'

const word = (latest: number, pending = latest): NonceCounts => ({ latest, pending })
/** Of a node that lags. */
const late = (latest: number): NonceCounts => ({ ...word(latest), behind: true })
const after = (words: readonly NonceCounts[], held: readonly number[] = []) => words.reduce((known, news) => mergeCounts(known, news, held))
const next = (words: readonly NonceCounts[], held: readonly number[] = []) => claimNonces(after(words, held), held, 1)[0]
const doubtful = (words: readonly NonceCounts[], held: readonly number[] = []) => isDoubtful(after(words, held), held)

interface Case {
  when: string
  words: readonly NonceCounts[]
  held?: readonly number[]
  next: number
  doubtful?: true
}

const cases: readonly Case[] = [
  { when: 'there is one word only', words: [word(5)], next: 5, doubtful: true },
  { when: 'two words agree', words: [word(5), word(5)], next: 5 },
  { when: 'the first two disagree: the lower one', words: [word(9), word(5)], next: 5, doubtful: true },
  { when: 'the first two disagree, the other way round', words: [word(5), word(9)], next: 5, doubtful: true },
  { when: 'the first was a lie', words: [word(1_000_000), word(5), word(5)], next: 5 },
  { when: 'the second was a lie', words: [word(5), word(1_000_000), word(5)], next: 5 },
  { when: 'a count jumps up, once', words: [word(5), word(5), word(300)], next: 5, doubtful: true },
  { when: 'a count jumps up, and again', words: [word(5), word(5), word(300), word(301)], next: 300, doubtful: true },
  { when: 'a jump up was a lie', words: [word(5), word(5), word(300), word(5)], next: 5 },
  { when: 'our own transactions explain the jump', words: [word(5), word(5), word(8)], held: [5, 6, 7], next: 8 },
  { when: 'our own explain a part of the jump', words: [word(5), word(5), word(9)], held: [5, 6, 7], next: 8, doubtful: true },
  { when: 'another program’s wait at the node, said once', words: [word(5), word(5), word(5, 7)], next: 5, doubtful: true },
  { when: 'another program’s wait at the node, said twice', words: [word(5), word(5), word(5, 7), word(5, 7)], next: 7 },
  { when: 'another program’s were dropped, said once', words: [word(5, 7), word(5, 7), word(5)], next: 7 },
  { when: 'another program’s were dropped, said twice', words: [word(5, 7), word(5, 7), word(5), word(5)], next: 5 },
  { when: 'a node has no mempool', words: [word(5), word(5), word(5)], held: [5, 6], next: 7 },
  { when: 'a node lags, once', words: [word(5), word(5), word(3)], next: 5 },
  { when: 'a node that is known to lag says so again and again', words: [word(5), word(5), late(3), late(3), late(3)], next: 5 },
  { when: 'the first that says anything lags', words: [late(3), word(5), word(5)], next: 5 },
  { when: 'a reorganisation undid it', words: [word(5), word(5), word(3), word(3)], next: 3 },
  {
    when: 'a reorganisation undid ours',
    words: [word(20), word(20), word(10), word(10)],
    held: [10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
    next: 20,
  },
]

describe('nonce counts of nodes', () => {
  for (const { when, words, held, next: wanted, ...rest } of cases) {
    it(`make ${wanted} the next${rest.doubtful ? ', and ask again,' : ''} when ${when}`, () => {
      expect(next(words, held)).to.equal(wanted)
      expect(doubtful(words, held)).to.equal(rest.doubtful === true)
    })
  }

  it('ignore an answer that was requested earlier', () => {
    const known = after([word(5), word(5)])
    expect(mergeCounts(word(3), known)).to.equal(known)
  })

  it('count our own transactions as mined after one answer, and those of others after two', () => {
    const once = after([word(5), word(5), word(9)], [5, 6, 7])
    expect([7, 8].map((nonce) => nonceStatus(once, nonce))).to.deep.equal(['past', 'free'])
    expect(nonceStatus(mergeCounts(once, word(9), [5, 6, 7]), 8)).to.equal('past')
  })

  it('find gaps by the newest answer, but none below a transaction that waits absurdly far beyond', () => {
    expect(nonceGaps(word(9), word(5), [6, 8], [6, 8])).to.deep.equal([5, 7])
    expect(nonceGaps(word(5), word(5, 7), [8], [8])).to.deep.equal([7])
    expect(nonceGaps(word(5), word(5), [5, 1_000_000], [5, 1_000_000])).to.deep.equal([])
    expect(nonceGaps(word(5), word(5), [1_000_000], [1_000_000])).to.deep.equal([])
  })
})

const rail = evmRail({
  rpc: never,
  chainId: 1,
  network: 'n',
  nativeCurrency: { symbol: 'ETH', address: '0x0', decimals: 18 },
  multicall: '0x0',
  confirmations: 1,
  feeCapRaw: 10n,
  token: async () => undefined,
})
const fees = { gasLimit: '21000', maxFeePerGas: '100', maxPriorityFeePerGas: '10' }

/** A chain with one account, that others spend from too, and our lane of it. */
function startWorld() {
  const lane = createNonceQueue({ rail, address: '0x1', limit: 1_000, name: '0x1' })
  const pool = new Map<number, 'ours' | 'theirs'>()
  const minedBy = new Map<number, 'ours' | 'theirs'>()
  const signed = new Set<number>()
  const ever = new Set<number>()
  let mined = 0
  let final = 0

  const pending = () => {
    let count = mined
    while (pool.has(count)) count += 1
    return count
  }
  const truth = (): NonceCounts => ({ latest: mined, pending: pending() })
  const said = (lie: Lie | undefined): NonceCounts => {
    const { latest, pending: waiting } = truth()
    const atLeast0 = (count: number) => Math.max(0, count)
    return lie ? { latest: atLeast0(latest + lie.latest), pending: atLeast0(waiting + lie.pending) } : truth()
  }
  const ask = (lie: Lie | undefined) => {
    const take = lane.startSync()
    const news = said(lie)
    take(news)
    return news
  }
  function sign(claimed: ReturnType<typeof lane.claim>): void {
    if ('conflict' in claimed) return
    for (const sequence of claimed.sequences) {
      const nonce = Number(sequence)
      expect(ever.has(nonce), `nonce ${nonce} was given twice`).to.equal(false)
      expect(nonce >= final || minedBy.get(nonce) === 'theirs', `nonce ${nonce} is final`).to.equal(true)
      ever.add(nonce)
      signed.add(nonce)
      lane.setPending(sequence, { key: `k${nonce}`, txHash: `0x${nonce}`, kind: 'trade', rank: 0, fees, costRaw: 1n })
      if (nonce >= mined && !pool.has(nonce)) pool.set(nonce, 'ours')
    }
  }
  const claimOf = (count: number, nonce?: number) => ({
    requestId: 'r',
    count,
    nonce,
    chosenByCaller: false,
    fees: Array.from({ length: count }, () => fees),
    costsRaw: Array.from({ length: count }, () => 1n),
    mayReplace: false,
  })

  return {
    trade(count: number, lies: readonly (Lie | undefined)[]) {
      ask(lies[0])
      for (const lie of [lies[1], lies[2]]) if (lane.needsResync()) ask(lie)
      sign(lane.claim(claimOf(count)))
    },
    look(lie?: Lie) {
      // What no node has is sent again.
      for (const nonce of signed) if (nonce >= mined && !pool.has(nonce)) pool.set(nonce, 'ours')
      for (const sequence of lane.gaps(ask(lie))) sign(lane.claim(claimOf(1, Number(sequence))))
    },
    theirs() {
      pool.set(pending(), 'theirs')
    },
    dropTheirs() {
      const [nonce] = [...pool].find(([, whose]) => whose === 'theirs') ?? []
      if (nonce !== undefined) pool.delete(nonce)
    },
    mine() {
      for (let whose = pool.get(mined); whose !== undefined; whose = pool.get(mined)) {
        minedBy.set(mined, whose)
        pool.delete(mined)
        mined += 1
      }
    },
    reorganise(depth: number) {
      for (; depth > 0 && mined > final; depth -= 1) {
        mined -= 1
        const whose = minedBy.get(mined)
        minedBy.delete(mined)
        // Ours are sent again; another program may have given up.
        if (whose === 'ours' || signed.has(mined)) pool.set(mined, 'ours')
      }
    },
    finalise() {
      final = mined
      for (const nonce of signed) {
        if (nonce >= final) continue
        signed.delete(nonce)
        lane.markFinal(nonce)
      }
    },
    emptySlots: () =>
      Array.from({ length: Math.max(0, Math.max(-1, ...signed) - mined) }, (_, index) => mined + index).filter((n) => !pool.has(n)),
    open: () => [...signed].filter((nonce) => nonce >= mined),
  }
}

interface Lie {
  latest: number
  pending: number
}

describe('the nonces of a wallet over wrong and lagging nodes', () => {
  const off = integer({ min: -20, max: 20 })
  const lie = option(record({ latest: off, pending: off }), { nil: undefined })
  const step = oneof(
    {
      weight: 4,
      arbitrary: record({
        do: constant('trade' as const),
        count: integer({ min: 1, max: 3 }),
        lies: array(lie, { minLength: 3, maxLength: 3 }),
      }),
    },
    { weight: 3, arbitrary: record({ do: constant('look' as const), lie }) },
    { weight: 2, arbitrary: constant({ do: 'mine' as const }) },
    { weight: 1, arbitrary: constant({ do: 'theirs' as const }) },
    { weight: 1, arbitrary: constant({ do: 'dropTheirs' as const }) },
    { weight: 1, arbitrary: constant({ do: 'finalise' as const }) },
    { weight: 1, arbitrary: record({ do: constant('reorganise' as const), depth: nat(5) }) },
  )

  it('never repeat, and gaps close after two correct polls', () => {
    assert(
      property(array(step, { maxLength: 40 }), (steps) => {
        const world = startWorld()
        for (const each of steps) {
          if (each.do === 'trade') world.trade(each.count, each.lies)
          else if (each.do === 'look') world.look(each.lie)
          else if (each.do === 'reorganise') world.reorganise(each.depth)
          else world[each.do]()
        }
        world.look()
        world.look()
        expect(world.emptySlots()).to.deep.equal([])
        world.mine()
        expect(world.open()).to.deep.equal([])
      }),
      { numRuns: 1_000 },
    )
  })
})
