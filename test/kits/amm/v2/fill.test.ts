import { expect } from 'chai'
import { Interface, getAddress } from 'ethers'
import type { EvmLog, EvmReceipt } from '../../../../kits/evm/index.ts'
import { readFill } from '../../../../kits/amm/v2/router.ts'

const events = new Interface([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)',
])
const address = (digit: string) => getAddress(`0x${digit.repeat(40)}`)
const [trader, router, other] = [address('1'), address('2'), address('3')]
const [poolA, poolB] = [address('a'), address('b')]
const [tokenA, tokenB, tokenC] = [address('4'), address('5'), address('6')]

const log = (emitter: string, event: string, ...args: unknown[]): EvmLog => ({ address: emitter, ...events.encodeEventLog(event, args) })
const transfer = (token: string, from: string, to: string, value: bigint) => log(token, 'Transfer', from, to, value)
const swap = (pool: string, sender: string, to: string, into: bigint, out: bigint) => log(pool, 'Swap', sender, into, 0n, 0n, out, to)
const lower = (entry: EvmLog): EvmLog => ({ ...entry, address: entry.address.toLowerCase() })
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

const twoHops = {
  router,
  recipient: trader,
  nativeIn: false,
  nativeOut: false,
  hops: [
    { pool: poolA, tokenIn: tokenA, tokenOut: tokenB },
    { pool: poolB, tokenIn: tokenB, tokenOut: tokenC },
  ],
}
const paid = transfer(tokenA, trader, poolA, 100n)
const [passed, swappedA] = [transfer(tokenB, poolA, poolB, 90n), swap(poolA, router, poolB, 100n, 90n)]
const [got, swappedB] = [transfer(tokenC, poolB, trader, 80n), swap(poolB, router, trader, 90n, 80n)]

describe('the fill of a swap', () => {
  const expected = { amountInRaw: 100n, amountOutRaw: 80n }

  it('has what the trader paid the first pool and the last pool paid the trader', () => {
    expect(readFill(receipt(paid, passed, swappedA, got, swappedB), twoHops)).to.deep.equal(expected)
  })

  it('ignores others who pass the same pools in the same transaction', () => {
    const before = [transfer(tokenA, other, poolA, 7n), transfer(tokenC, poolB, other, 5n), swap(poolB, router, other, 6n, 5n)]
    const nested = [
      transfer(tokenB, poolA, poolB, 3n),
      swap(poolA, other, poolB, 4n, 3n),
      transfer(tokenC, poolB, trader, 2n),
      swap(poolB, other, trader, 3n, 2n),
    ]
    const after = [transfer(tokenA, other, poolA, 9n), swap(poolA, other, other, 9n, 8n), transfer(tokenC, poolB, trader, 1n)]
    expect(readFill(receipt(...before, paid, ...nested, passed, swappedA, got, swappedB, ...after), twoHops)).to.deep.equal(expected)
  })

  it('has the router’s payments where the coin goes in and out', () => {
    const memo = { ...twoHops, nativeIn: true, nativeOut: true }
    const logs = [
      transfer(tokenA, router, poolA, 100n),
      passed,
      swappedA,
      transfer(tokenC, poolB, router, 80n),
      swap(poolB, router, router, 90n, 80n),
    ]
    expect(readFill(receipt(...logs), memo)).to.deep.equal(expected)
  })

  it('does not depend on the letter case of addresses', () => {
    expect(readFill(receipt(...[paid, passed, swappedA, got, swappedB].map(lower)), twoHops)).to.deep.equal(expected)
  })

  it('stays undefined where a hop is missing, the transaction failed, or a log is cut short', () => {
    expect(readFill(receipt(paid, got, swappedB), twoHops)).to.equal(undefined)
    expect(readFill({ ...receipt(paid, passed, swappedA, got, swappedB), status: 0 }, twoHops)).to.equal(undefined)
    expect(readFill(receipt({ ...paid, data: '0x' }, passed, swappedA, got, swappedB), twoHops)).to.equal(undefined)
  })

  it('stays undefined for another kind of memo', () => {
    for (const memo of [null, 1, [], {}, { ...twoHops, hops: [] }, { ...twoHops, hops: [null] }, { ...twoHops, router: 1 }]) {
      expect(readFill(receipt(paid, passed, swappedA, got, swappedB), memo)).to.equal(undefined)
    }
  })
})
