import { expect } from 'chai'
import type { Client, ClientLimits } from '../../core/config/clients.ts'
import { createClientLimits, type NetworkTerms } from '../../core/limits/client-limits.ts'
import { readUsage } from '../../core/limits/usage.ts'
import type { Store } from '../../core/store/store.ts'

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
    expect(Object.fromEntries(limits?.defaults ?? [])).to.deep.equal({
      maxFee: { percent: 10, ofRaw: terms.feesAtCapRaw },
      maxDailyGas: { percent: 100, ofRaw: terms.feesAtCapRaw },
      maxDailyLoss: { percent: 2, ofRaw: 50_000n * dollars, atLeastRaw: 20n * dollars },
    })
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
    expect([...(limits?.defaults?.keys() ?? [])]).to.deep.equal(['maxDailyGas'])
    expect(bookOf(client(['trade', 'thin'], own)).on('bot', mainnet)).to.deep.equal(own)
  })

  it('follow what they are made of: the entry of the client, what its wallets held, and what gas costs', () => {
    let [own, heldMicros, feesAtCapRaw]: [ClientLimits | undefined, bigint, bigint] = [undefined, 0n, terms.feesAtCapRaw]
    const book = createClientLimits({ clients: () => [trader], ownOf: () => own, settings })
    const trader = client(['trade'])
    book.setDefaults({ termsOf: () => ({ ...terms, feesAtCapRaw }), heldMicros: () => heldMicros })
    const shown = (on = mainnet) => {
      const { maxDailyLoss, maxDailyGas, transactionsPerHour } = book.on('bot', on) ?? {}
      return [maxDailyLoss, maxDailyGas, transactionsPerHour]
    }
    expect(shown()).to.deep.equal(['20', '0.5', undefined])
    heldMicros = 50_000n * dollars
    expect(shown()).to.deep.equal(['1000', '0.5', undefined])
    feesAtCapRaw *= 2n
    expect(shown()).to.deep.equal(['1000', '1', undefined])
    own = { transactionsPerHour: 3, maxDailyGas: { 'base/mainnet': '0.01' } }
    expect(shown()).to.deep.equal(['1000', '0', 3])
    expect(shown(base)).to.deep.equal(['1000', '0.01', 3])
    own = undefined
    expect(shown()).to.deep.equal(['1000', '1', undefined])
  })

  it('may name an amount for each network: on others nothing may be spent', () => {
    const book = bookOf(client(['trade'], { maxFee: { 'ethereum/mainnet': '0.02' }, maxDailyGas: { 'base/mainnet': '0.01' } }))
    expect(book.on('bot', mainnet)).to.include({ maxFee: '0.02', maxDailyGas: '0' })
    expect(book.on('bot', base)).to.include({ maxFee: '0', maxDailyGas: '0.01' })
  })
})

describe('what is shown of limits', () => {
  const emptyStore = { read: async () => [undefined, { now: 0 }] } as unknown as Store
  const shownOf = async (listed: Client) => {
    const usage = await readUsage(emptyStore, 'bot', {
      own: listed.limits,
      limitsOn: (on) => bookOf(listed, 50_000n * dollars).on('bot', on),
      networks: [
        { ...local, decimals: 18 },
        { ...mainnet, decimals: 18 },
      ],
      token: () => undefined,
    })
    return usage.map(({ limit, allowed, isDefault, basis }) => [limit, allowed, isDefault, basis?.percent, basis?.ofRaw, basis?.atLeastRaw])
  }

  it('has the defaults in force, what they are shares of, and the leverage that a limit of losses brings', async () => {
    expect(await shownOf(client(['trade']))).to.deep.equal([
      ['maxFee', '0.05', true, 10, terms.feesAtCapRaw, undefined],
      ['maxDailyLoss', '1000', true, 2, 50_000n * dollars, 20n * dollars],
      ['maxDailyGas', '0.5', true, 100, terms.feesAtCapRaw, undefined],
      ['maxLeverage', '1', true, undefined, undefined, undefined],
    ])
    const own = await shownOf(client(['trade', 'thin'], { maxDailyLoss: '5', maxLeverage: 3 }))
    expect(own.map(([limit, allowed, isDefault]) => [limit, allowed, isDefault])).to.deep.equal([
      ['maxDailyLoss', '5', undefined],
      ['maxLeverage', '3', undefined],
    ])
    expect(await shownOf(client(['trade', 'thin']))).to.deep.equal([])
  })
})
