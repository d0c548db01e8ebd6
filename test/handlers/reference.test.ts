import { expect } from 'chai'
import { bestReference, isFarWorse, readReference, requireReference } from '../../core/handlers/amm/reference.ts'
import { SluiceError } from '../../core/base/errors.ts'
import type { Quote, Swap } from '../../core/contracts/index.ts'
import type { NetworkContext } from '../../core/handlers/context.ts'
import type { VenueEntry } from '../../core/plugins/registry.ts'

const token = { symbol: 'T', address: '0x1', decimals: 0 }
const quoteOf = (exact: Swap['exact'], amountRaw: bigint, spotAmountRaw = amountRaw) => ({
  swap: { tokenIn: token, tokenOut: token, exact, amountRaw: 1n },
  amountRaw,
  spotAmountRaw,
})

describe("a stranger's quote beside those of built-in connectors", () => {
  it('counts as far worse if it gives over 5 % less, or takes over 5 % more', () => {
    expect(isFarWorse(quoteOf('in', 950n), 1000n)).to.equal(false)
    expect(isFarWorse(quoteOf('in', 949n), 1000n)).to.equal(true)
    expect(isFarWorse(quoteOf('out', 1050n), 1000n)).to.equal(false)
    expect(isFarWorse(quoteOf('out', 1051n), 1000n)).to.equal(true)
  })

  it('passes when it is better', () => {
    expect(isFarWorse(quoteOf('in', 5000n), 1000n)).to.equal(false)
    expect(isFarWorse(quoteOf('out', 1n), 1000n)).to.equal(false)
  })

  it('has to match the best of them', () => {
    const best = (exact: Swap['exact']) =>
      bestReference([1000n, 1010n, 990n].map((raw) => ({ connector: String(raw), quote: quoteOf(exact, raw) })))?.connector
    expect(best('in')).to.equal('1010')
    expect(best('out')).to.equal('990')
  })

  it('ignores pools which are too small for the swap', () => {
    const [shallow, deep] = [
      { connector: 'shallow', quote: quoteOf('in', 500n, 1000n) },
      { connector: 'deep', quote: quoteOf('in', 400n, 410n) },
    ]
    expect(bestReference([shallow, deep])).to.equal(deep)
    expect(bestReference([shallow])).to.equal(undefined)
  })

  it('needs a limitPrice without one, and says why', () => {
    const where = { connector: 'new', chain: 'ethereum', network: 'mainnet' }
    const check = (reference?: Parameters<typeof requireReference>[1]) => () =>
      requireReference(quoteOf('in', 900n), reference, where, String)
    expect(check()).to.throw(/limitPrice: is required: new is not built in.*ethereum\/mainnet/)
    expect(check({ connector: 'uniswap', quote: quoteOf('in', 1000n) })).to.throw(
      /allow, 900, is more than 5 % worse than 1000.*\(uniswap\)/,
    )
    expect(check({ connector: 'uniswap', quote: quoteOf('in', 940n) })).to.not.throw()
  })

  /** What each connector does when it is asked. */
  const connectors: Readonly<Record<string, { builtIn: boolean; isReady?: false; quote: () => Promise<Quote> }>> = {
    near: { builtIn: true, quote: async () => quoteOf('in', 1000n) as Quote },
    best: { builtIn: true, quote: async () => quoteOf('in', 1100n) as Quote },
    strange: { builtIn: false, quote: async () => quoteOf('in', 9000n) as Quote },
    failing: { builtIn: true, quote: () => Promise.reject(new Error('It has no such pair.')) },
    limited: { builtIn: true, quote: () => Promise.reject(new SluiceError('RATE_LIMIT', 'Its node is over its limit.')) },
    away: { builtIn: true, isReady: false, quote: async () => quoteOf('in', 9000n) as Quote },
    silent: { builtIn: true, quote: () => new Promise(() => {}) },
  }
  async function read(...names: readonly string[]) {
    const venues = names.map((connector) => {
      const { builtIn = true, isReady = true } = connectors[connector] ?? {}
      return { connector, builtIn, impl: { AMM: {} }, notReady: () => (isReady ? undefined : 'its node is away'), wake: async () => {} }
    })
    const registry = { venuesOn: () => venues }
    const context = { network: { chain: 'ethereum', network: 'mainnet' }, services: { registry }, signal: AbortSignal.timeout(60_000) }
    const ask = async ({ connector }: VenueEntry) => connectors[connector]?.quote() ?? Promise.reject(new Error('Nobody.'))
    return (await readReference(context as unknown as NetworkContext, ask, 200))?.connector
  }

  it('asks the built-in connectors only, and goes on without those that fail, are away or do not answer', async () => {
    expect(await read('failing', 'near', 'strange', 'silent', 'best', 'away')).to.equal('best')
    expect(await read('near', 'silent')).to.equal('near')
    expect(await read('failing', 'strange', 'silent', 'away')).to.equal(undefined)
  })
  it('knows nothing while one has trouble: the best may be the one that cannot be asked', async () => {
    for (const names of [['limited'], ['near', 'limited']])
      await read(...names).then(
        (found) => expect.fail(`It compares with ${found}.`),
        (error: SluiceError) => expect(error).to.include({ name: 'RATE_LIMIT' }),
      )
  })
})
