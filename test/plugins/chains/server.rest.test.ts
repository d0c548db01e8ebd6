import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { answering, fakeBlock, silent, startFakeNode, type FakeNode } from '../../kits/evm/fake-node.ts'
import { everyChain, everyNetwork, otherNetworks } from './every-chain.ts'

const all = [...everyNetwork, ...otherNetworks]

describe('a server with every chain', () => {
  let node: FakeNode
  let server: TestServer

  before(async () => {
    node = await startFakeNode(silent)
    const conf = everyChain.map(({ name, networks }) => {
      const outside = Object.keys(networks).filter((network) => !networks[network]?.local)
      // One may keep silent for longer than anybody waits for a status.
      const requestTimeoutSeconds = name === 'gnosis' ? 20 : 0.2
      const settings = { rpcUrls: [node.url], requestTimeoutSeconds }
      return [`chains/${name}.yml`, Object.fromEntries(outside.map((network) => [network, settings]))] as const
    })
    const others = otherNetworks.map(({ chain }) => {
      const own = otherNetworks.filter((each) => each.chain === chain)
      return [
        `chains/${chain}.yml`,
        Object.fromEntries(own.map(({ network }) => [network, { rpcUrls: [node.url], requestTimeoutSeconds: 0.2 }])),
      ] as const
    })
    server = await startServer({ conf: Object.fromEntries([...conf, ...others]), settings: { 'devnet.only': 'ethereum,hyperliquid' } })
  })
  after(async () => {
    await server?.stop()
    await node?.close()
  })

  const tokens = () => server.client.get('/network/tokens', { chain: 'celo', network: 'mainnet', tokenSymbols: ['celo', 'USDC'] })

  it('loads them all, and asks no node of a network that nobody uses', () => {
    const { plugins, services } = server.kernel
    expect(plugins.refused).to.deep.equal([])
    expect(services.registry.networks.map(({ chain, network }) => `${chain}/${network}`)).to.have.members(all.map(({ name }) => name))
    expect(node.requests).to.equal(0)
  })

  it('answers the status of them all though only local ones answer', async () => {
    const { status, body } = await server.client.get('/network/status')
    expect(status).to.equal(200)
    expect(body).to.have.length(all.length)
    const isLocal = ({ chain, network }: { chain: string; network: string }) => network === 'local' && chain !== 'solana'
    expect(body.find(({ chain, network }: Record<string, string>) => chain === 'ethereum' && network === 'local').error).to.equal(undefined)
    const down = body.filter((entry: { error?: string }) => entry.error !== undefined).filter((entry: never) => !isLocal(entry))
    // hyperliquid/local is started by this request, and may be there in time.
    expect(down).to.have.length(all.length - 2)
    for (const entry of down) {
      expect(entry).to.include({ currentBlockNumber: -1, currentBlockSeconds: -1 })
      // Its nodes are at fault, and not the plugin.
      expect(entry.error).to.match(entry.chain === 'gnosis' ? /^No answer within 3 s/ : /^No RPC node of .* can be used/)
    }
  })

  it('starts a network when it is asked for, once its nodes answer', async () => {
    const away = await tokens()
    expect(away.status).to.equal(503)
    expect(away.body.name).to.equal('NETWORK')

    node.behave(
      answering({ eth_chainId: '0xa4ec', eth_getBlockByNumber: fakeBlock(1), eth_maxPriorityFeePerGas: '0x1', eth_getCode: '0x01' }),
    )
    let there = await tokens()
    while (there.status === 503) {
      await sleep(50)
      there = await tokens()
    }
    // Celo's coin is a token: it is there once, under the token's address.
    expect(there.body).to.deep.equal([
      { chain: 'celo', network: 'mainnet', symbol: 'CELO', address: '0x471EcE3750Da237f93B8E339c536989b8978a438', decimals: 18 },
      { chain: 'celo', network: 'mainnet', symbol: 'USDC', address: '0xcebA9300f2b948710d2653dD7B07f33A8B32118C', decimals: 6 },
    ])
  })
})
