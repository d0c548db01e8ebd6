import { expect } from 'chai'
import type { AllowedLists, ClientLimits } from '../../core/config/clients.ts'
import { allowListGuard, createAllowLists } from '../../core/limits/allow-lists.ts'
import type { SluiceError } from '../../core/base/errors.ts'
import type { Footprint } from '../../core/transactions/budgets.ts'
import type { Entry, Kind } from '../../core/transactions/entry.ts'
import { withGuards } from '../../core/transactions/guards.ts'
import type { Journal } from '../../core/transactions/journal/journal.ts'

const weth = '0x00000000000000000000000000000000000000Aa'
const usdc = '0x00000000000000000000000000000000000000Bb'
const pool = '0x00000000000000000000000000000000000000Cc'
const swap: Footprint = {
  action: 'swap',
  connectors: [{ name: 'uniswap', builtIn: true }],
  tokens: [
    { name: weth, symbol: 'WETH' },
    { name: usdc, symbol: 'USDC' },
  ],
  pools: [pool],
  slippage: { numerator: 1n, denominator: 100n },
}
const mainnet = { chain: 'ethereum', network: 'mainnet' }

/** `allowed`, or the limit that refuses it. */
function outcomeOf(
  limits: ClientLimits | readonly ClientLimits[],
  touches: Partial<Footprint> = {},
  { on = mainnet, at = '2026-11-26T12:00:00Z' } = {},
) {
  const all = Array.isArray(limits) ? (limits as readonly ClientLimits[]) : [limits as ClientLimits]
  try {
    const maxLeverageOn = () => all.flatMap(({ maxLeverage }) => (maxLeverage === undefined ? [] : String(maxLeverage)))[0]
    createAllowLists({ limitsOf: () => all, nowMs: () => Date.parse(at), maxLeverageOn }).require(
      'bot',
      () => ({ ...swap, ...touches }),
      on,
    )
    return 'allowed'
  } catch (error) {
    const { name, details } = error as SluiceError
    return name === 'LIMIT_EXCEEDED' ? String(Reflect.get(Object(details), 'limit')) : name
  }
}
const listed = (allowed: AllowedLists, touches: Partial<Footprint> = {}, more: Parameters<typeof outcomeOf>[2] = {}) =>
  outcomeOf({ allowed }, touches, more)

describe('the lists of a client', () => {
  it('allow what is listed, and nothing else', () => {
    expect(listed({ connectors: ['uniswap'] })).to.equal('allowed')
    expect(listed({ connectors: ['sushiswap'] })).to.equal('allowed.connectors')
    expect(listed({ connectors: [] })).to.equal('allowed.connectors')
    expect(listed({ networks: ['ethereum/mainnet'] })).to.equal('allowed')
    expect(listed({ networks: ['ethereum/mainnet'] }, {}, { on: { chain: 'ethereum', network: 'sepolia' } })).to.equal('allowed.networks')
    expect(listed({ actions: ['swap'] })).to.equal('allowed')
    expect(listed({ actions: ['order', 'wrap'] })).to.equal('allowed.actions')
    expect(listed({ pools: [pool.toLowerCase()] })).to.equal('allowed')
    expect(listed({ pools: [weth] })).to.equal('allowed.pools')
    expect(listed({ pools: [pool] }, { pools: [pool, weth] })).to.equal('allowed.pools')
    expect(listed({ pools: [pool] }, { pools: 'unknown' })).to.equal('allowed.pools')
    expect(listed({ pools: [pool] }, { pools: [] })).to.equal('allowed.pools')
    expect(listed({ recipients: [usdc] }, { recipient: usdc.toLowerCase() })).to.equal('allowed')
    expect(listed({ recipients: [usdc] }, { recipient: weth })).to.equal('allowed.recipients')
  })

  it('name tokens by address or by the symbol of a listed one, and each that is given or got has to be there', () => {
    expect(listed({ tokens: ['WETH', 'USDC'] })).to.equal('allowed')
    expect(listed({ tokens: [weth.toLowerCase(), 'USDC'] })).to.equal('allowed')
    expect(listed({ tokens: ['WETH'] })).to.equal('allowed.tokens')
    expect(listed({ tokens: ['WETH', 'USDC'] }, { tokens: [{ name: pool }] })).to.equal('allowed.tokens')
    expect(listed({ tokens: [pool] }, { tokens: [{ name: pool }] })).to.equal('allowed')
  })

  it('are connectors of this release and listed tokens where they are absent', () => {
    const limits = { maxFee: '1' }
    expect(outcomeOf(limits)).to.equal('allowed')
    expect(outcomeOf(limits, { connectors: [{ name: 'mine', builtIn: false }] })).to.equal('allowed.connectors')
    expect(listed({ connectors: ['mine'] }, { connectors: [{ name: 'mine', builtIn: false }] })).to.equal('allowed')
    expect(outcomeOf(limits, { tokens: [{ name: pool }] })).to.equal('allowed.tokens')
    expect(outcomeOf([], { tokens: [{ name: pool }] })).to.equal('allowed')
  })

  it('allow an approval where an allowed connector has its spender', () => {
    const approve = { action: 'approve' as const, tokens: swap.tokens }
    const of = (...names: string[]) => ({ ...approve, connectors: names.map((name) => ({ name, builtIn: true })) })
    expect(listed({ connectors: ['uniswap'] }, of('fork', 'uniswap'))).to.equal('allowed')
    expect(listed({ connectors: ['uniswap'] }, of('fork'))).to.equal('allowed.connectors')
    expect(listed({ connectors: ['uniswap'] }, of())).to.equal('allowed.connectors')
    expect(listed({ actions: ['approve'] }, of())).to.equal('allowed')
  })

  it('open and close by the hours in UTC, also over midnight', () => {
    const at = (hours: string[], time: string) => listed({ hours }, {}, { at: `2026-11-26T${time}Z` })
    expect(at(['08:00-18:00'], '08:00:00')).to.equal('allowed')
    expect(at(['08:00-18:00'], '17:59:59')).to.equal('allowed')
    for (const time of ['07:59:59', '18:00:00', '00:00:00']) expect(at(['08:00-18:00'], time)).to.equal('allowed.hours')
    for (const time of ['22:00:00', '23:59:59', '00:00:00', '05:59:59']) expect(at(['22:00-06:00'], time)).to.equal('allowed')
    for (const time of ['21:59:59', '06:00:00']) expect(at(['22:00-06:00'], time)).to.equal('allowed.hours')
    expect(at(['00:00-24:00'], '23:59:59')).to.equal('allowed')
    expect(at(['08:00-09:00', '12:00-13:00'], '12:30:00')).to.equal('allowed')
    for (const hours of [['08:00-08:00'], []]) expect(at(hours, '08:00:00')).to.equal('allowed.hours')
  })

  it('say what was refused, what is allowed, and when the hours begin', () => {
    const lists = createAllowLists({
      limitsOf: () => [{ allowed: { hours: ['22:00-06:00', '18:30-19:00'] } }],
      nowMs: () => Date.parse('2026-11-26T17:00:40Z'),
    })
    expect(() => lists.require('bot', () => swap, mainnet))
      .to.throw(/hours of the client does not have 17:00 UTC.*Nothing|nothing was signed.*22:00-06:00, 18:30-19:00/)
      .with.property('details')
      .deep.equal({
        limit: 'allowed.hours',
        value: '17:00 UTC',
        allowed: ['22:00-06:00', '18:30-19:00'],
        freesAt: Date.parse('2026-11-26T18:30:00Z'),
      })
  })

  it('bound slippage and leverage, and refuse a leverage that nobody knows', () => {
    expect(outcomeOf({ maxSlippage: 1 })).to.equal('allowed')
    expect(outcomeOf({ maxSlippage: 0.99 })).to.equal('maxSlippage')
    expect(outcomeOf({ maxLeverage: 2 }, { leverage: { numerator: 2n, denominator: 1n } })).to.equal('allowed')
    expect(outcomeOf({ maxLeverage: 2 }, { leverage: { numerator: 2001n, denominator: 1000n } })).to.equal('maxLeverage')
    expect(outcomeOf({ maxLeverage: 2 }, { leverage: 'unknown' })).to.equal('maxLeverage')
    expect(outcomeOf({ maxLeverage: 2 })).to.equal('allowed')
  })

  it('bound the leverage by its default on networks that have one, where the client has no limits', () => {
    const lists = createAllowLists({ limitsOf: () => [], maxLeverageOn: (_, { network }) => (network === 'mainnet' ? '1' : undefined) })
    const borrow = () => ({ ...swap, action: 'borrow', leverage: 'unknown' }) as const
    expect(() => lists.require('bot', borrow, mainnet)).to.throw(/maxLeverage of the client is 1/)
    lists.require('bot', borrow, { chain: 'ethereum', network: 'local' })
    lists.require('bot', () => swap, mainnet)
  })

  it('hold all together where there are several', () => {
    expect(outcomeOf([{ allowed: { tokens: ['WETH', 'USDC'] } }, { maxSlippage: 0.5 }])).to.equal('maxSlippage')
    expect(outcomeOf([{ maxSlippage: 0.5 }, { maxSlippage: 5 }])).to.equal('maxSlippage')
  })

  it('are held at the journal: what cancels or takes back is written, and a plan that does not say what it touches is not', async () => {
    let written = 0
    const journal = { open: async () => void (written += 1) } as unknown as Journal
    const limitsOf = (client: string) => (client === 'bot' ? [{ allowed: { actions: [] } }] : [])
    const held = withGuards(journal, [allowListGuard(createAllowLists({ limitsOf }))])
    const open = (kind: Kind, more: Partial<Entry> = {}, touches?: Footprint) => {
      const spending = touches && ({ touches: () => touches } as unknown as Parameters<Journal['open']>[4])
      return held.open([{ ...mainnet, client: 'bot', kind, ...more } as Entry], {} as never, undefined, undefined, spending).then(
        () => 'written',
        ({ name }: Error) => name,
      )
    }
    expect(await open('trade', {}, swap)).to.equal('LIMIT_EXCEEDED')
    expect(await open('trade')).to.equal('Error')
    expect(written).to.equal(0)
    for (const kind of ['cancel', 'fill', 'order-cancel'] as const) expect(await open(kind)).to.equal('written')
    expect(await open('liquidity', { reduces: true })).to.equal('written')
    expect(await open('trade', { client: 'sluice' })).to.equal('written')
  })
})

describe('a durable nonce', () => {
  const request = (more: object) =>
    ({
      caller: { id: 'bot' },
      address: weth,
      kind: 'trade',
      touches: () => swap,
      network: { chain: 'solana', network: 'mainnet', impl: { rail: { sequences: 'independent' } } },
      nonce: 0,
      ...more,
    }) as unknown as Parameters<ReturnType<typeof createAllowLists>['requireRequest']>[0]
  function asked(options: Partial<Parameters<typeof createAllowLists>[0]>, more: object = {}): string {
    try {
      createAllowLists({ limitsOf: () => [], ...options }).requireRequest(request(more))
      return 'allowed'
    } catch (error) {
      return (error as SluiceError).name
    }
  }

  it('is refused with any limit of the client, also by default, or of the wallet, whatever it is for', () => {
    const loose = [{ allowed: { connectors: ['uniswap'] } }]
    for (const options of [
      { limitsOf: () => loose },
      { maxLeverageOn: () => '1' },
      { isLimitedWallet: (address: string) => address === weth },
    ]) {
      expect(asked(options)).to.equal('INVALID_NONCE')
      expect(asked(options, { reduces: true }), 'it may be held back, too').to.equal('INVALID_NONCE')
      expect(asked({ ...options, maxLeverageOn: () => undefined }, { nonce: undefined })).to.equal('allowed')
    }
    expect(asked({})).to.equal('allowed')
  })

  it('is no number of an EVM chain, nor of an exchange of signed actions', () => {
    const ordered = { chain: 'ethereum', network: 'mainnet', impl: { rail: { sequences: 'ordered' } } }
    expect(asked({ limitsOf: () => [{}] }, { network: ordered })).to.equal('allowed')
  })
})
