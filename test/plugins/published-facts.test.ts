import { expect } from 'chai'
import { getAddress } from 'ethers'
import { networks } from '../../plugins/ethereum/networks.ts'
import list from '../../plugins/ethereum/tokens.json' with { type: 'json' }
import tokens from '../fixtures/published/uniswap-default-token-list.json' with { type: 'json' }
import viem from '../fixtures/published/viem.json' with { type: 'json' }

// test/fixtures/published/ is what the projects publish on npm; scripts/published-facts.mjs takes it from there.
describe('what projects publish about chains and tokens', () => {
  for (const name of ['mainnet', 'sepolia'] as const) {
    it(`is ours of ethereum/${name}`, () => {
      const { id, nativeCurrency, multicall3 } = viem.facts[name]
      const ours = networks[name]
      expect(ours).to.include({ chainId: id, nativeCurrency: nativeCurrency.symbol })
      expect(ours?.multicall).to.equal(getAddress(multicall3))
    })
  }

  it('is ours of every token, but for those that only their issuer publishes', () => {
    const published = new Set(
      tokens.facts.map(({ chainId, symbol, address, decimals }) => `${chainId} ${symbol} ${getAddress(address)} ${decimals}`),
    )
    const unpublished = list.tokens.filter(
      ({ chainId, symbol, address, decimals }) => chainId !== 31337 && !published.has(`${chainId} ${symbol} ${address} ${decimals}`),
    )
    expect(unpublished.map(({ chainId, symbol }) => `${chainId} ${symbol}`)).to.deep.equal(['11155111 USDC'])
  })
})
