import { expect } from 'chai'
import type { DammPool, DammState } from '../../../../kits/solana/amm/damm/accounts.ts'
import { quoteDamm } from '../../../../kits/solana/amm/damm/quote.ts'
import { maxU64, type Clock, type Swap } from '../../../../kits/solana/amm/swap-quote.ts'
import type { MintTerms } from '../../../../kits/solana/mint-extensions.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { askOracle, hasOracle, oraclesInstall } from '../../../oracles.ts'
import type { RandomBits } from '../../../../tools/solana-node/walk/walk.ts'

const quotes = Number(process.env['SLUICE_WALK_QUOTES'] ?? 2_000)
const seed = Number(process.env['SLUICE_WALK_SEED'] ?? 1)
/** Some amounts keep a package busy for ever: then the test says so, and does not wait. */
const judgeMs = 120_000

const clock: Clock = { slot: 350_000_000n, epoch: 800n, unixTime: 1_790_000_000n }
const free: MintTerms = { decimals: 6, program: 'Token', transferFee: null }
const noAddress = '11111111111111111111111111111111'
const modes = ['both', 'only-second', 'compounding'] as const

function anyPool({ below, bits }: RandomBits): DammPool {
  const now = (((1n << 64n) >> 20n) << BigInt(below(41))) + bits(40)
  const range = BigInt(1 + below(50))
  return {
    mints: [noAddress, noAddress],
    vaults: [noAddress, noAddress],
    programs: [noAddress, noAddress],
    isEnabled: true,
    activation: { point: clock.unixTime - bits(14), by: 'time' },
    feeMode: modes[below(3)]!,
    schedule: {
      cliff: 100_000_000n + bits(28),
      kind: below(2) === 0 ? 'linear' : 'exponential',
      periods: below(400),
      periodLength: bits(8),
      reduction: BigInt(below(2_000)),
    },
    ...(below(2) === 0 && { dynamicFee: { volatility: bits(24), binStep: BigInt(1 + below(400)), control: bits(24) } }),
    protocolFeePercent: BigInt(below(51)),
    compoundingBasisPoints: BigInt(below(10_001)),
    maxFee: below(2) === 0 ? 500_000_000n : 990_000_000n,
    liquidity: bits(110) + (1n << 66n),
    sqrtPrices: { min: now - now / (range + 1n), max: now + now / range, now },
    amountsRaw: [bits(60) + 1n, bits(60) + 1n],
    owedRaw: [0n, 0n],
  }
}

/** As the package's decoder has it: the base fee in bytes, as in the account. */
function forJudge(pool: DammPool): unknown {
  const schedule = pool.schedule!
  const baseFee = Buffer.alloc(32)
  baseFee.writeBigUInt64LE(schedule.cliff, 0)
  baseFee.writeUInt8(schedule.kind === 'linear' ? 0 : 1, 8)
  baseFee.writeUInt16LE(schedule.periods, 14)
  baseFee.writeBigUInt64LE(schedule.periodLength, 16)
  baseFee.writeBigUInt64LE(schedule.reduction, 24)
  const texts = JSON.stringify(pool, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  return {
    ...(JSON.parse(texts) as object),
    baseFee: [...baseFee],
    protocolFeePercent: Number(pool.protocolFeePercent),
    compoundingBasisPoints: Number(pool.compoundingBasisPoints),
    activationPoint: String(pool.activation.point),
    feeMode: modes.indexOf(pool.feeMode),
    feeVersion: pool.maxFee === 500_000_000n ? 0 : 1,
  }
}

interface JudgeQuote {
  inRaw: string
  outRaw: string
  protocol: string
}

describe(`${quotes} quotes of DAMM v2 (SLUICE_WALK_QUOTES) beside Meteora's own package, seed ${seed} (SLUICE_WALK_SEED)`, () => {
  it('are the same, to the unit', async function () {
    if (!hasOracle('@meteora-ag/cp-amm-sdk')) {
      console.log(`      @meteora-ag/cp-amm-sdk is not installed: ${oraclesInstall}`)
      this.skip()
    }
    this.timeout(judgeMs * 2)
    const random = randomBits(seed)
    const { below, bits } = random
    const cases = Array.from({ length: quotes }, () => {
      const amountRaw = bits(below(64)) + 1n
      const swap: Swap = { pays: below(2) as 0 | 1, exact: below(2) === 0 ? 'in' : 'out', amountRaw }
      return { state: { pool: anyPool(random), mints: [free, free] } satisfies DammState, swap }
    })
    const message = cases.map(({ state, swap }) => ({
      pool: forJudge(state.pool),
      point: String(clock.unixTime),
      swap: { ...swap, amountRaw: String(swap.amountRaw) },
    }))
    const answers = await askOracle<readonly (JudgeQuote | null)[]>('damm-quotes.mjs', message, judgeMs)
    let both = 0
    for (const [index, { state, swap }] of cases.entries()) {
      const [ours, theirs] = [quoteDamm(state, clock, swap), answers[index]!]
      const what = `case ${index} of seed ${seed}: ${swap.amountRaw} ${swap.exact}, pays ${swap.pays}`
      // The package has no bounds of 64 bits, and quotes an output of nothing.
      const isBeyond = theirs && [theirs.inRaw, theirs.outRaw].some((each) => BigInt(each) > maxU64 || BigInt(each) === 0n)
      if ('refused' in ours) expect(theirs === null || isBeyond, `${what}: ${ours.refused}`).to.equal(true)
      else expect(theirs, what).to.deep.equal({ inRaw: `${ours.inRaw}`, outRaw: `${ours.outRaw}`, protocol: `${ours.protocolFeeRaw}` })
      both += 'refused' in ours ? 0 : 1
    }
    expect(both).to.be.above(quotes / 10)
  })
})
