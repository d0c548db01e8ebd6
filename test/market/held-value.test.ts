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
    const now = { ms: 0, price: 3000 }
    market = poolMarket(network, { ...ages, isRead: () => ages.isRead, leftMs: () => (ages.isRead ? 0 : 1), note: async () => {} }, now)
    const held = () => heldValue(['0x1'], { network, market: market!, client: 'bot' }, { signal: new AbortController().signal })
    expect(await held()).to.equal(undefined)
    // Their ages are not known: the store cannot be read.
    for (; now.ms <= 300_000; now.ms += 10_000) await market.read()
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
  it('counts at the price of now or of the last minutes, whichever is less', async () => {
    const network = poolNetwork({ balances: async (_wallet, tokens) => tokens.map(({ symbol }) => (symbol === 'WETH' ? 10n ** 18n : 0n)) })
    const now = { ms: 0, price: 3000 }
    market = poolMarket(network, { isRead: () => true, leftMs: () => 0, note: async () => {} }, now)
    const held = () => heldValue(['0x1'], { network, market: market!, client: 'bot' }, { signal: new AbortController().signal })
    const readUntil = async (ms: number, price: number) => {
      now.price = price
      for (; now.ms < ms; now.ms += 10_000) await market?.read()
    }
    await held()
    await readUntil(600_000, 3000)
    await readUntil(660_000, 30_000)
    expect(await held()).to.equal(2_999_999_999n)
    await readUntil(700_000, 2000)
    expect(await held()).to.equal(1_999_999_999n)
  })

  it('is not known while the market of it was read for a moment only', async () => {
    const network = poolNetwork({ balances: async (_wallet, tokens) => tokens.map(({ symbol }) => (symbol === 'WETH' ? 10n ** 18n : 0n)) })
    const now = { ms: 0, price: 30_000 }
    market = poolMarket(network, { isRead: () => true, leftMs: () => 0, note: async () => {} }, now)
    const held = () => heldValue(['0x1'], { network, market: market!, client: 'bot' }, { signal: new AbortController().signal })
    await held()
    for (; now.ms < 60_000; now.ms += 10_000) await market.read()
    expect(await held()).to.equal(undefined)
    now.price = 3000
    for (; now.ms <= 300_000; now.ms += 10_000) await market.read()
    expect(await held()).to.equal(2_999_999_999n)
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
