import { expect } from 'chai'
import { Contract } from 'ethers'
import type { RangeAmounts } from '../../../../../core/contracts/index.ts'
import type { TickPool } from '../../../../../kits/amm/v3/range-prices.ts'
import { at, tokens } from '../../devnet-fixture.ts'
import { openRangeFixture, type RangeFixture } from './range-fixture.ts'

const { WETH, DAI } = tokens
const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const rounds = Number(process.env['SLUICE_TEST_ROUNDS'] ?? 40)

describe('unclaimed fees', () => {
  let fixture: RangeFixture

  before(async function () {
    // The devnet is built first.
    this.timeout(400_000)
    fixture = await openRangeFixture()
  })
  after(() => fixture.close())

  it('equal a static call of collect, over random swaps through ranges above, below and around the price', async () => {
    const random = randomFrom(20_261_120)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] ?? fail()
    let pool = await fixture.pool(WETH, DAI, 3000)
    const start = pool.sqrtPriceX96
    await takeProtocolFee(pool)
    const between: readonly (readonly [number, number])[] = [
      [-5, 5],
      [-1, 1],
      [3, 8],
      [-8, -3],
      [-60, 60],
    ]
    const owners = new Map<string, string>()
    const mint = async () => {
      pool = await fixture.pool(WETH, DAI, 3000)
      // Odd amounts and several positions in one range: the pool rounds for all of them together.
      const most = { amount0Raw: 10n ** 18n + BigInt(Math.floor(random() * 1e9)), amount1Raw: 3000n * 10n ** 18n + 1n }
      const owner = pick([fixture.owner, other])
      const range = fixture.about({ ...pool, tick: origin }, ...pick(between))
      if (fixture.range.deposit(pool, range, most).liquidity > 0n) owners.set(await fixture.minted(pool, range, most, { owner }), owner)
    }
    const origin = pool.tick
    for (let count = 0; count < 8; count += 1) await mint()

    let seen = 0n
    for (let round = 0; round < rounds; round += 1) {
      const amountRaw = BigInt(Math.floor((1 + random() * 20) * 1e15)) * 10n ** BigInt(Math.floor(random() * 6))
      const now = (await fixture.pool(WETH, DAI, 3000)).sqrtPriceX96
      const [tokenIn, tokenOut] = now > (start * 11n) / 10n || (now > (start * 9n) / 10n && random() < 0.5) ? down(pool) : up(pool)
      await fixture.swap(tokenIn, tokenOut, 3000, tokenIn === DAI ? amountRaw * 3n : amountRaw / 1000n + 1n)
      if (random() < 0.2) await mint()
      const touched = pick([...owners].filter(([, owner]) => owner === fixture.owner))
      if (touched && random() < 0.3) await touch(touched[0])
      for (const [tokenId, owner] of owners) {
        const { unclaimed } = await fixture.position(tokenId)
        expect(unclaimed, `position ${tokenId} after round ${round}`).to.deep.equal(await fixture.collectable(tokenId, owner))
        seen += unclaimed.amount0Raw + unclaimed.amount1Raw
      }
    }
    expect(seen > 0n).to.equal(true)

    async function touch(tokenId: string): Promise<void> {
      const position = await fixture.position(tokenId)
      const most: RangeAmounts = { amount0Raw: 10n ** 17n, amount1Raw: 10n ** 20n }
      const plan =
        random() < 0.5
          ? fixture.range.remove(position, { liquidity: position.liquidity / 7n, burn: false }, fixture.terms())
          : fixture.range.add({ pool: position.pool, range: position, most, tokenId }, fixture.terms())
      const fill = fixture.range.rangeFill(await fixture.succeed(plan), plan.memo)
      expect(fill?.tokenId).to.equal(tokenId)
    }
  }).timeout(300_000)

  it('equal the pool’s where it rounded off more than the position manager', async () => {
    const pool = await fixture.pool(WETH, DAI, 3000)
    const range = fixture.about(pool, -7, 7)
    // A tiny position beside a large one is changed each time: then the pool counts, and rounds off what the large one earned.
    const most = { amount0Raw: 10_000n, amount1Raw: 10_000n }
    const ids = [
      await fixture.minted(pool, range, { amount0Raw: 10n ** 17n, amount1Raw: 10n ** 20n }),
      await fixture.minted(pool, range, most),
    ]
    let less = 0n
    for (let round = 0; round < 12; round += 1) {
      await fixture.swap(...down(pool), 3000, 10n ** 18n)
      await fixture.swap(...up(pool), 3000, 10n ** 18n)
      const second = await fixture.position(ids[1] ?? '')
      const plan = fixture.range.add({ pool: second.pool, range: second, most, tokenId: second.tokenId }, fixture.terms())
      await fixture.succeed(plan)
    }
    for (const tokenId of ids) {
      const { unclaimed, ...position } = await fixture.position(tokenId)
      expect(unclaimed).to.deep.equal(await fixture.collectable(tokenId))
      const plan = fixture.range.remove({ ...position, unclaimed }, { liquidity: position.liquidity, burn: true }, fixture.terms())
      const receipt = await fixture.succeed(plan)
      const fill = fixture.range.rangeFill(receipt, plan.memo)
      expect(fill).to.deep.include({
        amount0Raw: position.amounts.amount0Raw + unclaimed.amount0Raw,
        amount1Raw: position.amounts.amount1Raw + unclaimed.amount1Raw,
      })
      less += said(receipt.logs) - (fill?.amount0Raw ?? 0n) - (fill?.amount1Raw ?? 0n)
    }
    // The manager's own log contains more than the pool paid.
    expect(less > 0n).to.equal(true)
    expect((await fixture.range.positions(fixture.owner, at())).positions.some(({ tokenId }) => ids.includes(tokenId))).to.equal(false)
  }).timeout(400_000)

  async function takeProtocolFee({ address }: TickPool): Promise<void> {
    const factory = new Contract(fixture.exchange.factory, ['function owner() view returns (address)'], fixture.provider)
    const owner = String(await factory.getFunction('owner').staticCall())
    await fixture.provider.send('anvil_impersonateAccount', [owner])
    await fixture.provider.send('anvil_setBalance', [owner, '0xde0b6b3a7640000'])
    const signer = await fixture.provider.getSigner(owner)
    const set = new Contract(address, ['function setFeeProtocol(uint8 feeProtocol0, uint8 feeProtocol1)'], signer)
    await fixture.mined((await set.getFunction('setFeeProtocol')(4, 7)).hash)
  }

  const down = (pool: TickPool) => (pool.token0 === WETH.address ? ([WETH, DAI] as const) : ([DAI, WETH] as const))
  const up = (pool: TickPool) => (pool.token0 === WETH.address ? ([DAI, WETH] as const) : ([WETH, DAI] as const))
})

/** The amounts in the manager's log of a collection, both tokens together. */
function said(logs: readonly { topics: readonly string[]; data: string }[]): bigint {
  const [, amount0, amount1] = logs.find(({ topics }) => topics[0] === collect)?.data.match(/[0-9a-f]{64}/g) ?? []
  return BigInt(`0x${amount0 ?? 0}`) + BigInt(`0x${amount1 ?? 0}`)
}
// keccak256 of Collect(uint256,address,uint256,uint256).
const collect = '0x40d0efd1a53d60ecbf40971b9daf7dc90178c3aadc7aab1765632738fa8b8f01'

/** Numbers from 0 to 1, the same in every run: a linear congruential generator. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function fail(): never {
  throw new Error('Nothing to pick from.')
}
