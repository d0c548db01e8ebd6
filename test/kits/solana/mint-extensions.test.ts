import { expect } from 'chai'
import { assert, bigInt, constantFrom, integer, property } from 'fast-check'
import { readMintTerms, transferFeeOf, transferFeeOnTop, type MintTerms } from '../../../kits/solana/mint-extensions.ts'
import { token2022Program, tokenProgram } from '../../../kits/solana/tokens.ts'
import { openMarket } from '../../../tools/solana-node/programs/market.ts'

const base = (): Uint8Array => {
  const data = new Uint8Array(82)
  data[44] = 6
  data[45] = 1
  return data
}

type Extension = readonly [type: number, content: Uint8Array, length?: number]

/** A mint of Token-2022 with these extensions. The length that is written is another one where it is given. */
function extended(...extensions: readonly Extension[]): Uint8Array {
  const bytes = extensions.flatMap(([type, content, length = content.length]) => [type, 0, length & 255, length >> 8, ...content])
  return Uint8Array.of(...base(), ...new Uint8Array(83), 1, ...bytes)
}

const read = (data: Uint8Array, owner = token2022Program) => readMintTerms({ owner, data, lamportsRaw: 1n })
const refusal = (...extensions: readonly Extension[]) => {
  const terms = read(extended(...extensions))
  return 'refused' in terms ? terms.refused : undefined
}
const filled = (length: number, at: number, value: number): Uint8Array => new Uint8Array(length).fill(value, at, at + 1)

describe('the extensions of a mint', () => {
  it('are read of a mint without any, of either program', () => {
    for (const owner of [tokenProgram, token2022Program])
      expect(read(base(), owner)).to.deep.equal({ decimals: 6, program: owner, transferFee: null })
    expect(read(base(), '11111111111111111111111111111111')).to.deep.equal({ refused: 'no-mint' })
    expect(readMintTerms(undefined)).to.deep.equal({ refused: 'no-mint' })
  })

  it('refuse a mint by the kind of what it does to amounts', () => {
    expect(refusal([14, filled(64, 40, 7)])).to.equal('transfer-hook')
    expect(refusal([6, Uint8Array.of(2)])).to.equal('frozen-accounts')
    expect(refusal([4, new Uint8Array(65)])).to.equal('confidential')
    expect(refusal([16, new Uint8Array(129)])).to.equal('confidential')
    expect(refusal([10, new Uint8Array(52)])).to.equal('interest-bearing')
    expect(refusal([25, new Uint8Array(56)])).to.equal('scaled-amount')
    expect(refusal([26, filled(33, 32, 1)])).to.equal('paused')
    expect(refusal([9, new Uint8Array(0)])).to.equal('non-transferable')
    expect(refusal([77, new Uint8Array(4)])).to.equal('unknown-extension')
  })

  it('leave amounts as they are where nothing is switched on', () => {
    expect(refusal([14, filled(64, 3, 7)], [6, Uint8Array.of(1)], [26, filled(33, 3, 9)], [18, new Uint8Array(64)])).to.equal(undefined)
    expect(refusal([3, new Uint8Array(32)], [12, new Uint8Array(32)], [19, new Uint8Array(301)])).to.equal(undefined)
  })

  it('are malformed with a wrong length, twice the same, beyond the end, or bytes after them', () => {
    expect(refusal([1, new Uint8Array(107)])).to.equal('malformed-mint')
    expect(refusal([26, new Uint8Array(33)], [26, new Uint8Array(33)])).to.equal('malformed-mint')
    expect(refusal([19, new Uint8Array(10), 11])).to.equal('malformed-mint')
    expect(read(Uint8Array.of(...extended(), 0, 0, 0, 0, 5))).to.deep.equal({ refused: 'malformed-mint' })
    expect(read(Uint8Array.of(...base(), 9, ...new Uint8Array(82), 1))).to.deep.equal({ refused: 'malformed-mint' })
    expect(read(extended([19, new Uint8Array(185)])), '355 bytes, a multisignature').to.deep.equal({ refused: 'no-mint' })
    for (const length of [81, 83, 165]) expect(read(extended().slice(0, length)), String(length)).to.deep.equal({ refused: 'no-mint' })
    expect(read(extended([14, filled(64, 40, 7)]), tokenProgram)).to.deep.equal({ refused: 'no-mint' })
  })

  it('have the fees of the token program, by epoch', async () => {
    const market = await openMarket()
    const mint = await market.createMint({ symbol: 'FEE', decimals: 9, transferFee: { basisPoints: 100, maximumRaw: 5_000n } }, 10n)
    const { epoch } = market.clock
    market.setClock({ epoch: epoch + 3n })
    market.changeTransferFee(mint, { basisPoints: 50, maximumRaw: 7n })
    const terms = readMintTerms(market.account(mint.address))
    if ('refused' in terms) throw new Error(terms.refused)
    expect(terms.transferFee).to.deep.equal({
      older: { epoch, basisPoints: 100, maximumRaw: 5_000n },
      newer: { epoch: epoch + 5n, basisPoints: 50, maximumRaw: 7n },
    })
    // A hundredth, rounded up, and no more than the maximum.
    expect([epoch, epoch + 4n, epoch + 5n].map((each) => transferFeeOf(terms, each, 101n))).to.deep.equal([2n, 2n, 1n])
    expect([epoch, epoch + 5n].map((each) => transferFeeOf(terms, each, 10n ** 9n))).to.deep.equal([5_000n, 7n])
  })

  it('add a fee on top that brings what is wanted to the unit, or one less', () =>
    assert(
      property(
        bigInt(0n, 2n ** 63n),
        integer({ min: 0, max: 9_999 }),
        constantFrom(0n, 1n, 4_999n, 2n ** 64n - 1n),
        (netRaw, basisPoints, maximumRaw) => {
          const fee = { epoch: 0n, basisPoints, maximumRaw }
          const terms: MintTerms = { decimals: 0, program: token2022Program, transferFee: { older: fee, newer: fee } }
          const feeRaw = transferFeeOnTop(terms, 1n, netRaw)
          if (feeRaw === undefined) return
          const arrives = (gross: bigint) => gross - transferFeeOf(terms, 1n, gross)
          expect(arrives(netRaw + feeRaw) >= netRaw - 1n).to.equal(true)
          if (netRaw > 0n) expect(arrives(netRaw + feeRaw - 2n) < netRaw).to.equal(true)
        },
      ),
      { numRuns: 500 },
    ))
})
