import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { mined } from '../../http/shared-server.ts'
import { v3Deployments } from '../../../plugins/uniswap/deployments.ts'

const venue = { chain: 'ethereum', network: 'local' }
const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** Declared too, but by another connector. */
const sushiswapRouter = '0x016F103Ba6dF278471d2112a7a1776B52314A694'

/** An exchange with ranges alone, of which one verb gives something else. */
const mistaken = (name: string, verbs: string) => `
import { evm } from 'sluice/evm'
import { defineConnector, versionedSchema } from 'sluice/plugin'
import { uniswapV3 } from 'sluice/uniswap-v3'

export default defineConnector({
  family: evm,
  manifest: {
    name: '${name}', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM_RANGE'], available_networks: [{ chain: 'ethereum', networks: ['local'] }],
    schema: versionedSchema({ v3: ['v3RouterAddress', 'positionManagerAddress'] }),
  },
  create(venue) {
    const { range } = uniswapV3(venue, { deployments: ${JSON.stringify(v3Deployments)} })
    const changed = (plan, change) => ({ ...plan, steps: plan.steps.map((step) => ({ ...step, ...change })) })
    return { AMM_RANGE: { ...range, ${verbs} }, spenders: { positions: range.positionManager } }
  },
})
`
const defaults = `
allowedSlippage: 1/100
ttl: 300
versions: { v3: { allowedSlippage: 1/100, ttl: 300 } }
contractAddresses:
  local:
    v3RouterAddress: '0xf6B3BC42fbF2B22eBF009751A91Dca74A78397D2'
    positionManagerAddress: '0xD905B9bc268AFD8eD615CCed5644d6088d1DC7EF'
`
const poolWith = (change: string) =>
  `rangePools: async (...args) => { const { head, pools } = await range.rangePools(...args); return { head, pools: pools.map((pool) => ({ ...pool, ${change} })) } }`
const positionWith = (change: string) =>
  `positionOf: async (...args) => { const { head, position } = await range.positionOf(...args); return { head, position: { ...position, ${change} } } }`

const reading = {
  nothing: 'rangePools: async () => undefined',
  worthless: poolWith('price: { numerator: 0n, denominator: 1n }'),
  endless: poolWith('price: { numerator: 1n, denominator: 0n }'),
  priceless: poolWith('price: undefined'),
  nameless: poolWith('address: undefined'),
  fractional: poolWith('fee: 0.003'),
}
const adding = {
  negative: 'deposit: () => ({ liquidity: -1n, amount0Raw: 1n, amount1Raw: 1n })',
  number: 'deposit: () => ({ liquidity: 5, amount0Raw: 1n, amount1Raw: 1n })',
  rangeless: 'rangeAround: () => ({ tickLower: 1.5, tickUpper: 2 })',
  planless: 'add: () => undefined',
  elsewhere: `add: (...args) => changed(range.add(...args), { to: '${sushiswapRouter}' })`,
  greedy: "add: (...args) => changed(range.add(...args), { value: '1' })",
}
const seeing = {
  other: positionWith("tokenId: '7'"),
  ownerless: positionWith('owner: undefined'),
  owing: positionWith('unclaimed: { amount0Raw: -1n, amount1Raw: 0n }'),
}
const remembering = {
  short: "history: async (...args) => ({ ...await range.history(...args), is: 'prices', prices: [] })",
  unsaid: "history: async () => ({ is: 'beyond' })",
}
const mute = { mute: "rangeFill: () => { throw new Error('no fill today') }", garbled: 'rangeFill: () => ({ tokenId: 1 })' }

describe('a range connector with invalid responses', () => {
  let folder: string
  let server: TestServer
  const ask = (connector: string, verb: string, fields: object) =>
    server.client.post(`/amm/liquidity/${verb}`, { ...venue, connector, ...fields })
  const nonce = async (): Promise<number> => (await server.client.get('/evm/nonce', { ...venue, address: wallet })).body.nonce
  const pair = { token0: 'WETH', token1: 'USDC' }
  const range = { ...pair, address: wallet, amount0: '0.1', amount1: '300', lowerPrice: '2500', upperPrice: '3500', fee: 500 }

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-mistaken-'))
    for (const [name, verbs] of Object.entries({ ...reading, ...adding, ...seeing, ...remembering, ...mute })) {
      await mkdir(path.join(folder, name))
      await writeFile(path.join(folder, name, 'index.ts'), mistaken(name, verbs))
      await writeFile(path.join(folder, name, 'defaults.yml'), defaults)
    }
    server = await startServer({ plugins: [folder] })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  async function blamed(connector: string, verb: string, fields: object): Promise<void> {
    const before = await nonce()
    const { status, body, text } = await ask(connector, verb, fields)
    expect([status, body.name], text).to.deep.equal([500, 'UNKNOWN_ERROR'])
    expect(body.message).to.contain(connector)
    expect(await nonce()).to.equal(before)
  }

  for (const name of Object.keys(reading)) it(`appears in the error of invalid pools: ${name}`, () => blamed(name, 'price', pair))
  for (const name of Object.keys(adding))
    it(`appears in the error of an invalid plan before anything is signed: ${name}`, () => blamed(name, 'add', range))
  for (const name of Object.keys(seeing))
    it(`appears in the error of an invalid position: ${name}`, () => blamed(name, 'position', { tokenId: 1 }))
  for (const name of Object.keys(remembering))
    it(`appears in the error of invalid past prices: ${name}`, () => blamed(name, 'price', { ...pair, period: 2, interval: 1 }))

  for (const name of Object.keys(mute)) {
    it(`does not hide a transaction with an invalid fill: its state is shown without the fill: ${name}`, async () => {
      // What may stand for a plugin that is not built in is what it needs.
      for (const [token, amount] of [
        ['WETH', range.amount0],
        ['USDC', range.amount1],
      ]) {
        const approval = { ...venue, address: wallet, spender: 'mute/positions', token, amount }
        await mined(server.client, (await server.client.post('/evm/approve', approval)).body.txHash)
      }
      const { status, text, body } = await ask(name, 'add', range)
      expect(status, text).to.equal(200)
      const poll = (await mined(server.client, body.txHash)).body
      expect(poll.txReceipt.status).to.equal(1)
      expect(poll).not.to.have.property('fill')
    })
  }

  it('may have ranges without any other trading type', async () => {
    const { status, body } = await server.client.get('/amm/price', {
      ...venue,
      connector: 'mute',
      base: 'WETH',
      quote: 'USDC',
      amount: '1',
      side: 'SELL',
    })
    expect([status, body.name]).to.deep.equal([501, 'UNSUPPORTED'])
    expect((await ask('mute', 'price', pair)).status).to.equal(200)
  })
})
