import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { AbiCoder, Contract, ContractFactory, Interface, MaxUint256, ZeroAddress, concat, getAddress, keccak256, toQuantity } from 'ethers'
import { parse } from 'yaml'
import type { Quote, Token } from '../../../core/contracts/index.ts'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import { partsOf } from '../../../kits/amm/index.ts'
import { getSqrtRatioAtTick } from '../../../kits/amm/v3/math.ts'
import { v4DevnetAddresses } from '../../../kits/amm/v4/devnet.ts'
import { poolId, type PoolKey } from '../../../kits/amm/v4/pools.ts'
import uniswap from '../../../plugins/uniswap/index.ts'
import { devnetQuoter } from '../../../testkit/devnet-operators.ts'
import { devnetFiles } from '../../devnet/test-devnet.ts'
import donor from '../../fixtures/uniswap-v4/V4Donor.json' with { type: 'json' }
import hooks from '../../fixtures/uniswap-v4/TestHooks.json' with { type: 'json' }
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'
import { randomBits } from '../../../testkit/random-bits.ts'
import { consistentReads } from '../../kits/amm/walk/consistent-reads.ts'
import { drawing } from '../../kits/amm/walk/any-swap.ts'
import { heldAgainst } from '../../kits/amm/walk/given-or-refused.ts'
import { msOf, quotesOf, seed, walkInMemory, type QuoteFromMemory } from '../../kits/amm/walk/walk-in-memory.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'

const quotes = quotesOf(0.2)
const quotesEach = 20
const { WETH, USDC, DAI, WBTC, USDT } = tokens
const defaults = parse(readFileSync(new URL('../../../plugins/uniswap/defaults.yml', import.meta.url), 'utf8'))
const rules = { allowedSlippage: '0/1', ttl: 600 }
const [uniswapFile = ''] = devnetFiles
const permit2 = defaults.contractAddresses.local.permit2Address
const [plenty, never] = [2n ** 160n - 1n, 2n ** 48n - 1n]
const maxGas = 30_000_000n
const keyTuple = '(address currency0, address currency1, uint24 fee, int24 tickSpacing, address hooks)'
const abi = new Interface([
  'function approve(address spender, uint256 value)',
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
  'function mint(address to, uint256 value)',
  'function deposit() payable',
  `function initializePool(${keyTuple} key, uint160 sqrtPriceX96) payable returns (int24)`,
  'function modifyLiquidities(bytes unlockData, uint256 deadline) payable',
  'function multicall(bytes[] data) payable returns (bytes[])',
  'function nextTokenId() view returns (uint256)',
  'function extsload(bytes32 slot) view returns (bytes32)',
  `function setProtocolFee(${keyTuple} key, uint24 newProtocolFee)`,
  'function set(uint8 mode, uint24 fee)',
  `function donate(address manager, ${keyTuple} key, uint256 amount0, uint256 amount1)`,
])
// The library Actions of @uniswap/v4-periphery@1.0.3.
const actions = { decrease: '0x01', mint: '0x02', settlePair: '0x0d', takePair: '0x11', sweep: '0x14' } as const
const coder = AbiCoder.defaultAbiCoder()

const currencyOf = ({ native, address }: Token) => (native ? ZeroAddress : address)
/** With the fee that hooks give, and the hooks: the last bits of their address say that they act before swaps. */
const acting = [0x80_0000, 10, getAddress(`0x${(2n ** 100n + (1n << 7n)).toString(16).padStart(40, '0')}`)] as const
type Kind = readonly [fee: number, tickSpacing: number, hooks?: string]
const keyOf = (a: string, b: string, [fee, tickSpacing, hooks = ZeroAddress]: Kind): PoolKey => {
  const [currency0, currency1] = a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]
  return { currency0, currency1, fee, tickSpacing, hooks }
}

describe(`${quotes} quotes of Uniswap v4 from memory (SLUICE_WALK_QUOTES) on a random walk, seed ${seed} (SLUICE_WALK_SEED)`, () => {
  let fixture: DevnetFixture
  before(async () => {
    fixture = await openDevnetFixture(devnetFiles, { pollingSeconds: 0.05 }, consistentReads)
  })
  after(() => fixture?.close())

  it('equal V4Quoter’s to the unit after every block, over random changes and reorganisations', async function () {
    this.timeout(msOf(quotes))
    const { chain, provider, trader } = fixture
    const rpc = rpcTo(fixture.devnet.rpcUrl)
    const random = randomBits(seed)
    const { below, bits } = random
    const { pick, anySwap } = drawing([WETH, USDC, DAI, WBTC, USDT, chain.nativeCurrency], WETH.address, random)
    const venue = fixture.venue(defaults.contractAddresses.local)
    // Of a fee and a tick spacing that only the configuration knows.
    const odd = [777, 13] as const
    const configured = [WETH, DAI, WBTC, chain.nativeCurrency].flatMap((a) =>
      [USDC, USDT].flatMap((b) => [odd, acting].map((kind) => keyOf(currencyOf(a), currencyOf(b), kind))),
    )
    const config = { ...rules, contractAddresses: {}, versions: { v4: rules }, v4Pools: { 'ethereum/local': configured } }
    const { AMM: amm } = uniswap.create({ ...venue, config })
    if (!amm) throw new Error('The connector trades no AMM.')
    const deployer = deployerAddress('uniswap')
    const { poolManager, positionManager } = v4DevnetAddresses(deployer)
    const router = defaults.contractAddresses.local.v4RouterAddress
    const contract = await new ContractFactory(donor.abi, donor.bytecode, trader).deploy()
    const giver = await (await contract.waitForDeployment()).getAddress()

    await rpc('anvil_setCode', acting[2], await provider.call({ data: hooks.bytecode }))
    await rpc('evm_setIntervalMining', 0)
    await rpc('evm_setAutomine', false)
    await rpc('anvil_impersonateAccount', deployer)
    for (const rich of [trader.address, giver]) await rpc('anvil_setBalance', rich, toQuantity(2n ** 100n))
    const send = async (to: string, data: string, { from = trader.address, value = 0n } = {}): Promise<boolean> => {
      const hash = await rpc('eth_sendTransaction', { from, to, data, value: toQuantity(value), gas: toQuantity(maxGas) })
      await rpc('evm_mine')
      return (await chain.find(String(hash), at()))?.receipt?.status === 1
    }
    await send(WETH.address, abi.encodeFunctionData('deposit'), { value: 2n ** 90n })
    for (const { address } of [WETH, USDC, DAI, WBTC, USDT]) {
      if (address !== WETH.address)
        for (const rich of [trader.address, giver]) await send(address, abi.encodeFunctionData('mint', [rich, 2n ** 120n]))
      await send(address, abi.encodeFunctionData('approve(address,uint256)', [permit2, MaxUint256]))
      for (const spender of [router, positionManager])
        await send(permit2, abi.encodeFunctionData('approve(address,address,uint160,uint48)', [address, spender, plenty, never]))
    }

    const pools: PoolKey[] = [
      keyOf(ZeroAddress, USDC.address, [500, 10]),
      keyOf(WETH.address, USDC.address, [3000, 60]),
      keyOf(USDC.address, USDT.address, [100, 1]),
      keyOf(DAI.address, USDC.address, [500, 10]),
    ]
    const tuple = ({ currency0, currency1, fee, tickSpacing, hooks }: PoolKey) => [currency0, currency1, fee, tickSpacing, hooks]
    const tickOf = async (key: PoolKey): Promise<number> => {
      const slot = keccak256(coder.encode(['bytes32', 'uint256'], [poolId(key), 6]))
      const slot0 = BigInt(await new Contract(poolManager, abi, provider).getFunction('extsload').staticCall(slot))
      return Number(BigInt.asIntN(24, slot0 >> 160n))
    }
    const counted = { traded: 0, minted: 0, burnt: 0, donated: 0, charged: 0, made: 0, behaved: 0, throughHooks: 0 }
    const minted: { id: bigint; liquidity: bigint; key: PoolKey }[] = []
    const unlocked = (names: readonly string[], params: readonly string[]) =>
      abi.encodeFunctionData('modifyLiquidities', [coder.encode(['bytes', 'bytes[]'], [concat(names), params]), MaxUint256])
    const settling = (key: PoolKey) => [
      coder.encode(['address', 'address'], [key.currency0, key.currency1]),
      coder.encode(['address', 'address'], [ZeroAddress, trader.address]),
    ]
    const mintCall = (key: PoolKey, lower: number, upper: number, liquidity: bigint) =>
      unlocked(
        [actions.mint, actions.settlePair, actions.sweep],
        [
          coder.encode(
            [keyTuple, 'int24', 'int24', 'uint256', 'uint128', 'uint128', 'address', 'bytes'],
            [tuple(key), lower, upper, liquidity, 2n ** 127n, 2n ** 127n, trader.address, '0x'],
          ),
          ...settling(key),
        ],
      )

    async function mint(): Promise<void> {
      const key = pick(pools)
      const tick = await tickOf(key)
      const spacing = key.tickSpacing
      const lower = (Math.floor(tick / spacing) + below(61) - 40) * spacing
      const upper = lower + (1 + below(40)) * spacing
      const liquidity = 1n + bits(60)
      const id: bigint = await new Contract(positionManager, abi, provider).getFunction('nextTokenId').staticCall()
      if (!(await send(positionManager, mintCall(key, lower, upper, liquidity), { value: 2n ** 80n }))) return
      minted.push({ id, liquidity, key })
      counted.minted += 1
    }
    async function burn(): Promise<void> {
      const [left] = minted.splice(below(Math.max(minted.length, 1)), 1)
      if (!left) return
      const decrease = coder.encode(['uint256', 'uint256', 'uint128', 'uint128', 'bytes'], [left.id, left.liquidity, 0, 0, '0x'])
      const take = coder.encode(['address', 'address', 'address'], [left.key.currency0, left.key.currency1, trader.address])
      if (await send(positionManager, unlocked([actions.decrease, actions.takePair], [decrease, take]))) counted.burnt += 1
    }
    async function donate(): Promise<void> {
      if (await send(giver, abi.encodeFunctionData('donate', [poolManager, tuple(pick(pools)), bits(30), bits(30)]))) counted.donated += 1
    }
    async function charge(): Promise<void> {
      const fees = below(1001) + (below(1001) << 12)
      const data = abi.encodeFunctionData('setProtocolFee', [tuple(pick(pools)), below(3) === 0 ? 0 : fees])
      if (await send(poolManager, data, { from: deployer })) counted.charged += 1
    }
    async function make(a: Token, b: Token, kind: Kind): Promise<void> {
      const key = keyOf(currencyOf(a), currencyOf(b), kind)
      if (pools.some((pool) => poolId(pool) === poolId(key))) return
      const worth = { WETH: 3000, ETH: 3000, WBTC: 60_000 }[a.symbol] ?? 1
      const isForward = key.currency0 === currencyOf(a)
      const tick = Math.round((Math.log(worth * 10 ** (b.decimals - a.decimals)) / Math.log(1.0001)) * (isForward ? 1 : -1))
      const end = Math.floor(887_272 / key.tickSpacing) * key.tickSpacing
      const calls = [abi.encodeFunctionData('initializePool', [tuple(key), getSqrtRatioAtTick(tick)]), mintCall(key, -end, end, 10n ** 15n)]
      if (!(await send(positionManager, abi.encodeFunctionData('multicall', [calls]), { value: 2n ** 80n }))) return
      pools.push(key)
      counted.made += 1
    }
    const kinds: readonly Kind[] = [[100, 1], [500, 10], [3000, 60], [10_000, 200], odd, acting, acting]
    const makeAny = () => make(pick([WETH, DAI, WBTC, chain.nativeCurrency]), pick([USDC, USDT]), pick(kinds))
    await make(WETH, USDT, acting)
    async function behave(): Promise<void> {
      if (await send(acting[2], abi.encodeFunctionData('set', [below(7), below(20_000)]))) counted.behaved += 1
    }
    const swapNow = () => anySwap(below(14))
    const passesHooks = ({ route }: Quote) => route.some(({ pool }) => pools.some((key) => key.hooks === acting[2] && poolId(key) === pool))
    async function trade(remembered: QuoteFromMemory): Promise<void> {
      for (let tries = 0; tries < 20; tries += 1) {
        const quote = await remembered(swapNow(), {}).catch(() => undefined)
        if (!quote) continue
        const plan = amm?.swap(quote, {
          recipient: trader.address,
          boundRaw: quote.amountRaw,
          deadline: Math.floor(Date.now() / 1000) + 86_400,
        })
        const [step] = plan?.steps ?? []
        if (!step) continue
        const isMined = await send(step.to, step.data, { value: BigInt(step.value) })
        // In the next block hooks may take another fee.
        if (!isMined && passesHooks(quote)) return
        expect(isMined, `${quote.swap.tokenIn.symbol} to ${quote.swap.tokenOut.symbol}`).to.equal(true)
        counted.traded += 1
        return
      }
    }

    const quoter = await devnetQuoter(uniswapFile, provider)
    const { hold, counted: held } = heldAgainst(async (quote: Quote, what: string) => {
      if (passesHooks(quote)) counted.throughHooks += 1
      for (const { route, exactRaw, otherRaw } of partsOf(quote)) {
        const ask = quote.swap.exact === 'in' ? quoter?.exactIn : quoter?.exactOut
        expect(otherRaw, what).to.equal(await ask?.(route, exactRaw, Number(quote.head.number)))
      }
    })
    const acts = [mint, trade, makeAny, charge, behave, trade, donate, mint, behave, trade, burn]
    let turn = 0
    await walkInMemory(
      {
        chain,
        amm,
        rpc,
        happen: (_round, remembered) => acts[turn++ % acts.length]?.(remembered) ?? Promise.resolve(),
        anySwap: swapNow,
        hold,
      },
      random,
      quotes,
      quotesEach,
    )
    for (const [what, count] of Object.entries({ ...counted, ...held })) expect(count, what).to.be.above(0)
  })
})
