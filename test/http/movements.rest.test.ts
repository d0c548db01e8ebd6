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
