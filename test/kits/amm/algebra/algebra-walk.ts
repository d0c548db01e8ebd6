import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Contract, ContractFactory, Interface, MaxUint256, ZeroAddress, toQuantity, type Wallet } from 'ethers'
import { parse } from 'yaml'
import type { Connector, ConnectorConfig, FollowedPricing, Quote, Swap, Token, Venue } from '../../../../core/contracts/index.ts'
import { createLiveState } from '../../../../core/live-state/live-state.ts'
import { OneBlock } from '../../../../core/live-state/one-block.ts'
import type { QuoteVenue } from '../../../../core/live-state/quotes.ts'
import { deployerAddress } from '../../../../core/devnet/build-state.ts'
import { algebraDevnetAddresses } from '../../../../kits/amm/algebra/devnet.ts'
import type { AlgebraKind } from '../../../../kits/amm/algebra/index.ts'
import { partsOf } from '../../../../kits/amm/index.ts'
import type { Evm } from '../../../../kits/evm/index.ts'
import { getSqrtRatioAtTick } from '../../../../kits/amm/v3/math.ts'
import { devnetQuoter } from '../../../../testkit/devnet-operators.ts'
import { devnetFiles, temporaryFolder } from '../../../devnet/test-devnet.ts'
import plugin from '../../../fixtures/algebra/TestPoolPlugin.json' with { type: 'json' }
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../devnet-fixture.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { consistentReads } from '../walk/consistent-reads.ts'
import { drawing } from '../walk/any-swap.ts'
import { givenOrRefused } from '../walk/given-or-refused.ts'
import { msOf, quotesOf, seed, walkInMemory, type QuoteFromMemory } from '../walk/walk-in-memory.ts'
import { rpcTo } from '../../evm/test-chain.ts'

const quotesEach = 15
const { WETH, USDC, DAI, WBTC, USDT } = tokens
const rules = { allowedSlippage: '0/1', ttl: 600 }
const maxGas = 30_000_000n
// The pools of Integral have a deployer of their own, or the zero address.
const positionTuple = (deployer: string) =>
  `(address token0, address token1, ${deployer}int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline)`
const feeTuple =
  '(uint16 alpha1, uint16 alpha2, uint32 beta1, uint32 beta2, uint16 gamma1, uint16 gamma2, uint32 volumeBeta, uint16 volumeGamma, uint16 baseFee)'
const pluginFeeTuple = '(uint16 alpha1, uint16 alpha2, uint32 beta1, uint32 beta2, uint16 gamma1, uint16 gamma2, uint16 baseFee)'
const functions = [
  'function approve(address spender, uint256 value)',
  'function mint(address to, uint256 value)',
  'function deposit() payable',
  'function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable',
  'function totalSupply() view returns (uint256)',
  'function tokenByIndex(uint256 index) view returns (uint256)',
  'function multicall(bytes[] data) payable returns (bytes[])',
  'function poolByPair(address, address) view returns (address)',
  'function tickSpacing() view returns (int24)',
]
const kinds = {
  integral: {
    deployer: [ZeroAddress],
    data: ['0x'],
    tuple: positionTuple('address deployer, '),
    abi: [
      'function positions(uint256 tokenId) view returns (uint88, address, address, address, address, int24, int24, uint128 liquidity)',
      'function createAndInitializePoolIfNecessary(address token0, address token1, address deployer, uint160 sqrtPriceX96, bytes data) payable returns (address)',
      'function globalState() view returns (uint160 price, int24 tick, uint16 lastFee, uint8 pluginConfig, uint16 communityFee, bool unlocked)',
      'function setDefaultPluginFactory(address factory)',
      'function setPlugin(address plugin)',
      'function setPluginConfig(uint8 config)',
      'function setFee(uint16 fee)',
      'function setTickSpacing(int24 spacing)',
      'function set(uint8 mode, uint24 fee)',
      'function createPluginForExistingPool(address token0, address token1) returns (address)',
      'function pluginByPool(address pool) view returns (address)',
      'function initialize()',
      'function plugin() view returns (address)',
      `function changeFeeConfiguration(${pluginFeeTuple} config)`,
      'function setPriceChangeFactor(uint16 factor)',
    ],
  },
  '1.0': {
    deployer: [],
    data: [],
    tuple: positionTuple(''),
    abi: [
      'function positions(uint256 tokenId) view returns (uint96, address, address, address, int24, int24, uint128 liquidity)',
      'function createAndInitializePoolIfNecessary(address token0, address token1, uint160 sqrtPriceX96) payable returns (address)',
      'function globalState() view returns (uint160 price, int24 tick, uint16 fee, uint16 timepointIndex, uint8 communityFeeToken0, uint8 communityFeeToken1, bool unlocked)',
      'function dataStorageOperator() view returns (address)',
      `function changeFeeConfiguration(${feeTuple} config)`,
      'function setCommunityFee(uint8 communityFee0, uint8 communityFee1)',
    ],
  },
} as const

/** An exchange of Algebra, as its plugin has it on the devnet. */
export interface AlgebraWalk {
  readonly name: string
  readonly kind: AlgebraKind
  readonly plugin: { create(venue: Venue<Evm, ConnectorConfig>): Connector<Evm, 'AMM'> }
  /** Two tokens whose pool is asked of the chain, and two whose pool is not. */
  readonly asked: readonly [Token, Token]
  readonly computed?: readonly [Token, Token]
  /** Pools between listed tokens. */
  readonly pools: number
  /** Of the quotes of all walks. */
  readonly share: number
}

function gasSpread(gas: readonly { readonly ofEstimate: number; readonly ofMost: number }[]) {
  const estimates = gas.map(({ ofEstimate }) => ofEstimate).toSorted((one, other) => one - other)
  const [least = 1, middle = 1] = [estimates[0], estimates[estimates.length >> 1]]
  return { least, middle, most: Math.max(1, ...gas.map(({ ofMost }) => ofMost)) }
}

/** The factory of the other plugin that is published: its fee follows the price, in each direction. */
async function deployPublisher(trader: Wallet, factory: string): Promise<string> {
  const file = createRequire(import.meta.url).resolve(
    '@cryptoalgebra/integral-base-plugin/artifacts/contracts/BasePluginV2Factory.sol/BasePluginV2Factory.json',
  )
  const { abi, bytecode } = JSON.parse(readFileSync(file, 'utf8'))
  const contract = await new ContractFactory(abi, bytecode, trader).deploy(factory)
  return (await contract.waitForDeployment()).getAddress()
}

/** Quotes from memory on a random walk, compared with those of the exchange's own quoter. */
export function algebraWalk({ name, kind, plugin: connector, asked: askedPair, computed, pools: poolCount, share }: AlgebraWalk): void {
  const quotes = quotesOf(share)
  const folder = new URL(`../../../../plugins/${name}/`, import.meta.url)
  const devnetFile = fileURLToPath(new URL('devnet.ts', folder))
  const defaults = parse(readFileSync(new URL('defaults.yml', folder), 'utf8'))
  const { deployer, data: createData, tuple } = kinds[kind]
  const abi = new Interface([...functions, ...kinds[kind].abi, `function mint(${tuple} params) payable`])
  const isIntegral = kind === 'integral'

  describe(`${quotes} quotes of ${name} from memory (SLUICE_WALK_QUOTES) on a random walk, seed ${seed} (SLUICE_WALK_SEED)`, () => {
    let fixture: DevnetFixture
    before(async () => {
      fixture = await openDevnetFixture([...devnetFiles, devnetFile], { pollingSeconds: 0.05 }, consistentReads)
    })
    after(() => fixture?.close())

    it('need another try in each block where something decides the fee before swaps, and in no block where nothing does', async () => {
      const { chain } = fixture
      const { AMM: amm } = connector.create({
        ...fixture.venue(defaults.contractAddresses.local),
        config: { ...rules, contractAddresses: {} },
      })
      const pricing = amm?.followed
      if (!amm || !pricing) throw new Error('It is kept in memory.')
      const wantedAfter = async (tokenIn: Token, tokenOut: Token) => {
        const swap: Swap = { tokenIn, tokenOut, exact: 'in', amountRaw: 10n ** BigInt(tokenIn.decimals) }
        const basis = pricing.basis(swap, {})
        const head = await chain.head(at())
        const more = new Map<string, unknown[]>()
        for (let loads = 0; loads < 8; loads += 1) {
          const known = new Map(basis.map(({ key, about }) => [key, { about, more: more.get(key) ?? [] }]))
          const [followed] = basis.map((each) => each.followed)
          const loaded = await followed?.load([...known.keys()], head, at(), known)
          const states = basis.map(({ key }) => loaded?.states.get(key))
          const quote = pricing.quote(swap, {}, states, head, 5)
          if (!('missing' in quote)) {
            const later = { ...head, number: head.number + 1n, hash: `0x${'ab'.repeat(32)}` }
            return 'missing' in pricing.quote(swap, {}, states, later, 5)
          }
          for (const { index, more: missing } of quote.missing) {
            const key = basis[index]?.key ?? ''
            more.set(key, [...(more.get(key) ?? []), missing])
          }
        }
        throw new Error('Something is always missing.')
      }
      expect(await wantedAfter(...askedPair), 'asked').to.equal(true)
      if (computed) expect(await wantedAfter(...computed), 'computed').to.equal(false)
    })

    it('belong to one block where they are for several amounts, and equal the own quoter’s to the unit while blocks come', async () => {
      const { chain, provider } = fixture
      const rpc = rpcTo(fixture.devnet.rpcUrl)
      const { AMM: amm } = connector.create({
        ...fixture.venue(defaults.contractAddresses.local),
        config: { ...rules, contractAddresses: {} },
      })
      const place = await temporaryFolder()
      const settings = { staleBlocks: 2, staleBlockSeconds: 60, staleSeconds: 60, checkSeconds: 60, cachedQuotes: 1_000 }
      const silent = { trouble() {}, check() {}, update() {} }
      const market = createLiveState(settings, place.folder, { info() {}, warn() {} }, silent)
      const venue: QuoteVenue = {
        chain: 'ethereum',
        network: 'local',
        connector: name,
        chainImpl: chain,
        pricing: amm?.followed as unknown as FollowedPricing,
      }
      const [tokenIn, tokenOut] = askedPair
      const swapOf = (tenths: number): Swap => ({
        tokenIn,
        tokenOut,
        exact: 'in',
        amountRaw: BigInt(tenths) * 10n ** BigInt(tokenIn.decimals - 1),
      })
      const quoter = await devnetQuoter(devnetFile, provider)
      const blocks = new Set<bigint>()
      let isOver = false
      const mining = (async () => {
        while (!isOver) await rpc('evm_mine').then(() => sleep(40))
      })()
      try {
        for (let round = 0; round < 6; round += 1) {
          const block = new OneBlock()
          const tenths = Array.from({ length: 8 }, (_, index) => 1 + index + 8 * round)
          const series = await Promise.all(
            tenths.map(async (each, index) => {
              // Some come when a reading for others is under way.
              await sleep(15 * index)
              return market.quotes.quote(venue, swapOf(each), {}, at(), block)
            }),
          )
          expect(new Set(series.map(({ head }) => head.hash))).to.have.length(1)
          for (const { head, route, swap, amountRaw } of series) {
            blocks.add(head.number)
            expect(amountRaw).to.equal(await quoter?.exactIn(route, swap.amountRaw, Number(head.number)))
          }
        }
        expect(blocks.size, 'blocks').to.be.above(1)
      } finally {
        isOver = true
        await mining
        await market.stop()
        await place.remove()
      }
    })

    it('equal the own quoter’s to the unit after every block, whatever decides the fee, over reorganisations', async function () {
      this.timeout(msOf(quotes))
      const { chain, provider, trader } = fixture
      const rpc = rpcTo(fixture.devnet.rpcUrl)
      const random = randomBits(seed)
      const { below, bits } = random
      const { pick, anySwap } = drawing([WETH, USDC, DAI, WBTC, USDT, chain.nativeCurrency], WETH.address, random)
      const venue = fixture.venue(defaults.contractAddresses.local)
      const { AMM: amm } = connector.create({ ...venue, config: { ...rules, contractAddresses: {} } })
      if (!amm) throw new Error('The connector trades no AMM.')
      const owner = deployerAddress(name)
      const { factory, positionManager, pluginFactory } = algebraDevnetAddresses(owner)
      const router = defaults.contractAddresses.local.routerAddress
      const contract = await new ContractFactory(plugin.abi, plugin.bytecode, trader).deploy()
      const odd = await (await contract.waitForDeployment()).getAddress()
      const publishers = isIntegral ? [pluginFactory, await deployPublisher(trader, factory)] : []

      await rpc('evm_setIntervalMining', 0)
      await rpc('evm_setAutomine', false)
      await rpc('anvil_impersonateAccount', owner)
      await rpc('anvil_setBalance', trader.address, toQuantity(2n ** 100n))
      await rpc('anvil_setBalance', owner, toQuantity(2n ** 100n))
      /** Undefined where it failed. */
      const gasOf = async (to: string, data: string, { from = trader.address, value = 0n } = {}): Promise<bigint | undefined> => {
        const hash = await rpc('eth_sendTransaction', { from, to, data, value: toQuantity(value), gas: toQuantity(maxGas) })
        await rpc('evm_mine')
        const receipt = (await rpc('eth_getTransactionReceipt', hash)) as { status: string; gasUsed: string } | null
        return receipt?.status === '0x1' ? BigInt(receipt.gasUsed) : undefined
      }
      const send = async (...args: Parameters<typeof gasOf>): Promise<boolean> => (await gasOf(...args)) !== undefined
      const asOwner = (to: string, name: string, args: readonly unknown[]) => send(to, abi.encodeFunctionData(name, args), { from: owner })
      await send(WETH.address, abi.encodeFunctionData('deposit'), { value: 2n ** 90n })
      for (const { address } of [WETH, USDC, DAI, WBTC, USDT]) {
        if (address !== WETH.address) await send(address, abi.encodeFunctionData('mint(address,uint256)', [trader.address, 2n ** 120n]))
        for (const spender of [router, positionManager]) await send(address, abi.encodeFunctionData('approve', [spender, MaxUint256]))
      }

      const view = (to: string) => new Contract(to, abi, provider)
      const sorted = (a: Token, b: Token): [string, string] =>
        a.address.toLowerCase() < b.address.toLowerCase() ? [a.address, b.address] : [b.address, a.address]
      const pools: { readonly address: string; readonly tokens: readonly [string, string] }[] = []
      const know = async (a: Token, b: Token) => {
        const own = sorted(a, b)
        const address: string = await view(factory)
          .getFunction('poolByPair')
          .staticCall(...own)
        if (BigInt(address) !== 0n && !pools.some((each) => each.address === address)) pools.push({ address, tokens: own })
      }
      for (const a of [WETH, USDC, DAI, WBTC, USDT]) for (const b of [WETH, USDC, DAI, WBTC, USDT]) if (a !== b) await know(a, b)
      expect(pools).to.have.length(poolCount)
      const happened = { traded: 0, tried: 0, minted: 0, burnt: 0, charged: 0, made: 0, refused: 0 }
      const counted = { ...happened, plugged: 0, published: 0, behaved: 0, spaced: 0, aged: 0 }

      async function mint(): Promise<void> {
        const pool = pick(pools)
        // A reorganisation took it back.
        if ((await provider.getCode(pool.address)) === '0x') return
        const [{ tick }, spacing] = await Promise.all([
          view(pool.address).getFunction('globalState').staticCall(),
          view(pool.address).getFunction('tickSpacing').staticCall(),
        ])
        const lower = (BigInt(Math.floor(Number(tick) / Number(spacing))) + BigInt(below(41) - 25)) * spacing
        const upper = lower + BigInt(1 + below(30)) * spacing
        const amount = 1n + bits(60)
        const params = [...pool.tokens, ...deployer, lower, upper, amount, amount, 0n, 0n, trader.address, MaxUint256]
        if (await send(positionManager, abi.encodeFunctionData(`mint(${tuple})`, [params]))) counted.minted += 1
      }
      async function burn(): Promise<void> {
        const manager = view(positionManager)
        const id: bigint = 1n + BigInt(below(Number(await manager.getFunction('totalSupply').staticCall())))
        const { liquidity } = await manager.getFunction('positions').staticCall(id)
        const holder = counted.burnt % 3 === 0 ? owner : trader.address
        if (liquidity === 0n) return
        const params = [id, below(2) === 0 ? liquidity : 1n + liquidity / 3n, 0n, 0n, MaxUint256]
        for (const from of [holder, holder === owner ? trader.address : owner])
          if (await send(positionManager, abi.encodeFunctionData('decreaseLiquidity', [params]), { from })) {
            counted.burnt += 1
            return
          }
      }
      async function charge(): Promise<void> {
        const sigmoids = [1 + below(9_000), 1 + below(9_000), below(40), below(4_000), 1 + below(60), 1 + below(600)]
        const baseFee = 1 + below(3_000)
        if (isIntegral) {
          const { address } = pick(pools)
          if (await asOwner(address, 'setFee', [below(20_000)])) counted.charged += 1
          if ((await provider.getCode(address)) === '0x') return
          const own: string = await view(address).getFunction('plugin').staticCall()
          if (BigInt(own) === 0n || own === odd) return
          // Of the one published plugin, or of the other.
          for (const [what, args] of [
            ['changeFeeConfiguration', [[...sigmoids, baseFee]]],
            ['setPriceChangeFactor', [1 + below(60_000)]],
          ] as const)
            if (await asOwner(own, what, args)) counted.charged += 1
          return
        }
        // The next swap of a pool takes it up, when it is the first of its block.
        const config = [...sigmoids, 0, 1 + below(60), baseFee]
        for (const { address } of pools) {
          if ((await provider.getCode(address)) === '0x') continue
          const operator: string = await view(address).getFunction('dataStorageOperator').staticCall()
          if (await asOwner(operator, 'changeFeeConfiguration', [config])) counted.charged += 1
        }
      }
      const plugins = ['odd', 'of moves', 'odd', 'of volatility', 'none'] as const
      let plugs = 0
      /** Another plugin: none, the odd one, which acts before swaps or not, or one of the two that are published. */
      async function plug(): Promise<void> {
        const pool = pick(pools)
        const next = plugins[plugs++ % plugins.length] ?? 'none'
        if (next === 'of moves' || next === 'of volatility') return publish(pool, publishers[next === 'of moves' ? 1 : 0] ?? '')
        await asOwner(pool.address, 'setPlugin', [next === 'odd' ? odd : ZeroAddress])
        // It acts before swaps, and may give the fee.
        if (next === 'none' || (await asOwner(pool.address, 'setPluginConfig', [below(4) === 0 ? 0 : 1 + 128]))) counted.plugged += 1
      }
      async function publish({ address, tokens: own }: (typeof pools)[number], publisher: string): Promise<void> {
        if ((await provider.getCode(address)) === '0x') return
        await asOwner(publisher, 'createPluginForExistingPool', own)
        const made: string = await view(publisher).getFunction('pluginByPool').staticCall(address)
        await asOwner(address, 'setPlugin', [made])
        await asOwner(made, 'initialize', [])
        // One that was there before is as it was then.
        if (await asOwner(address, 'setPluginConfig', [1 + 64 + 128])) counted.published += 1
      }
      async function behave(): Promise<void> {
        // A node needs many calls for swaps that each use all gas.
        const mode = pick([0, 1, 3, 4, 5, 6, 7, below(4) === 0 ? 2 : 5])
        if (await send(odd, abi.encodeFunctionData('set', [mode, 1 + below(below(2) === 0 ? 1_000 : 30_000)]))) counted.behaved += 1
      }
      async function space(): Promise<void> {
        if (await asOwner(pick(pools).address, 'setTickSpacing', [1 + below(200)])) counted.spaced += 1
      }
      /** Time goes by, and the share of the fees that the exchange keeps changes. */
      async function age(): Promise<void> {
        await rpc('evm_increaseTime', 1 + below(below(2) === 0 ? 600 : 40_000))
        if (isIntegral) {
          await rpc('evm_mine')
          counted.aged += 1
          return
        }
        const share = () => (below(3) === 0 ? 0 : 3 + below(200))
        if (await asOwner(pick(pools).address, 'setCommunityFee', [share(), share()])) counted.aged += 1
      }
      async function make(): Promise<void> {
        const isKnown = (own: [string, string]) => pools.some(({ tokens: [token0, token1] }) => token0 === own[0] && token1 === own[1])
        const missing = [WETH, DAI, WBTC]
          .flatMap((a) => [USDC, USDT].map((b) => [a, b] as const))
          .filter(([a, b]) => !isKnown(sorted(a, b)))
        if (missing.length === 0) return
        const [a, b] = pick(missing)
        const own = sorted(a, b)
        const worth = { WETH: 3000, WBTC: 60_000 }[a.symbol] ?? 1
        const tick = Math.round((Math.log(worth * 10 ** (b.decimals - a.decimals)) / Math.log(1.0001)) * (own[0] === a.address ? 1 : -1))
        if (isIntegral) await asOwner(factory, 'setDefaultPluginFactory', [below(2) === 0 ? pluginFactory : ZeroAddress])
        const calls = [
          abi.encodeFunctionData('createAndInitializePoolIfNecessary', [...own, ...deployer, getSqrtRatioAtTick(tick), ...createData]),
          abi.encodeFunctionData(`mint(${tuple})`, [
            [...own, ...deployer, -887_220, 887_220, 10n ** 20n, 10n ** 20n, 0n, 0n, trader.address, MaxUint256],
          ]),
        ]
        if (!(await send(positionManager, abi.encodeFunctionData('multicall', [calls])))) return
        await know(a, b)
        counted.made += 1
      }
      // Some are asked again, in other blocks, in which a plugin may say something else.
      const asked: Swap[] = []
      function swapNow(): Swap {
        const swap = asked.length > 0 && below(3) === 0 ? pick(asked) : anySwap(below(14))
        asked.push(swap)
        if (asked.length > 8) asked.shift()
        return swap
      }
      async function trade(remembered: QuoteFromMemory): Promise<void> {
        for (let tries = 0; tries < 20; tries += 1) {
          const quote = await remembered(swapNow(), {}).catch(() => undefined)
          if (!quote) continue
          // The block of the trade is another one, where a plugin may take more.
          const slack = quote.amountRaw / 4n
          const plan = amm?.swap(quote, {
            recipient: trader.address,
            boundRaw: quote.swap.exact === 'in' ? quote.amountRaw - slack : quote.amountRaw + slack,
            deadline: quote.head.timestamp + 86_400,
          })
          const [step] = plan?.steps ?? []
          if (!step) continue
          counted.tried += 1
          const used = await gasOf(step.to, step.data, { value: BigInt(step.value) })
          if (used === undefined) return
          counted.traded += 1
          gas.push({
            ofEstimate: Number(used) / Number(quote.gasUnits),
            ofMost: Number(used) / Number(quote.gasUnits + (quote.firstWriteUnits ?? 0n)),
          })
          return
        }
      }

      const quoter = await devnetQuoter(devnetFile, provider)
      const held = { given: 0, byTrial: 0, byBlockFee: 0, fromMemory: 0 }
      /** What trades used, beside the quoted units, and beside those with what is written for the first time. */
      const gas: { readonly ofEstimate: number; readonly ofMost: number }[] = []
      const fees = new Set<string>()
      async function hold(give: () => Promise<Quote>, _swap: unknown, _choice: unknown, what: string): Promise<void> {
        const quote = await givenOrRefused(give())
        if (!quote) {
          counted.refused += 1
          return
        }
        const { exact } = quote.swap
        const ask = exact === 'in' ? quoter?.exactIn : quoter?.exactOut
        for (const { route, exactRaw, otherRaw } of partsOf(quote))
          expect(otherRaw, what).to.equal(await ask?.(route, exactRaw, Number(quote.head.number)))
        held.given += 1
        const states = await Promise.all(
          quote.route.map(({ pool }) =>
            view(pool)
              .getFunction('globalState')
              .staticCall({ blockTag: Number(quote.head.number) }),
          ),
        )
        const isSet = !isIntegral || states.some(({ pluginConfig }) => (pluginConfig & 1n) === 1n)
        const ofPools = isIntegral ? await Promise.all(quote.route.map(({ pool }) => view(pool).getFunction('plugin').staticCall())) : []
        held[!isSet ? 'fromMemory' : ofPools.includes(odd) ? 'byTrial' : 'byBlockFee'] += 1
        for (const { fee } of isIntegral ? [] : states) fees.add(String(fee))
      }
      const acts = isIntegral
        ? [mint, plug, trade, behave, make, plug, charge, trade, age, behave, mint, plug, trade, behave, burn, trade, age, space, trade]
        : [mint, trade, age, make, charge, trade, mint, age, trade, trade, burn, trade]
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
      if (process.env['SLUICE_WALK_QUOTES']) console.log(`      ${JSON.stringify({ ...counted, ...held, gas: gasSpread(gas) })}`)
      const never: readonly string[] = isIntegral ? [] : ['plugged', 'published', 'behaved', 'spaced', 'fromMemory', 'byTrial']
      for (const [what, count] of Object.entries({ ...counted, ...held })) if (!never.includes(what)) expect(count, what).to.be.above(0)
      if (!isIntegral) expect(fees.size, 'fees').to.be.above(1)
      const { least, middle, most } = gasSpread(gas)
      // A swap of Algebra 1.0 searches the swaps before it: after some hundreds in each pool it uses a third more. A transaction may use half as much again.
      expect(middle, 'gas, the median of trades').to.be.within(0.8, !isIntegral && counted.traded > 1_000 ? 1.5 : 1.25)
      expect(least, 'gas').to.be.above(0.5)
      expect(most, 'gas').to.be.below(2)
      expect(counted.traded * 2, `of ${counted.tried} trades`).to.be.above(counted.tried)
    })
  })
}
