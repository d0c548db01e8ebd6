import { expect } from 'chai'
import { getAddress } from 'ethers'
import { multicall3 } from '../../../kits/evm/index.ts'
import across from '../../fixtures/published/across-constants.json' with { type: 'json' }
import aave from '../../fixtures/published/aave-address-book.json' with { type: 'json' }
import chainlink from '../../fixtures/published/chainlink-local.json' with { type: 'json' }
import circle from '../../fixtures/published/circle-bridge-kit.json' with { type: 'json' }
import mento from '../../fixtures/published/mento-sdk.json' with { type: 'json' }
import pancakeswap from '../../fixtures/published/pancakeswap-tokens.json' with { type: 'json' }
import sushiswap from '../../fixtures/published/sushiswap-default-token-list.json' with { type: 'json' }
import ubeswap from '../../fixtures/published/ubeswap-default-token-list.json' with { type: 'json' }
import uniswap from '../../fixtures/published/uniswap-default-token-list.json' with { type: 'json' }
import router from '../../fixtures/published/uniswap-smart-order-router.json' with { type: 'json' }
import core from '../../fixtures/published/uniswap-sdk-core-chains.json' with { type: 'json' }
import viem from '../../fixtures/published/viem.json' with { type: 'json' }
import { everyChain, everyNetwork, type ListedToken } from './every-chain.ts'

const definitions: Readonly<Record<string, Omit<(typeof viem.facts)['ethereum/mainnet'], 'multicall3'> & { multicall3: string | null }>> =
  viem.facts
const wrapped: Readonly<Record<string, string>> = chainlink.facts.wrapped
const blockSeconds: Readonly<Record<string, number>> = core.facts.blockSeconds
const lists = [aave, across, circle, mento, pancakeswap, sushiswap, ubeswap, uniswap, core, router]
const line = ({ chainId, symbol, address, decimals }: ListedToken) =>
  `${chainId} ${symbol} ${getAddress(address.toLowerCase())} ${decimals}`

/** Their tokens are nobody's but the devnet's. */
const localChains = everyNetwork.flatMap(({ table }) => (table.local ? [table.chainId] : []))
/** Ours → theirs, where two of one name are on a network. */
const renamed: Readonly<Record<string, string>> = { '25 USDC.e': 'USDC' }

// test/fixtures/published/ is what the projects publish on npm; tools/facts/published-facts.mjs takes it from there.
describe('what projects publish about chains and tokens', () => {
  const onTheInternet = everyNetwork.filter(({ table }) => !table.local)

  it('has all of our networks', () => {
    expect(onTheInternet.map(({ name }) => name)).to.have.members(Object.keys(definitions))
  })

  for (const { name, network, chain, table } of onTheInternet) {
    it(`agrees with ours on ${name}`, () => {
      const published = definitions[name]
      expect(table).to.include({ chainId: published?.id, nativeCurrency: published?.nativeCurrency.symbol })
      expect(published?.nativeCurrency.decimals).to.equal(18)
      if (published?.multicall3 !== null) expect(table.multicall ?? multicall3).to.equal(getAddress(published?.multicall3 ?? ''))
      const expected = blockSeconds[String(table.chainId)]
      if (expected !== undefined) expect(table.blockSeconds).to.equal(expected)
      expect(chain.defaults[network]?.rpcUrls.length).to.be.at.least(1)
    })
  }

  it('agrees with ours on every token', () => {
    const published = new Set(lists.flatMap(({ facts }) => facts.tokens.map(line)))
    const ours = everyChain.flatMap(({ tokens }) => tokens).filter(({ chainId }) => !localChains.includes(chainId))
    const isPublished = (token: ListedToken) => {
      const symbol = renamed[`${token.chainId} ${token.symbol}`] ?? token.symbol
      return published.has(line({ ...token, symbol })) || wrapped[String(token.chainId)] === token.address
    }
    expect(ours.filter((token) => !isPublished(token))).to.deep.equal([])
    expect(ours.every(({ address }) => getAddress(address) === address)).to.equal(true)
  })

  it("agrees with ours on USDC and EURC, which older lists take for what was bridged, by Circle's word", () => {
    const circles = new Map(
      circle.facts.tokens.map(({ chainId, symbol, address }) => [`${chainId} ${symbol}`, getAddress(address.toLowerCase())]),
    )
    const issued = everyChain.flatMap(({ tokens }) => tokens).filter(({ chainId, symbol }) => circles.has(`${chainId} ${symbol}`))
    expect(issued.length).to.be.at.least(20)
    for (const { chainId, symbol, address } of issued) expect(address, `${chainId} ${symbol}`).to.equal(circles.get(`${chainId} ${symbol}`))
  })

  it('agrees with ours on what wraps each coin, but for xDAI, which is published as a token only', () => {
    const published = new Set([...core.facts.tokens, ...across.facts.tokens].map(({ chainId, address }) => `${chainId} ${address}`))
    const coins = onTheInternet
      .filter(({ table }) => !table.coinIsToken)
      .flatMap(({ chain, table }) => chain.tokens.filter((each) => each.chainId === table.chainId && each.symbol === table.tokens[0]))
    const others = coins.filter(({ chainId, address }) => !published.has(`${chainId} ${address}`) && wrapped[String(chainId)] !== address)
    expect(others.map(({ chainId, symbol }) => `${chainId} ${symbol}`)).to.deep.equal(['100 WXDAI'])
  })
})
