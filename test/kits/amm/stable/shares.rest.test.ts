import { expect } from 'chai'
import { SluiceError, type AMMShares, type SharesPosition } from '../../../../core/contracts/index.ts'
import type { Evm } from '../../../../kits/evm/index.ts'
import { stableSwap, type StablePool } from '../../../../kits/amm/stable/index.ts'
import { sharesMinted } from '../../../../kits/amm/stable/math.ts'
import { routerDeployment } from '../../../../kits/amm/stable/router.ts'
import { rpcTo } from '../../evm/test-chain.ts'
import { at, tokens } from '../devnet-fixture.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { poolActs, type Act } from './pool-acts.ts'
import { portPool, type LaterKind } from './port-pool.ts'
import { openStableFixture, type StableFixture } from './stable-fixture.ts'

const roundsOfWalk = 15

describe('shares of stable pools', function () {
  this.timeout(300_000)
  let fixture: StableFixture
  let acts: Awaited<ReturnType<typeof poolActs>>
  let call: ReturnType<typeof rpcTo>
  let shares: AMMShares<Evm>
  let listed: readonly StablePool[]
  before(async () => {
    fixture = await openStableFixture()
    call = rpcTo(fixture.devnet.rpcUrl)
    acts = await poolActs(fixture)
    listed = fixture.pools.map((pool, index) => ({ ...pool, shares: { label: `pool${index}`, token: fixture.shareTokens[index] ?? '' } }))
    const venue = fixture.venue({
      routerAddress: routerDeployment.address,
      ...Object.fromEntries(listed.map(({ address }, index) => [`pool${index}Address`, address])),
    })
    shares = stableSwap(venue, { pools: { 'ethereum/local': listed } }).shares
  })
  after(() => fixture.close())

  const coinsOf = (index: number) => (listed[index]?.coins ?? []).map((coin) => ({ symbol: coin.address.slice(0, 6), ...coin }))
  const terms = () => ({ owner: fixture.trader.address, deadline: 0, native: false })
  const position = async (index: number): Promise<SharesPosition> => {
    const { positions } = await shares.sharePositions(coinsOf(index), fixture.trader.address, at())
    expect(positions).to.have.length(1)
    return positions[0] as SharesPosition
  }
  const isTaken = async ({ steps: [step] }: ReturnType<typeof shares.addShares>): Promise<boolean> =>
    call('eth_call', { from: fixture.trader.address, to: step?.to, data: step?.data }, 'latest').then(
      () => true,
      () => false,
    )
  /** The pool must give these shares for the deposit, and not a unit more. @returns whether it takes it */
  async function expectExactDeposit(index: number, maxRaw: readonly (bigint | undefined)[]): Promise<boolean> {
    const { pool } = await position(index)
    const found = await Promise.resolve(shares.depositFor({ pool, tokens: coinsOf(index), maxRaw }, at())).catch((error: unknown) => {
      if (error instanceof SluiceError && error.name === 'PRICE_FAILED') return undefined
      throw error
    })
    if (!found) return false
    const takes = (minSharesRaw: bigint) => isTaken(shares.addShares({ pool, ...found, minRaw: found.amountsRaw, minSharesRaw }, terms()))
    const said = `pool ${index}: ${maxRaw.join(' ')} → ${found.amountsRaw.join(' ')} for ${found.sharesRaw}`
    if (found.sharesRaw > 0n) expect(await takes(found.sharesRaw), said).to.equal(true)
    expect(await takes(found.sharesRaw + 1n), said).to.equal(false)
    return found.sharesRaw > 0n
  }
  async function expectExactReturn(index: number, { pool }: SharesPosition, sharesRaw: bigint): Promise<void> {
    const amountsRaw = shares.returnFor(pool, sharesRaw)
    const takes = (minRaw: readonly bigint[]) => isTaken(shares.removeShares({ pool, sharesRaw, minRaw }, terms()))
    const said = `pool ${index}: ${sharesRaw} shares → ${amountsRaw.join(' ')}`
    expect(await takes(amountsRaw), said).to.equal(true)
    for (const place of amountsRaw.keys())
      expect(await takes(amountsRaw.map((each, at) => (at === place ? each + 1n : each))), said).to.equal(false)
  }
  const offersFor = ({ pool: { reservesRaw } }: SharesPosition, { bits }: ReturnType<typeof randomBits>) => {
    const some = (part: bigint) => reservesRaw.map((each) => each / part + bits(10))
    const only = (wanted: number) => some(100n).map((each, place) => (place === wanted ? each : 0n))
    return [
      reservesRaw.map((each, place) => (place === 0 ? each / 777n : undefined)),
      some(900n),
      some(7n),
      ...reservesRaw.map((_, place) => only(place)),
      some(50n).map((each, place) => each / BigInt(1 + place * 7)),
      reservesRaw.map(() => 1n),
      reservesRaw.map((_, place) => (place === 1 ? 1n : 0n)),
      reservesRaw.map((each) => each / 10n ** 6n),
    ]
  }

  it('equal Curve’s contract to the unit, for deposits of all kinds and withdrawals, whatever fees are', async () => {
    const random = randomBits(20200101)
    const { below, bits } = random
    let taken = 0
    for (let round = 0; round < roundsOfWalk; round += 1) {
      const anything = (): Act => {
        const [pool, from, part] = [below(2), below(4), 20n + bits(8)]
        const choices = [
          () => acts.swap(pool, from, (from + 1 + below(3)) % 4, part),
          () => acts.add(pool, [from], part),
          () => acts.remove(pool, part),
          () => acts.removeSome(pool, [from], part),
          () => acts.takeFees(pool),
        ]
        return (choices[below(choices.length)] ?? choices[0])?.() ?? acts.takeFees(pool)
      }
      if (round === 4) {
        await acts.block([acts.commit(0, 900n, 30_000_000n, 5_000_000_000n), acts.commit(1, 20n, 0n, 0n), acts.wait()])
        await acts.block([acts.change(0), acts.change(1)])
      }
      await acts.block([anything(), anything(), anything(), anything()])
      for (const index of listed.keys()) {
        const now = await position(index)
        for (const offer of offersFor(now, random)) taken += (await expectExactDeposit(index, offer)) ? 1 : 0
        expect(now.amountsRaw).to.deep.equal(shares.returnFor(now.pool, now.sharesRaw))
        await expectExactReturn(index, now, now.sharesRaw)
        await expectExactReturn(index, now, now.sharesRaw / (2n + bits(12)))
      }
    }
    expect(taken).to.be.above(2 * 9 * roundsOfWalk)
  })

  it('appear for a pool that all of them left, and come out of a first deposit of each of its coins', async () => {
    const index = 1
    const { sharesRaw, pool } = await position(index)
    await acts.block([acts.removeShares(index, sharesRaw)])
    const { pool: empty } = await position(index)
    expect([empty.totalSharesRaw, empty.prices.length]).to.deep.equal([0n, 0])
    expect(
      await expectExactDeposit(
        index,
        pool.reservesRaw.map((each) => each / 90n + 3n),
      ),
    ).to.equal(true)
    expect(
      await expectExactDeposit(
        index,
        pool.reservesRaw.map((each, place) => (place === 2 ? 0n : each / 90n)),
      ),
    ).to.equal(false)
    // So few shares that rounding would cost much.
    expect(await expectExactDeposit(index, [1n, 1n, 1n, 1n])).to.equal(true)
  })

  it('refuse the coin of the chain as payment, and come to none for other tokens than a pool has', async () => {
    const { symbol, address } = fixture.venue({}).nativeCurrency
    const withCoin = [{ symbol, address, decimals: 18, native: true as const }, ...coinsOf(1).slice(1)]
    const refusal = await shares.sharePositions(withCoin, fixture.trader.address, at()).catch((error: unknown) => error)
    expect(refusal).to.be.instanceOf(SluiceError).and.include({ name: 'INCOMPLETE_PARAMS' })
    expect((await shares.sharePositions([tokens.DAI, tokens.USDC], fixture.trader.address, at())).positions).to.have.length(0)
  })

  it('need the pool’s address in the configuration, and the same one', () => {
    const made = (contracts: Readonly<Record<string, string>>) => () =>
      stableSwap(fixture.venue({ routerAddress: routerDeployment.address, ...contracts }), {
        pools: { 'ethereum/local': listed.slice(0, 1) },
      })
    expect(made({})).to.throw('has no pool0Address')
    expect(made({ pool0Address: routerDeployment.address })).to.throw('pool0Address is')
  })
})

describe('shares of stable pools of later versions', function () {
  this.timeout(300_000)
  let port: Awaited<ReturnType<typeof portPool>>
  afterEach(() => port.close())

  for (const kind of ['second', 'template'] as const satisfies readonly LaterKind[])
    it(`equal another exchange’s port of them to the unit: ${kind}`, async () => {
      port = await portPool(kind)
      const { below, bits } = randomBits(kind === 'second' ? 1 : 2)
      let taken = 0
      for (let round = 0; round < 20; round += 1) {
        const [from, part] = [below(3), 20n + bits(8)]
        const { block } = await port.block([
          port.swap(from, (from + 1) % 3, part),
          port.add([below(3)], part),
          ...(round === 5 ? [port.fee(50_000_000n)] : []),
        ])
        const { balances, ...state } = (await port.read(block.number)).state
        const some = (each: bigint) => balances.map((held) => held / each + bits(10))
        for (const amounts of [
          some(800n),
          some(9n),
          some(60n).map((each, place) => (place === from ? each : 0n)),
          some(70n).map((each, place) => each / BigInt(1 + 9 * place)),
          balances.map(() => 1n),
        ]) {
          const theirs = await port.minted(amounts, block.number)
          const ours = sharesMinted({ ...state, balances }, block.timestamp, amounts, await port.supply(block.number))
          expect(ours, `${amounts.join(' ')} to ${balances.join(' ')}`).to.equal(theirs)
          taken += theirs === undefined ? 0 : 1
        }
      }
      expect(taken).to.be.above(60)
    })
})
