import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { mined } from '../http/shared-server.ts'
import { v2Deployments } from '../../plugins/uniswap/deployments.ts'

const venue = { chain: 'ethereum', network: 'local' }
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const defaults = `{ allowedSlippage: 1/100, ttl: 300, contractAddresses: { local: { routerAddress: '0x2c4A1b0276Cd3B18695fd175B99d5Ac2294d6D01' } } }`

/** An exchange of which one verb gives something else. */
const mistaken = (name: string, verbs: string) => `
import { evm } from 'sluice/evm'
import { defineConnector, singleRouterSchema } from 'sluice/plugin'
import { poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'

export default defineConnector({
  family: evm,
  manifest: { name: '${name}', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['local'] }], schema: singleRouterSchema },
  create(venue) {
    const amm = poolAMM(venue, uniswapV2(venue, { fee: [3n, 1000n], deployments: ${JSON.stringify(v2Deployments)} }))
    return { AMM: { ...amm, ${verbs} } }
  },
})
`
/** As it asks the chain, and as it quotes from memory. */
const asked = (quote: string) => `followed: undefined, quote: async (...args) => ${quote.replaceAll('QUOTE', 'await amm.quote(...args)')}`
const remembered = (quote: string) =>
  `followed: { ...amm.followed, quote: (...args) => ${quote.replaceAll('QUOTE', 'amm.followed.quote(...args)')} }`

describe('a connector with invalid responses', () => {
  let folder: string
  let server: TestServer

  const wrong = {
    nothing: 'undefined',
    negative: '({ ...QUOTE, amountRaw: -5n })',
    zero: '({ ...QUOTE, amountRaw: 0n })',
    number: '({ ...QUOTE, amountRaw: 5 })',
    routeless: '({ ...QUOTE, route: null })',
    partial: '({ ...QUOTE, parts: [{ hops: 1, exactRaw: 1n, otherRaw: 1n }] })',
    headless: '({ ...QUOTE, head: {} })',
    other: "({ ...QUOTE, swap: { ...args[0], exact: args[0].exact === 'in' ? 'out' : 'in' } })",
  }
  const quotes = Object.fromEntries(
    Object.entries(wrong).flatMap(([name, quote]) => [
      [name, asked(quote)],
      [`${name}-in-memory`, remembered(quote)],
    ]),
  )
  const missing = {
    'missing-nothing': remembered('({ missing: [] })'),
    'missing-elsewhere': remembered('({ missing: [{ index: 10_000 }] })'),
  }
  const plans = { planless: 'swap: () => undefined', stepless: 'swap: () => ({ needs: [], memo: null })' }
  const fills = { mute: "fill: () => { throw new Error('no fill today') }", garbled: 'fill: () => ({ amountInRaw: 1 })' }

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-mistaken-'))
    for (const [name, verbs] of Object.entries({ ...quotes, ...missing, ...plans, ...fills })) {
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

  const order = (connector: string) => ({ ...venue, connector, base: 'ETH', quote: 'USDC', amount: '0.01', side: 'SELL' })
  const trade = (connector: string) => server.client.post('/amm/trade', { ...order(connector), address: wallet })
  const nonce = async (): Promise<number> => (await server.client.get('/evm/nonce', { ...venue, address: wallet })).body.nonce

  for (const name of Object.keys({ ...quotes, ...missing })) {
    it(`appears in the error of an invalid quote, and nothing is traded on it: ${name}`, async () => {
      const before = await nonce()
      for (const { status, body } of [await server.client.get('/amm/price', order(name)), await trade(name)]) {
        expect([status, body.name]).to.deep.equal([500, 'UNKNOWN_ERROR'])
        expect(body.message).to.include(`'${name}' has failed`)
      }
      expect(await nonce()).to.equal(before)
    })
  }

  for (const name of Object.keys(plans)) {
    it(`appears in the error of an invalid plan, and nothing is traded on it: ${name}`, async () => {
      const before = await nonce()
      const { status, body } = await trade(name)
      expect([status, body.name]).to.deep.equal([500, 'UNKNOWN_ERROR'])
      expect(body.message).to.include(`'${name}' has failed`)
      expect(await nonce()).to.equal(before)
    })
  }

  for (const name of Object.keys(fills)) {
    it(`does not hide a transaction with an invalid fill: its state is shown without the fill: ${name}`, async () => {
      const { status, body, text } = await trade(name)
      expect(status, text).to.equal(200)
      expect((await mined(server.client, body.txHash)).body).not.to.have.property('fill')
    })
  }
})
