import { expect } from 'chai'
import * as fc from 'fast-check'
import type { Fee } from '../../../core/kits/uniswap-v2/amounts.ts'
import { bestRoute } from '../../../core/kits/uniswap-v2/best-route.ts'
import { gasCostIn } from '../../../core/kits/uniswap-v2/gas.ts'
import { amountAlong, mostIn, mostOut, spotAlong } from '../../../core/kits/uniswap-v2/route-amounts.ts'
import { candidatePaths } from '../../../core/kits/uniswap-v2/routes.ts'

const fee: Fee = [3n, 1000n]
const noGas = () => 0n
const dear = (gasUnits: bigint) => gasUnits * 10n ** 15n
const hop = (reserveInRaw: bigint, reserveOutRaw: bigint) => ({ pool: 'P', tokenIn: 'A', tokenOut: 'B', reserveInRaw, reserveOutRaw })
const pool = (reserve0Raw: bigint, reserve1Raw: bigint) => () => ({ address: 'P', reserve0Raw, reserve1Raw })
const reserve = fc.bigInt(1000n, 2n ** 111n)
const someRoute = fc.array(
  fc.tuple(reserve, reserve).map(([into, out]) => hop(into, out)),
  { minLength: 1, maxLength: 3 },
)

describe('candidate paths', () => {
  it('go directly, through one and through two intermediates, shorter ones first', () => {
    expect(candidatePaths('A', 'B', ['I', 'J'])).to.deep.equal([
      ['A', 'B'],
      ['A', 'I', 'B'],
      ['A', 'J', 'B'],
      ['A', 'I', 'J', 'B'],
      ['A', 'J', 'I', 'B'],
    ])
  })

  it('visit no token twice', () => {
    expect(candidatePaths('I', 'B', ['I', 'J'])).to.deep.equal([
      ['I', 'B'],
      ['I', 'J', 'B'],
    ])
  })
})

describe('the best route', () => {
  const deep = [hop(10n ** 24n, 10n ** 24n), hop(10n ** 24n, 10n ** 24n)]
  const shallow = [hop(10n ** 21n, 10n ** 21n)]

  it('is the one that gives most', () => {
    expect(bestRoute([shallow, deep], { exact: 'in', amountRaw: 10n ** 20n }, fee, noGas)?.route).to.equal(deep)
    expect(bestRoute([shallow, deep], { exact: 'in', amountRaw: 10n ** 18n }, fee, noGas)?.route).to.equal(shallow)
  })

  it('is the one that takes least for an exact output', () => {
    expect(bestRoute([shallow, deep], { exact: 'out', amountRaw: 10n ** 20n }, fee, noGas)?.route).to.equal(deep)
  })

  it('is the shorter one where gas costs more than the longer one brings', () => {
    expect(bestRoute([shallow, deep], { exact: 'in', amountRaw: 10n ** 20n }, fee, dear)?.route).to.equal(shallow)
    expect(bestRoute([shallow, deep], { exact: 'out', amountRaw: 10n ** 20n }, fee, dear)?.route).to.equal(shallow)
  })

  it('is none where nothing would come out', () => {
    expect(bestRoute([[hop(10n ** 18n, 1000n)]], { exact: 'in', amountRaw: 1n }, fee, noGas)).to.equal(undefined)
  })
})

describe('gas in a token', () => {
  it('is converted by the pool with the wrapped coin', () => {
    expect(gasCostIn('0xb', '0xa', pool(10n ** 21n, 3n * 10n ** 12n), 10n ** 9n)(10n ** 6n)).to.equal(3n * 10n ** 6n)
  })

  it('is itself in the wrapped coin', () => {
    expect(gasCostIn('0xa', '0xa', () => undefined, 2n)(10n)).to.equal(20n)
  })

  it('is nothing where the pool is missing, or too shallow to tell', () => {
    expect(gasCostIn('0xb', '0xa', () => undefined, 10n ** 9n)(10n ** 6n)).to.equal(0n)
    expect(gasCostIn('0xb', '0xa', pool(10n ** 16n, 10n ** 30n), 10n ** 9n)(10n ** 6n)).to.equal(0n)
  })
})

describe('the most that a route can do', () => {
  it('can be had', () => {
    fc.assert(
      fc.property(someRoute, (route) => {
        const most = mostOut(route, fee)
        return most === 0n || amountAlong(route, 'out', most, fee) !== undefined
      }),
    )
  })

  it('can be had where the divisions leave nothing over, too', () => {
    // The second pool gives 1 for 1000 exactly, and getAmountIn asks 1001 for it: more than the first pool has to give.
    const route = [hop(10n ** 18n, 1001n), hop(997n, 2n)]
    expect(amountAlong(route, 'out', 1n, fee)).to.equal(undefined)
    expect(mostOut(route, fee)).to.equal(0n)
  })

  it('is all that a pool takes', () => {
    const route = [hop(10n ** 24n, 10n ** 24n)]
    expect(amountAlong(route, 'in', mostIn(route), fee)).to.be.a('bigint')
    expect(amountAlong(route, 'in', mostIn(route) + 1n, fee)).to.equal(undefined)
  })
})

describe('the amount at marginal prices', () => {
  it('is never worse than what a swap gives', () => {
    fc.assert(
      fc.property(someRoute, fc.bigInt(1n, 2n ** 90n), (route, amountRaw) => {
        const [out, into] = [amountAlong(route, 'in', amountRaw, fee), amountAlong(route, 'out', amountRaw, fee)]
        return (
          (out === undefined || out <= spotAlong(route, 'in', amountRaw)) &&
          (into === undefined || into >= spotAlong(route, 'out', amountRaw))
        )
      }),
    )
  })
})
