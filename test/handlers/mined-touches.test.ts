import { expect } from 'chai'
import { minedTouches } from '../../core/handlers/mined-touches.ts'
import type { Registry } from '../../core/plugins/index.ts'
import type { Entry } from '../../core/transactions/entry.ts'

const [coin, weth, router, permit2] = ['0xaa', '0xbb', '0xcc', '0xdd'] as const
const symbols: Readonly<Record<string, string>> = { [coin]: 'ETH', [weth]: 'WETH' }
const venue = {
  chain: 'ethereum',
  network: 'local',
  connector: 'uniswap',
  builtIn: true,
  impl: {
    spenders: { v2: '0xCC' },
    permit2: { address: permit2, spenders: [] },
    PERP_AMM: { perpFill: () => ({ market: { base: 'BTC', quote: 'USD' } }) },
  },
}
/** What a receipt moved and approved is in it. */
const on = {
  chain: 'ethereum',
  network: 'local',
  tokens: { listedAt: (address: string) => (symbols[address] ? { symbol: symbols[address] } : undefined) },
  impl: {
    nativeCurrency: { symbol: 'ETH', address: coin },
    evm: {
      gains: ({ moved = {} }: { moved?: Record<string, bigint> }) => new Map(Object.entries(moved)),
      approvals: ({ approvals = [] }: { approvals?: object[] }) => approvals,
    },
  },
}
const registry = {
  networks: [on],
  plannedBy: () => venue,
  venueOf: () => venue,
  venuesOn: () => [venue],
} as unknown as Pick<Registry, 'networks' | 'plannedBy' | 'venuesOn' | 'venueOf'>

const touched = (kind: string, receipt: object | null, more: object = {}) =>
  minedTouches(
    {
      chain: 'ethereum',
      network: 'local',
      kind,
      connector: 'uniswap',
      landed: { ok: true, receipt },
      about: null,
      ...more,
    } as unknown as Entry,
    registry,
  )
const uniswap = [{ name: 'uniswap', builtIn: true }]
const ofWeth = { name: weth, symbol: 'WETH' }

describe('what a mined transaction touched', () => {
  it('is of an approval the connectors that have its spender, in any case of letters', () => {
    const approvalOf = (spender: string) => touched('approve', { approvals: [{ token: weth, spender, amountRaw: 1n }] })
    expect(approvalOf(router)).to.deep.equal({ connectors: uniswap, tokens: [ofWeth] })
    expect(approvalOf('0xee')).to.deep.equal({ connectors: [], tokens: [ofWeth] })
    expect(approvalOf(permit2).connectors).to.equal('unknown')
    expect(touched('approve', {})).to.deep.equal({ connectors: 'unknown', tokens: 'unknown' })
  })

  it('is of a perpetual the symbols of its market', () => {
    const tokens = ['BTC', 'USD'].map((name) => ({ name, symbol: name }))
    expect(touched('position', {})).to.deep.equal({ connectors: uniswap, tokens })
  })

  it('is of a swap what moved, with the coin where the request named it', () => {
    const about = { side: 'SELL', base: { symbol: 'ETH' }, quote: { symbol: 'WETH' } }
    expect(touched('trade', { moved: { [weth]: 1n } }, { about }).tokens).to.deep.equal([ofWeth, { name: coin, symbol: 'ETH' }])
    expect(touched('trade', { moved: { '0xff': -1n } }).tokens).to.deep.equal([{ name: '0xff' }])
  })

  it('is not known of one that was archived, of a signed action and of a coin that was sent; and nothing of one that failed', () => {
    for (const kind of ['trade', 'position', 'approve', 'liquidity']) expect(touched(kind, null).tokens, kind).to.equal('unknown')
    expect(touched('order', {}, { signer: '0x01' }).tokens).to.equal('unknown')
    expect(touched('send', {}).tokens).to.equal('unknown')
    expect(touched('trade', {}, { landed: { ok: false, receipt: {} } }).tokens).to.deep.equal([])
  })
})
