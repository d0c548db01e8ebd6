import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Contract, MaxUint256, toBeHex } from 'ethers'
import type { FollowedPricing, Quote, Swap } from '../../core/contracts/index.ts'
import type { EvmReader } from '../../kits/evm/index.ts'
import { createLiveState, type LiveState } from '../../core/live-state/live-state.ts'
import { type QuoteVenue } from '../../core/live-state/quotes.ts'
import { roundTripsTo } from '../../testkit/round-trips.ts'
import ethereum from '../../plugins/ethereum/index.ts'
import { v2Deployments } from '../../plugins/uniswap/deployments.ts'
import { addresses } from '../devnet/addresses.ts'
import { pairAMM } from '../kits/amm/v2/pair-amm.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../kits/amm/devnet-fixture.ts'
import { temporaryFolder } from '../devnet/test-devnet.ts'
import { healthy, startFaultyProxy } from '../http/trouble/faulty-proxy.ts'
import { until } from './recorder.ts'

const { router } = addresses.exchanges.uniswap
const { WETH, USDC, DAI } = tokens
const ether = 10n ** 18n

describe('quotes from memory', function () {
  this.timeout(300_000)
  let fixture: DevnetFixture
  let place: Awaited<ReturnType<typeof temporaryFolder>>
  let market: LiveState
  let venue: QuoteVenue
  let own: Contract
  before(async () => {
    fixture = await openDevnetFixture()
    place = await temporaryFolder()
    market = openMarket()
    venue = {
      chain: 'ethereum',
      network: 'local',
      connector: 'uniswap',
      chainImpl: fixture.chain,
      pricing: pricingOver(fixture.chain.reader),
    }
    own = new Contract(
      router,
      [
        'function getAmountsOut(uint256,address[]) view returns (uint256[])',
        'function swapExactETHForTokens(uint256,address[],address,uint256) payable',
      ],
      fixture.trader,
    )
    await fixture.approve(WETH.address, router)
  })
  after(async () => {
    await market.stop()
    await fixture.close()
    await place.remove()
  })

  function pricingOver(reader: EvmReader): FollowedPricing {
    const options = { version: 'v2', fee: [3n, 1000n], deployments: v2Deployments } as const
    const { followed } = pairAMM({ ...fixture.venue({ v2RouterAddress: router }), reader }, options)
    // As the directory hands a family's plugins to who knows no family.
    return followed as unknown as FollowedPricing
  }
  const told: string[] = []
  const openMarket = (checkSeconds = 60) =>
    createLiveState(
      { staleBlocks: 2, staleBlockSeconds: 60, staleSeconds: 10, checkSeconds, cachedQuotes: 1_000 },
      place.folder,
      { info() {}, warn() {} },
      { trouble() {}, check: ({ what = '' }, outcome) => void told.push(`${outcome} ${what}`), update() {} },
    )
  const sell = (amountRaw: bigint): Swap => ({ tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw })
  const quote = async (swap: Swap) => market.quotes.quote(venue, swap, {}, at())
  async function caughtUp(): Promise<void> {
    const number = BigInt(await fixture.provider.getBlockNumber())
    await until(() => (market.following.of(venue).tip?.number ?? 0n) >= number, `block ${number} in memory`)
  }
  /** The exchange's own, along the route that was quoted, at its block. */
  async function ownAmount(amountRaw: bigint, path: readonly string[], blockTag: bigint): Promise<bigint> {
    const amounts: readonly bigint[] = await own.getFunction('getAmountsOut')(amountRaw, path, { blockTag })
    return amounts.at(-1) ?? 0n
  }

  it('equal the exchange’s own quotes at their block, before and after trades', async () => {
    const isOwn = async ({ amountRaw, route, head }: Quote) =>
      expect(await ownAmount(ether, [WETH.address, ...route.map(({ tokenOut }) => tokenOut)], head.number)).to.equal(amountRaw)
    for (let trades = 0; trades < 5; trades += 1) {
      const before = await quote(sell(ether))
      await isOwn(before)
      const swap = await own.getFunction('swapExactETHForTokens')(0n, [WETH.address, USDC.address], fixture.trader.address, MaxUint256, {
        value: ether * BigInt(trades + 1),
      })
      await fixture.mined(swap.hash)
      await caughtUp()
      const after = await quote(sell(ether))
      expect(after.head.number > before.head.number).to.equal(true)
      // Perhaps another route is the best now, as the price of gas is.
      await isOwn(after)
    }
  })

  it('never lag behind a block that a caller was told about', async () => {
    await quote(sell(ether))
    for (let trades = 0; trades < 3; trades += 1) {
      const value = ether / 10n
      const swap = await own.getFunction('swapExactETHForTokens')(0n, [WETH.address, USDC.address], fixture.trader.address, MaxUint256, {
        value,
      })
      const number = BigInt((await fixture.mined(swap.hash)).blockNumber)
      market.following.expectBlock(venue, number)
      expect((await quote(sell(ether))).head.number >= number).to.equal(true)
    }
    // One that no node has is not waited for twice.
    market.following.expectBlock(venue, 10n ** 9n)
    await quote(sell(ether))
    const asked = fixture.counted.rpc
    await quote(sell(ether))
    expect(fixture.counted.rpc - asked).to.be.lessThan(2)
  })

  it('ask the node nothing for any amount, and return the same object for the same question', async () => {
    await quote(sell(ether))
    const asked = fixture.counted.rpc
    const amounts = Array.from({ length: 50 }, (_, index) => (ether * BigInt(100 + index)) / 100n)
    const quotes = await Promise.all(amounts.map((amountRaw) => quote(sell(amountRaw))))
    expect(fixture.counted.rpc).to.equal(asked)
    expect(new Set(quotes.map(({ amountRaw }) => amountRaw)).size).to.be.greaterThan(1)
    expect(await quote(sell(ether))).to.equal(await quote(sell(ether)))
  })

  it('take two round trips to the node if no state is loaded', async () => {
    // Behind a proxy of its own: the fixture's chain polls the same node, and its requests do not count.
    const proxy = await startFaultyProxy()
    proxy.target = fixture.devnet.rpcUrl
    const rpcUrl = `http://127.0.0.1:${proxy.port}`
    // It looks for no other block meanwhile, however long that is.
    const config = { rpcUrls: [rpcUrl], pollingSeconds: 60 }
    const chain = ethereum.create({ chain: 'ethereum', network: 'local', config, log: { info() {}, warn() {} }, meter: { rpc() {} } })
    await chain.start?.(at().signal)
    const proxied = { ...venue, chainImpl: chain as unknown as QuoteVenue['chainImpl'], pricing: pricingOver(chain.reader) }
    // The first quote of a venue also checks the exchange's contracts.
    await market.stop()
    market = openMarket()
    await market.quotes.quote(proxied, sell(ether), {}, at())
    await market.stop()
    await rm(place.folder, { recursive: true })
    market = openMarket()

    // A block that comes meanwhile costs a round trip more.
    await fixture.provider.send('evm_setIntervalMining', [0])
    const trips = roundTripsTo(rpcUrl)
    trips.record()
    await market.quotes.quote(proxied, sell(ether), {}, at())
    const steps = trips.take().map(({ step }) => step)
    await fixture.provider.send('evm_setIntervalMining', [1])
    expect(steps.length).to.be.greaterThan(0)
    expect(Math.max(...steps)).to.be.at.most(2)
    await market.stop()
    await chain.stop?.()
    await proxy.stop()
    market = openMarket()
  })

  it('see a change of which no log tells, by the comparison with the chain', async () => {
    await market.stop()
    market = openMarket(0.5)
    const before = await quote(sell(ether))
    const [{ pool: pair } = { pool: '' }] = before.route
    // Of UniswapV2Pair: both reserves and a time.
    const slot = '0x8'
    const reserves = BigInt(await fixture.provider.send('eth_getStorageAt', [pair, slot, 'latest']))
    const half = (value: bigint) => (value & (2n ** 112n - 1n)) / 2n
    const changed = ((reserves >> 224n) << 224n) | (half(reserves >> 112n) << 112n) | (reserves & (2n ** 112n - 1n))
    await fixture.provider.send('anvil_setStorageAt', [pair, slot, toBeHex(changed, 32)])
    await fixture.provider.send('evm_mine', [])
    await caughtUp()
    const key = pair.toLowerCase()
    await until(() => told.includes(`different ${key}`), 'the difference')
    const after = await quote(sell(ether))
    expect(await ownAmount(ether, [WETH.address, ...after.route.map(({ tokenOut }) => tokenOut)], after.head.number)).to.equal(
      after.amountRaw,
    )
    expect(after.amountRaw).to.not.equal(before.amountRaw)
    await fixture.provider.send('anvil_setStorageAt', [pair, slot, toBeHex(reserves, 32)])
    await fixture.provider.send('evm_mine', [])
    await market.stop()
    market = openMarket()
  })

  it('load at start for the pairs of the last run, and ignore a damaged file', async () => {
    await quote(sell(ether))
    await market.stop()
    market = openMarket()
    await market.quotes.warmUp(venue)
    const asked = fixture.counted.rpc
    await quote(sell(ether))
    expect(fixture.counted.rpc).to.equal(asked)

    await market.stop()
    await writeFile(path.join(place.folder, 'quoted-pairs.json'), '[{"chain":')
    market = openMarket()
    await market.quotes.warmUp(venue)
    expect(market.following.all()).to.deep.equal([])
  })

  it('return at once with four blocks a second and a node 333 ms away', async () => {
    const proxy = await startFaultyProxy()
    proxy.target = fixture.devnet.rpcUrl
    await proxy.become(async (exchange) => {
      await sleep(333)
      await healthy(exchange)
    })
    const place = { chain: 'ethereum', network: 'far' }
    const config = { rpcUrls: [`http://127.0.0.1:${proxy.port}`] }
    const chain = ethereum.create({ ...place, network: 'local', config, log: { info() {}, warn() {} }, meter: { rpc() {} } })
    const far = { ...venue, ...place, chainImpl: chain as unknown as QuoteVenue['chainImpl'], pricing: pricingOver(chain.reader) }
    const mining = setInterval(() => void fixture.provider.send('evm_mine', []), 250)
    try {
      await market.quotes.quote(far, sell(ether), {}, at())
      const numbers: bigint[] = []
      let waits = 0
      for (let asked = 1n; asked <= 40n; asked += 1n) {
        await sleep(100)
        const given = market.quotes.quote(far, sell(ether + asked), {}, at())
        if (given instanceof Promise) waits += 1
        numbers.push((await given).head.number)
      }
      // If it waited for each block, it would be 16 and more.
      expect(waits).to.be.at.most(8)
      expect((numbers.at(-1) ?? 0n) - (numbers[0] ?? 0n) >= 8n).to.equal(true)
    } finally {
      clearInterval(mining)
      market.following.of(far).stop()
      await chain.stop?.()
      await proxy.stop()
    }
  })

  it('use a pool that is created later', async () => {
    await quote(sell(ether))
    const fresh = await fixture.list('TestToken', 'FRSH', 10n * ether, WETH, ether / 100n)
    await caughtUp()
    const before = await quote({ tokenIn: fresh, tokenOut: DAI, exact: 'in', amountRaw: ether })
    expect(before.route.length).to.equal(2)
    await fixture.pool(fresh.address, 10n * ether, DAI.address, 1000n * ether)
    await caughtUp()
    const after = await quote({ tokenIn: fresh, tokenOut: DAI, exact: 'in', amountRaw: ether })
    expect(after.route.length).to.equal(1)
  })
})
