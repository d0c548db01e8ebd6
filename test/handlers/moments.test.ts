import { expect } from 'chai'
import { EVMApproveRequest } from '../../core/api/evm.ts'
import { AMMLiquidityPriceRequest } from '../../core/api/range.ts'
import { TransactionsPruneRequest } from '../../core/api/transactions.ts'
import { singleRouterSchema } from '../../core/contracts/schemas.ts'
import { fieldsReader } from '../../core/config/field-reader.ts'
import { readMoment } from '../../core/handlers/read-fields.ts'
import { Ajv } from 'ajv'

const now = 1_790_000_000
const read = (seconds: number) => readMoment(seconds, 'expires', now * 1000 + 400)

describe('times that callers give', () => {
  it('count in seconds since 1970, up to a hundred years ahead', () => {
    for (const given of [now + 1, now + 3600, now + 20 * 365 * 86_400]) expect(read(given)).to.equal(given)
  })

  for (const [what, given, said] of [
    ['milliseconds', (now + 3600) * 1000 + 7, `expires: is in milliseconds: give it in seconds since 1970, ${now + 3600}`],
    ['milliseconds of the past', (now - 86_400) * 1000, `expires: is in milliseconds: give it in seconds since 1970, ${now - 86_400}`],
    ['a duration in seconds', 3600, `expires: is a duration: give a time in seconds since 1970, ${now + 3600}`],
    ['this very second', now, `expires: is in the past: give a later time, in seconds since 1970 (now ${now})`],
    ['centuries ahead', now * 2 ** 16, 'expires: is more than a hundred years ahead: give a time in seconds since 1970'],
  ] as const)
    it(`fail as ${what}, naming the unit`, () => {
      expect(() => read(given))
        .to.throw(said)
        .with.property('http', 400)
    })

  const approval = { chain: 'ethereum', network: 'local', address: '0x1', spender: 'uniswap', token: 'WETH' }
  const prices = { chain: 'ethereum', network: 'local', connector: 'uniswap', token0: 'WETH', token1: 'USDC', fee: 'LOW', interval: 1 }
  for (const [what, readFields, fields, unit] of [
    ['a date for an end', fieldsReader(EVMApproveRequest), { ...approval, expires: '2026-12-01T00:00:00Z' }, 'seconds since 1970'],
    ['microseconds for an end', fieldsReader(EVMApproveRequest), { ...approval, expires: now * 1e6 }, 'seconds since 1970'],
    ['a moment for a period', fieldsReader(AMMLiquidityPriceRequest), { ...prices, period: now }, 'a duration in seconds'],
    ['milliseconds for a period', fieldsReader(AMMLiquidityPriceRequest), { ...prices, period: now * 1000 }, 'a duration in seconds'],
    ['seconds for an age in days', fieldsReader(TransactionsPruneRequest), { olderThanDays: 86_400 }, 'a duration in days'],
    ['a date for an age in days', fieldsReader(TransactionsPruneRequest), { olderThanDays: '2026-01-01' }, 'a duration in days'],
  ] as const)
    it(`say which unit they are in, for ${what}`, () => {
      expect(() => readFields(fields, 'body'))
        .to.throw(unit)
        .with.property('http', 400)
    })

  it('cannot be milliseconds in a connector’s ttl', () => {
    const validate = new Ajv({ strict: false }).compile(singleRouterSchema)
    const config = (ttl: number) => ({ allowedSlippage: '1/100', ttl, contractAddresses: {} })
    expect([300, 86_400, 300_000].map((ttl) => validate(config(ttl)))).to.deep.equal([true, true, false])
  })
})
