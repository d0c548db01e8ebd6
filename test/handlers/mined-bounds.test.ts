import { expect } from 'chai'
import fc from 'fast-check'
import { compareMined, journaledBounds, lossesOf, shownQuarantines } from '../../core/handlers/mined-bounds.ts'
import { atMostLeaves, swapBounds } from '../../core/handlers/outcome.ts'
import type { NetworkEntry } from '../../core/plugins/registry.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import type { Breach } from '../../core/transactions/quarantine.ts'

const token = (address: string) => ({ symbol: address, address, decimals: 0 })
const quoted = { quotedRaw: 1010n, boundRaw: 1000n, slippage: { numerator: 1n, denominator: 100n } }
const swap = journaledBounds(swapBounds({ tokenIn: token('in'), tokenOut: token('out'), exact: 'in', amountRaw: 500n }, quoted))
const gains = (of: Record<string, bigint>) => new Map(Object.entries(of))

describe('what a mined transaction did to the wallet beyond what its plan was allowed', () => {
  const cases: readonly [string, Record<string, string>, Record<string, bigint>, readonly [string, string, string][]][] = [
    ['nothing, where it did what was asked', swap, { in: -500n, out: 1005n }, []],
    ['nothing, where it is just at its bounds', swap, { in: -500n, out: 1000n }, []],
    ['nothing, where it is far better', swap, { in: -1n, out: 5000n, other: 7n }, []],
    ['a unit that was taken more', swap, { in: -501n, out: 1000n }, [['in', '-500', '-501']]],
    ['a unit that is missing', swap, { in: -500n, out: 999n }, [['out', '1000', '999']]],
    ['all that it had to bring', swap, { in: -500n }, [['out', '1000', '0']]],
    ['a token that nobody spoke of', swap, { in: -500n, out: 1000n, other: -1n }, [['other', '0', '-1']]],
    [
      'a position that was not to be given',
      journaledBounds(atMostLeaves([{ token: 'nft/7', amountRaw: 1n }])),
      { 'nft/7': -1n, 'nft/8': -1n },
      [['nft/8', '0', '-1']],
    ],
  ]
  for (const [what, bounds, gained, lost] of cases)
    it(`is ${what}`, () => {
      expect(lossesOf(bounds, gains(gained)).map(({ token: of, minGainRaw, gainRaw }) => [of, minGainRaw, gainRaw])).to.deep.equal(lost)
    })

  it('is, of each token, exactly what makes the bounds hold again', () => {
    const amounts = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n }), {
      noNullPrototype: true,
    })
    fc.assert(
      fc.property(amounts, amounts, (bounds, gained) => {
        const texts = Object.fromEntries(Object.entries(bounds).map(([of, raw]) => [of, raw.toString()]))
        const losses = lossesOf(texts, gains(gained))
        for (const { minGainRaw, gainRaw } of losses) expect(BigInt(minGainRaw) > BigInt(gainRaw)).to.equal(true)
        const mended = { ...gained }
        for (const { token: of, minGainRaw, gainRaw } of losses) mended[of] = (mended[of] ?? 0n) + BigInt(minGainRaw) - BigInt(gainRaw)
        expect(lossesOf(texts, gains(mended))).to.deep.equal([])
        // Nothing else is said to be lost.
        for (const of of ['a', 'b', 'c', 'd'])
          expect(losses.some((each) => each.token === of)).to.equal((gained[of] ?? 0n) < (bounds[of] ?? 0n))
      }),
    )
  })
})

describe('a mined transaction of a plugin that is not built in', () => {
  const where = { chain: 'ethereum', network: 'local' }
  let reported: Breach[]
  let coinReadings: number
  beforeEach(() => {
    ;[reported, coinReadings] = [[], 0]
  })
  const entryOf = (more: object): Entry =>
    ({
      ...where,
      key: 'k',
      kind: 'trade',
      address: 'wallet',
      connector: 'trap',
      requestId: 'r',
      state: 'MINED',
      part: { index: 0, of: 1 },
      step: { value: '0' },
      bounds: swap,
      landed: { id: '0x1', ok: true, blockNumber: 7, receipt: { in: '-500', out: '1000' } },
      ...more,
    }) as unknown as Entry
  const networkOf = (coinRaw: bigint | undefined, sentRaw = 0n) =>
    ({
      ...where,
      tokens: { listedAt: (address: string) => (address === 'in' ? { symbol: 'IN', address, decimals: 2 } : undefined) },
      impl: {
        nativeCurrency: token('coin'),
        rail: { outline: () => ({ contracts: [], valueRaw: sentRaw }) },
        evm: {
          gains: (receipt: Record<string, string>) =>
            gains(Object.fromEntries(Object.entries(receipt).map(([of, raw]) => [of, BigInt(raw)]))),
          coinGain: async () => {
            coinReadings += 1
            return coinRaw
          },
        },
      },
    }) as unknown as NetworkEntry
  const compare = async (
    entry: Entry,
    { others = [], network = networkOf(undefined) }: { others?: readonly Entry[]; network?: NetworkEntry } = {},
  ) => {
    const work = compareMined(entry, {
      registry: { networks: [network] },
      quarantine: { report: async (breach) => void reported.push(breach) },
      entriesOf: async () => [...others, entry],
      timeoutMs: 1_000,
    })
    await work?.()
    return reported.map(({ lost }) => lost.map(({ token: of }) => of).join(' '))
  }

  it('causes a report with its hash, wallet and losses where it broke its bounds, and none else', async () => {
    expect(await compare(entryOf({}))).to.deep.equal([])
    await compare(entryOf({ plugin: 'abcd', landed: { id: '0x2', ok: true, blockNumber: 7, receipt: { in: '-501', out: '0' } } }))
    const lost = [
      { token: 'in', minGainRaw: '-500', gainRaw: '-501' },
      { token: 'out', minGainRaw: '1000', gainRaw: '0' },
    ]
    const [{ at, ...found }] = reported as [Breach]
    expect(found).to.deep.equal({ ...where, key: 'k', plugin: 'trap', version: 'abcd', address: 'wallet', txHash: '0x2', lost })
    const shown = shownQuarantines([...reported, ...reported], [networkOf(undefined)]).get('trap')
    expect(shown).to.deep.equal({
      ...where,
      since: at,
      address: 'wallet',
      txHash: '0x2',
      breaches: 2,
      lost: [
        { token: 'in', symbol: 'IN', amount: '0.01', how: 'taken' },
        { token: 'out', amount: '1000', how: 'not brought' },
      ],
    })
  })

  it('is compared by all that its receipt says on a chain of accounts, its coin too, and waits where no node has the receipt', async () => {
    const asked: unknown[] = []
    const moved = (receipt: Record<string, string> | null, _wallet: string, what: object) => {
      asked.push(what)
      return receipt ? gains(Object.fromEntries(Object.entries(receipt).map(([of, raw]) => [of, BigInt(raw)]))) : undefined
    }
    const { evm: _, ...impl } = networkOf(undefined).impl
    const network = { ...networkOf(undefined), impl: { ...impl, altchain: { moved } } } as unknown as NetworkEntry
    const after = (receipt: object | null) => compare(entryOf({ landed: { id: '0x3', ok: true, blockNumber: 7, receipt } }), { network })
    expect(await after({ in: '-500', out: '1000', coin: '0' })).to.deep.equal([])
    expect(
      await after(null).then(
        () => 'compared',
        ({ message }: Error) => message,
      ),
    ).to.equal('No node has the receipt of a step.')
    expect(await after({ in: '-500', out: '1000', coin: '-1' })).to.deep.equal(['coin'])
    expect(await after({ in: '-501', out: '1000' })).to.deep.equal(['coin', 'in'])
    expect(asked[0]).to.deep.equal({ tokens: ['in', 'out'] })
  })

  it('needs no comparison where it was reverted, and where nobody wrote down its bounds', () => {
    const parts = {
      registry: { networks: [networkOf(0n)] },
      quarantine: { report: async () => {} },
      entriesOf: async () => [],
      timeoutMs: 1,
    }
    const stolen = { id: '0x2', ok: true, blockNumber: 7, receipt: { in: '-9999' } }
    expect(compareMined(entryOf({ landed: { ...stolen, ok: false } }), parts)).to.equal(undefined)
    expect(compareMined(entryOf({ landed: stolen, bounds: undefined }), parts)).to.equal(undefined)
    expect(compareMined(entryOf({ landed: stolen, network: 'mainnet' }), parts)).to.equal(undefined)
    expect(compareMined(entryOf({ landed: stolen }), parts)).to.be.a('function')
  })

  it('has its coin read only where that could be worse than its bound, and is not accused where nobody can tell', async () => {
    const brings = { coin: '900', in: '-500' }
    const landed = { id: '0x1', ok: true, blockNumber: 7, receipt: { in: '-500' } }
    expect(await compare(entryOf({ bounds: brings, landed }), { network: networkOf(900n) })).to.deep.equal([])
    expect(await compare(entryOf({ bounds: brings, landed }), { network: networkOf(undefined) })).to.deep.equal([])
    expect(await compare(entryOf({ bounds: brings, landed }), { network: networkOf(899n) })).to.deep.equal(['coin'])
    reported = []
    const takes = { coin: '-50', out: '1000' }
    const of = { bounds: takes, landed: { ...landed, receipt: { out: '1000' } } }
    coinReadings = 0
    expect(await compare(entryOf(of), { network: networkOf(-50n, 50n) })).to.deep.equal([])
    expect(coinReadings).to.equal(0)
    // Its simulation said that the rest comes back.
    expect(await compare(entryOf(of), { network: networkOf(-51n, 60n) })).to.deep.equal(['coin'])
    expect(coinReadings).to.equal(1)
  })

  it('causes a report of what the receipt shows, also where no node tells of its coin', async () => {
    const network = networkOf(undefined)
    Object.assign(network.impl.evm ?? {}, { coinGain: () => Promise.reject(new Error('The node is over its limit.')) })
    const landed = (receipt: object) => ({ landed: { id: '0x1', ok: true, blockNumber: 7, receipt }, bounds: { coin: '900', in: '-500' } })
    expect(await compare(entryOf(landed({ in: '-501' })), { network })).to.deep.equal(['in'])
    reported = []
    await compare(entryOf(landed({ in: '-500' })), { network }).then(
      () => expect.fail('It has to be tried again.'),
      (error: Error) => expect(error.message).to.contain('over its limit'),
    )
    expect(reported).to.deep.equal([])
  })

  it('has to pay by itself for what it takes, as one of several steps, and takes no more than the request allows with those before it', async () => {
    const step = (index: number, receipt: object, more: object = {}) =>
      entryOf({ key: `k${index}`, part: { index, of: 2 }, landed: { id: `0x${index}`, ok: true, blockNumber: 7, receipt }, ...more })
    const [first, second] = [step(0, { in: '-200', out: '400' }), step(1, { in: '-300', out: '600' })]
    expect(await compare(first, { others: [second] })).to.deep.equal([])
    expect(await compare(second, { others: [first] })).to.deep.equal([])
    // Another step may bring it, or may not: that is not waited for.
    expect(await compare(step(0, { in: '-200' }), { others: [second] })).to.deep.equal(['out'])
    expect(reported[0]?.lost).to.deep.equal([{ token: 'out', minGainRaw: '400', gainRaw: '0' }])
    reported = []
    // What one gives back, the next may not take again.
    expect(await compare(step(1, { in: '-500', out: '1000' }), { others: [step(0, { in: '1' })] })).to.deep.equal([])
    expect(await compare(step(1, { in: '-301', out: '602' }), { others: [first] })).to.deep.equal(['in'])
    reported = []
    expect(await compare(step(1, { between: '-30' }), { others: [step(0, { between: '30' })] })).to.deep.equal(['between out'])
    reported = []
    // All of them bring what the request wants, also where less was taken.
    expect(await compare(step(1, { in: '-200', out: '400' }), { others: [first] })).to.deep.equal(['out'])
    reported = []
    const waiting = step(0, {}, { landed: undefined, state: 'BROADCAST' })
    await compare(second, { others: [waiting] }).then(
      () => expect.fail('It has to be tried again.'),
      (error: Error) => expect(error.message).to.contain('not mined yet'),
    )
    // What was paid for a step that failed is not brought by the other one, and what the other one takes it pays for.
    const failed = step(0, {}, { landed: { id: '0x0', ok: false, blockNumber: 7, receipt: {} } })
    expect(await compare(second, { others: [failed] })).to.deep.equal([])
    expect(await compare(step(1, { in: '-500' }), { others: [failed] })).to.deep.equal(['out'])
    reported = []
    expect(await compare(step(1, { in: '-501', out: '1002' }), { others: [failed] })).to.deep.equal(['in'])
  })

  it('has to bring or pay the native coin by itself as one of several steps, where its balances tell', async () => {
    const coinSwap = { coin: '-100', out: '1000' }
    const step = (coin: object, receipt: object) =>
      entryOf({ bounds: coin, part: { index: 0, of: 2 }, landed: { id: '0x1', ok: true, blockNumber: 7, receipt } })
    const told = (coinRaw: bigint | undefined, sentRaw = 0n) => ({ network: networkOf(coinRaw, sentRaw) })
    expect(await compare(step(coinSwap, { out: '500' }), told(-50n, 50n))).to.deep.equal([])
    expect(await compare(step(coinSwap, { out: '499' }), told(-50n, 50n))).to.deep.equal(['out'])
    reported = []
    // Others of the wallet in that block leave it untold.
    expect(await compare(step(coinSwap, { out: '499' }), told(undefined, 50n))).to.deep.equal([])
    const forCoin = { in: '-500', coin: '100' }
    expect(await compare(step(forCoin, { in: '-250' }), told(50n))).to.deep.equal([])
    expect(await compare(step(forCoin, { in: '-250' }), told(49n))).to.deep.equal(['coin'])
  })

  it('counts without the steps of another plan, though its caller gave both requests the same id', async () => {
    const step = (index: number, createdAt: number, receipt: object, more: object = {}) =>
      entryOf({ createdAt, part: { index, of: 2 }, landed: { id: `0x${index}`, ok: true, blockNumber: 7, receipt }, ...more })
    const [first, second] = [step(0, 1, { in: '-250', out: '500' }), step(1, 1, { in: '-250', out: '500' })]
    const before = step(0, 0, { in: '-251', out: '502' })
    expect(await compare(second, { others: [before, first] })).to.deep.equal([])
    expect(await compare(second, { others: [step(0, 1, first.landed?.receipt as object, { address: 'another' }), first] })).to.deep.equal(
      [],
    )
    // One that was given up does not excuse what the whole plan did not bring.
    const expired = step(0, 0, {}, { landed: undefined, state: 'EXPIRED' })
    expect(await compare(step(1, 1, { out: '1' }), { others: [expired, first] })).to.deep.equal(['out'])
  })
})
