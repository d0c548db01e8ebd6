import { expect } from 'chai'
import { Contract, isError, toQuantity } from 'ethers'
import type { Quote, Swap } from '../../../../core/contracts/index.ts'
import { rpcTo } from '../../evm/test-chain.ts'
import { keptByLogs } from '../kept-by-logs.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { tokens } from '../devnet-fixture.ts'
import { drawing, type Random } from '../walk/any-swap.ts'
import { heldAgainst } from '../walk/given-or-refused.ts'
import { msOf, quotesOf, walkInMemory } from '../walk/walk-in-memory.ts'
import { poolActs, type Act } from './pool-acts.ts'
import { openStableFixture, type StableFixture } from './stable-fixture.ts'

type Acts = Awaited<ReturnType<typeof poolActs>>

const { WETH, USDC, DAI, USDT } = tokens
const all = [WETH, USDC, DAI, USDT]
const quotes = quotesOf(0.1)
const quotesEach = 10
const fees = { fee: 4_000_000n, adminFee: 5_000_000_000n }

describe('stable pools in memory', function () {
  this.timeout(300_000)
  let fixture: StableFixture
  let acts: Acts
  before(async () => {
    fixture = await openStableFixture()
    await makeRich(fixture)
    acts = await poolActs(fixture)
    // Half of the fee leaves the pool.
    await acts.block([0, 1].map((pool) => acts.commit(pool, 256n, fees.fee, fees.adminFee)))
    await acts.wait()()
    await acts.block([0, 1].map((pool) => acts.change(pool)))
  })
  after(() => fixture.close())

  const kept = () => keptByLogs(fixture, fixture.amm, all)
  const told: readonly (readonly [what: string, done: () => readonly Act[]])[] = [
    ['swaps', () => [acts.swap(0, 0, 1), acts.swap(0, 2, 3, 77n), acts.swapUnderlying(0, 1, 0, 123n), acts.swap(1, 1, 0)]],
    ['what is put in', () => [acts.add(0, [0, 1, 2, 3]), acts.add(0, [1]), acts.swap(0, 3, 2), acts.add(1, [0, 3])]],
    ['what is taken out', () => [acts.remove(0), acts.removeSome(0, [2]), acts.swap(0, 2, 1), acts.removeSome(1, [0, 1])]],
    ['what its owner takes, which is not of the pool any more', () => [acts.swap(0, 0, 2), acts.takeFees(0), acts.swap(0, 2, 0)]],
  ]
  for (const [what, done] of told) {
    it(`follow their logs alone, several in a block: ${what}`, async () => {
      const memory = await kept()
      const doing = done()
      expect(await acts.block(doing)).to.deep.equal(doing.map(() => '0x1'))
      await memory.follow()
      expect(memory.counted.logs).to.be.above(1)
      expect(memory.counted.reloads).to.equal(0)
    })
  }

  it('take new fees and a new amplification when they begin, not when they are committed', async () => {
    const memory = await kept()
    await acts.block([acts.commit(0, 300n, 7_000_000n, 1_234_567_890n), acts.swap(0, 0, 1)])
    await memory.follow()
    await acts.wait()()
    expect(await acts.block([acts.swap(0, 1, 2), acts.change(0), acts.swap(0, 1, 2)])).to.deep.equal(['0x1', '0x1', '0x1'])
    await memory.follow()
    expect(memory.counted).to.include({ reloads: 0, logs: 4 })
  })

  it('reload where a swap gave another amount than memory predicts', async () => {
    const memory = await kept()
    const [{ address }] = fixture.pools
    // Like a donation of the admin's fees to a later pool, which logs nothing.
    const key = address.toLowerCase()
    const held = memory.states.get(key)
    await acts.block([acts.add(0, [0, 1, 2, 3], 2n)])
    await memory.follow()
    memory.states.set(key, held)
    await acts.block([acts.swap(0, 0, 1)])
    await memory.follow()
    expect(memory.counted.reloads).to.equal(1)
  })

  it(`give ${quotes} quotes that equal the contracts’ after every block, over random changes and reorganisations`, async function () {
    this.timeout(msOf(quotes))
    const random = randomBits(20200825)
    const { anySwap } = drawing(all, WETH.address, random)
    const { hold, counted } = heldAgainst(expectOwn)
    const { reload } = await walkInMemory(
      {
        chain: fixture.chain,
        amm: fixture.amm,
        rpc: rpcTo(fixture.devnet.rpcUrl),
        happen: () => acts.block(Array.from({ length: 1 + random.below(4) }, () => anything(acts, random))),
        anySwap: () => withoutDust(anySwap(4)),
        hold,
      },
      random,
      quotes,
      quotesEach,
    )
    expect(reload, 'reloads').to.equal(0)
    expect(counted.given, 'quotes').to.be.above(quotes / 2)
  })

  /** The output of a simulated swap; for an exact output, checks that the input is the least that gives it. */
  async function expectOwn({ swap, amountRaw, route, head }: Quote, what: string): Promise<void> {
    const hops = route.map(({ pool, tokenIn, tokenOut }) => {
      const coins = fixture.pools.find(({ address }) => address === pool)?.coins ?? []
      return [pool, ...[tokenIn, tokenOut].map((token) => coins.findIndex(({ address }) => address === token)), tokenOut]
    })
    const terms = [route[0]?.tokenIn, fixture.trader.address, false, 2n ** 60n]
    const gives = async (inRaw: bigint): Promise<bigint> =>
      fixture.router.getFunction('sell').staticCall(terms, inRaw, 0n, hops, { blockTag: Number(head.number) })
    if (swap.exact === 'in') return void expect(await gives(swap.amountRaw), what).to.equal(amountRaw)
    expect((await gives(amountRaw)) >= swap.amountRaw, what).to.equal(true)
    const refused = (error: unknown) => {
      if (!isError(error, 'CALL_EXCEPTION')) throw error
      return 0n
    }
    if (amountRaw > 1n) expect((await gives(amountRaw - 1n).catch(refused)) < swap.amountRaw, what).to.equal(true)
  }
})

/** The contracts tell only what the wallet has. */
async function makeRich({ trader, devnet }: StableFixture): Promise<void> {
  await rpcTo(devnet.rpcUrl)('anvil_setBalance', trader.address, toQuantity(2n ** 100n))
  for (const { address } of all) {
    const token = new Contract(address, ['function deposit() payable', 'function mint(address to, uint256 value)'], trader)
    const [method, args] = address === WETH.address ? ['deposit', [{ value: 2n ** 90n }]] : ['mint', [trader.address, 2n ** 120n]]
    await (await token.getFunction(method)(...args)).wait()
  }
}

function anything(acts: Acts, { below, bits }: Random): Act {
  const [pool, from, part] = [below(2), below(4), 5n + bits(20)]
  const to = (from + 1 + below(3)) % 4
  const coins = [0, 1, 2, 3].filter(() => below(2) === 0)
  const choices: readonly (() => Act)[] = [
    () => acts.swap(pool, from, to, part),
    () => acts.swap(pool, from, to, part),
    () => acts.swapUnderlying(pool, from, to, part),
    () => acts.add(pool, coins, part),
    () => acts.remove(pool, part + 20n),
    () => acts.removeSome(pool, coins, part + 20n),
    () => acts.takeFees(pool),
    () => acts.commit(pool, 100n + bits(10), bits(26), bits(32)),
    () => acts.wait(),
    () => acts.change(pool),
  ]
  return (choices[below(choices.length)] ?? (() => acts.swap(pool, from, to)))()
}

/** For an input of 0 the contracts give a unit or two of a coin with many decimals. */
function withoutDust(swap: Swap): Swap {
  const { decimals } = swap.exact === 'in' ? swap.tokenIn : swap.tokenOut
  return { ...swap, amountRaw: swap.amountRaw + 10n ** BigInt(decimals / 2 + 3) }
}
