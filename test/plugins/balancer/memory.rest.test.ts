import { expect } from 'chai'
import type { Head, Swap } from '../../../core/contracts/index.ts'
import { pauseSeconds } from '../../../kits/amm/weighted/devnet.ts'
import { keptByLogs } from '../../kits/amm/kept-by-logs.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { randomBits } from '../../../testkit/random-bits.ts'
import { at, tokens } from '../../kits/amm/devnet-fixture.ts'
import { drawing, type Random } from '../../kits/amm/walk/any-swap.ts'
import { givenOrRefused, heldAgainst } from '../../kits/amm/walk/given-or-refused.ts'
import { msOf, quotesOf, walkInMemory } from '../../kits/amm/walk/walk-in-memory.ts'
import { openBalancer } from './balancer-fixture.ts'
import { managing, vaultActs, type Act } from './vault-acts.ts'

type Acts = Awaited<ReturnType<typeof vaultActs>>

const all = Object.values(tokens)
const quotes = quotesOf(0.1)
const quotesEach = 10

describe('the pools of Balancer in memory', function () {
  this.timeout(300_000)
  let balancer: Awaited<ReturnType<typeof openBalancer>>
  let acts: Acts
  before(async () => {
    balancer = await openBalancer()
    acts = await vaultActs(balancer)
    await acts.block([acts.protocolFee()])
  })
  after(() => balancer.fixture.close())
  beforeEach(() => acts.block([acts.pause('vault', false), ...Array.from({ length: acts.count }, (_, pool) => acts.pause(pool, false))]))

  const kept = () => keptByLogs(balancer.fixture, acts.amm, all)

  const told: readonly (readonly [what: string, done: () => readonly Act[]])[] = [
    ['swaps', () => [acts.swap(0), acts.swap(1, 900n, 1, 1), acts.batch(), acts.swap(3)]],
    ['joins and exits', () => [acts.swap(0), acts.join(0), acts.exit(0), acts.joinOne(1), acts.exitExact(2), acts.exitOne(3)]],
    ['fees', () => [acts.swap(0), acts.fee(0, '0.0123'), acts.swap(0), acts.fee(3, '0.07')]],
    [
      'what a manager takes out, says that it is worth, and gives back',
      () => [
        acts.manage(managing.withdraw, 0, 10n ** 8n),
        acts.swap(4),
        acts.manage(managing.update, 0, 12n * 10n ** 7n),
        acts.manage(managing.deposit, 0, 3n * 10n ** 7n),
        acts.manage(managing.update, 0, 10n ** 7n),
      ],
    ],
    ['a pool that is paused', () => [acts.swap(1), acts.pause(1, true)]],
    ['a pool whose owners recover what is theirs, and that swaps meanwhile', () => [acts.recover(2), acts.swap(2)]],
    ['a Vault that is paused', () => [acts.swap(1), acts.pause('vault', true)]],
  ]
  for (const [what, done] of told) {
    it(`follow their logs alone, several in a block: ${what}`, async () => {
      const memory = await kept()
      const doing = done()
      await acts.block(doing)
      const { hash = '' } = await memory.follow()
      const statuses = (await balancer.fixture.provider.send('eth_getBlockReceipts', [hash])).map(
        ({ status }: { status: string }) => status,
      )
      expect(statuses).to.deep.equal(doing.map(() => '0x1'))
      expect(memory.counted.logs).to.be.above(0)
      expect(memory.counted.reloads).to.equal(0)
    })
  }

  it('follow the logs alone when a pause ends', async () => {
    await acts.block([acts.pause(0, true), acts.pause('vault', true)])
    const memory = await kept()
    await acts.block([acts.pause(0, false), acts.pause('vault', false), acts.swap(0)])
    await memory.follow()
    expect(memory.counted.reloads).to.equal(0)
  })

  it('give quotes again when a pause ends by time alone, by the time of the block and without being read', async () => {
    const { chain, devnet } = balancer.fixture
    const rpc = rpcTo(devnet.rpcUrl)
    const snapshot = await rpc('evm_snapshot')
    const swap: Swap = { tokenIn: tokens.WETH, tokenOut: tokens.USDC, exact: 'in', amountRaw: 10n ** 15n }
    await acts.block(Array.from({ length: acts.count }, (_, pool) => acts.pause(pool, true)))
    const memory = await kept()
    const pricing = acts.amm.followed ?? expect.fail('It is quoted from memory.')
    const quoted = (head: Head) => {
      const states = pricing.basis(swap, {}).map(({ key }) => memory.states.get(key))
      try {
        return pricing.quote(swap, {}, states, head, 0)
      } catch (error) {
        return error
      }
    }
    const head = await chain.head(at())
    expect(quoted(head)).to.include({ name: 'PAIR_NOT_FOUND' })
    expect(await givenOrRefused(acts.amm.quote(swap, {}, at()))).to.equal(undefined)

    // The pools' buffers end together, as they were deployed within a few blocks.
    await rpc('evm_increaseTime', pauseSeconds.window + pauseSeconds.buffer)
    await rpc('evm_mine')
    await memory.follow().catch(() => {})
    const later = await chain.head(at())
    const fromMemory = quoted(later)
    const fromChain = await acts.amm.quote(swap, {}, at())
    expect(fromMemory).to.include({ amountRaw: fromChain.amountRaw })
    expect(await balancer.own(fromChain)).to.equal(fromChain.amountRaw)
    // What is read then agrees with memory.
    for (const { key, followed, about } of pricing.basis(swap, {})) {
      const { states } = await followed.load([key], later, at(), new Map([[key, { about, more: [] }]]))
      expect(followed.same?.(memory.states.get(key), states.get(key), later)).to.equal(true)
    }
    await rpc('evm_revert', snapshot)
  })

  it('do not change by logs of other contracts with the same topics', async () => {
    const memory = await kept()
    await acts.block([acts.swap(0), acts.protocolFee('0.25')])
    const { number } = await balancer.fixture.chain.head(at())
    const logs = await balancer.fixture.provider.getLogs({ fromBlock: number, toBlock: number })
    const [{ followed } = { followed: undefined }] = acts.amm.followed?.basis({ tokenIn: tokens.WETH, tokenOut: tokens.USDC }, {}) ?? []
    const about = (other: string | undefined) =>
      logs.flatMap(
        ({ address, topics, data, transactionHash, blockNumber }) =>
          followed?.keysOf({ address: other ?? address, topics, data, transactionHash, blockNumber }) ?? [],
      )
    expect(about(undefined).filter((key) => memory.states.has(key))).to.have.length(1)
    expect(about(tokens.WETH.address).filter((key) => memory.states.has(key))).to.deep.equal([])
  })

  it(`give ${quotes} quotes that equal the Vault’s after every block, over random changes and reorganisations`, async function () {
    this.timeout(msOf(quotes))
    const random = randomBits(20210420)
    const { anySwap } = drawing(all, tokens.WETH.address, random)
    const { hold, counted } = heldAgainst(async (quote, what) => expect(await balancer.own(quote), what).to.equal(quote.amountRaw))
    await walkInMemory(
      {
        chain: balancer.fixture.chain,
        amm: acts.amm,
        rpc: rpcTo(balancer.fixture.devnet.rpcUrl),
        happen: () => acts.block(Array.from({ length: 1 + random.below(4) }, () => anything(acts, random))),
        anySwap: () => anySwap(3),
        hold,
      },
      random,
      quotes,
      quotesEach,
    )
    expect(counted.given, 'quotes').to.be.above(quotes / 2)
  })
})

function anything(acts: Acts, random: Random): Act {
  const { below, bits } = random
  const [pool, part, into] = [below(acts.count), 5n + bits(24), below(3)]
  const choices: readonly (() => Act)[] = [
    () => acts.swap(pool, part, into, 0),
    () => acts.swap(pool, part, into, 1),
    () => acts.swap(pool, part, into, 0),
    () => acts.batch(),
    () => acts.join(pool, part),
    () => acts.joinOne(pool, part),
    () => acts.exit(pool, part + 20n),
    () => acts.exitOne(pool, part + 20n),
    () => acts.exitExact(pool, part + 20n),
    () => acts.fee(pool, `0.0${below(9)}${1 + below(99)}`),
    () => acts.pause(below(4) === 0 ? 'vault' : pool, below(3) === 0),
    () => acts.pause(below(4) === 0 ? 'vault' : pool, false),
    () => acts.protocolFee(`0.${1 + below(49)}`),
    () => acts.manage(below(3), below(2), bits(31)),
  ]
  return (choices[below(choices.length)] ?? acts.batch)()
}
