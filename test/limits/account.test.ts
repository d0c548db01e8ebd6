import { array, assert, bigInt, boolean, constant, nat, oneof, property, record, tuple } from 'fast-check'
import { expect } from 'chai'
import {
  countedAt,
  emptyAccount,
  freesAt,
  readAccount,
  refund,
  reserve,
  settle,
  usedIn,
  windows,
  writeAccount,
  type Account,
} from '../../core/limits/account.ts'

const day = windows.day.bucketMs * windows.day.buckets
const lagMs = 120_000

/** What happens: so much later, something is reserved, or the oldest reservation ends with a part of it, or none. */
const happening = record({
  afterMs: nat({ max: 3 * 3_600_000 }),
  what: oneof(
    record({ is: constant('reserve' as const), raw: bigInt({ min: 1n, max: 100n }) }),
    record({ is: constant('settle' as const), percent: nat({ max: 100 }) }),
  ),
})

describe('the account of a client', () => {
  it('is written whole each time, with what was spent, gained and freed since it was written last', () => {
    const step = record({ afterMs: nat({ max: 3_600_000 }), raw: bigInt({ min: -50n, max: 100n }), isFreed: boolean() })
    assert(
      property(array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        let account: Account = emptyAccount
        let nowMs = 10 * day
        for (const { afterMs, raw, isFreed } of steps) {
          nowMs += afterMs
          const amounts = { loss: raw, value: raw < 0n ? -raw : raw }
          account = settle(account, {}, amounts, { nowMs, lagMs })
          if (isFreed) account = refund(account, { value: 1n }, countedAt(account, { value: 1n }, { nowMs, lagMs }))
          const written: Record<string, Record<string, Record<string, string>>> = JSON.parse(writeAccount(account).split('\n')[1] ?? '')
          for (const window of ['hour', 'day'] as const) {
            expect(Object.keys(written[window] ?? {})).to.deep.equal([...account.spent[window].keys()].map(String))
            for (const [index, bucket] of account.spent[window])
              for (const [measure, { net, tail, gained }] of Object.entries(bucket)) {
                const [first, second = first, third = '0'] = written[window]?.[index]?.[measure]?.split(' ') ?? []
                expect([first, second, third]).to.deep.equal([net, tail, gained].map(String))
              }
          }
        }
      }),
      { numRuns: 50 },
    )
  })

  it('never lets more be spent in any day than its limit, in any order, over restarts, and holds nothing once all has ended', () => {
    const limit = 200n
    assert(
      property(array(happening, { maxLength: 80 }), (all) => {
        let account: Account = emptyAccount
        let nowMs = 10 * day
        let open: bigint[] = []
        const spent: (readonly [number, bigint])[] = []
        const end = (percent: number) => {
          const [held, ...rest] = open
          if (held === undefined) return
          open = rest
          const actual = (held * BigInt(percent)) / 100n
          account = settle(account, { loss: held }, { loss: actual }, { nowMs, lagMs })
          spent.push([nowMs, actual])
        }
        for (const { afterMs, what } of all) {
          nowMs += afterMs
          account = readAccount(writeAccount(account))
          if (what.is === 'settle') end(what.percent)
          else {
            const after = reserve(account, { loss: what.raw })
            if (usedIn(after, 'day', 'loss', nowMs) > limit) continue
            account = after
            open = [...open, what.raw]
          }
          const inDay = spent.filter(([at]) => at > nowMs - day).reduce((sum, [, raw]) => sum + raw, 0n)
          const held = open.reduce((sum, raw) => sum + raw, 0n)
          expect(inDay + held <= limit, `${inDay} + ${held}`).to.equal(true)
        }
        while (open.length > 0) end(100)
        expect(account.open).to.deep.equal({})
        const later = nowMs + 2 * day
        expect(usedIn(account, 'day', 'loss', later)).to.equal(0n)
      }),
    )
  })

  it('sets gains against losses before them, and not against those after them', () => {
    assert(
      property(array(tuple(nat({ max: 3_600_000 }), bigInt({ min: -50n, max: 50n })), { maxLength: 40 }), (all) => {
        let account: Account = emptyAccount
        let nowMs = 10 * day
        for (const [afterMs, loss] of all) {
          nowMs += afterMs
          account = settle(account, {}, { loss }, { nowMs, lagMs: 0 })
        }
        const used = usedIn(account, 'day', 'loss', nowMs)
        let worst = 0n
        for (let from = 0; from < all.length; from++) {
          const since = all.slice(from).reduce((sum, [, loss]) => sum + loss, 0n)
          if (since > worst) worst = since
        }
        expect(used <= worst && used >= 0n).to.equal(true)
        // All within one day: exactly that.
        const lasted = all.reduce((sum, [afterMs]) => sum + afterMs, 0)
        if (lasted < day) expect(used).to.equal(worst)
      }),
    )
  })

  it('frees what came back of what it was counted for, and never makes other losses less', () => {
    const act = record({
      afterMs: nat({ max: 3_600_000 }),
      what: oneof(
        record({ is: constant('spend' as const), loss: bigInt({ min: -30n, max: 50n }) }),
        record({ is: constant('refund' as const), of: nat({ max: 20 }), percent: nat({ max: 100 }) }),
      ),
    })
    assert(
      property(array(act, { maxLength: 40 }), (all) => {
        let account: Account = emptyAccount
        let nowMs = 10 * day
        const counted: { at: number; loss: bigint; left: bigint; when: ReturnType<typeof countedAt> }[] = []
        for (const { afterMs, what } of all) {
          nowMs += afterMs
          const moment = { nowMs, lagMs: 0 }
          account = readAccount(writeAccount(account))
          if (what.is === 'spend') {
            const { loss } = what
            account = settle(account, {}, { loss, value: loss > 0n ? loss : 0n }, moment)
            counted.push({ at: nowMs, loss, left: loss, when: countedAt(account, { loss, value: loss }, moment) })
          } else {
            const found = counted[what.of]
            if (!found || found.left <= 0n) continue
            const raw = (found.left * BigInt(what.percent)) / 100n
            account = refund(account, { loss: raw, value: raw }, found.when)
            found.left -= raw
          }
          const inDay = counted.filter(({ at }) => at > nowMs - day)
          // The greatest loss since any moment, by what is left of each.
          let [since, worst, value] = [0n, 0n, 0n]
          for (const { left } of inDay.toReversed()) {
            since += left
            if (since > worst) worst = since
            if (left > 0n) value += left
          }
          expect(usedIn(account, 'day', 'loss', nowMs) >= worst, 'loss').to.equal(true)
          expect(usedIn(account, 'day', 'value', nowMs) >= value, 'value').to.equal(true)
          // All within one day: exactly that.
          if (nowMs < 11 * day) expect(usedIn(account, 'day', 'value', nowMs)).to.equal(value)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('frees nothing of what has left its window, nor of what was counted after it', () => {
    const moment = { nowMs: 10 * day, lagMs: 0 }
    const first = settle(emptyAccount, {}, { loss: 5n }, moment)
    const later = settle(first, {}, { loss: 7n }, { nowMs: 11 * day + 2 * windows.day.bucketMs, lagMs: 0 })
    const refunded = refund(later, { loss: 5n }, countedAt(first, { loss: 5n }, moment))
    expect(usedIn(refunded, 'day', 'loss', 11 * day + 2 * windows.day.bucketMs)).to.equal(7n)
  })

  it('says when so much is free again', () => {
    const account = settle(reserve(emptyAccount, { loss: 5n }), { loss: 5n }, { loss: 5n }, { nowMs: 10 * day, lagMs: 0 })
    const at = freesAt(account, 'day', 'loss', 4n, 10 * day) ?? 0
    expect(at).to.be.within(11 * day, 11 * day + 2 * windows.day.bucketMs)
    expect(usedIn(account, 'day', 'loss', at - 1)).to.equal(5n)
    expect(usedIn(account, 'day', 'loss', at)).to.equal(0n)
    expect(freesAt(reserve(emptyAccount, { loss: 5n }), 'day', 'loss', 4n, 0)).to.equal(undefined)
  })
})
