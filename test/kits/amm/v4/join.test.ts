import { expect } from 'chai'
import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'
import { TickTable, type V3PoolState } from '../../../../kits/amm/v3/swap.ts'
import { v4Protocol, type V4PoolState } from '../../../../kits/amm/v4/pools.ts'

const tokens = ['0x0000000000000000000000000000000000000001', '0x0000000000000000000000000000000000000002'] as const
const upward = { tokenIn: tokens[1], tokenOut: tokens[0] }
const liquidity = { gross: (): bigint => 10n ** 18n, net: (index: number): bigint => (index === 0 ? 10n ** 18n : -(10n ** 17n)) }

/** A pool of v4 whose fee for swaps upward is 0.3 % and this much for the protocol, in hundredths of a basis point. */
function poolOf(ofProtocol: number, [from, to]: readonly [number, number]) {
  const zeroForOne: V3PoolState = {
    sqrtPriceX96: getSqrtRatioAtTick(0),
    tick: 0,
    liquidity: 10n ** 18n,
    fee: 3000,
    tickSpacing: 60,
    ticks: new TickTable(from, to, [-600, 600, 1200], liquidity),
  }
  const oneForZero = { ...zeroForOne, fee: 3000 + ofProtocol - Math.floor((ofProtocol * 3000) / 1_000_000) }
  const state: V4PoolState = { zeroForOne, oneForZero, lpFee: 3000, protocolFee: ofProtocol << 12, coinForm: undefined }
  return { address: '0x', tokens, state }
}

describe('a pool of v4 that is read again', () => {
  it('has the fees of the later reading, also where a swap was computed by those before', () => {
    const protocol = v4Protocol({ version: 'v4', manager: tokens[0], poolsBetween: () => [] })
    const give = (pool: ReturnType<typeof poolOf>) => protocol.pass(pool, upward, 'in', 10n ** 17n)
    const [known, loaded] = [poolOf(0, [-6000, 6000]), poolOf(1000, [-3000, 12_000])]
    const expected = give(poolOf(1000, [-3000, 12_000]))
    expect(give(known)).to.not.deep.equal(expected)
    const joined = protocol.memory?.join?.(known, loaded)
    if (!joined) return expect.fail('It joins.')
    return expect(give({ ...loaded, state: joined.state })).to.deep.equal(expected)
  })
})
