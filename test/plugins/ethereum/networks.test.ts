import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Ajv } from 'ajv'
import { getAddress, Interface } from 'ethers'
import { parse } from 'yaml'
import { evmChainSchema, multicall3, type EvmChainConfig } from '../../../kits/evm/index.ts'
import { multicallViews, packAggregate3 } from '../../../kits/evm/multicall.ts'
import ethereum, { networks } from '../../../plugins/ethereum/index.ts'
import list from '../../../plugins/ethereum/tokens.json' with { type: 'json' }

const accepts = new Ajv({ allErrors: true }).compile(evmChainSchema)
const venue = { chain: 'ethereum', network: 'local', log: { info() {}, warn() {} }, meter: { rpc() {} } }

const capOf = (config: EvmChainConfig) => ethereum.create({ ...venue, config }).feeCapRaw

describe('chain ethereum', () => {
  it('has mainnet, sepolia and local, of which only the last may use well-known keys', () => {
    expect(ethereum.manifest.available_networks).to.deep.equal([{ chain: 'ethereum', networks: ['mainnet', 'sepolia', 'local'] }])
    expect(
      Object.entries(networks)
        .filter(([, network]) => 'local' in network && network.local)
        .map(([name]) => name),
    ).to.deep.equal(['local'])
    expect(Object.values(networks).map(({ chainId }) => chainId)).to.deep.equal([1, 11155111, 31337])
    expect(() => ethereum.create({ ...venue, network: 'toString', config: {} })).to.throw(
      /has no network "toString": it has mainnet, sepolia, local/,
    )
  })

  it('lists every token once, by its checksummed address, with a symbol of its own', () => {
    const keys = list.tokens.map(({ chainId, address }) => `${chainId} ${address}`)
    const symbols = list.tokens.map(({ chainId, symbol }) => `${chainId} ${symbol.toUpperCase()}`)
    expect(new Set(keys)).to.have.property('size', keys.length)
    expect(new Set(symbols)).to.have.property('size', symbols.length)
    for (const { address } of list.tokens) expect(getAddress(address)).to.equal(address)
  })

  it('knows the selectors of Multicall3', () => {
    for (const [name, selector] of Object.entries(multicallViews))
      expect(new Interface([`function ${name}()`]).getFunction(name)?.selector).to.equal(selector)
    expect(new Interface(['function aggregate3((address,bool,bytes)[])']).getFunction('aggregate3')?.selector).to.equal(
      packAggregate3([]).slice(0, 10),
    )
    expect(getAddress(multicall3)).to.equal(multicall3)
  })

  it('has defaults for each of its networks that its schema accepts', () => {
    const defaults: unknown = parse(readFileSync(new URL('../../../plugins/ethereum/defaults.yml', import.meta.url), 'utf8'))
    expect(defaults).to.have.all.keys(Object.keys(networks))
    for (const settings of Object.values(defaults ?? {})) expect(accepts(settings), JSON.stringify(accepts.errors)).to.equal(true)
  })

  const good = [
    {},
    { rpcUrls: [] },
    { rpcUrls: ['http://user:pass@[::1]:8545/v3/key?a=b'], sendUrls: ['https://relay.example'] },
    { rpcUrls: ['http://x'], privateUrls: ['https://relay.example'] },
    { feeCap: 0.5 },
    { feeCap: '499.123456789' },
    { feePolicy: { tipPercentile: 50, baseFeeMultiplier: 1.5, minTip: '0.01' } },
    { confirmations: 1, pollingSeconds: 0.25, requestTimeoutSeconds: 3 },
  ]
  const bad = [
    { rpcUrl: ['http://x'] },
    { rpcUrls: 'http://x' },
    { rpcUrls: ['ws://x'] },
    { privateUrls: ['x'] },
    { rpcUrls: ['http://'] },
    { rpcUrls: ['http://x', 'http://x'] },
    { feeCap: 0 },
    { feeCap: '5e3' },
    { feeCap: '500 gwei' },
    { feeCap: '1.0000000001' },
    { feePolicy: { tip: 1 } },
    { confirmations: 0 },
    { pollingSeconds: 0 },
  ]
  for (const settings of good) it(`takes ${JSON.stringify(settings)}`, () => expect(accepts(settings)).to.equal(true))
  for (const settings of bad) it(`refuses ${JSON.stringify(settings)}`, () => expect(accepts(settings)).to.equal(false))

  it('reads feeCap in gwei, as a number or as text, and takes 500 where it is absent', () => {
    expect([{}, { feeCap: 0.1 }, { feeCap: '0.000000001' }].map(capOf)).to.deep.equal([500_000_000_000n, 100_000_000n, 1n])
  })

  it('needs no node to be created, and says when it is used that none is configured', async () => {
    const chain = ethereum.create({ ...venue, config: {} })
    const failure: unknown = await chain.head({ signal: new AbortController().signal }).catch((error: unknown) => error)
    expect(failure).to.have.property('name', 'NETWORK')
    expect(failure)
      .to.have.property('message')
      .that.matches(/ethereum\/local has no RPC node/)
  })

  it('refuses an invalid URL and does not show it', () => {
    expect(() => ethereum.create({ ...venue, config: { rpcUrls: ['http://secret:secret@:99999'] } }))
      .to.throw(/is not a URL/)
      .with.property('message')
      .that.not.contains('secret')
  })
})
