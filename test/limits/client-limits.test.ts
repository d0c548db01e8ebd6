import { expect } from 'chai'
import type { Client, ClientLimits } from '../../core/config/clients.ts'
import { createClientLimits, type NetworkTerms } from '../../core/limits/client-limits.ts'

const settings = { maxDailyLossPercent: 2, minDailyLoss: 20, maxFeePercent: 10, maxDailyGasPercent: 100 }
const mainnet = { chain: 'ethereum', network: 'mainnet' }
const base = { chain: 'base', network: 'mainnet' }
const local = { chain: 'ethereum', network: 'local' }
/** A million gas at 500 gwei. */
const terms: NetworkTerms = { feesAtCapRaw: 5n * 10n ** 17n, decimals: 18 }
const client = (permissions: Client['permissions'], limits?: ClientLimits): Client => ({
  name: 'bot',
  permissions,
  wallets: 'all',
  ...(limits && { limits }),
})
const openBook = (listed: Client) => createClientLimits({ clients: () => [listed], ownOf: () => listed.limits, settings })
const bookOf = (listed: Client, heldMicros = 0n) => {
  const book = openBook(listed)
  book.setDefaults({ termsOf: ({ network }) => (network === 'local' ? undefined : terms), heldMicros: () => heldMicros })
  return book
}
const dollars = 1_000_000n

describe('the limits of a client on a network', () => {
  it('are defaults without the permission thin: shares of feeCap and of what the wallets held, with a floor', () => {
    const limits = bookOf(client(['trade']), 50_000n * dollars).on('bot', mainnet)
    expect(limits).to.include({ maxFee: '0.05', maxDailyGas: '0.5', maxDailyLoss: '1000' })
    expect([...(limits?.defaults ?? [])]).to.have.members(['maxFee', 'maxDailyGas', 'maxDailyLoss'])
    expect(bookOf(client(['trade']), 100n * dollars).on('bot', mainnet)?.maxDailyLoss).to.equal('20')
    expect(bookOf(client(['send'])).on('bot', mainnet)?.maxFee).to.equal('0.05')
  })

  it('are none with thin, on local networks, for clients that sign nothing, and for what the server does by itself', () => {
    expect(bookOf(client(['trade', 'thin'])).on('bot', mainnet)).to.equal(undefined)
    expect(bookOf(client(['trade'])).on('bot', local)).to.equal(undefined)
    expect(bookOf(client(['read'])).on('bot', mainnet)).to.equal(undefined)
    expect(bookOf(client(['trade'])).on('sluice', mainnet)).to.equal(undefined)
    expect(openBook(client(['trade'])).on('bot', mainnet)).to.equal(undefined)
  })

  it('may bind a client before it has asked for anything: another server may have reserved for it', () => {
    expect(openBook(client(['trade'])).mayBind()).to.equal(true)
    expect(openBook(client(['send'])).mayBind()).to.equal(true)
    for (const permissions of [['trade', 'thin'], ['read']] as const) {
      const book = bookOf(client(permissions))
      book.on('bot', mainnet)
      expect(book.mayBind()).to.equal(false)
    }
  })

  it('are its own where it has some, with thin, too', () => {
    const own = { maxDailyLoss: '5', maxFee: '1' }
    const limits = bookOf(client(['trade'], own), 50_000n * dollars).on('bot', mainnet)
    expect(limits).to.include({ ...own, maxDailyGas: '0.5' })
    expect([...(limits?.defaults ?? [])]).to.deep.equal(['maxDailyGas'])
    expect(bookOf(client(['trade', 'thin'], own)).on('bot', mainnet)).to.deep.equal(own)
  })

  it('may name an amount for each network: on others nothing may be spent', () => {
    const book = bookOf(client(['trade'], { maxFee: { 'ethereum/mainnet': '0.02' }, maxDailyGas: { 'base/mainnet': '0.01' } }))
    expect(book.on('bot', mainnet)).to.include({ maxFee: '0.02', maxDailyGas: '0' })
    expect(book.on('bot', base)).to.include({ maxFee: '0', maxDailyGas: '0.01' })
  })
})
