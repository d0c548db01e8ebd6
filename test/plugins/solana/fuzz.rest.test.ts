import { expect } from 'chai'
import * as fc from 'fast-check'
import { endpoints, errorsOf, errorTable, type Endpoint, type ErrorName } from '../../../core/api/index.ts'
import type { Answer } from '../../../testkit/client.ts'
import { pair, startAmmSite, type AmmSite } from './amm-site.ts'
import { scrape } from '../../http/scrape.ts'

const seed = Number(process.env.SLUICE_FUZZ_SEED ?? Date.now() % 2 ** 31)
const rounds = 500
/** Those that a server of Solana alone has something to say to. */
const asked = (endpoints as readonly Endpoint[]).filter(({ set }) => ['NetworkBase', 'EVM', 'altchain', 'AMM'].includes(set))

/** Words and values that mean something somewhere, and those that nearly do. */
const words = '|0|-1|1e-9|1e99|0x|SOL|usdc|BASE|solana|ethereum|local|mainnet|poolswap|BUY|sell|__proto__|constructor|%00|<script>'
const texts = [...words.split('|'), `0x${'f'.repeat(40)}`, '5'.repeat(87), '1'.repeat(32), 'I'.repeat(44), 'z'.repeat(44)]
const others = [null, true, 0, -1, 1.5, 1023, 1024, Number.MAX_SAFE_INTEGER, [], ['SOL'], ['SOL', 'I'.repeat(44)], {}, { a: 1 }]
const strange = fc.constantFrom<unknown>(...texts, ...others)

describe(`whatever a caller sends to a server on Solana (SLUICE_FUZZ_SEED=${seed})`, function () {
  this.timeout(300_000)
  let site: AmmSite
  let good: Record<string, unknown>
  before(async () => {
    site = await startAmmSite({ slotMs: 100, skipped: 0.1 })
    const [address] = site.wallets
    const { name, ...token } = { name: 'USDC', tokenSymbol: 'USDC', token: 'USDC', tokenSymbols: ['SOL', 'USDC'] }
    good = { ...pair, ...token, spender: name, address, amount: '0.001', side: 'SELL', txHash: '5'.repeat(87) }
  })
  after(() => site?.stop())

  const goodFor = ({ name, request }: Endpoint): Record<string, unknown> => {
    // A token by its address, which is on the list.
    const own: Record<string, unknown> =
      name.startsWith('NetworkToken') && 'token' in request.properties ? { ...good, token: site.solana.mints.USDC.address } : good
    return Object.fromEntries(Object.keys(request.properties).flatMap((field) => (field in own ? [[field, own[field]]] : [])))
  }

  it('gets a documented answer, and what is answered as an error sends nothing', async () => {
    const answered = new Set<string>()
    const seen = new Set<string>()
    const ask = async (endpoint: Endpoint, body: object) => {
      const answer = await site.client.post(endpoint.path, body)
      judge(endpoint, body, answer)
      seen.add(`${endpoint.name} ${answer.status === 200 ? 'answered' : 'refused'}`)
      const txHash: unknown = endpoint.acts && answer.status === 200 ? answer.body.txHash : undefined
      if (typeof txHash === 'string') answered.add(txHash)
    }
    for (const endpoint of asked) await ask(endpoint, goodFor(endpoint))
    const mutation = fc.record({ at: fc.nat(), value: strange, drop: fc.boolean() })
    const request = fc.record({ endpoint: fc.constantFrom(...asked), mutations: fc.array(mutation, { minLength: 1, maxLength: 3 }) })
    const property = fc.asyncProperty(request, async ({ endpoint, mutations }) => {
      const body: Record<string, unknown> = goodFor(endpoint)
      const fields = Object.keys(endpoint.request.properties)
      for (const { at, value, drop } of mutations) {
        const field = fields[at % fields.length] ?? 'chain'
        if (drop) delete body[field]
        else body[field] = value
      }
      await ask(endpoint, body)
    })
    await fc.assert(property, { seed, numRuns: rounds, endOnFailure: true })

    const { body } = await site.client.get('/transactions', { chain: 'solana', limit: '500' })
    expect(body.transactions.map(({ txHash }: { txHash: string }) => txHash)).to.have.members([...answered])
    // A fuzz that never gets past the first check, or is never refused, shows nothing.
    // This connector does not list its pools.
    const isRefused = ({ name, set }: Endpoint) => set === 'EVM' || ['AMMPools', 'AMMPool'].includes(name)
    for (const each of asked) expect([...seen], each.name).to.include(`${each.name} ${isRefused(each) ? 'refused' : 'answered'}`)
    expect((await scrape(site.client)).text).not.to.contain('code="1099"')
  })
})

function judge(endpoint: Endpoint, asked: object, { status, body, text }: Answer): void {
  const about = `${endpoint.name} ${JSON.stringify(asked)} -> ${status} ${text.slice(0, 500)}`
  if (status === 200) return
  expect(body, about).to.be.an('object')
  expect(errorsOf(endpoint), about).to.include(body.name)
  const { code } = errorTable[body.name as ErrorName]
  expect([body.errorCode, body.httpErrorCode], about).to.deep.equal([code, status])
  expect(text, about).not.to.match(/\bat .+\.[tj]s:\d+|node_modules/)
}
