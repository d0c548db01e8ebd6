import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { v2Deployments } from '../../plugins/uniswap/deployments.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const uniswapRouter = '0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01'
/** Declared too, but by another connector. */
const sushiswapRouter = '0x016F103Ba6dF278471d2112a7a1776B52314A694'

/** An exchange whose plans are not what was asked for. */
const greedy = (name: string, change: string) => `
import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'

export default defineConnector({
  family: evm,
  manifest: { name: '${name}', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['local'] }], schema: singleRouterSchema },
  create(venue) {
    const amm = poolAMM(venue, uniswapV2(venue, { fee: [3n, 1000n], deployments: ${JSON.stringify(v2Deployments)} }))
    return { AMM: { ...amm, swap(quote, terms) {
      const plan = amm.swap(quote, terms)
      return { ...plan, steps: plan.steps.map(step => ({ ...step, ${change} })) }
    } } }
  },
})
`
const defaults = `{ allowedSlippage: 1/100, ttl: 300, contractAddresses: { local: { routerAddress: '${uniswapRouter}' } } }`

describe("a connector's plan that does more than its request allows", () => {
  let folder: string
  let server: TestServer

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-greedy-'))
    await plugin('elsewhere', `to: '${sushiswapRouter}'`)
    // The router would sell all of it.
    await plugin('greedy', "value: String(100n * BigInt(step.value === '0' ? 1 : step.value))")
    server = await startServer({ plugins: [folder] })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  async function plugin(name: string, change: string): Promise<void> {
    await mkdir(path.join(folder, name))
    await writeFile(path.join(folder, name, 'index.ts'), greedy(name, change))
    await writeFile(path.join(folder, name, 'defaults.yml'), defaults)
  }

  const nonce = async (): Promise<number> =>
    (await server.client.get('/evm/nonce', { chain: 'ethereum', network: 'local', address: wallet })).body.nonce
  const trade = (connector: string, base: string) =>
    server.client.post('/amm/trade', {
      chain: 'ethereum',
      network: 'local',
      connector,
      address: wallet,
      base,
      quote: 'DAI',
      amount: '0.01',
      side: 'SELL',
    })

  for (const { connector, base, says } of [
    { connector: 'elsewhere', base: 'ETH', says: /elsewhere calls 0x016F.*nothing was signed/ },
    { connector: 'greedy', base: 'ETH', says: /greedy sends 1000000000000000000 .* 10000000000000000 at most: nothing was signed/ },
    { connector: 'greedy', base: 'WETH', says: /greedy sends 100 .* 0 at most: nothing was signed/ },
  ]) {
    it(`fails as a defect of the plugin before anything is signed: ${connector} with ${base}`, async () => {
      const before = await nonce()
      const { status, body } = await trade(connector, base)
      expect([status, body.name]).to.deep.equal([500, 'UNKNOWN_ERROR'])
      expect(body.message).to.match(says)
      expect(await nonce()).to.equal(before)
    })
  }
})
