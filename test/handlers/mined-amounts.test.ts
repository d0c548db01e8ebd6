import { expect } from 'chai'
import { tellsOf } from '../../core/handlers/mined-amounts.ts'
import type { Registry } from '../../core/plugins/index.ts'
import type { Entry } from '../../core/transactions/entry.ts'

const coin = '0x0000000000000000000000000000000000000000'
const gains = new Map([
  ['usdc', 3000n],
  ['weth', 1n],
])
const registryOf = (amountInRaw: bigint) =>
  ({
    networks: [
      {
        chain: 'ethereum',
        network: 'local',
        impl: { nativeCurrency: { symbol: 'ETH', address: coin, decimals: 18 }, evm: { gains: () => gains } },
      },
    ],
    plannedBy: () => ({ builtIn: true, impl: { AMM: { fill: () => ({ amountInRaw, amountOutRaw: 3000n }) } } }),
  }) as unknown as Pick<Registry, 'networks' | 'plannedBy'>

const trade = (quote: string, address: string | undefined = quote === 'ETH' ? coin : 'other'): Entry =>
  ({
    chain: 'ethereum',
    network: 'local',
    kind: 'trade',
    part: { index: 0, of: 1 },
    landed: { ok: true, receipt: {} },
    about: { side: 'BUY', base: { symbol: 'USDC', decimals: 6 }, quote: { symbol: quote, decimals: 18 } },
    ...(address !== '' && { planned: { base: 'usdc', quote: address } }),
  }) as unknown as Entry

describe('what receipts tell of a trade', () => {
  it('is all, unless it gave the coin and nobody can tell how much: what else it got is no gain then', () => {
    expect(tellsOf(trade('DAI'), registryOf(0n))).to.equal('all')
    expect(tellsOf(trade('ETH'), registryOf(5n))).to.equal('what it gives')
    expect(tellsOf(trade('ETH'), registryOf(5n), { coinGain: () => -6n })).to.equal('what it gives')
    expect(tellsOf(trade('ETH'), registryOf(5n), { coinGain: () => -5n })).to.equal('all')
  })

  it('is not of the coin where a token has its symbol alone, and not told by events where nobody knows which of them it was', () => {
    expect(tellsOf(trade('ETH', 'other'), registryOf(5n))).to.equal('all')
    expect(tellsOf(trade('ETH', ''), registryOf(5n), { coinGain: () => -5n })).to.equal('what it gives')
  })
})
