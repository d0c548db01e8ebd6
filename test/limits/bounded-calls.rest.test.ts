// Plans of this release, mined after somebody has moved their pool: none gives more or gets less than what was reserved for it.
import { expect } from 'chai'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import type { Commitment } from '../../core/transactions/budgets.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import type { Answer } from '../../testkit/client.ts'
import { local, mined, others, outcome, traders } from '../http/shared-server.ts'

const zero = '0x0000000000000000000000000000000000000000'
const limits = { transactionsPerHour: 1_000_000 }

describe('what a plan of this release gives and gets', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  /** Of what was signed last. */
  let committed: Commitment | undefined

  before(async () => {
    const { isIdle: _, ...spending } = { isIdle: false, ...createSpendingLimits(() => limits) }
    server = await startServer({}, undefined, false, {
      spendingLimits: {
        open: () => ({
          ...spending,
          async reserve(each, tx) {
            if (each.is === 'new' && each.commitment && each.client === 'client') committed = each.commitment
            await spending.reserve(each, tx)
          },
        }),
      },
    })
    rpc = rpcTo(server.rpcUrl)
  })
  after(() => server.stop())

  const post = (path: string, fields: object) => server.client.post(path, { ...local, ...fields })
  async function done(answer: Answer): Promise<void> {
    expect(outcome(answer), answer.text).to.equal('200')
    await mined(server.client, answer.body.txHash)
  }
  const balanceOf = async (token: string, address: string): Promise<bigint> =>
    token === zero
      ? BigInt(String(await rpc('eth_getBalance', address, 'latest')))
      : BigInt(String(await rpc('eth_call', { to: token, data: `0x70a08231${address.slice(2).padStart(64, '0')}` }, 'latest')))

  /** Signs it, has somebody move the price by more or less before it is mined, and compares what it did with what was reserved. */
  async function heldTo(
    ask: () => Promise<Answer>,
    push: (amount: string) => Promise<Answer>,
    amount: string,
  ): Promise<'mined' | 'failed'> {
    committed = undefined
    await rpc('evm_setAutomine', false)
    await rpc('evm_setIntervalMining', 0)
    try {
      const answer = await ask()
      expect(outcome(answer), answer.text).to.equal('200')
      const commitment = committed as Commitment | undefined
      if (!commitment) throw new Error('Nothing was reserved.')
      const touched = [...new Set([...Object.keys(commitment.gives), ...Object.keys(commitment.gets ?? {})])]
      const before = await Promise.all(touched.map((token) => balanceOf(token, traders)))
      const pushed = await push(amount)
      expect(outcome(pushed), pushed.text).to.equal('200')
      // Its higher fees put it first.
      await rpc('anvil_mine', '0x1')
      const receipt = Object(await rpc('eth_getTransactionReceipt', answer.body.txHash))
      const first = Object(await rpc('eth_getTransactionReceipt', pushed.body.txHash))
      expect(Number(first.transactionIndex)).to.be.lessThan(Number(receipt.transactionIndex))
      const gas = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
      const after = await Promise.all(touched.map((token) => balanceOf(token, traders)))
      for (const [index, token] of touched.entries()) {
        const gained = (after[index] ?? 0n) - (before[index] ?? 0n) + (token === zero ? gas : 0n)
        expect(gained >= -(commitment.gives[token] ?? 0n), `${token}: ${gained}`).to.equal(true)
        if (receipt.status === '0x1' && commitment.gets?.[token] !== undefined)
          expect(gained >= commitment.gets[token], `${token}: ${gained} of ${commitment.gets[token]}`).to.equal(true)
      }
      return receipt.status === '0x1' ? 'mined' : 'failed'
    } finally {
      await rpc('evm_setAutomine', true)
      await rpc('anvil_mine', '0x2')
    }
  }

  const fast = { maxFeePerGas: '200', maxPriorityFeePerGas: '50' }
  const approved = new Set<string>()
  const approve = async (spender: string, symbols: readonly string[], addresses: readonly string[] = [traders, others]) => {
    for (const address of addresses)
      for (const token of symbols) {
        if (approved.has(`${spender} ${address} ${token}`)) continue
        approved.add(`${spender} ${address} ${token}`)
        await done(await post('/evm/approve', { address, spender, token }))
      }
  }
  /** Little at first, which lets it through, and then much. */
  const pushes = ['0.01', '20']

  for (const base of ['WETH', 'ETH'])
    for (const side of ['SELL', 'BUY'])
      it(`keeps to what was reserved on each exchange of pools: ${side} of ${base}`, async () => {
        let tried = 0
        for (const connector of await exchangesOfPools()) {
          const trade = { connector, base, quote: 'USDC', side }
          const price = await server.client.get('/amm/price', { ...local, ...trade, amount: '0.1' })
          // Not every exchange has a pool of the two.
          if (price.status !== 200) continue
          tried++
          await approve(connector, ['WETH', 'USDC'])
          const results = []
          for (const amount of pushes)
            results.push(
              await heldTo(
                () => post('/amm/trade', { ...trade, address: traders, amount: '0.1' }),
                (moved) => post('/amm/trade', { ...trade, address: others, amount: moved, ...fast }),
                amount,
              ),
            )
          expect(results[0], connector).to.equal('mined')
        }
        expect(tried).to.be.greaterThan(4)
      })

  async function exchangesOfPools(): Promise<readonly string[]> {
    const { body } = await server.client.get('/plugins', {})
    const plugins = body as { name: string; trading_type: string[]; available_networks: { chain: string; networks: string[] }[] }[]
    const isHere = ({ chain, networks }: { chain: string; networks: string[] }) => chain === local.chain && networks.includes(local.network)
    return plugins
      .filter(({ trading_type, available_networks }) => trading_type.includes('AMM') && available_networks.some(isHere))
      .map(({ name }) => name)
  }

  it('keeps to what was reserved: liquidity in a range, and shares', async () => {
    const uniswap = { connector: 'uniswap', address: traders }
    await approve('uniswap/positions', ['WETH', 'USDC'], [traders])
    await approve('uniswap/v2', ['WETH', 'USDC', 'DAI'])
    await approve('uniswap', ['WETH'])
    const range = {
      token0: 'WETH',
      token1: 'USDC',
      amount0: '0.1',
      amount1: '300',
      lowerPrice: '2500',
      upperPrice: '3500',
      version: 'v3',
      fee: 'LOW',
    }
    const shares = { tokens: ['WETH', 'DAI'], amounts: ['0.1', '400'] }
    const pushed = (version: string, quote: string) => async (amount: string) =>
      post('/amm/trade', { connector: 'uniswap', version, base: 'WETH', quote, side: 'SELL', address: others, amount, ...fast })
    for (const amount of pushes) {
      await heldTo(() => post('/amm/liquidity/add', { ...uniswap, ...range }), pushed('v3', 'USDC'), amount)
      await heldTo(() => post('/amm/shares/add', { ...uniswap, ...shares }), pushed('v2', 'DAI'), amount)
    }
  })

  it('keeps to what was reserved: an order in a book that others take first', async () => {
    await approve('oasis', ['WETH', 'USDC'])
    const order = { connector: 'oasis', market: 'WETH-USDC', orderType: 'LIMIT', side: 'BUY' }
    for (const amount of ['0.01', '2'])
      await heldTo(
        () => post('/clob/orders', { ...order, address: traders, price: '3100', amount: '0.1' }),
        (moved) => post('/clob/orders', { ...order, address: others, price: '3100', amount: moved, ...fast }),
        amount,
      )
  })

  it('keeps to what was reserved: a deposit of collateral', async () => {
    await approve('perp', ['USDC'])
    const deposit = { connector: 'perp', token: 'USDC' }
    await heldTo(
      () => post('/perpAMM/deposit', { ...deposit, address: traders, amount: '100' }),
      (moved) => post('/perpAMM/deposit', { ...deposit, address: others, amount: moved, ...fast }),
      '100',
    )
  })
})
