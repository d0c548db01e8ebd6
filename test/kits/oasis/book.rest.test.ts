import { expect } from 'chai'
import type { Wallet } from 'ethers'
import fc from 'fast-check'
import type { FollowedBooks, Head } from '../../../core/contracts/index.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import { at, tokens } from '../amm/devnet-fixture.ts'
import { createOasisFixture, type OasisFixture } from './fixture.ts'

const names = ['WETH-DAI', 'WETH-USDC', 'WBTC-USDC'] as const
const pairs = { 'WETH-DAI': ['WETH', 'DAI'], 'WETH-USDC': ['WETH', 'USDC'], 'WBTC-USDC': ['WBTC', 'USDC'] } as const

/** What traders send to the market, sensible or not. */
const step = fc.record({
  what: fc.constantFrom(
    'offer',
    'offer',
    'offer',
    'offer',
    'take',
    'take',
    'cancel',
    'cancel',
    'sellAll',
    'buyAll',
    'unsorted',
    'insert',
    'least',
    'matching',
  ),
  trader: fc.nat(1),
  name: fc.constantFrom(...names),
  isBuy: fc.boolean(),
  /** In tenths of a percent around the price, so that some offers cross. */
  tick: fc.integer({ min: -3, max: 3 }),
  /** Amounts with all decimals. */
  amount: fc.integer({ min: 1, max: 3000 }),
  digits: fc.bigInt(0n, 10n ** 12n),
  rounding: fc.boolean(),
  /** The index of one of the open offers. */
  pick: fc.nat(20),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

describe('the books of a matching market', function () {
  this.timeout(300_000)
  let fixture: OasisFixture
  let traders: readonly Wallet[]
  let books: FollowedBooks<Evm>

  before(async () => {
    fixture = await createOasisFixture()
    traders = [await fixture.newTrader(), await fixture.newTrader()]
    if (!('load' in fixture.exchange.books)) throw new Error('The books are followed.')
    books = fixture.exchange.books
  })
  afterEach(() => fixture?.provider.send('evm_setAutomine', [true]))
  after(() => fixture?.end())

  const send = async ({ what, trader, name, isBuy, tick, amount, digits, rounding, pick }: Step): Promise<void> => {
    const signer = traders[trader] ?? expect.fail('There is no such trader.')
    const [base, quote] = [tokens[pairs[name][0]], tokens[pairs[name][1]]]
    const price = BigInt(name === 'WBTC-USDC' ? 60_000 : 3000)
    const baseRaw = (BigInt(amount) * 10n ** BigInt(base.decimals)) / 1000n + (digits % 10n ** BigInt(base.decimals - 3))
    const quoteRaw =
      (baseRaw * price * BigInt(1000 + tick) * 10n ** BigInt(quote.decimals)) / (1000n * 10n ** BigInt(base.decimals)) + (digits % 3n)
    const sides = [await openIds(base.address, quote.address), await openIds(quote.address, base.address)]
    const ids = sides.flat()
    const id = ids[pick % Math.max(ids.length, 1)] ?? 1n
    const [pays, payRaw, wants, wantRaw] = isBuy ? [quote, quoteRaw, base, baseRaw] : [base, baseRaw, quote, quoteRaw]
    const calls: Record<Step['what'], readonly [string, ...unknown[]]> = {
      offer: [
        'offer(uint256,address,uint256,address,uint256,bool)',
        payRaw,
        pays.address,
        wantRaw,
        wants.address,
        pick % 2 === 0 ? 0n : id,
        rounding,
      ],
      take: ['buy', id, rounding ? payRaw / 3n + 1n : (await leftOf(id)) / (BigInt(pick % 3) + 1n)],
      cancel: ['cancel', id],
      sellAll: ['sellAllAmount', pays.address, payRaw, wants.address, 0n],
      buyAll: ['buyAllAmount', wants.address, wantRaw, pays.address, payRaw * 2n],
      unsorted: ['offer(uint256,address,uint256,address)', payRaw, pays.address, wantRaw, wants.address],
      insert: ['insert', BigInt(await fixture.market.getFunction('last_offer_id').staticCall()) - BigInt(pick % 3), id],
      least: ['setMinSell', pays.address, payRaw / 100n],
      matching: ['setMatchingEnabled', pick % 3 !== 0],
    }
    const [method, ...args] = calls[what]
    const data = fixture.market.interface.encodeFunctionData(method, args)
    await signer.sendTransaction({ to: fixture.address, data, gasLimit: 3_000_000n, nonce: nonces[trader] ?? 0 })
    nonces[trader] = (nonces[trader] ?? 0) + 1
  }
  const nonces: number[] = []
  const leftOf = async (id: bigint): Promise<bigint> => (await fixture.market.getFunction('offers').staticCall(id))[0]
  const openIds = async (pays: string, wants: string): Promise<readonly bigint[]> => {
    const ids: bigint[] = []
    let id = BigInt(await fixture.market.getFunction('getBestOffer').staticCall(pays, wants))
    for (; id !== 0n && ids.length < 10; id = BigInt(await fixture.market.getFunction('getWorseOffer').staticCall(id))) ids.push(id)
    return ids
  }

  it("equal the market's own books after every block, whatever happens, by its events alone", async () => {
    const keys = await Promise.all(names.map(async (name) => books.keyOfMarket(await fixture.named(name))))
    await fixture.provider.send('evm_setAutomine', [false])
    await fixture.provider.send('evm_setIntervalMining', [0])
    let blocks = 0
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 4, maxLength: 12 }), async (steps) => {
        let from: Head = await fixture.head()
        const states = new Map((await books.load(keys, from, at())).states)
        for (const [index, trader] of traders.entries()) nonces[index] = await fixture.provider.getTransactionCount(trader.address)
        for (const block of steps) {
          for (const each of block) await send(each)
          await fixture.provider.send('evm_mine', [])
          const to = await fixture.head()
          const changes = await fixture.chain.changes?.(from, to, books, at())
          if (!changes || changes === 'forked') throw new Error('The chain goes on.')
          for (const { head, changes: logs } of changes) {
            const again = new Set<string>()
            for (const log of logs)
              for (const key of books.keysOf(log)) {
                const after = again.has(key) ? 'reload' : books.apply(states.get(key), log, head)
                if (after === 'reload') again.add(key)
                else states.set(key, after)
              }
            if (again.size > 0) for (const [key, state] of (await books.load([...again], head, at())).states) states.set(key, state)
          }
          blocks += 1
          const loaded = (await books.load(keys, to, at())).states
          for (const [index, name] of names.entries()) {
            const market = await fixture.named(name)
            const { lastPrice, ...book } = books.show(states.get(keys[index] ?? ''), market)
            expect(book, name).to.deep.equal(await fixture.operator.book(name, Number(to.number)))
            expect({ ...book, ...(lastPrice !== undefined && { lastPrice }) }, `${name} as it is read`).to.deep.equal(
              books.show(loaded.get(keys[index] ?? ''), market),
            )
          }
          from = to
        }
      }),
      { numRuns: 4, endOnFailure: true },
    )
    expect(blocks).to.be.above(15)
  })

  it('reload when somebody sorts an offer that was made before they were read', async () => {
    const [maker] = traders
    if (!maker) throw new Error('There are traders.')
    const market = await fixture.named('WETH-DAI')
    const key = books.keyOfMarket(market)
    const { WETH, DAI } = tokens
    const contract = fixture.market.connect(maker)
    const act = async (method: string, ...args: readonly unknown[]) =>
      fixture.mined((await contract.getFunction(method).send(...args)).hash)
    await act('setMatchingEnabled', true)
    await fixture.empty('WETH-DAI')
    await act('offer(uint256,address,uint256,address)', 10n ** 18n, WETH.address, 4000n * 10n ** 18n, DAI.address)
    const id = BigInt(await fixture.market.getFunction('last_offer_id').staticCall())
    const from = await fixture.head()
    const state = (await books.load([key], from, at())).states.get(key)
    expect(books.show(state, market)).to.deep.include({ buys: [], sells: [] })
    await act('insert', id, 0n)
    const changes = await fixture.chain.changes?.(from, await fixture.head(), books, at())
    if (!changes || changes === 'forked') throw new Error('The chain goes on.')
    const after = changes.flatMap(({ head, changes: logs }) => logs.map((log) => books.apply(state, log, head)))
    expect(after.at(-1)).to.equal('reload')
    expect(await fixture.book('WETH-DAI')).to.deep.equal({ buys: [], sells: [{ price: '4000', quantity: '1' }] })
  })
})
