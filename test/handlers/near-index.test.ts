import { expect } from 'chai'
import { toFraction } from '../../core/base/decimal.ts'
import { requireNearIndex } from '../../core/handlers/market-check.ts'
import { stakeOf } from '../../core/handlers/perp/losses.ts'
import { accountWorth } from '../../core/handlers/perp/worth.ts'

type Context = Parameters<typeof requireNearIndex>[1]

const contextOf = ({
  permissions = ['trade'],
  isChecked = true,
  own,
}: { permissions?: string[]; isChecked?: boolean; own?: number } = {}): Context =>
  ({
    network: {},
    caller: { id: 'bot', permissions: new Set(permissions) },
    services: {
      market: { isChecked: () => isChecked },
      settings: { limits: { maxPriceImpact: 5 } },
      allowLists: { maxPriceImpact: () => own },
    },
  }) as unknown as Context

/** The index is 2,000. */
const outcomeOf = (side: 'LONG' | 'SHORT', worst: string, context = contextOf()): string => {
  try {
    requireNearIndex({ side, worst: toFraction(worst), index: toFraction('2000') }, context)
    return 'allowed'
  } catch (error) {
    return error instanceof Error ? error.name : 'unknown'
  }
}

describe('the worst price of a perpetual', () => {
  it('may be as far from the index as maxPriceImpact says, and no farther, on the side that costs', () => {
    expect(outcomeOf('LONG', '2100')).to.equal('allowed')
    expect(outcomeOf('LONG', '2100.000001')).to.equal('LIMIT_EXCEEDED')
    expect(outcomeOf('SHORT', '1900')).to.equal('allowed')
    expect(outcomeOf('SHORT', '1899.999999')).to.equal('LIMIT_EXCEEDED')
    expect(outcomeOf('LONG', '1')).to.equal('allowed')
    expect(outcomeOf('SHORT', '90000')).to.equal('allowed')
  })

  it('may lose no more than the same part of what the account is worth, where that is less than the notional', () => {
    const lost = (worst: string, stake: string) => {
      try {
        requireNearIndex({ side: 'LONG', worst: toFraction(worst), index: toFraction('2000'), stake: toFraction(stake) }, contextOf())
        return 'allowed'
      } catch (error) {
        return error instanceof Error ? error.message : 'unknown'
      }
    }
    expect(lost('2010', '0.1')).to.equal('allowed')
    expect(lost('2010.01', '0.1')).to.match(/^At worst this loses 5\.0050 % of what the account is worth/)
    expect(lost('2010.01', '0.1')).to.match(/limits\.maxPriceImpact of the client in conf\/clients\.yml/)
    expect(lost('2100', '7')).to.equal('allowed')
    expect(lost('2000.01', '0')).to.match(/loses more than 100 %/)
    expect(lost('2000', '0')).to.equal('allowed')
  })

  it('may lose no more where the mark was pushed: gains that are not realized are no stake, and losses are', () => {
    const quoteOf = (valueRaw: bigint) => ({ account: { decimals: 6, valueRaw, collateralRaw: 100n }, market: { quoteDecimals: 6 } })
    const stake = (valueRaw: bigint) => stakeOf(quoteOf(valueRaw) as unknown as Parameters<typeof stakeOf>[0], 1000n, [])
    expect(stake(100n)).to.deep.equal({ numerator: 100n * 10n ** 6n, denominator: 1000n * 10n ** 6n })
    expect(stake(5_000n)).to.deep.equal(stake(100n))
    expect(stake(40n)?.numerator).to.equal(40n * 10n ** 6n)
    expect(stake(-1n)?.numerator).to.equal(0n)
    const ofBook = (accountValue: string) => accountWorth({ accountValue, collateral: '100' }, [])
    expect(['5000', '40', '-1'].map(ofBook)).to.deep.equal(['100', '40', '-1'])
  })

  it('matters neither for a client with thin nor on a network that is not checked', () => {
    expect(outcomeOf('LONG', '9000', contextOf({ permissions: ['trade', 'thin'] }))).to.equal('allowed')
    expect(outcomeOf('LONG', '9000', contextOf({ isChecked: false }))).to.equal('allowed')
  })

  it('is held against the stricter of the server and the client, whose own one binds it with thin and on local networks too', () => {
    expect(outcomeOf('LONG', '2020', contextOf({ own: 1 }))).to.equal('allowed')
    expect(outcomeOf('LONG', '2020.1', contextOf({ own: 1 }))).to.equal('LIMIT_EXCEEDED')
    expect(outcomeOf('LONG', '2110', contextOf({ own: 9 }))).to.equal('LIMIT_EXCEEDED')
    expect(outcomeOf('LONG', '2110', contextOf({ own: 9, permissions: ['thin'] }))).to.equal('allowed')
    expect(outcomeOf('LONG', '2190', contextOf({ own: 9, permissions: ['thin'] }))).to.equal('LIMIT_EXCEEDED')
    expect(outcomeOf('LONG', '2021', contextOf({ own: 1, isChecked: false }))).to.equal('LIMIT_EXCEEDED')
  })
})
