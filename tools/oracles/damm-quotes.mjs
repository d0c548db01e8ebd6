// A worker that quotes pools of DAMM v2 by the exchange's own package, @meteora-ag/cp-amm-sdk (MIT). It is installed here alone:
//   npm ci --prefix tools/oracles
// Nothing of the project imports it: what it brings is large and old. A message is a list of states and swaps, in decimal texts; the answer has
// what each moves, or null where it throws.
import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'

const load = createRequire(import.meta.url)
const { swapQuoteExactInput, swapQuoteExactOutput } = load('@meteora-ag/cp-amm-sdk')
const BN = load('bn.js')

/** The fields that its quotes read. */
const poolOf = (pool) => ({
  poolFees: {
    baseFee: { baseFeeInfo: { data: pool.baseFee } },
    protocolFeePercent: pool.protocolFeePercent,
    referralFeePercent: 0,
    compoundingFeeBps: pool.compoundingBasisPoints,
    dynamicFee: pool.dynamicFee
      ? {
          initialized: 1,
          volatilityAccumulator: new BN(pool.dynamicFee.volatility),
          binStep: Number(pool.dynamicFee.binStep),
          variableFeeControl: Number(pool.dynamicFee.control),
        }
      : { initialized: 0 },
    initSqrtPrice: new BN(pool.sqrtPrices.now),
  },
  liquidity: new BN(pool.liquidity),
  sqrtMinPrice: new BN(pool.sqrtPrices.min),
  sqrtMaxPrice: new BN(pool.sqrtPrices.max),
  sqrtPrice: new BN(pool.sqrtPrices.now),
  activationPoint: new BN(pool.activationPoint),
  poolStatus: 0,
  collectFeeMode: pool.feeMode,
  feeVersion: pool.feeVersion,
  tokenAAmount: new BN(pool.amountsRaw[0]),
  tokenBAmount: new BN(pool.amountsRaw[1]),
})

parentPort?.on('message', (cases) => {
  parentPort?.postMessage(
    cases.map(({ pool, point, swap }) => {
      const quote = swap.exact === 'in' ? swapQuoteExactInput : swapQuoteExactOutput
      try {
        const quoted = quote(poolOf(pool), new BN(point), new BN(swap.amountRaw), 0, swap.pays === 0, false, 6, 6)
        return {
          inRaw: quoted.includedFeeInputAmount.toString(),
          outRaw: quoted.outputAmount.toString(),
          protocol: quoted.protocolFee.toString(),
        }
      } catch {
        return null
      }
    }),
  )
})
