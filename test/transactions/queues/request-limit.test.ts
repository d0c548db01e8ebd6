import { expect } from 'chai'
import type { Recorder } from '../../../core/transactions/journal/journal.ts'
import { createLeasedQueues, type Leases } from '../../../core/transactions/leases.ts'
import type { TransactionTarget } from '../../../core/transactions/submit-request.ts'

describe('requests of one wallet', () => {
  it('fail above the limit, and pass again when one ends', () => {
    const target = { chain: 'ethereum', network: 'local' } as TransactionTarget
    const queues = createLeasedQueues({ target, recorder: {} as Recorder, leases: {} as Leases, limit: 8 })
    const leave = Array.from({ length: 8 }, () => queues.enter('0x1'))
    expect(() => queues.enter('0x1')).to.throw('walletQueue')
    expect(() => queues.enter('0x2')).not.to.throw()
    leave[0]?.()
    expect(() => queues.enter('0x1')).not.to.throw()
  })
})
