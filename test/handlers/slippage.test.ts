import { expect } from 'chai'
import { assert, bigInt, property, record } from 'fast-check'
import type { ConnectorConfig, Hop, Quote } from '../../core/contracts/index.ts'
import { withTerms } from '../../core/handlers/amm/candidates.ts'
import type { NetworkEntry } from '../../core/plugins/index.ts'
import { effectiveSlippage, readSlippage, slippageBound, tighterBound, tradeRules } from '../../core/handlers/slippage.ts'

const token = { symbol: 'T', address: '0x1', decimals: 6 }
const head = { number: 1n, timestamp: 1 }
const hop = (version: string): Hop => ({ pool: '0x3', version, tokenIn: '0x1', tokenOut: '0x2' })
const quoteOf = (exact: 'in' | 'out', amountRaw: bigint): Quote => ({
  swap: { tokenIn: token, tokenOut: token, exact, amountRaw: 1n },
  amountRaw,
  spotAmountRaw: amountRaw,
  gasUnits: 1n,
  route: [hop('v2')],
  head,
  spender: '0x4',
})

const config: ConnectorConfig = {
  allowedSlippage: '1/50',
  ttl: 900,
  contractAddresses: {},
  versions: { v2: { allowedSlippage: '1/100', ttl: 600 }, v3: { allowedSlippage: '1/200', ttl: 300 } },
}
const raw = bigInt({ min: 1n, max: 2n ** 128n })
const slippage = record({ numerator: bigInt({ min: 0n, max: 1000n }), denominator: bigInt({ min: 1n, max: 1000n }) })

describe('the bound of a trade', () => {
  it('allows exactly the slippage, to the unit', () => {
    assert(
      property(raw, slippage, (amountRaw, { numerator, denominator }) => {
        const most = slippageBound(quoteOf('out', amountRaw), { numerator, denominator })
        expect(most * denominator <= amountRaw * (denominator + numerator)).to.equal(true)
        expect((most + 1n) * denominator > amountRaw * (denominator + numerator)).to.equal(true)
        const least = slippageBound(quoteOf('in', amountRaw), { numerator, denominator })
        expect(least * denominator >= amountRaw * (denominator - numerator) && least >= 1n).to.equal(true)
        expect(least === 1n || (least - 1n) * denominator < amountRaw * (denominator - numerator)).to.equal(true)
      }),
    )
  })

  it('takes the tighter one of slippage and limit price', () => {
    expect(tighterBound(quoteOf('out', 100n), 101n, 105n, '2.5')).to.equal(101n)
    expect(tighterBound(quoteOf('out', 100n), 101n, 100n, '2.5')).to.equal(100n)
    expect(tighterBound(quoteOf('in', 100n), 99n, 95n, '2.5')).to.equal(99n)
    expect(tighterBound(quoteOf('in', 100n), 99n, 100n, '2.5')).to.equal(100n)
  })

  it('throws if the quote is past the limit price by one smallest unit', () => {
    expect(() => tighterBound(quoteOf('out', 100n), 101n, 99n, '2.5'))
      .to.throw(/2\.5 now/)
      .with.property('name', 'SWAP_PRICE_EXCEEDS_LIMIT_PRICE')
    expect(() => tighterBound(quoteOf('in', 100n), 99n, 101n, '2.5'))
      .to.throw(/2\.5 now/)
      .with.property('name', 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
  })
})

describe('tradeRules and effectiveSlippage', () => {
  it('are those of the connector for versions that it does not have, whatever a plugin calls them, and are kept once', () => {
    const rules = tradeRules(config, [])
    for (const version of ['constructor', 'toString', '__proto__', ...Array.from({ length: 10_000 }, (_, index) => `new ${index}`)])
      expect(tradeRules(config, [hop(version)]), version).to.equal(rules)
    const mixed = tradeRules(config, [hop('v3'), hop('new'), hop('constructor')])
    expect(mixed).to.deep.include({ slippageText: '1/200', ttlSeconds: 300 })
    expect(tradeRules(config, [hop('newer'), hop('v3')])).to.equal(mixed)
  })

  it('leave a connector among those that are compared, whatever it calls its version', async () => {
    const [venue, quote] = [
      { connector: 'strange', config },
      { ...quoteOf('in', 100n), route: [hop('constructor')] },
    ]
    const answer = { venue, answer: { quote, source: 'rpc', isFollowed: false } } as unknown as Parameters<typeof withTerms>[0]
    const network = { impl: { gas: () => ({ gasLimit: 1n, gasPriceRaw: 1n, gasCostRaw: 1n }) } } as unknown as NetworkEntry
    const compared = await withTerms(answer, undefined, network, { signal: AbortSignal.timeout(1_000) })
    expect(compared).to.include({ boundRaw: 98n })
  })

  it('take the strictest slippage and the shortest ttl of the versions on the route', () => {
    expect(tradeRules(config, [hop('v2')])).to.deep.include({ slippageText: '1/100', ttlSeconds: 600 })
    expect(tradeRules(config, [hop('v2'), hop('v3'), hop('v2')])).to.deep.include({ slippageText: '1/200', ttlSeconds: 300 })
  })

  it("take the connector's own rules for a version without rules and for an unknown route", () => {
    for (const route of [[hop('v9')], []]) expect(tradeRules(config, route)).to.deep.include({ slippageText: '1/50', ttlSeconds: 900 })
  })

  it('let a request tighten the slippage and refuse to loosen it', () => {
    expect(effectiveSlippage(config, [hop('v2')], '1/1000')).to.deep.equal(readSlippage('1/1000'))
    expect(effectiveSlippage(config, [hop('v2')], '2/200')).to.deep.equal(readSlippage('2/200'))
    expect(() => effectiveSlippage(config, [hop('v2')], '1/99')).to.throw('may only tighten the configured 1/100')
  })
})
