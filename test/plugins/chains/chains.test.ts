import { expect } from 'chai'
import { Ajv } from 'ajv'
import { id } from 'ethers'
import { evmChainSchema } from '../../../kits/evm/index.ts'
import { usualReferences } from '../../../core/config/settings-schema.ts'
import { everyChain, everyNetwork } from './every-chain.ts'

const accepts = new Ajv({ allErrors: true }).compile(evmChainSchema)
const venue = { log: { info() {}, warn() {} }, meter: { rpc() {} }, config: {} }

describe('every chain', () => {
  for (const { name, plugin, networks, tokens, defaults, lines } of everyChain) {
    it(`${name} is a manifest and a table`, () => {
      expect(lines).to.be.at.most(30)
      expect(plugin.manifest).to.include({ name, apiVersion: '1.0' })
      expect(plugin.manifest.available_networks).to.deep.equal([{ chain: name, networks: Object.keys(networks) }])
    })

    it(`${name} lists every token once, with a symbol of its own, in whatever letters`, () => {
      const keys = tokens.flatMap(({ chainId, address, symbol }) => [`${chainId} ${address}`, `${chainId} ${symbol.toUpperCase()}`])
      expect(keys.filter((key, index) => keys.indexOf(key) !== index)).to.deep.equal([])
      const chainIds = Object.values(networks).map(({ chainId }) => chainId)
      expect(new Set(tokens.map(({ chainId }) => chainId))).to.deep.equal(new Set(chainIds))
      for (const { decimals } of tokens) expect(decimals).to.be.within(0, 18)
    })

    it(`${name} has defaults for each of its networks that its schema accepts, of different hosts`, () => {
      expect(Object.keys(defaults)).to.have.members(Object.keys(networks))
      for (const settings of Object.values(defaults)) {
        expect(accepts(settings), JSON.stringify(accepts.errors)).to.equal(true)
        const hosts = settings.rpcUrls.map((url) => new URL(url).hostname)
        expect(new Set(hosts).size).to.equal(hosts.length)
      }
    })
  }

  for (const { chain, network, name, table } of everyNetwork) {
    it(`${name} is created without a node, and reads what its table says`, () => {
      const { chainId, nativeCurrency, reader, confirmations, local, feeCapRaw } = chain.plugin.create({
        ...venue,
        chain: chain.name,
        network,
      })
      expect({ chainId, confirmations, local }).to.deep.equal({
        chainId: table.chainId,
        confirmations: table.confirmations,
        local: table.local ?? false,
      })
      expect(nativeCurrency.symbol).to.equal(table.coinIsToken ? table.tokens[0] : table.nativeCurrency)
      expect(nativeCurrency.native ?? false).to.equal(!table.coinIsToken)
      expect(reader.wrapped.symbol).to.equal(table.tokens[0])
      expect(reader.intermediates.map(({ symbol }) => symbol)).to.deep.equal(table.tokens)
      expect(feeCapRaw).to.equal(BigInt(table.feeCapGwei ?? 500) * 10n ** 9n)
    })
  }

  it('lists a token that values are counted in on every network but test networks', () => {
    const live = everyNetwork.filter(({ network, table }) => network === 'mainnet' && !table.local)
    expect(live).to.have.length.above(14)
    const without = live.filter(({ chain, table }) => {
      const listed = chain.tokens.filter(({ chainId }) => chainId === table.chainId).map(({ symbol }) => symbol)
      return !usualReferences.some((symbol) => listed.includes(symbol))
    })
    expect(without.map(({ name }) => name)).to.deep.equal([])
  })

  it('has one chain id for one network', () => {
    const ids = everyNetwork.map(({ table }) => table.chainId)
    expect(new Set(ids).size).to.equal(ids.length)
  })

  it('lets well-known keys sign on a local network only', () => {
    expect(everyNetwork.filter(({ table }) => table.local).map(({ name }) => name)).to.deep.equal(['ethereum/local', 'hyperliquid/local'])
  })

  it('waits for a transaction to be final between a second and three minutes', () => {
    for (const { name, table } of everyNetwork) expect(table.confirmations * table.blockSeconds, name).to.be.within(1, 180)
  })

  it('asks ArbSys for the number of the block, by its own name', () => {
    const asking = everyNetwork.filter(({ table }) => table.blockNumberCall)
    expect(asking.map(({ name }) => name)).to.deep.equal(['arbitrum/mainnet', 'arbitrum/sepolia', 'robinhood/mainnet'])
    for (const { table } of asking) expect(table.blockNumberCall?.data).to.equal(id('arbBlockNumber()').slice(0, 10))
  })
})
