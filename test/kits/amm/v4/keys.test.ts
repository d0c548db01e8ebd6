import { expect } from 'chai'
import { ZeroAddress } from 'ethers'
import { configuredKeys } from '../../../../kits/amm/v4/keys.ts'
import { keptLog } from '../../../core-plugins/fixtures.ts'

const [currency0, currency1] = ['0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599', '0xdAC17F958D2ee523a2206206994597C13D831ec7']
const odd = { currency0, currency1, fee: 777, tickSpacing: 13 }
/** The last 14 bits of hooks say what they do. */
const hooksWith = (flags: number) => `0x${(2n ** 100n + BigInt(flags)).toString(16).padStart(40, '0')}`
const [afterSwap, beforeSwap, dynamicFee] = [1 << 6, 1 << 7, 0x80_0000]

/** The keys of a network that lists these, and what the log says. */
function read(...listed: readonly unknown[]) {
  const { log, lines } = keptLog()
  const keys = configuredKeys({ chain: 'ethereum', network: 'local', config: { v4Pools: { 'ethereum/local': listed } }, log })
  return { ...keys, reasons: lines.map(({ fields }) => ('reason' in fields ? String(fields.reason) : '')) }
}

describe('configured keys of pools of Uniswap v4', () => {
  it('name pools to follow, or to ask where their hooks act in swaps', () => {
    const acting = { ...odd, hooks: hooksWith(beforeSwap) }
    const { followed, asked, reasons } = read(odd, acting)
    expect(followed).to.deep.equal([{ ...odd, hooks: ZeroAddress }])
    expect(asked).to.have.length(1)
    expect(reasons).to.deep.equal([])
  })

  for (const [what, wrong, says] of [
    ['that is no mapping', 'WBTC', /is not a mapping/],
    ['with an unknown field', { ...odd, hook: ZeroAddress }, /\.hook is not a known key/],
    ['without a currency', { ...odd, currency0: undefined }, /currency0 is not an address/],
    ['with a fee that is text', { ...odd, fee: '777' }, /fee is not a whole number/],
    ['with a tick spacing of 0', { ...odd, tickSpacing: 0 }, /tickSpacing is not a whole number/],
    ['with currencies in the wrong order', { ...odd, currency0: currency1, currency1: currency0 }, /exchange them/],
    ['with one currency twice', { ...odd, currency1: currency0 }, /exchange them/],
    ['with a wrong checksum', { ...odd, currency0: currency0.replace('FAC', 'fAC') }, /checksum/],
    ['with a fee above the whole', { ...odd, fee: 1_000_001 }, /more than the whole/],
    ['with hooks that take beside the pool after swaps', { ...odd, hooks: hooksWith(afterSwap | (1 << 2)) }, /beside the pool/],
    ['with hooks that give beside the pool before swaps', { ...odd, hooks: hooksWith(beforeSwap | (1 << 3)) }, /beside the pool/],
    ['with a fee that changes and no hooks', { ...odd, fee: dynamicFee }, /PoolManager refuses/],
    ['with hooks that do nothing and a fixed fee', { ...odd, hooks: hooksWith(0) }, /PoolManager refuses/],
  ] as const)
    it(`leave out a key ${what}, say which it is, and keep the others`, () => {
      const { followed, asked, reasons } = read(wrong, odd)
      expect([...followed, ...asked]).to.deep.equal([{ ...odd, hooks: ZeroAddress }])
      expect(reasons).to.have.length(1)
      expect(reasons[0]).to.match(says).and.to.contain('v4Pools.ethereum/local[0]')
    })
})
