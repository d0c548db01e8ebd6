import { expect } from 'chai'
import fc from 'fast-check'
import { mkdtemp, mkdir, rm, writeFile, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { lackingApprovals } from '../../core/handlers/amm/approvals-lacked.ts'
import { v2Deployments } from '../../plugins/uniswap/deployments.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { admins, local, mined, oneChain, others, outcome, sharedServer, swap } from './shared-server.ts'

const any = { ...local, connector: 'any' } as const
const pair = { base: 'WETH', quote: 'USDC', amount: '0.1', side: 'SELL' } as const
const units = (text: string) => {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(18, '0').slice(0, 18))
}

interface Plugin {
  name: string
  trading_type: string[]
  available_networks: { chain: string; networks: string[] }[]
}

interface ShownQuote {
  connector: string
  expectedAmount: string
  gasCostInQuote?: string
}

describe('the best of all connectors', function () {
  this.timeout(600_000)
  let client: Client
  let names: string[]
  const price = (fields: object = {}): Promise<Answer> => client.post('/amm/price', { ...any, ...pair, ...fields })
  before(async () => {
    client = (await sharedServer()).client
    const { body: plugins } = await client.get('/plugins')
    const isHere = ({ trading_type, available_networks }: Plugin) =>
      trading_type.includes('AMM') && available_networks.some(({ chain, networks }) => chain === 'ethereum' && networks.includes('local'))
    names = plugins.filter(isHere).map(({ name }: Plugin) => name)
    expect(names).to.include.members(['uniswap', 'curve', 'balancer'])
  })

  /** Each connector's own answer, and that of any, with what all give and without, by the same block. */
  async function both(fields: object): Promise<{ best: Answer; only: Answer; each: Answer[] }> {
    for (let tries = 0; ; tries++) {
      // First of all, so that nothing was asked before.
      const only = await price(fields)
      const best = await price({ ...fields, candidates: true })
      const each = await Promise.all(names.map((connector) => price({ ...fields, connector })))
      const blocks = [only, best, ...each].filter(({ status }) => status === 200).map(({ body }) => body.blockNumber)
      // A node is asked the first time.
      const isKnown = best.status !== 200 || best.body.source === 'memory'
      if ((new Set(blocks).size < 2 && isKnown) || tries > 20) return { best, only, each }
    }
  }

  const pairs = ['WETH:USDC', 'USDC:WETH', 'USDC:DAI', 'ETH:DAI', 'WBTC:ETH', 'DAI:USDT', 'WETH:WBTC', 'USDT:USDC'] as const
  /** Of the smaller ones, most connectors have as much; of the larger, few. */
  const anyAmount = fc.tuple(fc.integer({ min: 1, max: 999_999 }), fc.integer({ min: -5, max: -2 }))

  it('equals the best of all asked one by one, after the cost of gas', () =>
    fc.assert(
      fc.asyncProperty(fc.constantFrom(...pairs), fc.constantFrom('BUY', 'SELL'), anyAmount, async (tokens, side, [digits, exponent]) => {
        const [base, quote] = tokens.split(':')
        await expectBest({ base, quote, side, amount: `${digits}e${exponent}` })
      }),
      { numRuns: 60 },
    ))

  async function expectBest(trial: { base?: string; quote?: string; side: string; amount: string }): Promise<void> {
    const { best, only, each } = await both(trial)
    // Those that cannot be the best are not asked, which changes nothing.
    expect(outcome(only)).to.equal(outcome(best))
    if (best.status === 200)
      for (const field of ['connector', 'price', 'expectedAmount', 'route', 'slippagePrice', 'priceImpact', 'blockNumber'])
        expect(only.body[field], `${field} of ${only.text} and ${best.text}`).to.deep.equal(best.body[field])
    // Where nobody gives so much, nobody is the best.
    if (best.status !== 200) {
      expect(only.body.details).to.deep.equal(best.body.details)
      expect(best.body.name, best.text).to.equal('PRICE_FAILED')
      expect(each.map(({ status }) => status)).to.not.include(200)
      return
    }
    const { candidates, leftOut = [] } = best.body
    const sign = trial.side === 'SELL' ? 1n : -1n
    const worth = ({ expectedAmount, gasCostInQuote = '0' }: ShownQuote) => sign * units(expectedAmount) - units(gasCostInQuote)
    const alone = each.flatMap(({ status, body }, index) => (status === 200 ? [{ ...body, connector: names[index] }] : []))
    // Everybody is there, with the amount that its own price has.
    const shown = new Map(candidates.map((one: ShownQuote) => [one.connector, one.expectedAmount]))
    expect(shown).to.deep.equal(new Map(alone.map((one) => [one.connector, one.expectedAmount])))
    expect([...shown.keys(), ...leftOut.map((one: ShownQuote) => one.connector)]).to.have.members(names)
    for (const [index, { status, body }] of each.entries())
      if (status !== 200) expect(leftOut.find((one: ShownQuote) => one.connector === names[index]).error.name).to.equal(body.name)
    // The cost of gas is that of each, and the order follows from both.
    const worths: bigint[] = candidates.map(worth)
    expect(worths).to.deep.equal(worths.toSorted((one, other) => (one > other ? -1 : one < other ? 1 : 0)))
    expect(best.body.connector).to.equal(candidates[0].connector)
    const own = alone.find(({ connector }) => connector === best.body.connector)
    for (const field of ['price', 'expectedAmount', 'gasCost', 'route', 'slippagePrice', 'priceImpact'])
      expect(best.body[field], field).to.deep.equal(own[field])
  }

  it('counts gas in the quote token at the marginal price of the native coin, rounded up', async () => {
    const { body } = await price({ quote: 'ETH', base: 'USDC', amount: '300' })
    expect(body.gasCostInQuote).to.equal(body.gasCost)
    const dollars = (await price()).body
    const spot = await client.post('/amm/price', { ...swap, base: 'ETH', amount: '0.1', connector: dollars.connector })
    const perCoin = Number(spot.body.price) / (1 - Number(spot.body.priceImpact))
    expect(Number(dollars.gasCostInQuote)).to.be.closeTo(
      Number(dollars.gasCost) * perCoin,
      0.02 * Number(dollars.gasCostInQuote) + 0.000_001,
    )
  })

  it('says nothing of candidates, nor of those that lack the pair, unless it is asked', async () => {
    const { body } = await price({ base: 'WBTC' })
    expect(body).to.include.keys('connector')
    expect(body).to.not.have.any.keys('candidates', 'leftOut')
  })

  it('comes from the connectors that a request names', async () => {
    const { body } = await price({ connectors: ['sushiswap'], candidates: true })
    expect(body.candidates.map((each: ShownQuote) => each.connector)).to.deep.equal(['sushiswap'])
    const listed = await client.get('/amm/price', { ...any, ...pair, connectors: 'sushiswap,uniswap,sushiswap', candidates: 'true' })
    expect(listed.body.candidates.map((each: ShownQuote) => each.connector)).to.have.members(['uniswap', 'sushiswap'])
  })

  it('has several amounts, each with the connector that is best for it', async () => {
    const { body } = await price({ amounts: ['0.1', '1000'] })
    expect(body.quotes).to.have.length(2)
    for (const each of body.quotes) expect(names).to.include(each.connector)
  })

  it('estimates gas, and passes over connectors without the version', async () => {
    expect(outcome(await client.post('/amm/estimateGas', any))).to.equal('200')
    expect((await price({ version: 'v4', candidates: true })).body.candidates.map((each: ShownQuote) => each.connector)).to.deep.equal([
      'uniswap',
    ])
    expect(outcome(await price({ version: 'v9' }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  for (const [fields, says] of [
    [{ connectors: [] }, '400 INCOMPLETE_PARAMS'],
    [{ connectors: ['uniswapp'] }, '404 UNKNOWN_CONNECTOR'],
    [{ connectors: ['any'] }, '404 UNKNOWN_CONNECTOR'],
    [{ connectors: ['oasis'] }, '501 UNSUPPORTED'],
    [{ connector: 'uniswap', connectors: ['uniswap'] }, '400 INCOMPLETE_PARAMS'],
    [{ connector: 'uniswap', candidates: true }, '400 INCOMPLETE_PARAMS'],
    [{ connector: 'ANY' }, '404 UNKNOWN_CONNECTOR'],
    [{ chain: 'nowhere' }, '404 UNKNOWN_CHAIN_ERROR'],
    [{ base: 'WETH', quote: 'ETH' }, '400 INCOMPLETE_PARAMS'],
    [{ amount: '9'.repeat(30), side: 'BUY' }, '422 PRICE_FAILED'],
    [{ allowedSlippage: '1/2' }, '400 INCOMPLETE_PARAMS'],
  ] as const)
    it(`answers ${says} to ${JSON.stringify(fields)}`, async () => {
      const answer = await price(fields)
      expect(outcome(answer), answer.text).to.equal(says)
    })

  it('does not replace the connector where an endpoint needs one', async () => {
    const answer = await client.post('/amm/liquidity/price', { ...any, token0: 'WETH', token1: 'USDC', fee: 'LOW' })
    expect(outcome(answer)).to.equal('400 INCOMPLETE_PARAMS')
    expect(answer.body.details[0].field).to.equal('connector')
  })

  describe('in trades', () => {
    const wallet = others
    const trade = (fields: object, options?: object) => client.post('/amm/trade', { ...any, ...pair, address: wallet, ...fields }, options)
    const approve = async (spender: string, amount?: string, token = 'WBTC') => {
      const { body } = await client.post('/evm/approve', { ...local, address: wallet, spender, token, ...(amount && { amount }) })
      await mined(client, body.txHash)
    }

    it('count the approvals that a swap lacks: by Permit2 the token for Permit2, and the spender', async () => {
      const { registry } = (await sharedServer()).kernel.services
      const [network, venue] = [registry.network('ethereum', 'local'), registry.venue('uniswap', 'ethereum', 'local')]
      const at = { signal: AbortSignal.timeout(30_000) }
      const [tokenIn, tokenOut] = await network.tokens.resolveAll(['USDC', 'DAI'], 'tokenSymbols', at)
      if (!tokenIn || !tokenOut) throw new Error('The devnet has no such tokens.')
      const lacking = async (version: string) => {
        const quote = await venue.impl.AMM?.quote({ tokenIn, tokenOut, exact: 'in', amountRaw: 1_000_000n }, { version }, at)
        if (!quote) throw new Error('No quote.')
        const candidate = { venue, sourced: { quote, source: 'rpc' as const, isFollowed: false }, boundRaw: 1n }
        return (await lackingApprovals([candidate], wallet, network, registry, at))(venue, quote.spender)
      }
      expect([await lacking('v2'), await lacking('v4')]).to.deep.equal([1, 2])
      // Makes the token's allowance for Permit2, and that of the position manager, which takes no part in swaps.
      await approve('uniswap/v4Positions', undefined, 'USDC')
      expect([await lacking('v2'), await lacking('v4')]).to.deep.equal([1, 1])
    })

    it('trades by what is approved, within the slippage of what is not, and says who was passed over', async () => {
      const sold = { base: 'WBTC', amount: '0.01' }
      const { body: asked } = await price({ ...sold, candidates: true, address: wallet })
      expect(asked.candidates.every((each: { approved: boolean }) => !each.approved)).to.equal(true)
      expect(outcome(await trade(sold))).to.equal('422 INSUFFICIENT_ALLOWANCE')
      await approve('uniswap/v2')
      const { body, status, text } = await trade(sold, { headers: { 'Idempotency-Key': 'any-approved' } })
      expect(status, text).to.equal(200)
      expect(body.connector).to.equal('uniswap')
      const again = await trade(sold, { headers: { 'Idempotency-Key': 'any-approved' } })
      expect(again.text).to.equal(text)
      const polled = await mined(client, body.txHash)
      expect(polled.body.fill.amountIn).to.equal('0.01000000')
      const { body: journal } = await client.get('/transactions', { ...local, txHash: body.txHash })
      expect(journal.transactions[0].connector).to.equal('uniswap')
    })

    it('trade by the best of what is approved, before what the connector of the best price gives by other contracts', async () => {
      const sold = { base: 'USDC', quote: 'WETH', amount: '400', connectors: ['uniswap', 'balancer'] }
      for (const spender of ['uniswap/v2', 'balancer']) await approve(spender, undefined, 'USDC')
      const { body: asked } = await price({ ...sold, candidates: true, address: wallet })
      const [uniswap, balancer] = asked.candidates
      expect([uniswap, balancer].map(({ connector, approved }) => [connector, approved])).to.deep.equal([
        ['uniswap', false],
        ['balancer', true],
      ])
      const { body: ofPairs } = await price({ ...sold, connectors: undefined, connector: 'uniswap', version: 'v2' })
      expect(Number(ofPairs.expectedAmount)).to.be.below(Number(balancer.expectedAmount))
      const { body, status, text } = await trade(sold)
      expect(status, text).to.equal(200)
      expect(body.connector).to.equal('balancer')
      expect(body.leftOut).to.have.length(1)
      expect([body.leftOut[0].connector, body.leftOut[0].error.name]).to.deep.equal(['uniswap', 'INSUFFICIENT_ALLOWANCE'])
      await mined(client, body.txHash)
    })

    it('need no approval for the native coin', async () => {
      const { body, text } = await client.post('/amm/trade', { ...any, ...pair, base: 'ETH', address: admins })
      expect(body.connector, text).to.be.oneOf(names)
      expect((await mined(client, body.txHash)).body.fill.amountIn).to.equal('0.100000000000000000')
    })

    it('keep a limit price', async () => {
      const { body } = await price({ base: 'ETH' })
      const answer = await trade({ base: 'ETH', limitPrice: String(Number(body.price) * 1.2) })
      expect(outcome(answer)).to.equal('422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
    })
  })
})

describe('the best of all connectors where one hangs and one lies', function () {
  this.timeout(300_000)
  let folder: string
  let server: TestServer
  const names = ['liar', 'sleeper', 'refuser']

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-any-'))
    const defaults = parse(await readFile(new URL('../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
    const { v2RouterAddress } = defaults.contractAddresses.local
    const terms = { allowedSlippage: '1/100', ttl: 300 }
    const wrongs = {
      liar: `quote: async (...all) => { const quote = await good.quote(...all); const most = quote.swap.exact === 'in' ? quote.amountRaw * 2n : quote.amountRaw / 2n; return { ...quote, amountRaw: most } }`,
      sleeper: `quote: () => new Promise(() => {})`,
      refuser: `quote: async () => { throw new Error('a defect') }`,
    }
    for (const name of names) {
      await mkdir(path.join(folder, name))
      await writeFile(
        path.join(folder, name, 'index.ts'),
        `import { evm } from 'sluice/evm'
import { defineConnector, versionedSchema } from 'sluice/plugin'
import { poolAMM } from 'sluice/pools'
import { uniswapV2 } from 'sluice/uniswap-v2'
export default defineConnector({ family: evm, manifest: {
  name: '${name}', apiVersion: '1.0', version: '0.1.0', trading_type: ['AMM'], available_networks: [{ chain: 'ethereum', networks: ['local'] }],
  schema: versionedSchema({ v2: ['v2RouterAddress'] }),
}, create(venue) {
  const v2 = uniswapV2(venue, { version: 'v2', fee: [3n, 1000n], deployments: { 'ethereum/local': ${JSON.stringify(v2Deployments['ethereum/local'])} } })
  const { followed, ...good } = poolAMM(venue, v2)
  return { AMM: { ...good, ${Reflect.get(wrongs, name)} }, spenders: good.spenders }
} })`,
      )
      const config = { ...terms, versions: { v2: { ...terms } }, contractAddresses: { local: { v2RouterAddress } } }
      await writeFile(path.join(folder, name, 'defaults.yml'), stringify(config, { aliasDuplicateObjects: false }))
    }
    server = await startServer({ ...oneChain, plugins: [folder], trusted: names })
    expect(server.kernel.plugins.refused.filter(({ name }) => names.includes(name))).to.deep.equal([])
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const ask = (connectors: string[], fields: object = {}) =>
    server.client.post('/amm/price', { ...any, ...pair, base: 'ETH', connectors, candidates: true, ...fields })

  it('leaves plugins out that are not built in, where they are not named', async () => {
    const { body } = await server.client.post('/amm/price', { ...any, ...pair, candidates: true })
    const shown = [...body.candidates, ...(body.leftOut ?? [])].map((each: ShownQuote) => each.connector)
    expect(shown).to.not.include.members(names)
  })

  it('answers without the one that hangs, says so, and then does not wait for it again', async () => {
    const { body, text } = await ask(['uniswap', 'sleeper', 'refuser'])
    expect(body.connector, text).to.equal('uniswap')
    const errors = Object.fromEntries(
      body.leftOut.map((each: ShownQuote & { error: { name: string } }) => [each.connector, each.error.name]),
    )
    expect(errors).to.deep.equal({ sleeper: 'TIMEOUT', refuser: 'UNKNOWN_ERROR' })
    const again = await ask(['uniswap', 'sleeper'])
    expect(again.body.leftOut[0].connector).to.equal('sleeper')
    expect(again.body.latency).to.be.below(body.latency)
  })

  it('trades on the next where the one that promises most fails its checks', async () => {
    const { body: asked } = await ask(['uniswap', 'liar'])
    expect(asked.connector).to.equal('liar')
    const traded = await server.client.post('/amm/trade', {
      ...any,
      ...pair,
      base: 'ETH',
      connectors: ['liar', 'uniswap'],
      address: admins,
    })
    expect(traded.status, traded.text).to.equal(200)
    expect(traded.body.connector).to.equal('uniswap')
    expect(traded.body.leftOut[0]).to.nested.include({ connector: 'liar', 'error.name': 'TRADE_FAILED' })
    expect((await mined(server.client, traded.body.txHash)).body.fill).to.include.keys('amountOut')
    const { body } = await server.client.get('/transactions', { ...local, requestId: String(traded.headers['x-request-id']) })
    expect(body.transactions).to.have.length(1)
  })

  it('signs nothing where all fail', async () => {
    const answer = await server.client.post('/amm/trade', { ...any, ...pair, base: 'ETH', connectors: ['liar'], address: admins })
    expect(outcome(answer)).to.equal('422 TRADE_FAILED')
  })
})
