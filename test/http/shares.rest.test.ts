import { expect } from 'chai'
import { Contract, JsonRpcProvider, Wallet } from 'ethers'
import { deployer } from '../../core/devnet/build-state.ts'
import { devnetFeeToken } from '../../testkit/cards/venue.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import {
  admins,
  atNode,
  freshAddress,
  local,
  mined,
  others,
  outcome,
  sharedServer,
  type SharedServer,
  uniswap,
  withoutBlocks,
} from './shared-server.ts'

const zero = `0x${'0'.repeat(40)}`
const raw = (padded: string) => BigInt(padded.replace('.', ''))
const envelope = ['network', 'timestamp', 'latency']
const gas = ['gasPrice', 'gasPriceToken', 'gasLimit', 'gasCost']

describe('/amm/shares', function () {
  this.timeout(300_000)
  let server: SharedServer
  let client: Client
  let provider: JsonRpcProvider
  const tokens = ['WETH', 'DAI']
  const own = { ...uniswap, address: admins, tokens }
  const position = async (fields: object = {}): Promise<Answer> => client.get('/amm/shares/position', { ...own, ...fields })
  const ask = (verb: string, fields: object): Promise<Answer> => client.post(`/amm/shares/${verb}`, { ...own, ...fields })
  const approve = async (token: string, address: string = admins, spender = 'uniswap/v2') => {
    const { body, status, text } = await client.post('/evm/approve', { ...local, address, spender, token })
    expect(status, text).to.equal(200)
    await mined(client, body.txHash)
  }
  async function made(verb: string, fields: object): Promise<Answer['body']> {
    const { body, status, text } = await ask(verb, fields)
    expect(status, text).to.equal(200)
    const { body: poll } = await mined(client, body.txHash)
    expect(poll.txReceipt.status, poll.reason).to.equal(1)
    return { ...body, fill: poll.fill, gasRaw: BigInt(poll.txReceipt.gasUsed) * BigInt(poll.txReceipt.effectiveGasPrice) }
  }
  const balances = async (...symbols: string[]): Promise<bigint[]> => {
    const { body } = await client.get('/network/balances', { ...local, address: admins, tokenSymbols: symbols })
    return symbols.map((symbol) => raw(body.balances[symbol]))
  }
  /** Mines all of it in one block, whose time is later than that of the checks. */
  async function inLaterBlock(...sends: readonly (() => Promise<Answer>)[]): Promise<readonly Answer[]> {
    return withoutBlocks(server.rpc, async () => {
      const answers: Answer[] = []
      for (const send of sends) answers.push(await send())
      for (const answer of answers) expect(outcome(answer), answer.text).to.equal('200')
      for (const { body } of answers) await atNode(server.rpc, body.txHash)
      await server.rpc('evm_increaseTime', 2)
      await server.rpc('evm_mine')
      return answers
    })
  }
  const trade = async (address: string, connector: string) => {
    const swap = { ...local, connector, address, base: 'WETH', quote: 'USDC', amount: '5', side: 'SELL' }
    const { body, status, text } = await client.post('/amm/trade', { ...swap, ...(hasVersions(connector) && { version: 'v2' }) })
    expect(status, text).to.equal(200)
    await mined(client, body.txHash)
  }
  const hasVersions = (connector: string) => ['uniswap', 'pancakeswap'].includes(connector)
  const factoryOf = async (connector: string): Promise<Contract> => {
    const { body: config } = await client.get('/connector/config', { connector })
    const address = config.contractAddresses.local[hasVersions(connector) ? 'v2RouterAddress' : 'routerAddress']
    const router = new Contract(address, ['function factory() view returns (address)'], provider)
    const abi = ['function setFeeTo(address)', 'function createPair(address, address)']
    return new Contract(await router.getFunction('factory')(), abi, deployer(connector, provider))
  }

  before(async () => {
    server = await sharedServer()
    client = server.client
    provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 })
    for (const token of [...tokens, (await position()).body.pool]) await approve(token)
  })
  after(() => provider?.destroy())

  it('adds what it says, shows it, and removes what it shows, to the unit', async () => {
    expect((await position()).body).to.include({ shares: '0.000000000000000000', poolShare: '0', value: '0.000000000000000000' })
    const added = await made('add', { amounts: ['2', '7000'] })
    expect(added).to.include.keys('pool', 'version', 'minAmounts', 'poolShare', 'shareToken', 'deadline', 'nonce', ...gas, ...envelope)
    const { pool, amounts, shares } = added
    expect(added.fill).to.deep.equal({ pool, shares, tokens: added.tokens, amounts })
    expect(amounts[0]).to.equal('2.000000000000000000')
    expect(Number(amounts[1])).to.be.within(5000, 7000)

    const { body: shown } = await position()
    expect(shown).to.include({ pool, shares, owner: admins })
    const lost = [0, 1].map((index) => raw(amounts[index]) - raw(shown.amounts[index]))
    expect(
      lost.every((each) => each >= 0n && each <= 100n),
      lost.join(),
    ).to.equal(true)
    expect(Number(shown.value) / Number(shown.amounts[1])).to.be.closeTo(2, 1e-9)
    expect(Number(shown.poolShare)).to.be.closeTo(Number(shown.shares) / Number(shown.totalShares), 1e-12)

    const before = await balances('WETH', 'DAI')
    const part = await made('remove', { decreasePercent: '25' })
    expect(raw(part.shares)).to.equal(raw(shares) / 4n)
    const { body: left } = await position()
    expect(raw(left.shares)).to.equal(raw(shares) - raw(part.shares))
    const rest = await made('remove', {})
    expect(rest.amounts).to.deep.equal(left.amounts)
    for (const { fill, ...answer } of [part, rest])
      expect(fill).to.deep.equal({ pool, shares: answer.shares, tokens: answer.tokens, amounts: answer.amounts })
    const got = (await balances('WETH', 'DAI')).map((after, index) => after - (before[index] ?? 0n))
    expect(got).to.deep.equal([0, 1].map((index) => raw(part.amounts[index]) + raw(rest.amounts[index])))
    expect((await position()).body.shares).to.equal('0.000000000000000000')
  })

  for (const connector of ['uniswap', 'pancakeswap'])
    it(`promises no more than it gives where swaps brought fees and the protocol takes its part of them: ${connector}`, async () => {
      const pool = { connector, tokens: ['WETH', 'USDC'] }
      const factory = await factoryOf(connector)
      await (await factory.getFunction('setFeeTo')(freshAddress())).wait()
      try {
        for (const token of [...pool.tokens, (await position(pool)).body.pool]) await approve(token, admins, `${connector}/v2`)
        await approve('WETH', others, connector)
        const { shares } = await made('add', { ...pool, amounts: ['3'] })
        await trade(others, connector)
        const { body: shown } = await position(pool)
        const { fill } = await made('remove', { ...pool, shares })
        expect(fill.shares).to.equal(shares)
        for (const [index, amount] of shown.amounts.entries()) {
          const [promised, given] = [raw(amount), raw(fill.amounts[index])]
          // The devnet's PancakeSwap takes a fourth of the growth, and its second version 8 of 25 parts.
          if (connector === 'pancakeswap') expect([given >= promised, (given - promised) * 10_000n < given]).to.deep.equal([true, true])
          else expect(given).to.equal(promised)
        }
        await trade(others, connector)
        const again = await made('add', { ...pool, amounts: ['1', '100000'] })
        expect(again.fill.amounts).to.deep.equal(again.amounts)
        // The last change took the protocol's part of what was there.
        if (connector === 'uniswap') expect(again.fill.shares).to.equal(again.shares)
        await made('remove', pool)
      } finally {
        await (await factory.getFunction('setFeeTo')(zero)).wait()
      }
    })

  it('pays and returns the native coin where the request names it', async () => {
    for (const native of [
      { tokens: ['ETH', 'DAI'], amounts: ['1'] },
      { tokens: ['DAI', 'ETH'], amounts: ['3000', '9'] },
      { tokens: ['USDC', 'ETH'], amounts: ['3000', '9'] },
    ]) {
      const symbol = native.tokens.find((each) => each !== 'ETH') ?? ''
      const place = native.tokens.indexOf('ETH')
      await approve(symbol)
      const [before = 0n] = await balances('ETH')
      const added = await made('add', native)
      expect(added.tokens[place]).to.equal(zero)
      expect([added.fill.shares, added.fill.amounts]).to.deep.equal([added.shares, added.amounts])
      const [between = 0n] = await balances('ETH')
      expect(before - between - added.gasRaw).to.equal(raw(added.amounts[place]))

      await approve(added.pool)
      const [approved = 0n] = await balances('ETH')
      const removed = await made('remove', { tokens: native.tokens })
      expect([removed.fill.shares, removed.fill.amounts]).to.deep.equal([added.shares, removed.amounts])
      const [after = 0n] = await balances('ETH')
      expect(after - approved + removed.gasRaw).to.equal(raw(removed.amounts[place]))
    }
  })

  it('enforces the least amounts on chain, and refuses what is below those of the request', async () => {
    const { amounts, minAmounts } = (await made('add', { amounts: ['1'], allowedSlippage: '1/1000' })) as Record<string, string[]>
    for (const [index, amount = ''] of (amounts ?? []).entries())
      expect(raw(minAmounts?.[index] ?? '')).to.equal((raw(amount) * 999n + 999n) / 1000n)
    const below = await ask('add', { amounts: ['1'], minAmounts: ['1', '99999'] })
    expect(outcome(below)).to.equal('422 TRADE_FAILED')
    expect(below.body.details).to.deep.equal({ reason: 'below minAmounts' })
    const out = await ask('remove', { minAmounts: ['2', '0'] })
    expect(out.body.details).to.deep.equal({ reason: 'below minAmounts' })

    // A swap in the same block, in front of it, moves the price by more than the slippage.
    const fees = { maxFeePerGas: '200', maxPriorityFeePerGas: '100' }
    const swap = { ...uniswap, version: 'v2', address: others, base: 'WETH', quote: 'DAI', amount: '200', side: 'SELL', ...fees }
    const [add] = await inLaterBlock(
      () => ask('add', { amounts: ['1'], allowedSlippage: '1/1000' }),
      () => client.post('/amm/trade', swap),
    )
    expect((await mined(client, add?.body.txHash)).body.txReceipt.status).to.equal(0)
    await made('remove', {})
  })

  it('refuses a pool whose price costs nothing to set, unless the request has bounds of its own', async () => {
    const { body: listed } = await client.get('/network/tokens', { ...local, tokenSymbols: ['USDT', 'WBTC'] })
    const [one = '', two = ''] = listed.map(({ address }: { address: string }) => address)
    const fields = { tokens: ['USDT', 'WBTC'] }
    const none = await ask('add', { ...fields, amounts: ['6', '0.0001'] })
    expect([outcome(none), none.body.message]).to.deep.equal([
      '404 PAIR_NOT_FOUND',
      "uniswap has no pool with shares of USDT and WBTC, and none is created for them. Name all of a pool's tokens, or try another connector.",
    ])
    await (await (await factoryOf('uniswap')).getFunction('createPair')(one, two)).wait()
    const alone = await ask('add', { ...fields, amounts: ['6'] })
    expect([outcome(alone), alone.body.details[0].field]).to.deep.equal(['400 INCOMPLETE_PARAMS', 'amounts'])
    for (const token of fields.tokens) await approve(token)
    const first = await made('add', { ...fields, amounts: ['6', '0.01'] })
    expect([first.fill.shares, first.fill.amounts]).to.deep.equal([first.shares, ['6.000000', '0.01000000']])
    const large = { ...fields, amounts: ['60', '1'] }
    const unbounded = await ask('add', large)
    expect([outcome(unbounded), unbounded.body.details[0].field]).to.deep.equal(['400 INCOMPLETE_PARAMS', 'minAmounts'])
    // A later block than that of the check: the pool writes more.
    const [bounded] = await inLaterBlock(() => ask('add', { ...large, minAmounts: ['60', '0'] }))
    const { body: poll } = await mined(client, bounded?.body.txHash)
    expect(poll.fill?.amounts, poll.reason).to.deep.equal(['60.000000', '0.10000000'])
    const tiny = await ask('add', { ...fields, amounts: ['0.000001'] })
    expect(outcome(tiny)).to.equal('400 INCOMPLETE_PARAMS')
    // No other test's trade goes through a pool of this price.
    await approve(first.pool)
    await made('remove', { ...fields, minAmounts: ['0', '0'] })
  })

  it('says which field is wrong, and never answers with a 500', async () => {
    const bad = [
      ['add', { amounts: ['1', '2', '3'] }, 'amounts'],
      ['add', { amounts: ['0'] }, 'amounts'],
      ['add', { amounts: ['1.0000000000000000001'] }, 'amounts[0]'],
      ['add', { amounts: ['1'], tokens: ['WETH', 'WETH'] }, 'tokens'],
      ['add', { amounts: ['1'], tokens: ['WETH'] }, 'tokens'],
      ['add', { amounts: ['1'], minAmounts: ['1'] }, 'minAmounts'],
      ['add', { amounts: ['1'], allowedSlippage: '1/2' }, 'allowedSlippage'],
      ['add', { amounts: ['1'], pool: 'none' }, 'pool'],
      ['remove', { decreasePercent: '101' }, 'decreasePercent'],
      ['remove', { decreasePercent: '50', shares: '1' }, 'shares'],
    ] as const
    await made('add', { amounts: ['1'] })
    for (const [verb, fields, field] of bad) {
      const answer = await ask(verb, fields)
      expect([outcome(answer), answer.body.details?.[0].field], JSON.stringify(fields)).to.deep.equal(['400 INCOMPLETE_PARAMS', field])
    }
    const many = await ask('remove', { shares: '1000000' })
    expect([outcome(many), many.body.details[0].field]).to.deep.equal(['400 INCOMPLETE_PARAMS', 'shares'])
    expect(outcome(await ask('add', { amounts: ['1'], pool: others }))).to.equal('404 PAIR_NOT_FOUND')
    expect(outcome(await ask('add', { amounts: ['1'], tokens: ['WETH', 'ETH'] }))).to.equal('404 PAIR_NOT_FOUND')
    expect(outcome(await ask('add', { amounts: ['1'], tokens: ['WETH', 'DAI', 'USDC'] }))).to.equal('404 PAIR_NOT_FOUND')
    await made('remove', {})
    expect((await ask('remove', {})).body.details).to.deep.equal({ reason: 'no shares' })
  })

  it('refuses to add a token that takes a fee on transfer', async () => {
    const { status, text, body } = await ask('add', { tokens: ['WETH', devnetFeeToken()], amounts: ['1'] })
    expect([status, body.name], text).to.deep.equal([404, 'TOKEN_NOT_SUPPORTED'])
    expect(body.message).to.contain('fee on transfer')
  })

  it('says what to approve where the router may not take the shares', async () => {
    const address = Wallet.createRandom().address
    const unknown = await client.get('/amm/shares/position', { ...own, address })
    expect(outcome(unknown)).to.equal('200')
    await approve('USDC')
    const { pool } = await made('add', { tokens: ['USDC', 'DAI'], amounts: ['5'] })
    const refused = await ask('remove', { tokens: ['USDC', 'DAI'] })
    expect([outcome(refused), refused.text.includes(pool)], refused.text).to.deep.equal(['422 INSUFFICIENT_ALLOWANCE', true])
  })

  for (const [connector, pair] of [
    ['uniswap', ['WETH', 'DAI']],
    ['balancer', ['WBTC', 'WETH', 'USDC']],
  ] as const)
    for (const digits of [20, 50, 58])
      it(`answers PRICE_FAILED or too little balance or allowance to 10^${digits} of a token on ${connector}`, async () => {
        const asked = { ...local, connector, address: admins, tokens: pair, amounts: [`1${'0'.repeat(digits)}`] }
        const answer = await client.post('/amm/shares/add', asked)
        expect(outcome(answer), answer.text).to.be.oneOf(['422 PRICE_FAILED', '422 INSUFFICIENT_BALANCE', '422 INSUFFICIENT_ALLOWANCE'])
      })
})
