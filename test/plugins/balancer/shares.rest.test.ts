import { expect } from 'chai'
import { SluiceError, type SharesPosition, type Token } from '../../../core/contracts/index.ts'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { at, tokens } from '../../kits/amm/devnet-fixture.ts'
import { randomBits } from '../../../testkit/random-bits.ts'
import { openBalancer } from './balancer-fixture.ts'
import { vaultActs, type Act } from './vault-acts.ts'

const { WETH, USDC, WBTC, DAI, USDT } = tokens
const owner = deployerAddress('balancer')
const ETH: Token = { symbol: 'ETH', address: '0x0000000000000000000000000000000000000000', decimals: 18, native: true }
/** The pools of devnet.ts: of the first version, of the first with an oracle, and two of the third. */
const pools = [
  [WETH, USDC, WBTC],
  [WETH, DAI],
  [USDC, DAI],
  [WETH, USDT],
] as const
const roundsOfWalk = 12

describe('shares of weighted pools', function () {
  this.timeout(300_000)
  let balancer: Awaited<ReturnType<typeof openBalancer>>
  let acts: Awaited<ReturnType<typeof vaultActs>>
  let call: ReturnType<typeof rpcTo>
  before(async () => {
    balancer = await openBalancer()
    call = rpcTo(balancer.fixture.devnet.rpcUrl)
    await call('anvil_setBalance', owner, `0x${(10n ** 24n).toString(16)}`)
    await call('anvil_impersonateAccount', owner)
    await call('eth_sendTransaction', { from: owner, to: WETH.address, data: '0xd0e30db0', value: `0x${(10n ** 22n).toString(16)}` })
    acts = await vaultActs(balancer)
    await acts.block([])
  })
  after(() => balancer.fixture.close())

  const terms = (native = false) => ({ owner, deadline: 0, native })
  const position = async (wanted: readonly Token[]): Promise<SharesPosition> => {
    const { positions } = await balancer.AMM_SHARES.sharePositions(wanted, owner, at())
    expect(positions).to.have.length(1)
    return positions[0] as SharesPosition
  }
  /** Whether the Vault carries out a plan's call. */
  const isTaken = async ({ steps: [step] }: ReturnType<typeof balancer.AMM_SHARES.addShares>): Promise<boolean> =>
    call('eth_call', { from: owner, to: step?.to, data: step?.data, value: `0x${BigInt(step?.value ?? 0).toString(16)}` }, 'latest').then(
      () => true,
      () => false,
    )
  /** The pool must give these shares for the deposit, and not a unit more. @returns them; undefined where it is refused */
  async function expectExactDeposit(index: number, maxRaw: readonly (bigint | undefined)[]): Promise<bigint | undefined> {
    const { AMM_SHARES: shares } = balancer
    const { pool } = await position(pools[index] ?? [])
    const found = await Promise.resolve(shares.depositFor({ pool, tokens: pools[index] ?? [], maxRaw }, at())).catch((error: unknown) => {
      if (error instanceof SluiceError && error.name === 'PRICE_FAILED') return undefined
      throw error
    })
    if (!found) return undefined
    const takes = (minSharesRaw: bigint) => isTaken(shares.addShares({ pool, ...found, minRaw: found.amountsRaw, minSharesRaw }, terms()))
    const said = `pool ${index}: ${maxRaw.join(' ')} → ${found.amountsRaw.join(' ')} for ${found.sharesRaw}`
    if (found.sharesRaw > 0n) expect(await takes(found.sharesRaw), said).to.equal(true)
    expect(await takes(found.sharesRaw + 1n), said).to.equal(false)
    return found.sharesRaw
  }
  /** The pool must return these amounts, and of none of its tokens a unit more. */
  async function expectExactReturn(
    index: number,
    { pool }: SharesPosition,
    sharesRaw: bigint,
    amountsRaw: readonly bigint[],
    slackRaw = 0n,
  ) {
    const takes = (minRaw: readonly bigint[]) => isTaken(balancer.AMM_SHARES.removeShares({ pool, sharesRaw, minRaw }, terms()))
    const said = `pool ${index}: ${sharesRaw} shares → ${amountsRaw.join(' ')}`
    expect(await takes(amountsRaw), said).to.equal(true)
    for (const place of amountsRaw.keys())
      expect(await takes(amountsRaw.map((each, at) => (at === place ? each + 1n + slackRaw : each))), said).to.equal(false)
  }

  it('equal the contracts to the unit, for deposits of all kinds and withdrawals, with and without fees of the protocol', async () => {
    const random = randomBits(20210418)
    const counted = { deposits: 0, refused: 0 }
    const anything = (): Act => {
      const [pool, part] = [random.below(4), 40n + random.bits(10)]
      const choices = [
        () => acts.swap(pool, part),
        () => acts.swap(pool, part, 1),
        () => acts.swap(pool, part, 0, 1),
        () => acts.join(pool, part),
        () => acts.exit(pool, part),
        () => acts.exitOne(pool, part + 200n),
        () => acts.fee(pool, '0.0123'),
      ]
      return (choices[random.below(choices.length)] ?? choices[0])?.() ?? acts.swap(pool)
    }
    for (let round = 0; round < roundsOfWalk; round += 1) {
      await acts.block([...(round === 3 ? [acts.protocolFee('0.5')] : []), anything(), anything(), anything(), anything()])
      for (const index of pools.keys()) {
        const now = await position(pools[index] ?? [])
        const { reservesRaw } = now.pool
        const some = (part: bigint) => reservesRaw.map((each) => each / part + random.bits(12))
        const only = (wanted: number) => some(1000n).map((each, place) => (place === wanted ? each : 0n))
        const offers: readonly (readonly (bigint | undefined)[])[] = [
          reservesRaw.map((each, place) => (place === 0 ? each / 777n : undefined)),
          some(900n),
          some(120n),
          only(0),
          only(reservesRaw.length - 1),
          some(500n).map((each, place) => each / BigInt(1 + place * 7)),
          reservesRaw.map(() => 1n),
          reservesRaw.map((each) => each / 10n ** 9n),
        ]
        for (const offer of offers) counted[(await expectExactDeposit(index, offer)) === undefined ? 'refused' : 'deposits'] += 1
        await expectExactReturn(index, now, now.sharesRaw, now.amountsRaw)
        // A part may be a unit less where the protocol's part of a token with few decimals has a fraction of a unit.
        const partRaw = now.sharesRaw / (2n + random.bits(8))
        await expectExactReturn(index, now, partRaw, balancer.AMM_SHARES.returnFor(now.pool, partRaw), index === 0 ? 1n : 0n)
      }
    }
    expect(counted.deposits).to.be.above(4 * 6 * roundsOfWalk - 1)
    expect(counted.refused).to.be.above(0)
  })

  it('have a price of each token in the last one, which small swaps approach', async () => {
    const { pool } = await position([WETH, DAI])
    const price = pool.prices[pool.tokens.indexOf(WETH.address)]
    const last = pool.prices[pool.tokens.indexOf(DAI.address)]
    const ratio =
      Number(((price?.numerator ?? 0n) * 10n ** 6n * (last?.denominator ?? 1n)) / ((price?.denominator ?? 1n) * (last?.numerator ?? 1n))) /
      1e6
    const quote = await balancer.AMM.quote(
      { tokenIn: WETH, tokenOut: DAI, exact: 'in', amountRaw: 10n ** 14n },
      { pool: pool.address },
      at(),
    )
    expect(Number(quote.amountRaw) / 1e14 / ratio).to.be.within(0.95, 1)
  })

  it('take the coin of the chain in place of its wrapped form', async () => {
    const { AMM_SHARES: shares } = balancer
    const { pool } = await position([ETH, USDT])
    const found = await shares.depositFor(
      { pool, tokens: pool.tokens.map((each) => (each === WETH.address ? ETH : USDT)), maxRaw: [10n ** 9n, 10n ** 9n] },
      at(),
    )
    const plan = shares.addShares({ pool, ...found, minRaw: found.amountsRaw, minSharesRaw: found.sharesRaw }, terms(true))
    expect(plan.steps[0]?.value).to.equal(String(found.amountsRaw[pool.tokens.indexOf(WETH.address)]))
    expect(plan.deadline).to.equal(undefined)
    expect(await isTaken(plan)).to.equal(true)
    expect(plan.needs.some((need) => need.is !== 'balance' && need.token === WETH.address)).to.equal(false)
  })

  it('exist for no other tokens than a pool has', async () => {
    for (const wanted of [
      [WETH, USDC],
      [WETH, WETH],
      [WETH, USDC, WBTC, DAI],
      [ETH, WETH],
    ])
      expect(
        (await balancer.AMM_SHARES.sharePositions(wanted, owner, at())).positions,
        wanted.map(({ symbol }) => symbol).join(' '),
      ).to.have.length(0)
  })

  it('cannot be had of a paused pool, which still returns what they are worth', async () => {
    for (const index of [0, 2]) {
      await acts.block([acts.swap(index, 50n)])
      await acts.block([acts.pause(index, true)])
      const now = await position(pools[index] ?? [])
      const offer = { pool: now.pool, tokens: pools[index] ?? [], maxRaw: now.pool.reservesRaw.map((each) => each / 100n) }
      const refusal = await Promise.resolve(balancer.AMM_SHARES.depositFor(offer, at())).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(refusal).to.be.instanceOf(SluiceError).and.include({ name: 'PRICE_FAILED' })
      expect(String(refusal)).to.match(/is paused/)
      if (index === 0) await expectExactReturn(index, now, now.sharesRaw, now.amountsRaw)
      await acts.block([acts.pause(index, false)])
    }
  })
})
