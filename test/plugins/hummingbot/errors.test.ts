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

  it('name the command of the client by which the missing allowance is given', () => {
    for (const [spenderName, command] of [
      ['uniswap/v3', 'uniswap/router'],
      ['uniswap/v2', 'uniswap/amm'],
      ['uniswap/positions', 'uniswap/clmm'],
      ['uniswap/v4Positions', 'uniswap/v4Positions'],
      ['any', 'sluice/router'],
    ]) {
      const details = { spender: '0x1', spenderName, token: 'WETH' }
      const error = { name: 'INSUFFICIENT_ALLOWANCE', http: 422, message: 'It needs more.', requestId: 'r', retryAfterSeconds: undefined }
      const { body } = showError({ ...error, details })
      expect(body).to.include({ message: `It needs more. In Hummingbot: gateway approve ${command} WETH` })
      expect(showError(error).body).to.include({ message: 'It needs more.' })
    }
  })

  it('have clients send again what an approval of the wallet has to be mined for first, and no other overload', () => {
    const error = { name: 'OVERLOADED', http: 503, message: 'Send it again.', requestId: 'r', retryAfterSeconds: 12 }
    expect(showError({ ...error, details: { reason: 'an approval under way' } })).to.deep.include({
      status: 503,
      body: {
        statusCode: 503,
        error: 'Service Unavailable',
        name: 'OVERLOADED',
        message: 'Send it again.',
        code: 'RATE_LIMITED',
        requestId: 'r',
      },
    })
    for (const details of [undefined, { reason: 'signer count' }])
      expect(showError({ ...error, details }).body).not.to.have.property('code')
  })
})
