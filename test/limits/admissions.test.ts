import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import { emptyAccount, type Account } from '../../core/limits/account.ts'
import { createAdmissions } from '../../core/limits/admissions.ts'
import { sqlJournal } from '../../core/transactions/journal/sql-journal.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import { freshStore, rejection } from '../transactions/site.ts'

const limit = 100n
/** Of each request 60: two are too many. */
const check =
  (raw = 60n) =>
  ({ account }: { account: Account }) => {
    if ((account.open['count'] ?? 0n) + raw > limit) throw new SluiceError('LIMIT_EXCEEDED', 'It is over the limit.')
    return { count: raw }
  }
const accountWith = (raw: bigint): Account => ({ ...emptyAccount, open: { count: raw } })

describe('requests on their way to the write', () => {
  const admissionsOn = (kind: 'embedded' | 'postgres') => {
    const stored = { account: accountWith(0n), nowMs: 0 }
    let reads = 0
    const admissions = createAdmissions(kind)
    const admit = (raw?: bigint) => admissions.admit('bot', check(raw), async () => ((reads += 1), { ...stored }))
    return { admit, stored, reads: () => reads, note: (account: Account) => admissions.note('bot', { account, nowMs: 0 }) }
  }

  it('in the embedded store are let through at once, beside others, and the store is asked once', async () => {
    const { admit, reads } = admissionsOn('embedded')
    const first = await admit(10n)
    expect([admit(10n), admit(10n)].map((each) => typeof each)).to.deep.equal(['function', 'function'])
    first()
    expect(reads()).to.equal(1)
  })

  it('would be refused: wait for those before them, and the store is asked', async () => {
    const { admit, stored, reads, note } = admissionsOn('embedded')
    const end = await admit()
    let isAnswered = false
    const second = Promise.resolve(admit()).finally(() => (isAnswered = true))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(isAnswered).to.equal(false)
    stored.account = accountWith(60n)
    note(stored.account)
    end()
    expect(await rejection(second)).to.have.property('name', 'LIMIT_EXCEEDED')
    expect(reads()).to.equal(2)
    // What was held has ended without a trace.
    stored.account = accountWith(0n)
    ;(await admit())()
  })

  it('in PostgreSQL are under way to it one after another, without another question', async () => {
    const { admit, reads } = admissionsOn('postgres')
    const order: string[] = []
    const [first, second] = [admit(10n), admit(10n)]
    const end = await first
    void Promise.resolve(second).then(() => order.push('second'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    order.push('end')
    end()
    ;(await second)()
    expect(order).to.deep.equal(['end', 'second'])
    expect(reads()).to.equal(1)
  })

  it('go by what writes of this server have left', async () => {
    const { admit, stored, reads, note } = admissionsOn('embedded')
    note(accountWith(60n))
    stored.account = accountWith(60n)
    expect(await rejection(Promise.resolve(admit()))).to.have.property('name', 'LIMIT_EXCEEDED')
    note(accountWith(30n))
    expect(admit()).to.be.a('function')
    expect(reads()).to.equal(1)
  })

  it('of a client without limits ask nothing', async () => {
    const store = await freshStore()
    const journal = sqlJournal(store, undefined, [createSpendingLimits(() => undefined)])
    const spending = () => {
      throw new Error('It was asked.')
    }
    expect(journal.admit({ client: 'bot', chain: 'ethereum', network: 'local' }, spending)).to.equal(undefined)
    await store.close()
  })
})
