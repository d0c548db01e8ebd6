// Plans of this release, mined after somebody has moved their pool: none gives more or gets less than what was reserved for it.
import { expect } from 'chai'
import { AbiCoder, Interface, MaxUint256, keccak256, toQuantity } from 'ethers'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import type { Commitment } from '../../core/transactions/budgets.ts'
import { createSpendingLimits } from '../../core/limits/spending-limits.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import type { Answer } from '../../testkit/client.ts'
import { getLiquidityForAmounts, getSqrtRatioAtTick } from '../../kits/amm/v3/math.ts'
import { permit2Address, v4DevnetAddresses } from '../../kits/amm/v4/devnet.ts'
import { callTogether } from '../devnet/accounts.ts'
import { tokens } from '../kits/amm/devnet-fixture.ts'
import { admins, atNode, local, mined, oneChain, others, outcome, traders } from '../http/shared-server.ts'

const zero = '0x0000000000000000000000000000000000000000'
const limits = { transactionsPerHour: 1_000_000 }

type Key = readonly [currency0: string, currency1: string, fee: number, tickSpacing: number, hooks: string]
interface WidePool {
  readonly key: Key
  readonly quote: string
  readonly amount: string
  /** The price is near the edge of a position, on the side from which a purchase crosses it. */
  readonly tick: number
  readonly edge: number
  readonly amountsRaw: readonly [bigint, bigint]
}
// From one end of the prices to the other it takes little gas.
const spacing = 4000
/** What is sold for a price in its own currency. */
function widePool(sold: string, decimals: number, quote: 'USDC' | 'DAI', price: number, amount: string, fee = 777): WidePool {
  const other = tokens[quote]
  const isFirst = BigInt(sold) < BigInt(other.address)
  const rawPrice = price * 10 ** (other.decimals - decimals)
  const edge = Math.round(((isFirst ? 1 : -1) * Math.log(rawPrice)) / Math.log(1.0001) / spacing) * spacing
  const [ownRaw, otherRaw] = [10n ** BigInt(decimals), BigInt(price) * 10n ** BigInt(other.decimals)]
  const [currencies, amountsRaw] = isFirst
    ? ([
        [sold, other.address],
        [ownRaw, otherRaw],
      ] as const)
    : ([
        [other.address, sold],
        [otherRaw, ownRaw],
      ] as const)
  return { key: [...currencies, fee, spacing, zero], quote, amount, tick: isFirst ? edge - 2 : edge + 2, edge, amountsRaw }
}
const { WBTC, WETH } = tokens
const widePools = [
  { name: 'a token', base: 'WBTC', pool: widePool(WBTC.address, 8, 'USDC', 60_000, '0.001') },
  { name: 'the coin', base: 'ETH', pool: widePool(zero, 18, 'DAI', 3000, '0.01') },
  { name: 'the wrapped coin, of a pool of the coin', base: 'WETH', pool: widePool(zero, 18, 'DAI', 3000, '0.01', 778) },
  { name: 'the coin, of a pool of the wrapped one', base: 'ETH', pool: widePool(WETH.address, 18, 'DAI', 3000, '0.01') },
]
const v4Pools = widePools.map(({ pool: { key } }) => ({ currency0: key[0], currency1: key[1], fee: key[2], tickSpacing: key[3] }))

const { positionManager } = v4DevnetAddresses(deployerAddress('uniswap'))
const keyTuple = '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)'
const v4Abi = new Interface([
  'function approve(address spender, uint256 value)',
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
  `function initializePool(${keyTuple} key, uint160 sqrtPriceX96) payable returns (int24)`,
  'function modifyLiquidities(bytes unlockData, uint256 deadline) payable',
  'function multicall(bytes[] data) payable returns (bytes[])',
  'function nextTokenId() view returns (uint256)',
  'function getPositionLiquidity(uint256 tokenId) view returns (uint128)',
])
const coder = AbiCoder.defaultAbiCoder()
/** Actions of @uniswap/v4-periphery@1.0.3: 1 takes liquidity, 2 mints, 0d settles a pair, 11 takes a pair, 14 sweeps. */
const changeOf = (actions: string, inputs: readonly string[]) =>
  v4Abi.encodeFunctionData('modifyLiquidities', [coder.encode(['bytes', 'bytes[]'], [actions, inputs]), MaxUint256])
const mintOf = (key: Key, lower: number, upper: number, liquidity: bigint) =>
  coder.encode(
    [keyTuple, 'int24', 'int24', 'uint256', 'uint128', 'uint128', 'address', 'bytes'],
    [key, lower, upper, liquidity, 2n ** 127n, 2n ** 127n, admins, '0x'],
  )

describe('what a plan of this release gives and gets', function () {
  this.timeout(300_000)
  let server: TestServer
  let rpc: Rpc
  /** Of what was signed last. */
  let committed: Commitment | undefined
  const exchanges: Record<string, readonly string[]> = {}

  before(async () => {
    const { isIdle: _, ...spending } = { isIdle: false, ...createSpendingLimits(() => limits) }
    const conf = { ...oneChain.conf, 'connectors/uniswap.yml': { v4Pools: { 'ethereum/local': v4Pools } } }
    server = await startServer({ settings: oneChain.settings, conf }, undefined, {
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
    // Blocks are those that are asked for.
    await rpc('evm_setAutomine', false)
    await rpc('evm_setIntervalMining', 0)
    const more = ['uniswap/positions', 'uniswap/v2', 'uniswap/v4', 'oasis', 'perp']
    await approve([...(await exchangesOfPools()), ...more])
  })
  after(() => server.stop())

  const post = (path: string, fields: object) => server.client.post(path, { ...local, ...fields })
  const balanceOf = async (token: string, address: string): Promise<bigint> =>
    token === zero
      ? BigInt(String(await rpc('eth_getBalance', address, 'latest')))
      : BigInt(String(await rpc('eth_call', { to: token, data: `0x70a08231${address.slice(2).padStart(64, '0')}` }, 'latest')))

  /** Signs it, has somebody move the price by more or less before it is mined, and compares what it did with what was reserved. */
  async function heldTo(
    ask: () => Promise<Answer>,
    push: (amount: string) => Promise<Pick<Answer, 'status' | 'body' | 'text'>>,
    amount: string,
  ): Promise<'mined' | 'failed'> {
    committed = undefined
    const answer = await ask()
    expect(outcome(answer), answer.text).to.equal('200')
    const commitment = committed as Commitment | undefined
    if (!commitment) throw new Error('Nothing was reserved.')
    const touched = [...new Set([...Object.keys(commitment.gives), ...Object.keys(commitment.gets ?? {})])]
    const before = await Promise.all(touched.map((token) => balanceOf(token, traders)))
    const pushed = await push(amount)
    expect(pushed.status, pushed.text).to.equal(200)
    for (const { txHash } of [answer.body, pushed.body]) await atNode(rpc, txHash)
    // Its higher fees put it first.
    await rpc('evm_mine')
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
  }

  const fast = { maxFeePerGas: '200', maxPriorityFeePerGas: '50' }
  /** Sluice approves these for one token. Both wallets make the same calls for all tokens, in one block. */
  async function approve(spenders: readonly string[]): Promise<void> {
    const answers = await Promise.all(spenders.map((spender) => post('/evm/approve', { address: traders, spender, token: 'USDC' })))
    const calls = []
    for (const answer of answers) {
      expect(outcome(answer), answer.text).to.equal('200')
      for (const { txHash } of answer.body.transactions ?? [answer.body]) {
        await atNode(rpc, txHash)
        const { to, input } = Object(await rpc('eth_getTransactionByHash', txHash))
        for (const token of [tokens.USDC, tokens.WETH, tokens.DAI]) {
          const [from, by] = [tokens.USDC, token].map(({ address }) => address.slice(2).toLowerCase()) as [string, string]
          calls.push({ to: to.replace(from, by), data: input.replace(from, by) })
        }
      }
    }
    await callTogether(rpc, admins, [traders, others], calls)
    await rpc('evm_setAutomine', false)
    await mined(server.client, answers.at(-1)?.body.txHash)
  }
  /** Little, which lets it through, and much. */
  const pushes = ['0.01', '20'] as const
  const isLong = process.env.SLUICE_LIMITS_TURNS === 'all'

  for (const base of ['WETH', 'ETH'])
    for (const side of ['SELL', 'BUY'])
      it(`keeps to what was reserved on each exchange of pools: ${side} of ${base}`, async () => {
        // For each exchange and side once little and once much, by one base or the other; `npm run test:limits` has both for both.
        const amounts = isLong ? pushes : [pushes[(base === 'WETH') === (side === 'SELL') ? 0 : 1]]
        const connectors = (exchanges[base] ??= await exchangesOf(base))
        expect(connectors.length).to.be.greaterThan(4)
        for (const connector of connectors) {
          const trade = { connector, base, quote: 'USDC', side }
          const results = []
          for (const amount of amounts)
            results.push(
              await heldTo(
                () => post('/amm/trade', { ...trade, address: traders, amount: '0.1' }),
                (moved) => post('/amm/trade', { ...trade, address: others, amount: moved, ...fast }),
                amount,
              ),
            )
          if (amounts[0] === pushes[0]) expect(results[0], connector).to.equal('mined')
        }
      })

  async function exchangesOfPools(): Promise<readonly string[]> {
    const { body } = await server.client.get('/plugins', {})
    const plugins = body as { name: string; trading_type: string[]; available_networks: { chain: string; networks: string[] }[] }[]
    const isHere = ({ chain, networks }: { chain: string; networks: string[] }) => chain === local.chain && networks.includes(local.network)
    return plugins
      .filter(({ trading_type, available_networks }) => trading_type.includes('AMM') && available_networks.some(isHere))
      .map(({ name }) => name)
  }

  /** Those that trade it for USDC. */
  async function exchangesOf(base: string): Promise<readonly string[]> {
    const connectors = await exchangesOfPools()
    const trade = { ...local, base, quote: 'USDC', side: 'SELL', amount: '0.1' }
    const prices = await Promise.all(connectors.map((connector) => server.client.get('/amm/price', { ...trade, connector })))
    return connectors.filter((_, index) => prices[index]?.status === 200)
  }

  it('keeps to what was reserved: liquidity in a range, and shares', async () => {
    const uniswap = { connector: 'uniswap', address: traders }
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
    const order = { connector: 'oasis', market: 'WETH-USDC', orderType: 'LIMIT', side: 'BUY' }
    for (const amount of ['0.01', '2'])
      await heldTo(
        () => post('/clob/orders', { ...order, address: traders, price: '3100', amount: '0.1' }),
        (moved) => post('/clob/orders', { ...order, address: others, price: '3100', amount: moved, ...fast }),
        amount,
      )
  })

  it('keeps to what was reserved: a deposit of collateral', async () => {
    const deposit = { connector: 'perp', token: 'USDC' }
    await heldTo(
      () => post('/perpAMM/deposit', { ...deposit, address: traders, amount: '100' }),
      (moved) => post('/perpAMM/deposit', { ...deposit, address: others, amount: moved, ...fast }),
      '100',
    )
  })

  for (const { name, pool, base } of widePools)
    it(`gets all that it buys or nothing where a pool of v4 loses its liquidity first: ${name}`, async () => {
      const { key, quote, amount } = pool
      const id = keccak256(coder.encode(['address', 'address', 'uint24', 'int24', 'address'], key))
      await makePool(pool)
      const { body: config } = await server.client.get('/connector/config', { connector: 'uniswap' })
      const router = String(config.contractAddresses.local.v4RouterAddress)
      const trade = { connector: 'uniswap', version: 'v4', pool: id, base, quote, side: 'BUY', amount, address: traders }
      const asked = () => post('/amm/trade', trade)
      let left = ''
      const push = async () => {
        const pushed = await leaveLittle(pool)
        left = pushed.body.txHash
        return pushed
      }
      expect(await heldTo(asked, push, amount)).to.equal('failed')
      expect(Object(await rpc('eth_getTransactionReceipt', left)).status).to.equal('0x1')
      for (const currency of new Set([key[0], key[1], WETH.address, zero])) expect(await balanceOf(currency, router), currency).to.equal(0n)
    })

  /** By the wallet that is given, as the server does not know of it. */
  async function sent(to: string, data: string, valueRaw = 0n): Promise<string> {
    const fee = (gwei: bigint) => toQuantity(gwei * 10n ** 9n)
    const fees = { gas: toQuantity(3_000_000), maxFeePerGas: fee(200n), maxPriorityFeePerGas: fee(50n) }
    return String(await rpc('eth_sendTransaction', { from: admins, to, data, value: toQuantity(valueRaw), ...fees }))
  }

  /** Two positions, of which a purchase leaves the second: so the trade has gas for as much as happens later. */
  async function makePool({ key, edge, tick, amountsRaw }: WidePool): Promise<void> {
    for (const currency of [key[0], key[1]]) {
      if (currency === zero) continue
      await sent(currency, v4Abi.encodeFunctionData('approve(address,uint256)', [permit2Address, MaxUint256]))
      const allowed = [currency, positionManager, 2n ** 160n - 1n, 2n ** 48n - 1n]
      await sent(permit2Address, v4Abi.encodeFunctionData('approve(address,address,uint160,uint48)', allowed))
    }
    const [lower, upper] = [edge - 2 * spacing, edge + 2 * spacing]
    const [at, from, to] = [tick, lower, upper].map(getSqrtRatioAtTick) as [bigint, bigint, bigint]
    const liquidity = getLiquidityForAmounts(at, from, to, ...amountsRaw)
    const inner = tick < edge ? [lower, edge] : [edge, upper]
    const minted = [[lower, upper], inner].map(([one = 0, other = 0]) => mintOf(key, one, other, liquidity))
    const settled = coder.encode(['address', 'address'], [key[0], key[1]])
    const swept = coder.encode(['address', 'address'], [key[0], admins])
    const calls = [v4Abi.encodeFunctionData('initializePool', [key, at]), changeOf('0x02020d14', [...minted, settled, swept])]
    const valueRaw = key[0] === zero ? 3n * amountsRaw[0] : 0n
    const txHash = await sent(positionManager, v4Abi.encodeFunctionData('multicall', [calls]), valueRaw)
    await rpc('evm_mine')
    await mined(server.client, txHash)
    expect(Object(await rpc('eth_getTransactionReceipt', txHash)).status).to.equal('0x1')
  }

  /** Takes all liquidity out of the pool, and leaves a little of what is sold, up to a high price: for nearly all that the buyer pays at most. */
  async function leaveLittle({ key, edge, tick }: WidePool): Promise<Pick<Answer, 'status' | 'body' | 'text'>> {
    const read = async (name: string, ...args: readonly unknown[]) =>
      BigInt(String(await rpc('eth_call', { to: positionManager, data: v4Abi.encodeFunctionData(name, args) }, 'latest')))
    const next = await read('nextTokenId')
    const taken = []
    for (const id of [next - 2n, next - 1n])
      taken.push(
        coder.encode(['uint256', 'uint256', 'uint128', 'uint128', 'bytes'], [id, await read('getPositionLiquidity', id), 0, 0, '0x']),
      )
    const isUpward = tick < edge
    // To ten times the price and more.
    const [lower, upper] = isUpward ? [edge - spacing, edge + 6 * spacing] : [edge - 6 * spacing, edge + spacing]
    const [from, to] = (isUpward ? [tick, upper] : [lower, tick]).map(getSqrtRatioAtTick) as [bigint, bigint]
    const paidRaw = ((committed?.gives[isUpward ? key[1] : key[0]] ?? 0n) * 9n) / 10n
    const liquidity = isUpward ? (paidRaw << 96n) / (to - from) : (paidRaw * from * to) / (to - from) / 2n ** 96n
    const rest = coder.encode(['address', 'address', 'address'], [key[0], key[1], admins])
    const txHash = await sent(positionManager, changeOf('0x01010211', [...taken, mintOf(key, lower, upper, liquidity), rest]))
    return { status: 200, body: { txHash }, text: '' }
  }
})
