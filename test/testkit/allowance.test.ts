import { expect } from 'chai'
import type { Client } from '../../testkit/client.ts'
import { withoutAllowance, type TestVenue } from '../../testkit/cards/venue.ts'

describe('a wallet without allowance', () => {
  let approved: (string | undefined)[]
  let isRefused: boolean
  const client = {
    async post(_: string, { amount }: { amount?: string }) {
      approved.push(amount)
      return isRefused && amount === undefined ? { status: 503, body: {} } : { status: 200, body: { txHash: '0x1' } }
    },
    get: async () => ({ status: 200, body: { txStatus: 1 } }),
  } as unknown as Client
  const venue = { client, rpcUrl: 'http://127.0.0.1', chain: 'ethereum', network: 'local', connector: 'riverswap' } as TestVenue
  const failing = () => Promise.reject(new Error('the card is red'))
  const outcome = (during: () => Promise<unknown>) =>
    withoutAllowance(venue, '0x', 'WETH', during).then(
      () => 'green',
      ({ message }: Error) => message,
    )
  beforeEach(() => {
    ;[approved, isRefused] = [[], false]
  })

  it('has it again after a card that fails', async () => {
    expect(await outcome(failing)).to.equal('the card is red')
    expect(approved).to.deep.equal(['0', undefined])
    expect(await outcome(async () => {})).to.equal('green')
    expect(approved).to.deep.equal(['0', undefined, '0', undefined])
  })

  it('leaves the reason to the card where it cannot have it again', async () => {
    isRefused = true
    expect(await outcome(failing)).to.equal('the card is red')
    expect(approved).to.deep.equal(['0', undefined])
  })
})
