import { expect } from 'chai'
import { AbiCoder } from 'ethers'
import { addressKey } from '../../core/base/addresses.ts'
import { movedIn } from '../../kits/solana/movements.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { until } from '../transactions/site.ts'
import {
  admins,
  atNode,
  coldStore,
  local,
  others,
  overtaken,
  sharedServer,
  swap,
  traders,
  uniswap,
  withoutBlocks,
  type SharedServer,
} from './shared-server.ts'

/** What the journal says that a transaction moved is what the balances of its wallet say, to the unit. */
describe('the movements of a final transaction', function () {
  this.timeout(300_000)
  let server: SharedServer
  let client: Client
  let tokens: readonly { symbol: string; address: string }[]

  before(async () => {
    server = await sharedServer()
    client = server.client
    tokens = (await client.get('/network/tokens', local)).body
    for (const token of ['WETH', 'USDC'])
      for (const spender of ['uniswap', 'uniswap/positions'])
        await final(await client.post('/evm/approve', { ...local, address: admins, spender, token }))
    await final(await client.post('/evm/approve', { ...local, address: others, spender: 'uniswap/positions', token: 'USDC' }))
  })

  async function final(answer: Answer) {
    expect(answer.status, answer.text).to.equal(200)
    let listed: Answer | undefined
    await until('it is final', async () => {
      listed = await client.get('/transactions', { txHash: answer.body.txHash })
      return listed.body.transactions[0].final
    })
    return listed?.body.transactions[0]
  }

  async function balanceAt(wallet: string, token: string, block: number): Promise<bigint> {
    const at = `0x${block.toString(16)}`
    if (/^0x0+$/.test(token)) return BigInt(String(await server.rpc('eth_getBalance', wallet, at)))
    const data = `0x70a08231${AbiCoder.defaultAbiCoder().encode(['address'], [wallet]).slice(2)}`
    return BigInt(String(await server.rpc('eth_call', { to: token, data }, at)))
  }

  /** Of all listed tokens, with the coin and its fees. */
  async function requireEqual(shown: Answer['body']): Promise<void> {
    expect(shown.movements, JSON.stringify(shown)).to.be.an('array')
    const moved = new Map<string, bigint>(
      shown.movements.map(({ token, rawAmount }: { token: string; rawAmount: string }) => [addressKey(token), BigInt(rawAmount)]),
    )
    for (const { address, symbol } of tokens) {
      if (symbol === 'TWIN') continue
      const [after, before] = await Promise.all([0, 1].map((back) => balanceAt(shown.address, address, shown.txBlock - back)))
      const feeRaw = /^0x0+$/.test(address) ? BigInt(shown.cost.rawFee) : 0n
      expect((moved.get(addressKey(address)) ?? 0n) - feeRaw, `${shown.kind} ${symbol}`).to.equal((after ?? 0n) - (before ?? 0n))
    }
  }

  const cases: readonly [string, string, object, readonly string[]][] = [
    ['a trade of tokens', '/amm/trade', { ...swap, amount: '0.25' }, ['USDC', 'WETH']],
    ['a trade for the coin', '/amm/trade', { ...swap, base: 'ETH', amount: '0.5', side: 'BUY' }, ['ETH', 'USDC']],
    [
      'a trade of the coin, of which the rest comes back',
      '/amm/trade',
      { ...swap, base: 'USDC', quote: 'ETH', amount: '500', side: 'BUY' },
      ['ETH', 'USDC'],
    ],
    ['a wrap', '/evm/wrap', { ...local, amount: '0.75' }, ['ETH', 'WETH']],
    ['an unwrap', '/evm/unwrap', { ...local, amount: '0.3' }, ['ETH', 'WETH']],
    // Of one router that takes tokens itself: two routers, or Permit2, are two transactions, which one block may have.
    ['an approval', '/evm/approve', { ...local, spender: 'sushiswap/v2', token: 'DAI', amount: '7' }, []],
    [
      'liquidity with the coin, of which the rest comes back',
      '/amm/liquidity/add',
      { ...uniswap, token0: 'ETH', token1: 'USDC', amount0: '1', amount1: '3000', lowerPrice: '2800', upperPrice: '3200', version: 'v3' },
      ['ETH', 'USDC'],
    ],
  ]
  for (const [what, path, body, symbols] of cases)
    it(`are what the balances say: of ${what}`, async () => {
      const shown = await final(await client.post(path, { ...body, address: admins }))
      expect(shown.txState).to.equal('CONFIRMED')
      await requireEqual(shown)
      const named = shown.movements.flatMap(({ symbol }: { symbol?: string }) => symbol ?? [])
      expect(named.toSorted()).to.deep.equal(symbols)
      for (const { symbol, amount, rawAmount } of shown.movements)
        if (symbol === 'USDC') expect(Number(amount)).to.equal(Number(rawAmount) / 1e6)
    })

  it('are what the balances say: of a transfer of the coin and of a token', async () => {
    await final(await client.post('/evm/wrap', { ...local, address: others, amount: '1' }))
    for (const token of ['ETH', 'WETH']) {
      const shown = await final(await client.post('/evm/send', { ...local, address: others, to: coldStore, token, amount: '0.01' }))
      await requireEqual(shown)
      expect(shown.movements).to.have.length(1)
      expect(shown.movements[0]).to.include({ symbol: token, amount: '-0.01', rawAmount: `-${10n ** 16n}` })
    }
  })

  it('tell the coin of liquidity in a block with an approval and a transfer of the same wallet', async () => {
    const range = { token0: 'ETH', token1: 'USDC', amount0: '1', amount1: '3000', lowerPrice: '2800', upperPrice: '3200', version: 'v3' }
    const asked = [
      ['/evm/approve', { ...local, spender: 'uniswap', token: 'DAI', amount: '8' }],
      ['/amm/liquidity/add', { ...uniswap, ...range }],
      ['/evm/send', { ...local, to: coldStore, token: 'ETH', amount: '0.01' }],
    ] as const
    const sent = await withoutBlocks(server.rpc, async () => {
      const answers: Answer[] = []
      for (const [path, body] of asked) {
        const answer = await client.post(path, { ...body, address: others })
        expect(answer.status, answer.text).to.equal(200)
        answers.push(answer)
      }
      for (const { body } of answers) await atNode(server.rpc, body.txHash)
      await server.rpc('evm_mine')
      return answers
    })
    const shown = []
    for (const answer of sent) shown.push(await final(answer))
    const [{ txBlock: block }] = shown
    expect(shown.map(({ txState, txBlock }) => ({ txState, txBlock }))).to.deep.equal(
      asked.map(() => ({ txState: 'CONFIRMED', txBlock: block })),
    )
    const coin = `0x${'0'.repeat(40)}`
    const coinOf = ({ movements }: Answer['body']) =>
      BigInt(movements.find(({ token }: { token: string }) => token === coin)?.rawAmount ?? '0')
    expect(coinOf(shown[0])).to.equal(0n)
    expect(coinOf(shown[1]) < 0n).to.equal(true)
    expect(coinOf(shown[2])).to.equal(-(10n ** 16n))
    const [after, before] = await Promise.all([0, 1].map((back) => balanceAt(others, coin, block - back)))
    // The approval is two: of the token for Permit2, and of Permit2 for the exchange.
    const { body: listed } = await client.get('/transactions', { ...local, address: others, limit: '10' })
    const inBlock = listed.transactions.filter(({ txBlock }: { txBlock: number }) => txBlock === block)
    expect(inBlock).to.have.length(4)
    const movedRaw = inBlock.reduce((sum: bigint, each: Answer['body']) => sum + coinOf(each) - BigInt(each.cost.rawFee), 0n)
    expect(movedRaw).to.equal((after ?? 0n) - (before ?? 0n))
  })

  describe('in the ledger', () => {
    const wallets = [traders, others]
    const oasis = { ...local, connector: 'oasis', market: 'WETH-USDC' } as const
    const perp = { ...local, connector: 'perp', base: 'ETH', quote: 'USD' } as const
    /** Those that change the balance of a wallet, with the coin. */
    const holdings = async (block: number) => {
      const found = new Map<string, bigint>()
      for (const wallet of wallets)
        for (const { address, symbol } of tokens)
          if (symbol !== 'TWIN') found.set(`${wallet} ${addressKey(address)}`, await balanceAt(wallet, address, block))
      return found
    }
    const newest = async () => Number(await server.rpc('eth_blockNumber'))
    const filled = async (clientOrderId: string, address: string) =>
      until('it is filled', async () => {
        const { body } = await client.get('/clob/orders', { ...local, connector: 'oasis', clientOrderId, address })
        return body.orders[0].state === 'FILLED'
      })

    it('add up to what the balances changed by, of each act, and to the unit', async () => {
      for (const address of wallets)
        for (const [spender, token] of [
          ['oasis', 'WETH'],
          ['oasis', 'USDC'],
          ['uniswap', 'WETH'],
          ['uniswap', 'USDC'],
          ['uniswap/positions', 'WETH'],
          ['uniswap/positions', 'USDC'],
          ['uniswap/v2', 'WETH'],
          ['uniswap/v2', 'USDC'],
          ['perp', 'USDC'],
        ] as const)
          await final(await client.post('/evm/approve', { ...local, address, spender, token }))
      const since = new Date().toISOString()
      const before = await holdings(await newest())
      const act = async (path: string, body: object, address: string = traders, by = client) =>
        final(await by.post(path, { ...local, address, ...body }))

      await act('/evm/wrap', { amount: '1.25' })
      await act('/evm/unwrap', { amount: '0.5' })
      await act('/amm/trade', { ...swap, amount: '0.25' })
      await act('/amm/trade', { ...swap, base: 'ETH', amount: '0.5', side: 'BUY' })
      await act('/evm/send', { to: coldStore, token: 'USDC', amount: '12.5' }, others)
      await act('/evm/send', { to: others, token: 'ETH', amount: '0.125' }, traders, server.as.treasurer)
      const range = {
        token0: 'WETH',
        token1: 'USDC',
        amount0: '0.5',
        amount1: '1500',
        lowerPrice: '2800',
        upperPrice: '3200',
        version: 'v3',
      }
      const { fill: position } = await act('/amm/liquidity/add', { ...uniswap, ...range })
      await act('/amm/trade', { ...swap, amount: '0.5', version: 'v3' }, others)
      await act('/amm/liquidity/collect_fees', { ...uniswap, tokenId: position.tokenId, version: 'v3' })
      await act('/amm/liquidity/remove', { ...uniswap, tokenId: position.tokenId, version: 'v3', burn: true })
      await act('/amm/shares/add', { ...uniswap, tokens: ['WETH', 'USDC'], amounts: ['0.1'] })
      await act('/perp/deposit', { ...local, connector: 'perp', token: 'USDC', amount: '900' })
      await act('/perp/withdraw', { ...local, connector: 'perp', token: 'USDC', amount: '1' })
      await act('/perp/open', { ...perp, side: 'LONG', amount: '0.5', margin: '500', leverage: '5' })
      await act('/perp/close', perp)

      const { sells, buys } = (await client.get('/clob/orderBook', oasis)).body
      const price = String((Number(sells[0].price) + Number(buys[0].price)) / 2)
      const resting = { ...oasis, side: 'BUY', orderType: 'LIMIT', price, amount: '0.04' }
      const rested = (await client.post('/clob/orders', { ...resting, address: traders })).body
      await final({ status: 200, body: rested } as Answer)
      const market = { ...oasis, side: 'SELL', orderType: 'MARKET', limitPrice: price, amount: '0.04' }
      const taking = await client.post('/clob/orders', { ...market, address: others })
      await final(taking)
      await filled(rested.clientOrderId, traders)
      await filled(taking.body.clientOrderId, others)
      const cancelled = (await client.post('/clob/orders', { ...resting, price: '1000', address: traders })).body
      await final({ status: 200, body: cancelled } as Answer)
      const cancel = await client.request('DELETE', '/clob/orders', {
        headers: { 'content-type': 'application/json' },
        raw: JSON.stringify({ ...oasis, address: traders, clientOrderId: cancelled.clientOrderId }),
      })
      await final(cancel)
      await final(await overtaken(server, others))

      let lines: Answer['body'][] = []
      await until('all fills are known', async () => {
        const { body, status, text } = await client.get('/ledger', { ...local, since, limit: '500' })
        expect(status, text).to.equal(200)
        lines = body.lines
        return lines.every(({ note }) => note === undefined) && lines.some(({ order }) => order === rested.clientOrderId)
      })
      expect(lines.filter(({ note }) => note !== undefined)).to.deep.equal([])
      const after = await holdings(await newest())
      for (const [key, balance] of after) {
        const [wallet = '', token = ''] = key.split(' ')
        const own = lines.filter((line) => line.wallet === wallet && addressKey(line.token) === token)
        const sum = own.reduce((total, { rawChange }) => total + BigInt(rawChange), 0n)
        expect(sum, key).to.equal(balance - (before.get(key) ?? 0n))
      }
      const acts = (wallet: string) => new Set(lines.flatMap((line) => (line.wallet === wallet ? [`${line.act} ${line.part}`] : [])))
      expect([...acts(traders)]).to.include.members([
        'wrap moved',
        'unwrap moved',
        'sell moved',
        'buy fee',
        'send moved',
        'add moved',
        'collect_fees poolFees',
        'remove moved',
        'deposit moved',
        'withdraw moved',
        'open fee',
        'close fee',
        'order fill',
      ])
      expect([...acts(others)]).to.include.members(['send received', 'send moved', 'order moved'])
      const sent = lines.find(({ act: each, part, symbol }) => each === 'send' && part === 'moved' && symbol === 'USDC')
      expect(sent).to.include({ counterparty: coldStore, change: '-12.5', wallet: others })
      const received = lines.find(({ part }) => part === 'received')
      expect(received).to.include({ wallet: others, counterparty: traders, symbol: 'ETH', change: '0.125' })

      const csv = await client.request('GET', `/ledger?${new URLSearchParams({ ...local, since }).toString()}`, {
        headers: { accept: 'text/csv' },
      })
      const rows = csv.text.trimEnd().split('\r\n')
      expect(rows).to.have.length(lines.length + 1)
      expect(rows[0]).to.match(/^time,client,wallet,.*,token,symbol,change,rawChange,.*,id$/)
      const ofOthers = (await client.get('/ledger', { ...local, since, address: others, limit: '500' })).body.lines
      expect(ofOthers).to.deep.equal(lines.filter(({ wallet }) => wallet === others))
      const own = (await server.as.trader.get('/ledger', { ...local, since, limit: '500' })).body.lines
      expect(own).to.deep.equal(lines.filter(({ wallet }) => wallet === traders))
    })
  })

  it('are there of a transaction that failed, and are none', async () => {
    const own = await overtaken(server, others)
    const shown = await final(own)
    expect(shown).to.include({ txState: 'REVERTED' })
    expect(shown.movements).to.deep.equal([])
    await requireEqual(shown)
  })
})

describe('the movements that a receipt of Solana tells', () => {
  const [wallet, mint, other] = ['Wa11et', 'M1nt', '0ther']
  const sol = '11111111111111111111111111111111'
  const held = (owner: string, amount: string) => ({ accountIndex: 3, mint, owner, uiTokenAmount: { amount, decimals: 6 } })
  const receipt = (more: object) =>
    ({
      status: 1,
      fee: '5000',
      preBalances: ['1000000', '7'],
      postBalances: ['895000', '100007'],
      preTokenBalances: [held(other, '9')],
      postTokenBalances: [held(wallet, '25'), held(other, '1')],
      ...more,
    }) as unknown as Parameters<typeof movedIn>[0]

  it('are those of the wallet that paid, its coin without the fee', () => {
    expect(Object.fromEntries(movedIn(receipt({}), wallet) ?? [])).to.deep.equal({ [mint]: 25n, [sol]: -100_000n })
    expect(Object.fromEntries(movedIn(receipt({ preBalances: [1_000_000], postBalances: [1_000_000 - 5000] }), wallet) ?? [])).to.include({
      [sol]: 0n,
    })
  })

  it('are none where no node has its receipt, or it has no balances', () => {
    for (const lacking of [{ fee: null }, { postTokenBalances: undefined }, { preBalances: 'no list' }, { preTokenBalances: [{ mint }] }])
      expect(movedIn(receipt(lacking), wallet), JSON.stringify(lacking)).to.equal(undefined)
  })
})
