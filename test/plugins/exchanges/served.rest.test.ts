import { expect } from 'chai'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { exchanges } from './exchanges.ts'

const question = { base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' }

describe('a server with all chains and exchanges', () => {
  let server: TestServer
  before(async () => {
    const bareName = 'contractAddresses:\n  mainnet:\n'
    const keys = ['v2RouterAddress', 'v3RouterAddress', 'positionManagerAddress']
    const itsAddresses = keys.map((key) => `    ${key}: '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D'\n`).join('')
    server = await startServer({ conf: { 'connectors/sushiswap.yml': `${bareName}${itsAddresses}` } })
  })
  after(() => server.stop())

  const served = exchanges.filter(({ name }) => name !== 'sushiswap')

  it('lists each connector with every network of its manifest', async () => {
    const { body } = await server.client.get('/connectors')
    expect(body).to.include.all.keys(served.map(({ name }) => name))
    for (const { name, plugin } of served) expect(body[name], name).to.have.deep.members([...plugin.manifest.available_networks])
  })

  it('shows each one’s networks with its addresses for all of them', async () => {
    for (const { name, plugin } of served) {
      const { body } = await server.client.get('/connector/config', { connector: name })
      expect(body.available_networks).to.have.deep.members([...plugin.manifest.available_networks])
      const networks = plugin.manifest.available_networks.flatMap((each) => each.networks)
      expect(Object.keys(body.contractAddresses)).to.have.length(networks.length)
    }
  })

  it('refuses a connector whose file has the bare name of a network that several chains share, with the candidates', async () => {
    const { body } = await server.client.get('/plugins')
    const { state, reason } = body.find(({ name }: { name: string }) => name === 'sushiswap')
    expect(state).to.equal('refused')
    expect(reason).to.match(
      /contractAddresses\.mainnet is ambiguous, it may be any of ethereum_mainnet, arbitrum_mainnet, .*polygon_mainnet/,
    )
  })

  it('refuses a network that the connector does not serve, and says where its networks are listed', async () => {
    for (const [connector, chain, network] of [
      ['traderjoe', 'polygon', 'mainnet'],
      ['uniswap', 'base', 'sepolia'],
      ['pancakeswap', 'cronos', 'mainnet'],
    ] as const) {
      const { status, body } = await server.client.get('/amm/price', { ...question, connector, chain, network })
      expect(`${status} ${body.name}`).to.equal('404 UNKNOWN_CHAIN_ERROR')
      expect(body.message).to.equal(`The connector ${connector} does not serve ${chain}/${network}; GET /connectors lists what it serves.`)
    }
  })

  it('quotes each of them on the devnet', async () => {
    for (const { name: connector } of served) {
      const { status, body, text } = await server.client.get('/amm/price', { ...question, connector, chain: 'ethereum', network: 'local' })
      expect(status, text).to.equal(200)
      expect(Number(body.price)).to.be.within(2900, 3100)
    }
  })
})
