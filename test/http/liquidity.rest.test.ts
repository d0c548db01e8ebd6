import { expect } from 'chai'
import { Contract, ContractFactory, Interface, JsonRpcProvider, Wallet } from 'ethers'
import { readArtifact } from '../../core/devnet/build-state.ts'
import type { PluginsResponse } from '../../core/api/index.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { until } from '../transactions/site.ts'
import {
  admins,
  chainSeconds,
  freshAddress,
  local,
  mined,
  outcome,
  others,
  sharedServer,
  toldSeconds,
  coldStore,
  uniswap,
  type SharedServer,
} from './shared-server.ts'
import { mineOnDemand } from '../kits/evm/test-chain.ts'

const zero = `0x${'0'.repeat(40)}`
const raw = (padded: string) => BigInt(padded.replace('.', ''))
const envelope = ['network', 'timestamp', 'latency']
const gas = ['gasPrice', 'gasPriceToken', 'gasLimit', 'gasCost']

describe('/amm/liquidity', function () {
  this.timeout(300_000)
  let server: SharedServer
  let client: Client
  let provider: JsonRpcProvider
  const pair = { token0: 'WETH', token1: 'USDC' }
  const range = { ...pair, amount0: '1', amount1: '3000', lowerPrice: '2800', upperPrice: '3200' }
  const ask = (verb: string, fields: object = {}): Promise<Answer> => client.post(`/amm/liquidity/${verb}`, { ...uniswap, ...fields })
  const nonce = async (): Promise<number> => (await client.get('/evm/nonce', { ...local, address: admins })).body.nonce
  async function made(verb: string, fields: object): Promise<Answer['body']> {
    const { body, status, text } = await ask(verb, { address: admins, ...fields })
    expect(status, text).to.equal(200)
    const { body: poll } = await mined(client, body.txHash)
    expect(poll.txReceipt.status, poll.reason).to.equal(1)
    return { ...body, fill: poll.fill }
  }

  before(async () => {
    server = await sharedServer()
    client = server.client
    provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 })
    for (const token of ['WETH', 'USDC'])
      for (const spender of ['uniswap', 'uniswap/positions', 'uniswap/v4Positions']) {
        const { body } = await client.post('/evm/approve', { ...local, address: admins, spender, token })
        await mined(client, body.txHash)
      }
  })
  after(() => provider?.destroy())

  it('answers with every field and the envelope', async () => {
    const added = await made('add', range)
    expect(added).to.include.keys(...Object.keys(range), 'liquidity', 'nonce', 'txHash', 'fee', 'pool', 'deadline', ...gas, ...envelope)
    expect(added.fill).to.have.all.keys('tokenId', 'liquidity', 'amount0', 'amount1')
    const { tokenId } = added.fill

    const { body: price } = await ask('price', { ...pair, fee: 500 })
    expect(price).to.include.keys('token0', 'token1', 'fee', 'price', 'prices', 'tick', 'sqrtPriceX96', 'liquidity', 'pool', ...envelope)
    const { body: position } = await ask('position', { tokenId })
    expect(position).to.include.keys('tokenId', 'token0', 'token1', 'fee', 'lowerPrice', 'upperPrice', 'amount0', 'amount1')
    expect(position).to.include.keys('unclaimedToken0', 'unclaimedToken1', 'liquidity', 'inRange', 'poolPrice', 'pool', ...envelope)
    const { body: listed } = await client.get('/amm/liquidity/positions', { ...uniswap, address: admins })
    expect(listed.positions.map((each: { tokenId: string }) => each.tokenId)).to.include(tokenId)

    expect(await made('collect_fees', { tokenId })).to.include.keys('nonce', 'txHash', ...gas, ...envelope)
    expect(await made('remove', { tokenId, burn: true })).to.include.keys('nonce', 'txHash', 'liquidity', 'deadline', ...gas, ...envelope)
  })

  it("shows unclaimed fees as a static call of the position manager's collect returns them", async () => {
    const { tokenId } = (await made('add', { ...range, fee: 'low' })).fill
    const { body: approved } = await client.post('/evm/approve', { ...local, address: others, spender: 'uniswap', token: 'USDC' })
    await mined(client, approved.txHash)
    for (const side of ['SELL', 'BUY']) {
      const swap = { ...uniswap, address: others, base: 'ETH', quote: 'USDC', amount: '3', side, version: 'v3' }
      const { status, text, body } = await client.post('/amm/trade', swap)
      expect(status, text).to.equal(200)
      await mined(client, body.txHash)
    }

    const { body: config } = await client.get('/connector/config', { connector: 'uniswap' })
    const manager = new Contract(
      config.contractAddresses.local.positionManagerAddress,
      ['function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max)) returns (uint256, uint256)'],
      provider,
    )
    const most = 2n ** 128n - 1n
    const { body: shown, status, text } = await ask('position', { tokenId })
    expect(status, text).to.equal(200)
    const owed = await manager.getFunction('collect').staticCall([tokenId, admins, most, most], { from: admins })
    expect([raw(shown.unclaimedToken0), raw(shown.unclaimedToken1)]).to.deep.equal([...owed])
    expect(Math.max(Number(shown.unclaimedToken0), Number(shown.unclaimedToken1))).to.be.above(0)
    const { fill } = await made('collect_fees', { tokenId })
    expect([raw(fill.amount0), raw(fill.amount1)]).to.deep.equal([...owed])
  })

  it('makes one position however often a request with a key is repeated, and lists it as liquidity', async () => {
    const key = { 'idempotency-key': `range-${Date.now()}` }
    const body = { ...uniswap, ...range, address: admins }
    const first = await client.post('/amm/liquidity/add', body, { headers: key })
    const again = await client.post('/amm/liquidity/add', body, { headers: key })
    expect(again.text).to.equal(first.text)
    const other = await client.post('/amm/liquidity/add', { ...body, amount0: '2' }, { headers: key })
    expect(outcome(other)).to.equal('422 IDEMPOTENCY_CONFLICT')
    const { body: page } = await client.get('/transactions', { txHash: first.body.txHash })
    expect(page.transactions).to.have.length(1)
    expect(page.transactions[0]).to.include({ kind: 'liquidity', connector: 'uniswap', deadline: first.body.deadline })
    await mined(client, first.body.txHash)
  })

  it('accepts the native coin as either token, in any order of the pool', async () => {
    for (const asked of [
      { token0: 'ETH', token1: 'USDC', amount0: '1', amount1: '3000', lowerPrice: '2800', upperPrice: '3200' },
      { token0: 'USDC', token1: 'ETH', amount0: '3000', amount1: '1', lowerPrice: '0.0003', upperPrice: '0.0004' },
    ]) {
      const added = await made('add', asked)
      expect([added.token0, added.token1].indexOf(zero)).to.equal(asked.token0 === 'ETH' ? 0 : 1)
      expect([added.fill.amount0, added.fill.amount1]).to.deep.equal([added.amount0, added.amount1])
      expect(Number(added.amount0)).to.be.at.most(Number(asked.amount0))
      expect(Number(added.amount1)).to.be.at.most(Number(asked.amount1))
    }
    const wrapping = await ask('add', { ...range, token1: 'ETH', address: admins })
    expect(outcome(wrapping)).to.equal('404 PAIR_NOT_FOUND')
  })

  for (const version of ['v3', 'v4'])
    it(`takes any amount for no limit in ${version}: the other one decides`, async () => {
      const most = { ...range, version, fee: 'MEDIUM', amount1: `1${'0'.repeat(40)}` }
      const added = await made('add', most)
      expect(Number(added.fill.amount0)).to.be.within(0.5, 1)
      expect(added.fill.amount1).to.equal(added.amount1)
      expect(Number(added.amount1)).to.be.below(100_000)
    })

  it('applies ttl and maximum slippage of the version to a change', async () => {
    const { body: config } = await client.get('/connector/config', { connector: 'uniswap' })
    const before = await toldSeconds(client, server.rpc)
    const { deadline, fill } = await made('add', range)
    const { ttl, allowedSlippage } = config.versions.v3
    expect(deadline - ttl).to.be.within(before, await chainSeconds(server.rpc))
    for (const verb of ['add', 'remove']) {
      const loose = await ask(verb, { ...(verb === 'add' && range), address: admins, tokenId: fill.tokenId, allowedSlippage: '1/2' })
      expect([outcome(loose), loose.body.details[0].field]).to.deep.equal(['400 INCOMPLETE_PARAMS', 'allowedSlippage'])
      expect(loose.body.message).to.contain(allowedSlippage)
    }
  })

  it('accepts a fee by name in any letter case or by number, and a position by number or text', async () => {
    for (const fee of ['MEDIUM', 'medium', '3000', 3000]) expect((await ask('price', { ...pair, fee })).body.fee).to.equal(3000)
    for (const tokenId of [1, '1', '0001']) expect((await ask('position', { tokenId })).body.tokenId).to.equal('1')
    for (const tokenId of [1.5, '-1', '', 'a b', true, '1'.repeat(129)])
      expect(outcome(await ask('position', { tokenId }))).to.equal('400 INCOMPLETE_PARAMS')
    for (const tokenId of ['0x1', '1'.repeat(79), '9Vfc4JkXhYp8NmRtQwS2aB'])
      expect(outcome(await ask('position', { tokenId }))).to.equal('404 UNKNOWN_POSITION')
    for (const fee of ['0.3%', -1, 0.3, [], '12345678']) {
      const answer = await ask('price', { ...pair, fee })
      expect([outcome(answer), answer.body.details[0].field]).to.deep.equal(['400 INCOMPLETE_PARAMS', 'fee'])
      expect(answer.body.message).to.contain('LOWEST, LOW, MEDIUM, HIGH')
    }
  })

  it('uses the deepest pool if no fee is given', async () => {
    for (const fee of [500, 3000, 10_000]) expect((await ask('price', { ...pair, fee })).status).to.equal(200)
    expect((await ask('price', pair)).body.fee).to.equal(500)
  })

  it('adds to an empty pool only if its fee is given, as anybody may have set its price', async () => {
    const { body: tokens } = await client.get('/network/tokens', local)
    const addressOf = (wanted: string): string => tokens.find(({ symbol }: { symbol: string }) => symbol === wanted).address
    const [token0 = '', token1 = ''] = [addressOf('USDT'), addressOf('WBTC')].toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
    const { body: config } = await client.get('/connector/config', { connector: 'uniswap' })
    const stranger = Wallet.createRandom(provider)
    await server.rpc('anvil_setBalance', stranger.address, '0xde0b6b3a7640000')
    const abi = ['function createAndInitializePoolIfNecessary(address, address, uint24, uint160) payable returns (address)']
    const manager = new Contract(config.contractAddresses.local.positionManagerAddress, abi, stranger)
    await (await manager.getFunction('createAndInitializePoolIfNecessary')(token0, token1, 3000, 2n ** 96n)).wait()

    const { price } = (await ask('price', { token0, token1 })).body
    const fields = { address: admins, token0, token1, amount0: '0.001', amount1: '0.001' }
    const bounds = { lowerPrice: `${Number(price) * 0.9}`, upperPrice: `${Number(price) * 1.1}` }
    const refused = await ask('add', { ...fields, ...bounds })
    expect([outcome(refused), refused.body.details[0].field]).to.deep.equal(['400 INCOMPLETE_PARAMS', 'fee'])
    expect(refused.body.message).to.contain('3000 (MEDIUM)')
    for (const token of [token0, token1]) {
      const { body } = await client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap/positions', token })
      await mined(client, body.txHash)
    }
    expect(Number((await made('add', { ...fields, ...bounds, fee: 3000 })).fill.liquidity)).to.be.above(0)
  })

  it('distinguishes a fee tier without a pool, an unknown fee tier, and tokens without a pool', async () => {
    const before = await nonce()
    for (const [verb, fields] of [
      ['price', {}],
      ['add', { ...range, address: admins }],
    ] as const) {
      const empty = await ask(verb, { ...fields, token0: 'WETH', token1: 'DAI', fee: 'LOW' })
      expect(outcome(empty)).to.equal('404 PAIR_NOT_FOUND')
      expect(empty.body.message).to.contain('500 (LOW)').and.to.contain('3000 (MEDIUM)')
      expect(empty.body.details).to.deep.equal({ fees: [3000] })
      const unknown = await ask(verb, { ...fields, ...pair, fee: 1234 })
      expect([outcome(unknown), unknown.body.details[0].field]).to.deep.equal(['400 INCOMPLETE_PARAMS', 'fee'])
      expect(unknown.body.message).to.contain('100 (LOWEST), 500 (LOW), 3000 (MEDIUM), 10000 (HIGH)')
      expect(outcome(await ask(verb, { ...fields, token0: 'DAI', token1: 'WBTC' }))).to.equal('404 PAIR_NOT_FOUND')
      expect(outcome(await ask(verb, { ...fields, ...pair, token1: 'NOPE' }))).to.equal('404 TOKEN_NOT_SUPPORTED')
      expect(outcome(await ask(verb, { ...fields, ...pair, network: 'goerli' }))).to.equal('404 UNKNOWN_CHAIN_ERROR')
    }
    expect(await nonce()).to.equal(before)
  })

  it('answers UNSUPPORTED for a connector without ranges, at every endpoint', async () => {
    const { body: plugins } = await client.get('/plugins')
    const without = plugins.find(
      ({ kind, trading_type, available_networks }: PluginsResponse[number]) =>
        kind === 'connector' &&
        !trading_type.includes('AMM_RANGE') &&
        available_networks.some(({ networks }) => networks.includes(local.network)),
    )
    const other = { connector: without.name }
    const position = { ...other, address: admins, tokenId: 1 }
    const asked = [
      ask('add', { ...range, ...other, address: admins }),
      ask('remove', position),
      ask('collect_fees', position),
      ask('price', { ...pair, ...other }),
      ask('position', { ...other, tokenId: 1 }),
      client.get('/amm/liquidity/positions', { ...local, ...other, address: admins }),
    ]
    for (const answer of await Promise.all(asked)) expect(outcome(answer)).to.equal('501 UNSUPPORTED')
  })

  it('names the position manager and the missing allowance', async () => {
    const { body: config } = await client.get('/connector/config', { connector: 'uniswap' })
    const manager = config.contractAddresses.local.positionManagerAddress
    await mined(
      client,
      (await client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap/positions', token: 'WETH', amount: '0' })).body
        .txHash,
    )
    const barred = await ask('add', { ...range, address: admins })
    expect(outcome(barred)).to.equal('422 INSUFFICIENT_ALLOWANCE')
    expect(barred.body.details).to.include({ spender: manager })
    const { body } = await client.post('/evm/approve', { ...local, address: admins, spender: 'uniswap/positions', token: 'WETH' })
    expect(body.spender).to.equal(manager)
    await mined(client, body.txHash)
    await made('add', range)
  })

  it('has its paths and schemas in the OpenAPI document', async () => {
    const { body } = await client.get('/openapi.json')
    for (const path of ['add', 'remove', 'collect_fees', 'price', 'position'])
      expect(body.paths[`/amm/liquidity/${path}`]).to.have.property('post')
    expect(body.paths['/amm/liquidity/positions']).to.have.property('get')
    expect(body.components.schemas).to.include.keys('AMMLiquidityCollectFeesRequest', 'AMMLiquidityPositionsResponse')
  })

  it('shows all positions of a wallet beside one with unreadable tokens', async () => {
    const { body: config } = await client.get('/connector/config', { connector: 'uniswap' })
    const { positionManagerAddress } = config.contractAddresses.local
    const stranger = Wallet.createRandom(provider)
    await server.rpc('anvil_setBalance', stranger.address, '0xde0b6b3a7640000')
    const { abi, bytecode } = await readArtifact('TestToken', new URL('../../plugins/ethereum/index.ts', import.meta.url).href)
    const tokens = []
    for (const name of ['Junk', 'Trash']) {
      const token = await new ContractFactory(abi, bytecode, stranger).deploy(name, name, 18)
      await token.waitForDeployment()
      const contract = new Contract(
        await token.getAddress(),
        ['function mint(address, uint256)', 'function approve(address, uint256)'],
        stranger,
      )
      await (await contract.getFunction('mint')(stranger.address, 10n ** 18n)).wait()
      await (await contract.getFunction('approve')(positionManagerAddress, 10n ** 18n)).wait()
      tokens.push(await token.getAddress())
    }
    const [token0 = '', token1 = ''] = tokens.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    const manager = new Contract(
      positionManagerAddress,
      [
        'function createAndInitializePoolIfNecessary(address, address, uint24, uint160) payable returns (address)',
        'function mint((address, address, uint24, int24, int24, uint256, uint256, uint256, uint256, address, uint256)) payable',
      ],
      stranger,
    )
    await (await manager.getFunction('createAndInitializePoolIfNecessary')(token0, token1, 500, 2n ** 96n)).wait()
    const terms = [token0, token1, 500, -10, 10, 10n ** 9n, 10n ** 9n, 0n, 0n, admins, 2n ** 40n]
    // More than estimated: in another second than the pool was made in, its oracle takes a slot more.
    await (await manager.getFunction('mint')(terms, { gasLimit: 2_000_000 })).wait()
    await server.rpc('anvil_setCode', token0, '0xfe')

    const { fill } = await made('add', range)
    const { body, status, text } = await client.get('/amm/liquidity/positions', { ...uniswap, address: admins })
    expect(status, text).to.equal(200)
    expect(body.positions.map((each: { tokenId: string }) => each.tokenId)).to.include(fill.tokenId)
    expect(body.unavailable).to.have.length(1)
    expect(body.unavailable[0].reason).to.contain(token0)
    expect(outcome(await ask('position', { tokenId: body.unavailable[0].tokenId }))).to.equal('404 TOKEN_NOT_SUPPORTED')
  })

  it('finds a pool of any version by what identifies it, and adds to that one', async () => {
    for (const version of ['v3', 'v4']) {
      const { body: listed } = await client.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC', version })
      expect(listed.pools.length, version).to.be.above(0)
      for (const { pool } of listed.pools) {
        const { body: found, text } = await ask('price', { pool })
        expect(found.pool, text).to.equal(pool)
        expect(found).to.include({ version })
        expect(found.tick % 1 === 0 && found.tickSpacing > 0).to.equal(true)
        const [amount0, amount1] = found.token1 === listed.pools[0].quote ? ['0.1', '300'] : ['300', '0.1']
        const bounds = { lowerPrice: String(Number(found.price) * 0.9), upperPrice: String(Number(found.price) * 1.1) }
        const added = await made('add', { token0: found.token0, token1: found.token1, amount0, amount1, pool, ...bounds })
        expect(added).to.include({ pool, version })
        const { body: position } = await ask('position', { tokenId: added.fill.tokenId, version })
        expect(position).to.include({ pool, token0: found.token0, token1: found.token1 })
        expect(position.tickLower % found.tickSpacing, `${position.tickLower}`).to.equal(0)
        expect(position.tickLower < found.tick && found.tick < position.tickUpper).to.equal(true)
        const other = await ask('add', {
          token0: found.token0,
          token1: found.token1,
          amount0,
          amount1,
          pool: admins,
          ...bounds,
          address: admins,
        })
        expect(outcome(other)).to.equal('404 PAIR_NOT_FOUND')
      }
    }
    expect(outcome(await ask('price', { pool: admins }))).to.equal('400 INCOMPLETE_PARAMS')
    expect(outcome(await ask('price', {}))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('says when it is final that a position is gone', async () => {
    const { tokenId } = (await made('add', range)).fill
    // From here on a block comes with a transaction, and none by the clock: those would make it final.
    await mineOnDemand(server.rpc)
    try {
      await made('remove', { tokenId, burn: true })
      const now = await ask('position', { tokenId })
      expect(outcome(now)).to.equal('404 UNKNOWN_POSITION')
      expect(now.body.details).to.deep.equal({ final: false })
      expect((await ask('position', { tokenId })).body.details).to.deep.equal({ final: false })
      await server.rpc('anvil_mine', 3)
      // The journal learns a moment later that its open is final.
      await until('it is final', async () => (await ask('position', { tokenId })).body.details.final)
    } finally {
      await server.rpc('evm_setIntervalMining', 1)
    }
  })

  describe('of positions that other software changes', () => {
    const manager = new Interface([
      'function multicall(bytes[])',
      'function decreaseLiquidity((uint256, uint128, uint256, uint256, uint256))',
      'function collect((uint256, address, uint128, uint128))',
      'function burn(uint256)',
      'function transferFrom(address, address, uint256)',
    ])
    const most = 2n ** 128n - 1n
    const decrease = (tokenId: string, liquidity: bigint) => ['decreaseLiquidity', [[tokenId, liquidity, 0, 0, 2n ** 40n]]] as const
    /** The wallet's owner sends a transaction past this server. */
    async function elsewhere(method: string, args: readonly unknown[]): Promise<void> {
      const { body: config } = await client.get('/connector/config', { connector: 'uniswap' })
      const to = config.contractAddresses.local.positionManagerAddress
      const sent = await server.rpc('eth_sendTransaction', {
        from: admins,
        to,
        data: manager.encodeFunctionData(method, [...args]),
        gas: '0x1e8480',
      })
      const { body: poll } = await mined(client, String(sent))
      expect(poll.txReceipt.status).to.equal(1)
    }
    async function bookOf(tokenId: string): Promise<Answer['body']> {
      let position: Answer['body']
      await until('the book has it', async () => {
        const { body } = await client.get('/books', { ...uniswap, address: admins })
        position = body.liquidity.find((each: Answer['body']) => each.position === tokenId)
        return body.complete && position !== undefined
      })
      return position
    }
    async function final({ txHash }: Answer['body']): Promise<Answer['body']> {
      let entry: Answer['body']
      await until('it is final', async () => {
        entry = (await client.get('/transactions', { txHash })).body.transactions[0]
        return entry.final
      })
      return entry
    }
    const opened = async () => {
      const body = await made('add', range)
      await final(body)
      return String(body.fill.tokenId)
    }

    it('pays liquidity that was removed there as liquidity, and not as fees', async () => {
      const tokenId = await opened()
      const { body: before } = await ask('position', { tokenId })
      await elsewhere(...decrease(tokenId, BigInt(before.liquidity)))
      expect(await bookOf(tokenId)).to.include({ closed: false })
      const collected = await made('collect_fees', { tokenId })
      expect(collected.fill).to.include({ liquidity: '0', amount0: before.amount0, amount1: before.amount1 })
      expect([collected.fill.fees0, collected.fill.fees1].map(Number)).to.deep.equal([0, 0])
      expect((await final(collected)).fill).to.deep.equal(collected.fill)
      const position = await bookOf(tokenId)
      expect(position.tokens.map(({ fees }: { fees: string }) => Number(fees))).to.deep.equal([0, 0])
      // Books leave out zeros at the end, which one amount of ten has.
      const withoutZeros = (amount: string): string => (amount.includes('.') ? amount.replace(/\.?0+$/, '') : amount)
      expect(position.tokens.map(({ received }: { received: string }) => withoutZeros(received))).to.have.members(
        [before.amount0, before.amount1].map(withoutZeros),
      )
      expect(position).to.include({ closed: true, ended: 'emptied', againstHolding: null })
    })

    it('tells the fees of a removal from what was removed before it, also in parts', async () => {
      const tokenId = await opened()
      const { body: approved } = await client.post('/evm/approve', { ...local, address: others, spender: 'uniswap', token: 'USDC' })
      await mined(client, approved.txHash)
      for (const side of ['SELL', 'BUY']) {
        const swap = { ...uniswap, address: others, base: 'ETH', quote: 'USDC', amount: '3', side, version: 'v3' }
        const { status, text, body } = await client.post('/amm/trade', swap)
        expect(status, text).to.equal(200)
        await mined(client, body.txHash)
      }
      const { body: before } = await ask('position', { tokenId })
      const part = BigInt(before.liquidity) / 3n
      await elsewhere(...decrease(tokenId, part))
      await elsewhere('collect', [[tokenId, admins, 1000n, 1000n]])
      await elsewhere(...decrease(tokenId, part))
      const { fill } = await made('remove', { tokenId })
      expect([fill.fees0, fill.fees1]).to.deep.equal([before.unclaimedToken0, before.unclaimedToken1])
      expect(Number(fill.fees0) + Number(fill.fees1)).to.be.above(0)
    })

    it('leaves none open that was burnt there, or given to a wallet of others', async () => {
      const [burnt, given, moved] = [await opened(), await opened(), await opened()]
      const { body: before } = await ask('position', { tokenId: burnt })
      const calls = [decrease(burnt, BigInt(before.liquidity)), ['collect', [[burnt, admins, most, most]]], ['burn', [burnt]]] as const
      await elsewhere('multicall', [calls.map(([method, args]) => manager.encodeFunctionData(method, [...args]))])
      const stranger = freshAddress()
      await elsewhere('transferFrom', [admins, stranger, given])
      await elsewhere('transferFrom', [admins, others, moved])
      await until('that it is burnt is final', async () => (await bookOf(burnt)).closed)
      expect(await bookOf(burnt)).to.include({ ended: 'burnt', againstHolding: null })
      expect(await bookOf(given)).to.include({ closed: true, ended: `given to ${stranger}` })
      const { body: ofAll } = await client.get('/books', uniswap)
      expect(ofAll.liquidity.find((each: Answer['body']) => each.position === moved)).to.include({ closed: false })
    })
  })

  it('answers a wallet without positions with none', async () => {
    const { body } = await client.get('/amm/liquidity/positions', { ...uniswap, address: coldStore })
    expect(body.positions).to.deep.equal([])
  })
})
