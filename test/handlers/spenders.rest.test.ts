import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { v2Deployments } from '../../plugins/uniswap/deployments.ts'
import { answering, fakeBlock, startFakeNode, type FakeNode } from '../kits/evm/fake-node.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const router = '0xeE567Fe1712Faf6149d80dA1E6934E354124CfE3'

/** An exchange that has something to do before it can be asked. */
const exchange = `
import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'

export default defineConnector({
  family: evm,
  manifest: { name: 'sleeper', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['sepolia'] }], schema: singleRouterSchema },
  create(venue) {
    const AMM = poolAMM(venue, uniswapV2(venue, { fee: [3n, 1000n], deployments: ${JSON.stringify(v2Deployments)} }))
    return { AMM, spenders: { router: '${router}' }, start: async () => {} }
  },
})
`
const defaults = `{ allowedSlippage: 1/100, ttl: 300, contractAddresses: { sepolia: { routerAddress: '${router}' } } }`

describe('a connector that starts on demand', () => {
  let folder: string
  let node: FakeNode
  let server: TestServer

  before(async () => {
    // What a network asks when it starts, and nothing else.
    const starts = { eth_getBlockByNumber: fakeBlock(1), eth_maxPriorityFeePerGas: '0x1', eth_getCode: '0x01' }
    node = await startFakeNode(answering({ ...starts, eth_chainId: '0xaa36a7' }))
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-sleeper-'))
    await mkdir(path.join(folder, 'sleeper'))
    await writeFile(path.join(folder, 'sleeper', 'index.ts'), exchange)
    await writeFile(path.join(folder, 'sleeper', 'defaults.yml'), defaults)
    server = await startServer({ plugins: [folder], conf: { 'chains/ethereum.yml': { sepolia: { rpcUrls: [node.url] } } } })
  })
  after(async () => {
    await server?.stop()
    await node?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const sleeper = () => server.kernel.services.registry.venuesOn('ethereum', 'sepolia').find(({ connector }) => connector === 'sleeper')

  it('stays idle at a request for readiness', async () => {
    for (let asked = 0; asked < 3; asked += 1) {
      expect(sleeper()?.notReady()).to.equal('idle')
      await sleep(20)
    }
  })

  it('starts at a request that names it as a spender', async () => {
    const request = { chain: 'ethereum', network: 'sepolia', address: wallet, spender: 'sleeper', tokenSymbols: 'USDC' }
    const { body } = await server.client.get('/evm/allowances', request)
    // The node knows no calls: it was asked for the allowance, and so the connector was ready.
    expect(body.message).to.match(/ refused eth_call/)
    expect(sleeper()?.notReady()).to.equal(undefined)
  })
})
