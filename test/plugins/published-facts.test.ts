import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { getAddress } from 'ethers'
import { parse } from 'yaml'
import { networks } from '../../plugins/ethereum/networks.ts'
import list from '../../plugins/ethereum/tokens.json' with { type: 'json' }
import { deployments as sushiswapDeployments } from '../../plugins/sushiswap/deployments.ts'
import { v2Deployments } from '../../plugins/uniswap/deployments.ts'
import sushi from '../fixtures/published/sushi.json' with { type: 'json' }
import tokens from '../fixtures/published/uniswap-default-token-list.json' with { type: 'json' }
import uniswap from '../fixtures/published/uniswap-sdk-core.json' with { type: 'json' }
import uniswapV2 from '../fixtures/published/uniswap-v2-sdk.json' with { type: 'json' }
import viem from '../fixtures/published/viem.json' with { type: 'json' }

const routers = (plugin: string) =>
  parse(readFileSync(new URL(`../../plugins/${plugin}/defaults.yml`, import.meta.url), 'utf8')).contractAddresses

// test/fixtures/published/ is what the projects publish on npm; scripts/published-facts.mjs takes it from there.
describe('what projects publish about their own deployments', () => {
  for (const name of ['mainnet', 'sepolia'] as const) {
    it(`is ours of ethereum/${name}`, () => {
      const { id, nativeCurrency, multicall3 } = viem.facts[name]
      const ours = networks[name]
      expect(ours).to.include({ chainId: id, nativeCurrency: nativeCurrency.symbol })
      expect(ours?.multicall).to.equal(getAddress(multicall3))
    })

    it(`is ours of uniswap v2 on ${name}`, () => {
      const id = String(viem.facts[name].id) as '1' | '11155111'
      expect(v2Deployments[`ethereum/${name}`]).to.deep.equal({
        factory: uniswap.facts.V2_FACTORY_ADDRESSES[id],
        initCodeHash: uniswapV2.facts.INIT_CODE_HASH,
      })
      expect(routers('uniswap')[name].v2RouterAddress).to.equal(uniswap.facts.V2_ROUTER_ADDRESSES[id])
    })

    it(`is ours of sushiswap on ${name}`, () => {
      const id = String(viem.facts[name].id) as '1' | '11155111'
      expect(sushiswapDeployments[`ethereum/${name}`]).to.deep.equal({
        factory: getAddress(sushi.facts.SUSHISWAP_V2_FACTORY_ADDRESS[id]),
        initCodeHash: sushi.facts.SUSHISWAP_V2_INIT_CODE_HASH[id],
      })
      expect(routers('sushiswap')[name].routerAddress).to.equal(getAddress(sushi.facts.SUSHISWAP_V2_ROUTER_ADDRESS[id]))
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
