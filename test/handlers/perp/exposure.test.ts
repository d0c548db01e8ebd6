import { expect } from 'chai'
import { quoteExposure } from '../../../core/handlers/perp/exposure.ts'

type Arguments = Parameters<typeof quoteExposure>

describe('what a wallet has open in perpetuals before an order', () => {
  /** What the account is worth to limits, in whole dollars. */
  const worth = (valueRaw: bigint, collateralRaw: bigint) => {
    const market = { baseDecimals: 0, quoteDecimals: 0 }
    const quote = { order: { side: 'LONG', sizeRaw: 1n }, market, prices: { mark: { numerator: 1n, denominator: 1n } } }
    const account = { decimals: 0, valueRaw, collateralRaw, notionalRaw: 0n }
    const { valueMicros } = quoteExposure(
      { account: 'a', lastRequest: undefined } as unknown as Arguments[0],
      quote as unknown as Arguments[1],
      { account, position: { sizeRaw: 0n }, boundRaw: 1n } as unknown as Arguments[2],
    )
    return Number(valueMicros) / 1e6
  }

  it('is not worth more by gains that are not realized, which a pushed mark makes, and is worth less by losses', () => {
    expect(worth(100n, 100n)).to.equal(100)
    expect(worth(5_000n, 100n)).to.equal(100)
    expect(worth(40n, 100n)).to.equal(40)
    expect(worth(-40n, 100n)).to.equal(0)
  })

  it('is nothing before any position, and rounded up to a millionth where an exchange has more decimals', () => {
    const openOf = (notionalRaw: bigint) =>
      quoteExposure(
        { account: 'a' } as unknown as Arguments[0],
        {
          order: { side: 'LONG', sizeRaw: 1n },
          market: { baseDecimals: 0, quoteDecimals: 18 },
          prices: { mark: { numerator: 1n, denominator: 1n } },
        } as unknown as Arguments[1],
        {
          account: { decimals: 18, valueRaw: 0n, collateralRaw: 0n, notionalRaw },
          position: { sizeRaw: 0n },
          boundRaw: 1n,
        } as unknown as Arguments[2],
      ).openMicros
    expect(openOf(0n)).to.equal(0n)
    expect(openOf(2n * 10n ** 18n)).to.equal(2_000_000n)
    expect(openOf(1n)).to.equal(1n)
  })
})
