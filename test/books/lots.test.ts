import { expect } from 'chai'
import { createLots, type Lot } from '../../core/books/lots.ts'

describe('open lots', () => {
  it('are taken oldest first and rescaled, in blocks as one by one', () => {
    const lots = createLots()
    let reference: Lot[] = []
    const add = (from: number, to: number) => {
      for (let index = from; index < to; index += 1) {
        const lot = { baseRaw: BigInt(1 + ((index * 7919) % 101)), quoteRaw: BigInt(1 + ((index * 104_729) % 997)) }
        lots.add({ ...lot })
        reference.push(lot)
      }
    }
    const rescale = (base: bigint, quote: bigint) => {
      lots.rescale(base, quote)
      reference = reference.map(({ baseRaw, quoteRaw }) => ({ baseRaw: baseRaw * base, quoteRaw: quoteRaw * quote }))
    }
    const closeWhole = (mostRaw: bigint) => {
      const taken = { baseRaw: 0n, quoteRaw: 0n }
      const wanted = { baseRaw: 0n, quoteRaw: 0n }
      for (let lot = lots.take(mostRaw); lot; lot = lots.take(mostRaw - taken.baseRaw)) {
        taken.baseRaw += lot.baseRaw
        taken.quoteRaw += lot.quoteRaw
      }
      for (let [lot] = reference; lot && lot.baseRaw <= mostRaw - wanted.baseRaw; [lot] = reference) {
        wanted.baseRaw += lot.baseRaw
        wanted.quoteRaw += lot.quoteRaw
        reference.shift()
      }
      expect(taken).to.deep.equal(wanted)
      expect(lots.oldest()).to.deep.equal(reference[0])
    }

    add(0, 1_800)
    closeWhole(30_000n)
    rescale(10n, 1_000n)
    add(1_800, 2_900)
    closeWhole(12_345n)
    rescale(100n, 1n)
    add(2_900, 3_000)
    closeWhole(40_000_000n)
    closeWhole(10n ** 12n)
    expect(reference).to.deep.equal([])
    expect(lots.take(1n)).to.equal(undefined)
  })
})
