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
})
