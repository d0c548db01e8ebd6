import { expect } from 'chai'
import { SluiceError } from '../../../core/base/errors.ts'
import type { InterfaceCall } from '../../../core/contracts/interface.ts'
import { showError } from '../../../plugins/hummingbot/errors.ts'
import { createNetworks } from '../../../plugins/hummingbot/networks.ts'
import { numberBelow } from '../../../plugins/hummingbot/numbers.ts'
import { pollPath } from '../../../plugins/hummingbot/poll.ts'

const networks = createNetworks({ networks: { 'ethereum-local': 'ethereum/local' }, defaultNetworks: { ethereum: 'local' } })
const base = { currentBlock: 100, txBlock: -1, txStatus: 0, txReceipt: null, confirmations: 0 }

const mined = { txState: 'MINED', final: false, txBlock: 99, txStatus: 1 }

/** What bots are told where the server says this of a transaction, or fails. */
async function polled(found: object | Error): Promise<Record<string, unknown>> {
  const call = {
    call: async () => {
      if (found instanceof Error) throw found
      return { ...base, ...found }
    },
  } as unknown as InterfaceCall
  return (await pollPath(networks).answer({ chain: 'ethereum', signature: '0x1' }, call)) as Record<string, unknown>
}

describe('the poll of a transaction by a bot of Hummingbot', () => {
  for (const [what, found, txStatus] of [
    ['is signed', { txState: 'SIGNED', final: false }, 0],
    ['is sent, and not in the mempool any more', { txState: 'BROADCAST', final: false, txStatus: -1 }, 0],
    ['is mined', { ...mined, txReceipt: { status: 1 } }, 1],
    ['is mined, as a node writes it', { ...mined, txReceipt: { status: '0x1' } }, 1],
    ['is mined, and whose receipt is not known yet', mined, 0],
    ['reverted in a block that may still go', { ...mined, txReceipt: { status: 0 } }, 0],
    ['is confirmed', { txState: 'CONFIRMED', final: true, txBlock: 9, txStatus: 1 }, 1],
    ['reverted for good', { txState: 'REVERTED', final: true, txBlock: 9, txStatus: 1 }, -1],
    ['was replaced for good', { txState: 'CANCELLED', final: true, txStatus: -1 }, -1],
    ['expired', { txState: 'EXPIRED', final: true, txStatus: -1 }, -1],
    ['nobody knows', { txStatus: -1 }, -2],
    ['is of another server, and pending', { txStatus: 2 }, 0],
    ['is of another server, and in a block', { txStatus: 1, txBlock: 99, txReceipt: { status: 1 } }, 1],
    ['is of another server, in a block, and has no receipt yet', { txStatus: 1, txBlock: 9, confirmations: 92 }, 0],
    ['is of another server, and reverted a moment ago', { txStatus: 1, txBlock: 99, txReceipt: { status: 0 }, confirmations: 2 }, 0],
    ['is of another server, and reverted long ago', { txStatus: 1, txBlock: 9, txReceipt: { status: 0 }, confirmations: 92 }, -1],
  ] as const)
    it(`says ${txStatus} of one that ${what}, and has an error only with -1`, async () => {
      const answer = await polled(found)
      expect(answer['txStatus']).to.equal(txStatus)
      if (txStatus === -1) expect(answer['error']).to.be.a('string')
      else expect(answer['error']).to.equal(null)
    })

  for (const name of ['NETWORK', 'TIMEOUT', 'SERVICE_UNINITIALIZED', 'RATE_LIMIT', 'OVERLOADED'] as const)
    it(`says 0 where the server has ${name}: it says nothing of the transaction`, async () => {
      expect(await polled(new SluiceError(name, 'away'))).to.deep.equal({ signature: '0x1', txStatus: 0, fee: null, error: null })
    })

  it('refuses who may not ask', async () => {
    const thrown: unknown = await polled(new SluiceError('FORBIDDEN', 'no')).catch((error: unknown) => error)
    expect(thrown).to.include({ name: 'FORBIDDEN' })
  })

  it('tells the fee in the native coin', async () => {
    const receipt = { status: 1, gasUsed: '27941', effectiveGasPrice: '1000000007' }
    expect((await polled({ ...mined, txReceipt: receipt }))['fee']).to.equal(0.000027941000195587)
  })

  for (const [what, receipt, fee] of [
    ['with what a rollup charges beside the gas', { gasUsed: '1000000', effectiveGasPrice: '7', l1Fee: '0x64' }, 7.0001e-12],
    [
      'with what its operator charges',
      { gasUsed: '1000000', effectiveGasPrice: '7', l1Fee: '100', operatorFeeScalar: '0x1e', operatorFeeConstant: '0x5' },
      7.000135e-12,
    ],
    ['in lamports', { fee: '5001' }, 0.000005001],
    ['that is not known where the node does not say the price', { gasUsed: '27941', effectiveGasPrice: '0' }, null],
    ['that is not known where a part is no number', { gasUsed: '27941', effectiveGasPrice: '7', l1Fee: 'much' }, null],
    ['that is not known of a status alone', { fee: null }, null],
  ] as const)
    it(`tells a fee ${what}`, async () => {
      expect((await polled({ ...mined, txReceipt: { status: 1, ...receipt } }))['fee']).to.equal(fee)
    })
})

describe('an error for a bot of Hummingbot', () => {
  const shown = (name: string, http: number, message = 'words') =>
    showError({ name, http, message, requestId: 'r', retryAfterSeconds: undefined })

  it('is never 500 or 504: clients take these for what they are not', () => {
    expect(shown('UNKNOWN_ERROR', 500).status).to.equal(503)
    expect(shown('TIMEOUT', 504).body).to.include({ statusCode: 503, error: 'Service Unavailable' })
  })

  it('has no word that makes clients send a transaction again', () => {
    expect(JSON.stringify(shown('TRADE_FAILED', 422, 'it said TRANSACTION_TIMEOUT'))).not.to.contain('TRANSACTION_TIMEOUT')
  })

  it('has the code that the client knows, or none', () => {
    expect(shown('PRICE_FAILED', 422).body).to.include({ code: 'NO_ROUTE_FOUND', message: 'words' })
    expect(shown('RATE_LIMIT', 429).body).to.include({ code: 'RATE_LIMITED' })
    expect(shown('FORBIDDEN', 403).body).not.to.have.property('code')
  })

  it('is 501 of a path that there is not: 404 closes positions in a database of the client', () => {
    expect(shown('INCOMPLETE_PARAMS', 404).body).to.include({ statusCode: 501, error: 'Not Implemented' })
    expect(shown('TOKEN_NOT_SUPPORTED', 404).status).to.equal(404)
  })

  it('is a refusal of what waits for an approval, with words that do not ask for it again', () => {
    const { status, body } = shown('PENDING_APPROVAL', 202, 'Send it again.')
    expect([status, JSON.stringify(body)]).to.satisfy(([code, text]: [number, string]) => code === 403 && !text.includes('Send it again'))
    expect(body).to.include({ statusCode: 403, name: 'PENDING_APPROVAL' }).and.not.to.have.property('code')
  })
})

describe('an amount as a number', () => {
  for (const [text, number] of [
    ['0', 0],
    ['1.5', 1.5],
    ['10000.000000000000000000', 10000],
    ['0.000000000000000001', 1e-18],
    ['123456789.123456789987654321', 123456789.123456],
    ['0.99999999999999999999', 0.999999999999999],
    ['12345678901234567890', 12345678901234500000],
  ] as const)
    it(`is never more than ${text}`, () => {
      expect(numberBelow(text)).to.equal(number)
    })
})
