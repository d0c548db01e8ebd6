import { expect } from 'chai'
import * as mined from '../../core/handlers/mined-amounts.ts'
import type { NetworkEntry, Registry } from '../../core/plugins/index.ts'
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
        impl: {
          nativeCurrency: { symbol: 'ETH', address: coin, decimals: 18 },
          evm: { gains: () => gains },
          rail: { outline: (sentRaw: bigint) => ({ contracts: [], valueRaw: sentRaw }) },
        },
      },
    ],
    plannedBy: () => ({ builtIn: true, impl: { AMM: { fill: () => ({ amountInRaw, amountOutRaw: 3000n }) } } }),
  }) as unknown as Pick<Registry, 'networks' | 'plannedBy'>

type On = ReturnType<typeof registryOf>
type Readings = Parameters<typeof mined.gainsOf>[2]
const tellsOf = (entry: Entry, registry: On, readings?: Readings) =>
  mined.tellsOf(entry, registry, () => mined.gainsOf(entry, registry, readings))

const trade = (quote: string, address: string | undefined = quote === 'ETH' ? coin : 'other', sentRaw = 0n): Entry =>
  ({
    chain: 'ethereum',
    network: 'local',
    kind: 'trade',
    part: { index: 0, of: 1 },
    step: sentRaw,
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

  it('asks for no balances where the exchange took all of the coin that was sent: more than that no transaction takes', () => {
    const [all, less] = [trade('ETH', coin, 5n), trade('ETH', coin, 6n)]
    const needs = (entry: Entry, on: On) => mined.needsCoinGain(entry, on.networks[0] as NetworkEntry, on)
    expect(tellsOf(all, registryOf(5n))).to.equal('all')
    expect(mined.gainsOf(all, registryOf(5n))?.get(coin)).to.equal(-5n)
    expect(needs(all, registryOf(5n))).to.equal(false)
    expect(tellsOf(less, registryOf(5n))).to.equal('what it gives')
    expect(mined.gainsOf(less, registryOf(5n))?.has(coin)).to.equal(false)
    expect(needs(less, registryOf(5n))).to.equal(true)
    const step = { ...all, part: { index: 1, of: 2 } }
    expect(tellsOf(step, registryOf(5n))).to.equal('what it gives')
  })

  it('asks for no balances where the called contract unwrapped once, and what the exchange says: less or twice is not believed', () => {
    const got = {
      ...trade('ETH'),
      about: { side: 'SELL', base: { symbol: 'USDC', decimals: 6 }, quote: { symbol: 'ETH', decimals: 18 } },
    } as Entry
    const paidOut = (unwrappedRaw: bigint | undefined, contracts = ['router']) => {
      const on = registryOf(5n)
      const impl = on.networks[0]?.impl as unknown as { evm: object; rail: object }
      Object.assign(impl.evm, { unwrappedBy: (_receipt: unknown, by: string) => (by === 'router' ? unwrappedRaw : undefined) })
      Object.assign(impl.rail, { outline: () => ({ contracts, valueRaw: 0n }) })
      return [mined.gainsOf(got, on)?.get(coin), mined.needsCoinGain(got, on.networks[0] as NetworkEntry, on)]
    }
    expect(paidOut(3000n)).to.deep.equal([3000n, false])
    expect(paidOut(2999n)).to.deep.equal([undefined, true])
    expect(paidOut(undefined)).to.deep.equal([undefined, true])
    expect(paidOut(3000n, ['another'])).to.deep.equal([undefined, true])
    expect(paidOut(3000n, ['router', 'another'])).to.deep.equal([undefined, true])
  })

  it('is read once of a receipt and a wallet, however often it is asked for', () => {
    const asked: string[] = []
    const on = registryOf(5n)
    const impl = on.networks[0]?.impl as { evm: object }
    const perWallet = (_receipt: unknown, wallet: string) => (asked.push(wallet), new Map([['usdc', BigInt(asked.length)]]))
    Object.assign(impl.evm, { gains: perWallet })
    const [one, other] = ['0xa', '0xb'].map(
      (address) => ({ ...trade('DAI'), address, landed: { ok: true, receipt: {} } }) as unknown as Entry,
    )
    if (!one || !other) throw new Error('There are two.')
    const again = { ...one, address: '0xb' }
    expect([one, one, again, other].map((entry) => mined.gainsOf(entry, on)?.get('usdc'))).to.deep.equal([1n, 1n, 2n, 3n])
    expect(asked).to.deep.equal(['0xa', '0xb', '0xb'])
  })

  it('is not of the coin where a token has its symbol alone, and not told by events where nobody knows which of them it was', () => {
    expect(tellsOf(trade('ETH', 'other'), registryOf(5n))).to.equal('all')
    expect(tellsOf(trade('ETH', ''), registryOf(5n), { coinGain: () => -5n })).to.equal('what it gives')
  })
})
