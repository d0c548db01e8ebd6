import { expect } from 'chai'
import { keysFollow, keyTimeMs, newEntries, type RoutedRequest } from '../../../core/transactions/submit-request.ts'

/** The keys of a plan of so many steps. */
const keysAt = (nowMs: number, count: number): readonly string[] => entriesAt(nowMs, count).map(({ key }) => key)

function entriesAt(nowMs: number, count: number) {
  const each = Array.from({ length: count }, (_, index) => index)
  const request = {
    network: { chain: 'c', network: 'n' },
    caller: { id: 'bot' },
    feeOverrides: {},
    plan: { steps: each, memo: null },
  } as unknown as RoutedRequest
  const given = { sequences: each, nonces: each, ranks: each.map(() => 0), chosenByCaller: each.map(() => false) }
  return newEntries(request, { ...given, nowMs })
}

describe('an entry', () => {
  it('names the client by its id', () => {
    expect(entriesAt(Date.now(), 1)).to.have.nested.property('[0].client', 'bot')
  })
})

describe('keys of entries', () => {
  it('rise, however many are made in a millisecond and when the clock is set back, and have 17 characters', () => {
    const now = Date.now()
    const keys = [...keysAt(now, 3_000), ...keysAt(now, 3_000), ...keysAt(now - 86_400_000, 3_000), ...keysAt(now + 1, 10)]
    expect(keys).to.deep.equal(keys.toSorted())
    expect(new Set(keys).size).to.equal(keys.length)
    expect(new Set(keys.map(({ length }) => length))).to.deep.equal(new Set([17]))
    // Not far ahead of the clock.
    expect(keys.every((key) => keyTimeMs(key) >= now && keyTimeMs(key) <= now + 10)).to.equal(true)
  })

  it('come after those of another server whose clock was ahead', () => {
    const later = Date.now() + 86_400_000
    const before = `${later.toString(36).padStart(9, '0')}0zzzzzzz`
    expect(keyTimeMs(before)).to.equal(later)
    keysFollow(before)
    const [key = ''] = keysAt(Date.now(), 1)
    expect(key > before).to.equal(true)
    expect(keyTimeMs(key)).to.equal(later + 1)
  })
})
