import { expect } from 'chai'
import { showError } from '../../../plugins/hummingbot/errors.ts'

const shown = async (name: string, http: number) =>
  showError({ name, http, message: 'It may be done. TRANSACTION_TIMEOUT', requestId: 'r', retryAfterSeconds: undefined })

describe('errors of the Hummingbot interface', () => {
  it('are 503 where something may have been signed for the request', async () => {
    for (const [name, http] of [
      ['IN_FLIGHT', 409],
      ['IDEMPOTENCY_CONFLICT', 422],
      ['TIMEOUT', 504],
      ['UNKNOWN_ERROR', 500],
    ] as const)
      expect((await shown(name, http)).status, name).to.equal(503)
  })

  it('keep the status of what was refused, without the word that makes clients send again', async () => {
    const { status, body } = await shown('INSUFFICIENT_BALANCE', 400)
    expect(status).to.equal(400)
    expect(body).to.include({ statusCode: 400, error: 'Bad Request', code: 'INSUFFICIENT_BALANCE', message: 'It may be done. a timeout' })
  })
})
