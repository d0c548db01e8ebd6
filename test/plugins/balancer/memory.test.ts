import { expect } from 'chai'
import { SluiceError, type Swap } from '../../../core/contracts/index.ts'
import { keptByLogs } from '../../kits/pools/kept-by-logs.ts'
import { randomBits } from '../../kits/uniswap-v3/math/random-bits.ts'
import { at, tokens } from '../../kits/uniswap-v2/trading-floor.ts'
import { openBalancer } from './floor.ts'
import { managing, vaultActs, type Act } from './vault-acts.ts'

type Random = ReturnType<typeof randomBits>
type Acts = Awaited<ReturnType<typeof vaultActs>>

const all = Object.values(tokens)
const blocksOfWalk = 60
const quotesPerBlock = 6

describe('the pools of Balancer in memory', function () {
  this.timeout(180_000)
  let balancer: Awaited<ReturnType<typeof openBalancer>>
  let acts: Acts
  before(async () => {
    balancer = await openBalancer()
    acts = await vaultActs(balancer)
    await acts.block([acts.protocolFee()])
  })
  after(() => balancer.floor.close())
  beforeEach(() => acts.block([acts.pause('vault', false), ...Array.from({ length: acts.count }, (_, pool) => acts.pause(pool, false))]))

  const kept = () => keptByLogs(balancer.floor, acts.amm, all)

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
    it(`are told by their logs alone, several in a block: ${what}`, async () => {
      const memory = await kept()
      const doing = done()
      await acts.block(doing)
      const { hash = '' } = await memory.follow()
      const statuses = (await balancer.floor.provider.send('eth_getBlockReceipts', [hash])).map(({ status }: { status: string }) => status)
      expect(statuses).to.deep.equal(doing.map(() => '0x1'))
      expect(memory.counted.logs).to.be.above(0)
      expect(memory.counted.reloads).to.equal(0)
    })
  }

  it('are read again once they are not paused any more', async () => {
    await acts.block([acts.pause(0, true)])
    const memory = await kept()
    await acts.block([acts.pause(0, false), acts.swap(0)])
    await memory.follow()
    expect(memory.counted.reloads).to.equal(1)
  })

  it('are not moved by what others log in the words of the Vault and its pools', async () => {
    const memory = await kept()
    await acts.block([acts.swap(0), acts.protocolFee('0.25')])
    const { number } = await balancer.floor.chain.head(at())
    const logs = await balancer.floor.provider.getLogs({ fromBlock: number, toBlock: number })
    const [{ followed } = { followed: undefined }] = acts.amm.followed?.basis({ tokenIn: tokens.WETH, tokenOut: tokens.USDC }, {}) ?? []
    const about = (other: string | undefined) =>
      logs.flatMap(
        ({ address, topics, data, transactionHash, blockNumber }) =>
          followed?.keysOf({ address: other ?? address, topics, data, transactionHash, blockNumber }) ?? [],
      )
    expect(about(undefined).filter((key) => memory.states.has(key))).to.have.length(1)
    expect(about(tokens.WETH.address).filter((key) => memory.states.has(key))).to.deep.equal([])
  })

  it('are what is read after every block, and quote what the Vault says, whatever is done to them', async () => {
    const random = randomBits(20210420)
    const memory = await kept()
    let quotes = 0
    for (let block = 0; block < blocksOfWalk; block += 1) {
      await acts.block(Array.from({ length: 1 + random.below(4) }, () => anything(acts, random)))
      await memory.follow()
      for (let count = 0; count < quotesPerBlock; count += 1) {
        const quote = quoted(() => memory.quote(swapOf(random)))
        if (!quote) continue
        expect(await balancer.own(quote)).to.equal(quote.amountRaw)
        quotes += 1
      }
    }
    expect(memory.counted.logs, 'logs').to.be.above(blocksOfWalk)
    expect(memory.counted.reloads, 'reloads').to.be.below(memory.counted.logs / 2)
    expect(quotes, 'quotes').to.be.above((blocksOfWalk * quotesPerBlock) / 2)
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

function quoted<T>(quote: () => T): T | undefined {
  try {
    return quote()
  } catch (error) {
    if (error instanceof SluiceError && ['PRICE_FAILED', 'PAIR_NOT_FOUND'].includes(error.name)) return undefined
    throw error
  }
}

function swapOf({ below, bits }: Random): Swap {
  const into = below(all.length)
  const [tokenIn, tokenOut] = [all[into], all[(into + 1 + below(all.length - 1)) % all.length]]
  if (!tokenIn || !tokenOut) throw new Error('There are tokens.')
  const exact = below(2) === 0 ? 'in' : 'out'
  return { tokenIn, tokenOut, exact, amountRaw: 1n + bits(Math.ceil((exact === 'in' ? tokenIn : tokenOut).decimals * 3.32) + 3) }
}
