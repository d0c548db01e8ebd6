import { expect } from 'chai'
import { heldValue } from '../../core/market/held-value.ts'
import type { Market } from '../../core/market/market.ts'
import { poolMarket, poolNetwork } from './pool-market.ts'

describe('what wallets hold', () => {
  let market: Market | undefined
  afterEach(() => market?.stop())

  it('is not known until the market of it was read, and for how long that was there', async () => {
    const network = poolNetwork({ balances: async (_wallet, tokens) => tokens.map(({ symbol }) => (symbol === 'WETH' ? 10n ** 18n : 0n)) })
    const ages = { isRead: false }
    market = poolMarket(
      network,
      { ...ages, isRead: () => ages.isRead, leftMs: () => (ages.isRead ? 0 : 1), note: async () => {} },
      { ms: 0, price: 3000 },
    )
    const held = () => heldValue(['0x1'], { network, market: market!, client: 'bot' }, { signal: new AbortController().signal })
    expect(await held()).to.equal(undefined)
    // Their ages are not known: the store cannot be read.
    await market.read()
    expect(await held()).to.equal(undefined)
    ages.isRead = true
    expect(await held()).to.equal(2_999_999_999n)
  })

  it('is not known while the age of a market that was just found is written', async () => {
    const network = poolNetwork({ balances: async (_wallet, tokens) => tokens.map(({ symbol }) => (symbol === 'WETH' ? 10n ** 18n : 0n)) })
    let isNoted: (() => void) | undefined
    const note = () => new Promise<void>((resolve) => (isNoted = resolve))
    market = poolMarket(network, { isRead: () => true, leftMs: () => 1, note }, { ms: 0, price: 3000 })
    const held = () => heldValue(['0x1'], { network, market: market!, client: 'bot' }, { signal: new AbortController().signal })
    expect(await held()).to.equal(undefined)
    const read = market.read()
    while (!isNoted) await new Promise((done) => setImmediate(done))
    expect(await held()).to.equal(undefined)
    isNoted()
    await read
    expect(await held()).to.equal(0n)
  })
  it('is read again by whoever asks for it while it is being read', async () => {
    const network = poolNetwork({ balances: async (_wallet, tokens) => tokens.map(() => 10n ** 18n) })
    const noted: (() => void)[] = []
    const note = () => new Promise<void>((resolve) => void noted.push(resolve))
    market = poolMarket(network, { isRead: () => true, leftMs: () => 0, note }, { ms: 0, price: 3000 })
    const at = { signal: new AbortController().signal }
    await heldValue(['0x1'], { network, market, client: 'bot' }, at)
    const both = Promise.all([market.read(), market.read()])
    for (const count of [1, 2]) {
      while (noted.length < count) await new Promise((done) => setImmediate(done))
      noted.at(-1)?.()
    }
    await both
  })
})
