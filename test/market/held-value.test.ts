import { expect } from 'chai'
import { heldAgainstMarket, heldApproval } from '../../core/handlers/market-check.ts'
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

describe('what a request may lose while a price is pushed down for a moment', () => {
  let market: Market | undefined
  afterEach(() => market?.stop())

  async function contextAt(price: number): Promise<Parameters<typeof heldApproval>[1]> {
    const network = poolNetwork()
    const now = { ms: 0, price: 3000 }
    market = poolMarket(network, { isRead: () => true, leftMs: () => 0, note: async () => {} }, now)
    market.compare(network, { gives: { weth: 1n }, gets: { usdc: 1n } }, 'bot')
    for (; now.ms < 600_000; now.ms += 10_000) await market.read()
    now.price = price
    await market.read()
    const services = {
      market,
      holdings: { follow: () => {} },
      settings: { limits: { maxPriceImpact: 5 } },
      allowLists: { maxPriceImpact: () => undefined },
    }
    return { network, services, caller: { id: 'bot', permissions: new Set(['trade']) } } as unknown as Parameters<typeof heldApproval>[1]
  }
  const lossOf = ({ market: value }: { readonly market?: { readonly lossMicros: bigint } }) => Number(value?.lossMicros) / 1e6

  it('is all that an approval gives, as it was worth in the last minutes', async () => {
    const weth = 10n ** 18n
    expect(lossOf(heldApproval({ weth }, await contextAt(3000)))).to.be.closeTo(3000, 0.01)
    expect(lossOf(heldApproval({ weth }, await contextAt(300)))).to.be.closeTo(3000, 0.01)
    expect(lossOf(heldApproval({ weth }, await contextAt(6000)))).to.be.closeTo(6000, 0.01)
  })

  it('is what a swap is below the market, of what it gives as that was worth in the last minutes', async () => {
    const swap = { gives: { weth: 10n ** 18n }, gets: { usdc: 2_900_000_000n } }
    expect(lossOf(heldAgainstMarket(swap, await contextAt(3000)))).to.be.closeTo(100, 0.01)
    expect(lossOf(heldAgainstMarket(swap, await contextAt(300)))).to.be.closeTo(100, 0.01)
  })
})
