import { expect } from 'chai'
import type { Head, Swap, Token } from '../../../../core/contracts/index.ts'
import type { EvmReader } from '../../../../kits/evm/index.ts'
import { feeOnTransferCheck } from '../../../../kits/amm/fee-on-transfer.ts'
import { followedPricing, routerChecks } from '../../../../kits/amm/pool-amm.ts'
import type { PoolProtocol } from '../../../../kits/amm/index.ts'
import { poolKinds, type StablePool, stableProtocol } from '../../../../kits/amm/stable/pools.ts'
import { type Ramp, precision, stablePoolState, type StablePoolState } from '../../../../kits/amm/stable/math.ts'

const tokenOf = (end: string): Token => ({ symbol: end, address: `0x${end.padStart(40, '0')}`, decimals: 18 })
const [a, b, wrapped] = [tokenOf('1'), tokenOf('2'), tokenOf('3')]
const swap: Swap = { tokenIn: a, tokenOut: b, exact: 'in', amountRaw: 10n ** 21n }
const pool: StablePool = { address: tokenOf('9').address, kind: 'template', coins: [a, b] }
const headAt = (timestamp: number): Head => ({ number: BigInt(timestamp), timestamp })

/** Counts how often pools are asked for a quote. */
function pricingOf(ramp: Ramp) {
  const protocol = stableProtocol('stable', [pool])
  const counted = { passes: 0 }
  const counting: PoolProtocol<StablePoolState> = {
    ...protocol,
    pass(...asked) {
      counted.passes += 1
      return protocol.pass(...asked)
    },
  }
  const unasked = () => Promise.reject(new Error('Nothing is asked of the chain.'))
  const reader: EvmReader = {
    chainId: 1,
    nativeCurrency: wrapped,
    wrapped,
    intermediates: [],
    read: unasked,
    call: unasked,
    logs: unasked,
    gasPriceRaw: () => 0n,
  }
  const router = {
    address: tokenOf('8').address,
    name: 'router',
    carries: () => true,
    plan: () => {
      throw new Error('None.')
    },
    fill: () => undefined,
  }
  const exchange = { protocols: [counting], routers: [router] }
  const pricing = followedPricing({
    exchange,
    reader,
    checks: routerChecks(),
    requireExactTransfers: feeOnTransferCheck(reader),
    trusted: new Set(),
  })
  const rates = [precision, precision]
  const terms = { balances: [10n ** 24n, 3n * 10n ** 24n], ramp, fee: 4_000_000n, adminFee: 0n, rates, rounding: poolKinds.template }
  const state = stablePoolState(terms)
  if (!pricing || !state) throw new Error('The pool is filled, and kept in memory.')
  const states = [{ protocol: counting, pool: { address: pool.address, tokens: [a.address, b.address], state } }]
  return {
    /** The amount, and how often the pool was asked. */
    quote(timestamp: number): { amountRaw: bigint; passes: number } {
      counted.passes = 0
      const quote = pricing.quote(swap, {}, states, headAt(timestamp), 0)
      if ('missing' in quote) throw new Error('Nothing is missing.')
      return { amountRaw: quote.amountRaw, passes: counted.passes }
    },
  }
}

describe('a cached result of pools that change with time', () => {
  const atRest: Ramp = { initial: 5_000n, future: 20_000n, initialTime: 100n, futureTime: 200n }

  it('lasts from block to block while the amplification does not move', () => {
    const { quote } = pricingOf(atRest)
    const first = quote(200)
    expect(first.passes).to.be.above(0)
    expect(quote(212)).to.deep.equal({ amountRaw: first.amountRaw, passes: 0 })
    expect(quote(5_000)).to.deep.equal({ amountRaw: first.amountRaw, passes: 0 })
  })

  it('gives way to a new one for each time while it moves, and after a reorganisation to such a time', () => {
    const { quote } = pricingOf(atRest)
    const [early, late] = [quote(150), quote(199)]
    expect(late.passes).to.be.above(0)
    // The scarcer coin becomes cheaper.
    expect(late.amountRaw < early.amountRaw).to.equal(true)
    expect(quote(199).passes).to.equal(0)
    const over = quote(200)
    expect(over.amountRaw < late.amountRaw).to.equal(true)
    expect(quote(150)).to.deep.equal(early)
    expect(quote(200)).to.deep.equal(over)
  })
})
