import { expect } from 'chai'
import { Interface, getAddress } from 'ethers'
import type { EvmLog, EvmReceipt } from '../../../../../kits/evm/index.ts'
import { readFill } from '../../../../../kits/amm/v3/router.ts'

const range = new Interface([
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)',
])
const pancake = new Interface([
  'event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1)',
])
const pair = new Interface([
  'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
])
const address = (digit: string) => getAddress(`0x${digit.repeat(40)}`)
const [trader, router, stranger] = [address('1'), address('2'), address('3')]
const [poolA, poolB, poolC] = [address('a'), address('b'), address('c')]
const [tokenA, tokenB, tokenC] = [address('4'), address('5'), address('6')]

const swapA = (to: string, into: bigint, out: bigint, sender = router): EvmLog => ({
  address: poolA,
  ...range.encodeEventLog('Swap', [sender, to, into, -out, 1n, 1n, 0n]),
})
const swapB = (to: string, into: bigint, out: bigint, sender = router): EvmLog => ({
  address: poolB,
  ...range.encodeEventLog('Swap', [sender, to, into, -out, 1n, 1n, 0n]),
})
const swapC = (to: string, into: bigint, out: bigint, sender = router): EvmLog => ({
  address: poolC,
  ...range.encodeEventLog('Swap', [sender, to, into, -out, 1n, 1n, 0n]),
})
const pairC = (to: string, into: bigint, out: bigint): EvmLog => ({
  address: poolC,
  ...pair.encodeEventLog('Swap', [router, into, 0n, 0n, out, to]),
})
const pairA = (to: string, into: bigint, out: bigint): EvmLog => ({
  address: poolA,
  ...pair.encodeEventLog('Swap', [router, into, 0n, 0n, out, to]),
})
const receipt = (...logs: EvmLog[]): EvmReceipt => ({
  status: 1,
  transactionHash: '0x',
  blockNumber: 1,
  blockHash: '0x',
  from: trader,
  to: router,
  gasUsed: '1',
  effectiveGasPrice: '1',
  logs,
})

const hopA = { kind: 'range', pool: poolA, tokenIn: tokenA, tokenOut: tokenB, to: router }
const hopB = { kind: 'range', pool: poolB, tokenIn: tokenB, tokenOut: tokenC, to: trader }
const exactIn = { router, exact: 'in', amountRaw: '100', hops: [hopA, hopB] }
const exactOut = { router, exact: 'out', amountRaw: '80', hops: [{ ...hopA, to: poolB }, hopB] }
const mixed = { ...exactIn, hops: [{ ...hopA, kind: 'constant-product' }, hopB] }
const hopC = { kind: 'range', pool: poolC, tokenIn: tokenA, tokenOut: tokenC, to: trader }
const splitIn = {
  router,
  exact: 'in',
  parts: [
    { amountRaw: '100', hops: [hopA, hopB] },
    { amountRaw: '50', hops: [hopC] },
  ],
}
const splitOut = {
  router,
  exact: 'out',
  parts: [
    { amountRaw: '80', hops: [{ ...hopA, to: poolB }, hopB] },
    { amountRaw: '40', hops: [hopC] },
  ],
}
const pairLast = {
  ...splitIn,
  parts: [
    { amountRaw: '100', hops: [hopA, hopB] },
    { amountRaw: '50', hops: [{ ...hopC, kind: 'constant-product' }] },
  ],
}
const ofBoth = { amountInRaw: 150n, amountOutRaw: 120n }
const expected = { amountInRaw: 100n, amountOutRaw: 80n }

describe('the fill of a swap in pools of concentrated liquidity', () => {
  const [first, second] = [swapA(router, 100n, 90n), swapB(trader, 90n, 80n)]

  it('has what the first pool took and the last pool gave', () => {
    expect(readFill(receipt(first, second), exactIn)).to.deep.equal(expected)
    expect(readFill(receipt(swapA(poolB, 100n, 90n), second), exactOut)).to.deep.equal(expected)
  })

  it('comes out right in either direction of a pool', () => {
    const memo = { ...exactIn, hops: [{ ...hopA, tokenIn: tokenB, tokenOut: tokenA, to: trader }] }
    const log = { address: poolA, ...range.encodeEventLog('Swap', [router, trader, -80n, 100n, 1n, 1n, 0n]) }
    expect(readFill(receipt(log), memo)).to.deep.equal(expected)
  })

  it('has what a pool took, where it could not take everything', () => {
    expect(readFill(receipt(swapA(router, 60n, 55n), swapB(trader, 55n, 50n)), exactIn)).to.deep.equal({
      amountInRaw: 60n,
      amountOutRaw: 50n,
    })
  })

  it('has the exact input where a constant-product pool comes first, because its log includes what was sent to it before', () => {
    expect(readFill(receipt(pairA(router, 107n, 90n), second), mixed)).to.deep.equal(expected)
  })

  it('comes out right from pools that log their protocol fees too', () => {
    const log = { address: poolB, ...pancake.encodeEventLog('Swap', [router, trader, 90n, -80n, 1n, 1n, 0n, 3n, 0n]) }
    expect(readFill(receipt(first, log), exactIn)).to.deep.equal(expected)
  })

  it('ignores others who pass the same pools in the same transaction', () => {
    const others = [swapA(stranger, 7n, 6n), swapB(trader, 5n, 4n, stranger), swapA(router, 9n, 8n, stranger), swapB(stranger, 3n, 2n)]
    expect(readFill(receipt(...others, first, ...others, second, ...others), exactIn)).to.deep.equal(expected)
  })

  it('ignores a token whose own code trades through the same router while it moves', () => {
    // With an exact input, when the second pool pays out: the first one can be traded with again.
    expect(readFill(receipt(first, swapA(router, 50n, 40n), second), exactIn)).to.deep.equal(expected)
    // With an exact output, when the last pool pays out: the first one was not traded with yet.
    const nested = [swapA(poolB, 50n, 40n), swapA(poolB, 100n, 90n)]
    expect(readFill(receipt(...nested, second), exactOut)).to.deep.equal(expected)
    // By the receiver of the coin, after everything else.
    const again = [swapA(router, 5n, 4n), swapB(trader, 4n, 3n)]
    expect(readFill(receipt(first, second, ...again), exactIn)).to.deep.equal(expected)
    const againOut = [swapA(poolB, 5n, 4n), swapB(trader, 4n, 3n)]
    expect(readFill(receipt(swapA(poolB, 100n, 90n), second, ...againOut), exactOut)).to.deep.equal(expected)
    // When the trader pays a constant-product pool, which is not locked yet.
    const before = [pairA(router, 50n, 40n), swapB(trader, 40n, 30n)]
    expect(readFill(receipt(...before, pairA(router, 100n, 90n), second), mixed)).to.deep.equal(expected)
  })

  it('sums all parts of a split swap', () => {
    expect(readFill(receipt(first, second, swapC(trader, 50n, 40n)), splitIn)).to.deep.equal(ofBoth)
    expect(readFill(receipt(swapA(poolB, 100n, 90n), second, swapC(trader, 50n, 40n)), splitOut)).to.deep.equal(ofBoth)
    // For the constant-product pool, what the router paid, whatever else the pool counts as input.
    expect(readFill(receipt(first, second, pairC(trader, 57n, 40n)), pairLast)).to.deep.equal(ofBoth)
  })

  it('ignores, in every part, a token whose own code trades through the same router while it moves', () => {
    const own = swapC(trader, 50n, 40n)
    // In the pool of the next part, and in those of the last one.
    const [ahead, behind] = [swapC(trader, 5n, 4n), [swapA(router, 7n, 6n), swapB(trader, 6n, 5n)]]
    expect(readFill(receipt(ahead, first, ahead, ...behind.slice(0, 1), second, ...behind, own, ...behind), splitIn)).to.deep.equal(ofBoth)
    const behindOut = [swapA(poolB, 7n, 6n), swapB(trader, 6n, 5n)]
    expect(
      readFill(receipt(ahead, swapA(poolB, 9n, 8n), swapA(poolB, 100n, 90n), second, ...behindOut, own, ...behindOut), splitOut),
    ).to.deep.equal(ofBoth)
    // The trader pays a constant-product pool before it is locked, so it is the last.
    const early = [pairC(trader, 9n, 8n), ...behind]
    expect(readFill(receipt(first, pairC(trader, 3n, 2n), second, ...early, pairC(trader, 50n, 40n)), pairLast)).to.deep.equal(ofBoth)
  })

  it('stays undefined where a part is missing or logged before an earlier part', () => {
    const own = swapC(trader, 50n, 40n)
    expect(readFill(receipt(first, second), splitIn)).to.equal(undefined)
    expect(readFill(receipt(own), splitIn)).to.equal(undefined)
    expect(readFill(receipt(own, first, second), splitIn)).to.equal(undefined)
    expect(readFill(receipt(own, swapA(poolB, 100n, 90n), second), splitOut)).to.equal(undefined)
  })

  it('does not depend on the letter case of addresses', () => {
    const lower = (log: EvmLog): EvmLog => ({ ...log, address: log.address.toLowerCase() })
    expect(readFill(receipt(lower(first), lower(second)), exactIn)).to.deep.equal(expected)
  })

  it('stays undefined where a hop is missing or out of order, the transaction failed, or a log is cut short', () => {
    expect(readFill(receipt(second), exactIn)).to.equal(undefined)
    expect(readFill(receipt(second, first), exactIn)).to.equal(undefined)
    expect(readFill(receipt(second, swapA(poolB, 100n, 90n)), exactOut)).to.equal(undefined)
    expect(readFill({ ...receipt(first, second), status: 0 }, exactIn)).to.equal(undefined)
    expect(readFill(receipt(first, { ...second, data: second.data.slice(0, 100) }), exactIn)).to.equal(undefined)
  })

  it('stays undefined for another kind of memo, or a swap by another router', () => {
    const wrong = [
      null,
      1,
      [],
      {},
      { ...exactIn, hops: [] },
      { ...exactIn, hops: [null] },
      { ...exactIn, amountRaw: '1.5' },
      { ...splitIn, parts: [] },
      { ...splitIn, parts: [null] },
      { ...splitIn, parts: 1 },
    ]
    for (const memo of [...wrong, { ...exactIn, exact: 'both' }, { ...exactIn, hops: [hopA, { ...hopB, kind: 'other' }] }])
      expect(readFill(receipt(first, second), memo)).to.equal(undefined)
    expect(readFill(receipt(first, second), { ...exactIn, router: stranger })).to.equal(undefined)
  })
})
