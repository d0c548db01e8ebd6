import { expect } from 'chai'
import * as fc from 'fast-check'
import { boundsOf } from '../../../kits/amm/index.ts'

const parts = fc.array(
  fc.oneof(fc.bigInt(1n, 10n), fc.bigInt(1n, 10n ** 24n)).map((otherRaw) => ({ otherRaw })),
  { minLength: 1, maxLength: 4 },
)
const sum = (amounts: readonly bigint[]) => amounts.reduce((a, b) => a + b, 0n)
const quoted = (of: readonly { otherRaw: bigint }[]) => sum(of.map(({ otherRaw }) => otherRaw))

describe('the bound of a split swap', () => {
  it('divides into parts that add up to it, to the unit', () => {
    fc.assert(fc.property(parts, fc.bigInt(0n, 10n ** 26n), (of, boundRaw) => sum(boundsOf(of, boundRaw)) === boundRaw))
  })

  it('demands of no part more than it was quoted, as long as the whole keeps within the bound', () => {
    fc.assert(
      fc.property(parts, fc.bigInt(0n, 10n ** 24n), (of, anyRaw) => {
        const [least, most] = [boundsOf(of, anyRaw % (quoted(of) + 1n)), boundsOf(of, quoted(of) + anyRaw)]
        return of.every(({ otherRaw }, index) => (least[index] ?? 0n) <= otherRaw && (most[index] ?? 0n) >= otherRaw)
      }),
      { numRuns: 500 },
    )
  })

  it('leaves each part the same room, to the unit', () => {
    fc.assert(
      fc.property(parts, fc.bigInt(0n, 10n ** 26n), (of, boundRaw) =>
        boundsOf(of, boundRaw).every((each, index) => {
          const own = ((of[index]?.otherRaw ?? 0n) * boundRaw) / quoted(of)
          return each >= own && each <= own + BigInt(of.length)
        }),
      ),
    )
  })

  it('passes the quote of some part if it passes the whole quote', () => {
    fc.assert(
      fc.property(parts, (of) => {
        const [above, below] = [boundsOf(of, quoted(of) + 1n), boundsOf(of, quoted(of) - 1n)]
        expect(of.some(({ otherRaw }, index) => (above[index] ?? 0n) > otherRaw)).to.equal(true)
        expect(of.some(({ otherRaw }, index) => (below[index] ?? 0n) < otherRaw)).to.equal(true)
      }),
    )
  })
})
