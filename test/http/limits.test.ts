import { expect } from 'chai'
import { SluiceError } from '../../core/api/index.ts'
import { rateLimit } from '../../core/http/limits.ts'

const caller = (fingerprint: string, requestsPerSecond?: number) => ({
  id: fingerprint,
  fingerprint,
  permissions: new Set<'read'>(),
  wallets: 'all' as const,
  requestsPerSecond,
})

function nameOf(act: () => void): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return error instanceof SluiceError ? error.name : String(error)
  }
}

describe('the rate limit of a certificate', () => {
  it('refills with time, separately for each certificate', () => {
    let now = 0
    const limit = rateLimit(() => now)
    const [a, b] = [caller('a', 2), caller('b', 2)]
    const tries = (count: number) => Array.from({ length: count }, () => nameOf(() => limit(a)))
    expect(tries(3)).to.deep.equal([undefined, undefined, 'RATE_LIMIT'])
    expect(nameOf(() => limit(b))).to.equal(undefined)
    now = 500
    expect(tries(2)).to.deep.equal([undefined, 'RATE_LIMIT'])
    now = 3_600_000
    expect(tries(3)).to.deep.equal([undefined, undefined, 'RATE_LIMIT'])
  })

  it('may be less than one a second, and is unlimited if none is set', () => {
    let now = 0
    const limit = rateLimit(() => now)
    const slow = caller('slow', 0.1)
    expect(nameOf(() => limit(slow))).to.equal(undefined)
    expect(() => limit(slow))
      .to.throw(SluiceError)
      .with.property('retryAfterSeconds', 10)
    now = 10_000
    expect(nameOf(() => limit(slow))).to.equal(undefined)
    for (let i = 0; i < 1000; i += 1) limit(caller('free'))
  })

  it('takes fifty pings a second beside it, and counts the others as requests', () => {
    let now = 0
    const limit = rateLimit(() => now)
    const client = caller('a', 2)
    const ask = (count: number, isPing: boolean) => Array.from({ length: count }, () => nameOf(() => limit(client, isPing)))
    expect(ask(3, false)).to.deep.equal([undefined, undefined, 'RATE_LIMIT'])
    expect(ask(51, true).findIndex((name) => name !== undefined)).to.equal(50)
    now = 100
    expect(ask(6, true)).to.deep.equal([...Array.from({ length: 5 }, () => undefined), 'RATE_LIMIT'])
    now = 1_100
    expect(ask(60, true).filter((name) => name === undefined)).to.have.length(52)
    expect(ask(1, false)).to.deep.equal(['RATE_LIMIT'])
  })
})
