// What a refusal says of what is left, and of when more of it is free.
import { expect } from 'chai'
import { emptyAccount, reserve, settle } from '../../core/limits/account.ts'
import { gasMeasureOf, refusalOf, tokenMeasureOf } from '../../core/limits/limit-checks.ts'
import { newEntry } from '../transactions/journal/entries.ts'

const entry = newEntry({ kind: 'trade' })
const token = { address: '0x01', symbol: 'WETH', decimals: 1 }
const measure = tokenMeasureOf(entry, token.address)
const check = {
  spending: { client: 'bot', is: 'new', coin: { symbol: 'ETH', decimals: 18 }, steps: [{ entry, maxCostRaw: 0n, valueRaw: 0n }] },
  limits: {},
  tokens: new Map([[token.address, { token, limits: { perHour: '2' } }]]),
  reference: 'USDC',
} as const
const nowMs = 1_000_000_000

/** Of a limit of 2 in an hour, what is refused of an amount in tenths. */
function refused(raw: bigint, before = emptyAccount) {
  const gives = { [measure]: raw }
  return refusalOf(check, { before, after: reserve(before, gives), gives, nowMs })
}
const openOf = (raw: bigint) => reserve(emptyAccount, { [measure]: raw })
const spentOf = (raw: bigint) => settle(emptyAccount, {}, { [measure]: raw }, { nowMs: nowMs - 60_000, lagMs: 0 })

describe('a request over an amount of its client', () => {
  it('is told how much is left now, and that what is open counts until it ends and then for its window', () => {
    const { message, details } = refused(5n, openOf(19n)) ?? {}
    expect(message).to.match(/What is left: 0\.1 WETH\..* Ask for at most 0\.1 WETH\. More is not free/)
    expect(message).to.match(/What is open counts until it has ended, and what came of it then counts for a rolling hour/)
    expect(details).to.deep.equal({ limit: 'tokens.perHour', token: 'WETH', left: '0.1' })
    expect(refused(5n, openOf(20n))?.message).not.to.match(/Ask for at most/)
  })

  it('is told how much is left now, and when all of it is free', () => {
    const { message, details } = refused(5n, spentOf(19n)) ?? {}
    expect(message).to.match(/Ask for at most 0\.1 WETH, or wait: so much is free in \d+ s\./)
    expect(details).to.include.keys('freesAt')
    expect(refused(5n, spentOf(20n))?.message).to.match(/So much is free in \d+ s\./)
  })

  it('is told the limit that no waiting changes first, and else the one that is free last', () => {
    const limits = { perTransaction: '1', perHour: '2', perDay: '2' }
    const ofThree = { ...check, tokens: new Map([[token.address, { token, limits }]]) }
    const over = (raw: bigint, before = emptyAccount) => {
      const gives = { [measure]: raw }
      return refusalOf(ofThree, { before, after: reserve(before, gives), gives, nowMs })
    }
    expect(over(15n, spentOf(19n))?.details).to.include({ limit: 'tokens.perTransaction' })
    expect(over(30n)?.details).to.include({ limit: 'tokens.perTransaction' })
    expect(over(5n, spentOf(19n))?.details).to.include({ limit: 'tokens.perDay' })
    const ofHour = { ...check, tokens: new Map([[token.address, { token, limits: { perHour: '2', perDay: '1' } }]]) }
    const gives = { [measure]: 15n }
    const before = spentOf(10n)
    expect(refusalOf(ofHour, { before, after: reserve(before, gives), gives, nowMs })?.details).to.include({ limit: 'tokens.perDay' })
  })

  it('is told all of maxDailyGas, and what part of it is for trades', () => {
    const gas = {
      spending: { ...check.spending, steps: [{ entry, maxCostRaw: 9n, valueRaw: 0n }] },
      limits: { maxDailyGas: '0.000000000000000010' },
    }
    const before = reserve(emptyAccount, { [gasMeasureOf(entry)]: 4n })
    const after = reserve(before, { [gasMeasureOf(entry)]: 9n })
    const { message } = refusalOf({ ...check, ...gas }, { before, after, gives: {}, nowMs }) ?? {}
    expect(message).to.match(
      /^maxDailyGas of the client is 0\.00000000000000001 ETH in a rolling day, of which 0\.000000000000000008 ETH are for what neither cancels nor/,
    )
  })

  it('is told what is left where it is more than the whole limit', () => {
    expect(refused(21n, openOf(19n))?.message).to.match(/Ask for at most 0\.1 WETH\. Or the operator/)
    expect(refused(21n, openOf(20n))?.message).to.match(/It is more than the whole limit\. Or the operator/)
  })
})
