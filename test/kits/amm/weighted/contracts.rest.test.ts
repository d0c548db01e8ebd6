import { expect } from 'chai'
import { amountIn, amountOut, maxBalanceRaw, type Holding } from '../../../../kits/amm/weighted/pools.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { realPools, type SwapQuery, type PoolSpec } from './real-pools.ts'

const eight = ['0.31', '0.27', '0.170000000000000001', '0.109999999999999999', '0.07', '0.04', '0.02', '0.01']
const wanted: readonly PoolSpec[] = [
  { kind: 'WeightedPool', swapFee: '0.003', weights: ['0.5', '0.5'], decimals: [18, 6] },
  { kind: 'WeightedPool', swapFee: '0.000001', weights: ['0.8', '0.2'], decimals: [18, 18] },
  { kind: 'WeightedPool', swapFee: '0.1', weights: ['0.99', '0.01'], decimals: [8, 6] },
  { kind: 'WeightedPool', swapFee: '0.0025', weights: eight, decimals: [18, 0, 2, 6, 8, 12, 17, 18] },
  { kind: 'WeightedPool2Tokens', swapFee: '0.01', weights: ['0.8', '0.2'], decimals: [18, 18] },
  { kind: 'WeightedPool2Tokens', swapFee: '0.0123456789', weights: ['0.333333333333333333', '0.666666666666666667'], decimals: [6, 8] },
  { kind: 'WeightedPoolV3', swapFee: '0.003', weights: ['0.5', '0.5'], decimals: [6, 18] },
  { kind: 'WeightedPoolV3', swapFee: '0.000001', weights: ['0.8', '0.2'], decimals: [18, 8] },
  { kind: 'WeightedPoolV3', swapFee: '0.1', weights: ['0.97', '0.01', '0.01', '0.01'], decimals: [18, 18, 6, 0] },
  { kind: 'WeightedPoolV3', swapFee: '0.002', weights: ['0.4', '0.2', '0.1', '0.3'], decimals: [18, 6, 8, 18] },
  { kind: 'WeightedPoolV3', swapFee: '0.0007', weights: eight, decimals: [6, 18, 8, 18, 2, 18, 0, 6] },
]
const swapsOfEach = 1000
const mostRatio = [3n, 10n] as const

describe('the mathematics of weighted pools', function () {
  this.timeout(400_000)
  let real: Awaited<ReturnType<typeof realPools>>
  let pools: Awaited<ReturnType<typeof real.deploy>>[]
  before(async () => {
    real = await realPools()
    pools = []
    for (const each of wanted) pools.push(await real.deploy(each))
    await real.takeThePlaceOfTheVault()
  })
  after(() => real.stop())

  for (const [index, { kind, weights, swapFee, decimals }] of wanted.entries()) {
    it(`equals a ${kind} of ${weights.join(' ')} with ${decimals.join(' ')} decimals and a fee of ${swapFee}`, async () => {
      const pool = pools[index]
      if (!pool) throw new Error('It was not deployed.')
      const state = { holdings: [], swapFee: pool.swapFee, squares: kind === 'WeightedPoolV3' }
      const asked = [...edges(weights.length), ...swaps(weights.length, index)]
      const theirs = await real.ask(pool, asked)
      let taken = 0
      for (const [place, each] of asked.entries()) {
        const holding = (token: number, balanceRaw: bigint): Holding => ({
          balanceRaw,
          weight: pool.weights[token] ?? 0n,
          scale: 10n ** BigInt(18 - (pool.decimals[token] ?? 0)),
        })
        const along = { into: holding(each.into, each.balanceInRaw), outOf: holding(each.outOf, each.balanceOutRaw) }
        const ours = (each.exact === 'in' ? amountOut : amountIn)(along, state, each.amountRaw)
        const theirsRaw = asTheVaultTakesIt(each, theirs[place])
        if (ours !== theirsRaw) expect.fail(`${describeAsked(each)}: ${ours}, and the contract says ${theirsRaw}`)
        if (ours !== undefined) taken += 1
      }
      expect(taken, 'swaps that the pool takes').to.be.above(asked.length / 3)
    })
  }
})

/** The Vault refuses balances above 112 bits. */
function asTheVaultTakesIt({ exact, amountRaw, balanceInRaw }: SwapQuery, otherRaw: bigint | undefined): bigint | undefined {
  const intoRaw = exact === 'in' ? amountRaw : otherRaw
  return intoRaw === undefined || balanceInRaw + intoRaw > maxBalanceRaw ? undefined : otherRaw
}

function swaps(tokens: number, seed: number): readonly SwapQuery[] {
  const { bits, below } = randomBits(seed + 1)
  return Array.from({ length: swapsOfEach }, (_, count) => {
    const into = below(tokens)
    const [balanceInRaw, balanceOutRaw] = [1n + bits(112 - 1), 1n + bits(112 - 1)]
    const exact = count % 2 === 0 ? 'in' : 'out'
    const limited = exact === 'in' ? balanceInRaw : balanceOutRaw
    // Most of them below the limit of 30 %, of all magnitudes; some near it.
    const maxRaw = (limited * mostRatio[0]) / mostRatio[1]
    const amountRaw = below(8) === 0 ? maxRaw - 2n + BigInt(below(5)) : 1n + (maxRaw * bits(64)) / 2n ** 64n
    return {
      exact,
      amountRaw: amountRaw > 0n ? amountRaw : 1n,
      into,
      outOf: (into + 1 + below(tokens - 1)) % tokens,
      balanceInRaw,
      balanceOutRaw,
    }
  })
}

/** Both directions, with the least and the largest balances, whole multiples, and amounts near the limits. */
function edges(tokens: number): readonly SwapQuery[] {
  const balances = [1n, 10n ** 6n, 10n ** 18n, 10n ** 24n, maxBalanceRaw]
  const last = tokens - 1
  const directions = [[0, last] as const, [last, 0] as const]
  return directions.flatMap(([into, outOf]) =>
    balances.flatMap((balanceInRaw) =>
      balances.flatMap((balanceOutRaw) =>
        (['in', 'out'] as const).flatMap((exact) => {
          const limited = exact === 'in' ? balanceInRaw : balanceOutRaw
          const maxRaw = (limited * 3n) / 10n
          const amounts = [1n, 2n, limited / 1_000_000n, limited / 11n, limited / 9n, limited / 5n, maxRaw, maxRaw + 1n, limited]
          return [...new Set(amounts)]
            .filter((amountRaw) => amountRaw > 0n)
            .map((amountRaw) => ({ exact, amountRaw, into, outOf, balanceInRaw, balanceOutRaw }))
        }),
      ),
    ),
  )
}

const describeAsked = ({ exact, amountRaw, into, outOf, balanceInRaw, balanceOutRaw }: SwapQuery) =>
  `${amountRaw} ${exact} from ${into} to ${outOf}, of ${balanceInRaw} and ${balanceOutRaw}`
