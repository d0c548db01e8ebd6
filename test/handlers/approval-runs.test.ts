import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import { orWaiting } from '../../core/handlers/approval-runs.ts'
import type { Services } from '../../core/handlers/context.ts'
import type { Approval } from '../../core/limits/approvals.ts'
import { fingerprintOf } from '../../core/transactions/idempotency.ts'

describe('a request that is sent again while it is being carried out for somebody who approved it', () => {
  const request = { amount: '1' }
  const outcome = async (states: readonly Approval['state'][]): Promise<string> => {
    const left = [...states]
    const services = {
      approvals: { find: async () => ({ id: 7, client: 'bot', state: left.shift(), expiresAt: 1, fingerprint: fingerprintOf(request) }) },
      approvalRuns: {
        run: async () => {
          throw new SluiceError('APPROVAL_EXPIRED', 'It has expired, or was taken back.')
        },
      },
    } as unknown as Pick<Services, 'approvals' | 'approvalRuns'>
    const asking = {
      endpoint: { name: 'AMMTrade', path: '/amm/trade', request: { properties: {} } },
      caller: { id: 'bot', fingerprint: 'aa', permissions: new Set<never>(), wallets: 'all' } as const,
      requestId: 'r',
      key: 'k',
      request,
      signal: undefined,
    }
    return orWaiting(asking, services, () => ({ status: 200, body: '{}' })).then(
      ({ body }) => body,
      (error: SluiceError) => error.name,
    )
  }

  it('waits on where the attempt was refused, and has not expired', async () => {
    expect(await outcome(['approved', 'waiting'])).to.equal('PENDING_APPROVAL')
    expect(await outcome(['approved', 'expired'])).to.equal('APPROVAL_EXPIRED')
    expect(await outcome(['approved', 'denied'])).to.equal('APPROVAL_EXPIRED')
  })
})
