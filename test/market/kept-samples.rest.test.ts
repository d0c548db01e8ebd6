import { expect } from 'chai'
import { sql } from 'kysely'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { createKeptSamples, gapOf, type KeptSeries } from '../../core/market/kept-samples.ts'
import type { Market } from '../../core/market/market.ts'
import { openMarket } from '../../core/parts/trading.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { addresses } from '../devnet/addresses.ts'
import { oneChain } from '../http/shared-server.ts'
import { onBothStores } from '../store/stores.ts'
import { until } from '../transactions/site.ts'

type Parts = Parameters<typeof openMarket>[0]

const { WETH, USDC } = addresses.tokens
const exchanged = { gives: { [WETH.address]: 10n ** 18n }, gets: { [USDC.address]: 2_000_000_000n } }
/** A fourth of it is what clients without `thin` wait for. */
const windowMinutes = 24
const depth = 100_000

/** Each market is that of a start of its own, with a steady clock of its own, on one store and chain. */
describe('the market after a restart', function () {
  this.timeout(300_000)
  let server: TestServer
  let parts: Parts
  let rpc: Rpc
  let first: Market
  let firstMs = 0
  const opened: Market[] = []

  before(async () => {
    const limits = { 'limits.onLocalNetworks': true, 'limits.marketMinutes': windowMinutes, 'limits.marketDepth': depth }
    server = await startServer(
      { ...oneChain, settings: { ...oneChain.settings, ...limits }, conf: { ...oneChain.conf, 'clients.yml': bounded } },
      undefined,
      {
        market: {
          open: (given) => {
            parts = given
            return (first = openMarket(given, () => firstMs))
          },
          stop: (market) => market.stop(),
        },
      },
    )
    rpc = rpcTo(server.rpcUrl)
  })
  after(async () => {
    for (const market of opened) await market.stop()
    await server?.stop()
  })

  const network = () => {
    const found = parts.registry.networks.find((each) => each.chain === 'ethereum' && each.network === 'local')
    if (!found) throw new Error('no devnet')
    return found
  }
  const compared = (market: Market) => market.compare(network(), exchanged, 'bot')
  const rows = async (): Promise<number> =>
    (await parts.store.read((db) => db.selectFrom('market_samples').select('chain').execute())).length

  /** A start whose clock begins anew. @param with settings that differ */
  function restarted(different: object = {}): { market: Market; read(afterSeconds?: number): Promise<void> } {
    let nowMs = 5_000_000
    const { settings } = parts
    const market = openMarket({ ...parts, settings: { ...settings, limits: { ...settings.limits, ...different } } }, () => nowMs)
    opened.push(market)
    return {
      market,
      async read(afterSeconds = 10) {
        nowMs += afterSeconds * 1000
        await market.read()
      },
    }
  }
  const leftOf = (market: Market) => {
    const found = compared(market)
    return found.is === 'too short' ? found.leftMs / 1000 : found.is
  }

  it('is counted down in /health/ready until it was read for long enough', async () => {
    compared(first)
    for (let minute = 0; minute < 8; minute += 1) {
      await first.read()
      const { body } = await server.client.get('/health/ready')
      expect(body.status).to.equal('ok')
      const left = windowMinutes / 4 - minute
      expect(body.market, `minute ${minute}`).to.deep.equal(
        left > 0 ? [{ chain: 'ethereum', network: 'local', seconds: left * 60 }] : undefined,
      )
      firstMs += 60_000
    }
    expect(compared(first).is).to.equal('priced')
    expect(await rows()).to.be.within(8, 30)
  })

  it('counts from the second reading on, and of it what was read before', async () => {
    const { market, read } = restarted()
    await read()
    expect(leftOf(market)).to.be.within(1, 20)
    await read()
    expect(compared(market).is).to.equal('priced')
    expect(market.warmingUp()).to.deep.equal([])
    // As of the next restart: all of it is this server's own.
    const again = restarted()
    await again.read()
    await again.read()
    expect(compared(again.market).is).to.equal('priced')
  })

  it('counts where heads have no hash and the chain names a block that has one', async () => {
    const { impl: own, ...entry } = network()
    const of = { ...entry, notReady: network().notReady, impl: Object.create(own, { hashedHead: { value: own.head } }) }
    const registry = Object.create(parts.registry, { networks: { value: [of] } })
    const newestHead = async () => ({ number: 0n, timestamp: 0 })
    let nowMs = 5_000_000
    const market = openMarket({ ...parts, registry, following: { ...parts.following, newestHead } }, () => nowMs)
    opened.push(market)
    await market.read()
    expect(market.compare(of, exchanged, 'bot').is).to.equal('too short')
    nowMs += 10_000
    await market.read()
    expect(market.compare(of, exchanged, 'bot').is).to.equal('priced')
  })

  it('does not count with one reading, whatever that says', async () => {
    const { market, read } = restarted()
    await read()
    expect(compared(market).is).to.equal('too short')
    expect(market.valuesNow(network(), [WETH.address], 'lowX')).to.have.property(WETH.address)
  })

  for (const [what, different] of [
    ['another depth', { marketDepth: depth + 1 }],
    ['another reference token', { referenceTokens: ['USDT'] }],
  ] as const)
    it(`begins anew with ${what}`, async () => {
      const { market, read } = restarted(different)
      market.compare(network(), exchanged, 'bot')
      for (let again = 0; again < 3; again += 1) await read()
      expect(leftOf(market)).to.be.above(60)
    })

  it('begins anew with another list of tokens', async () => {
    const of = network()
    const { market, read } = restarted()
    const tokens = Object.create(of.tokens, { listed: { value: [...of.tokens.listed].slice(0, -1) } })
    const registry = Object.create(parts.registry, { networks: { value: [{ ...of, notReady: of.notReady, tokens }] } })
    const other = openMarket({ ...parts, registry }, () => 10_000)
    opened.push(other)
    other.compare(of, exchanged, 'bot')
    for (let again = 0; again < 3; again += 1) await other.read()
    expect(leftOf(other)).to.be.above(60)
    await read()
    await read()
    expect(compared(market).is).to.equal('priced')
  })

  it('begins anew where the second reading comes a minute after the first', async () => {
    const { market, read } = restarted()
    await read()
    await read(61)
    await read()
    expect(leftOf(market)).to.be.above(60)
  })

  /** Of a copy of the rows, which are as they were after it. */
  async function withRows(change: ReturnType<typeof sql>, test: () => Promise<void>): Promise<void> {
    const before = await parts.store.read((db) => db.selectFrom('market_samples').selectAll().execute())
    await parts.store.write((tx) => change.execute(tx))
    try {
      await test()
    } finally {
      await parts.store.write(async (tx) => {
        await tx.deleteFrom('market_samples').execute()
        for (const row of before) await tx.insertInto('market_samples').values(row).execute()
      })
    }
  }

  for (const [what, change] of [
    ['more than a minute by the time of day', sql`update market_samples set clock = clock - 61000`],
    ['a time of day that was set back', sql`update market_samples set clock = clock + 3600000`],
    ['more than a minute by the chain', sql`update market_samples set block_time = block_time - 61`],
    ['a chain whose time was set back', sql`update market_samples set block_time = block_time + 3600`],
    ['minutes in which other servers ran', sql`update market_samples set elapsed = elapsed - 200000`],
    ['another chain', sql`update market_samples set block_hash = ${`0x${'12'.repeat(32)}`}`],
    ['a row that cannot be read', sql`update market_samples set body = '{"x":["zz","1",2]}'`],
  ] as const)
    it(`begins anew after ${what}`, () =>
      withRows(change, async () => {
        const { market, read } = restarted()
        market.compare(network(), exchanged, 'bot')
        for (let again = 0; again < 3; again += 1) await read()
        expect(leftOf(market)).to.be.above(60)
      }))

  it('begins anew where its last block was taken back', async () => {
    const snapshot = await rpc('evm_snapshot')
    await rpc('anvil_mine', 3)
    const mined = Number(await rpc('eth_blockNumber'))
    const newest = async () => Number((await parts.following.newestHead(network(), { signal: AbortSignal.timeout(60_000) })).number)
    await until('the server knows the block', async () => (await newest()) >= mined)
    const before = restarted()
    await before.read()
    await before.read()
    expect(compared(before.market).is).to.equal('priced')
    await withRows(
      sql`delete from market_samples where series <> (select series from market_samples order by clock desc, at desc limit 1)`,
      async () => {
        await rpc('evm_revert', snapshot)
        await rpc('anvil_setCoinbase', `0x${'0'.repeat(38)}aa`)
        await rpc('anvil_mine', 8)
        await until('the server knows the other blocks', async () => (await newest()) > mined)
        const { market, read } = restarted()
        for (let again = 0; again < 3; again += 1) await read()
        expect(leftOf(market)).to.be.above(60)
      },
    )
  })
})

const bounded = { clients: { client: { permissions: ['read', 'trade', 'admin'], wallets: 'all' } } }

describe('the time between the last reading before a restart and the first one after it', () => {
  const kept: KeptSeries = {
    series: 'one',
    samples: [],
    block: { number: 7n, hash: '0x1', timestamp: 1_000 },
    ago: { clockMs: 20_000, elapsedMs: 0 },
  }
  const at = (timestamp: number, number = 8n) => ({ number, hash: '0x2', timestamp })

  it('is the longer of what the time of day and the chain say', () => {
    expect(gapOf(kept, 10_000, at(1_024))).to.equal(30_000)
    expect(gapOf(kept, 10_000, at(1_036))).to.equal(36_000)
  })

  it('is at most a minute by each clock', () => {
    expect(gapOf(kept, 40_000, at(1_060))).to.equal(60_000)
    expect(gapOf(kept, 40_001, at(1_060))).to.equal(undefined)
    expect(gapOf(kept, 40_000, at(1_061))).to.equal(undefined)
    expect(gapOf({ ...kept, ago: { clockMs: -1, elapsedMs: 0 } }, 10_000, at(1_024))).to.equal(undefined)
    expect(gapOf(kept, 10_000, at(999))).to.equal(undefined)
    expect(gapOf(kept, 10_000, at(1_024, 6n))).to.equal(undefined)
    expect(gapOf({ ...kept, ago: { clockMs: 20_000, elapsedMs: 180_001 } }, 0, at(1_024))).to.equal(undefined)
  })
})

describe('samples of markets in the store', () => {
  onBothStores((place) => {
    it('are those of the longest series that goes on until now, and of the same terms', async () => {
      const store = await place().open()
      const on = { chain: 'ethereum', network: 'mainnet' }
      const block = { number: 7n, hash: '0x1', timestamp: 1_000 }
      const values = new Map([['weth', { lowX: 10n ** 30n, highX: 10n ** 30n + 1n, sources: 2 }]])
      const [long, short] = [createKeptSamples(store, 600_000), createKeptSamples(store, 600_000)]
      expect(await long.isEmpty()).to.equal(true)
      for (const atMs of [0, 10_000, 20_000]) await long.write(on, { terms: 'same', atMs, values, block })
      await short.write(on, { terms: 'same', atMs: 500, values, block })
      expect(await long.isEmpty()).to.equal(false)
      const found = await short.read(on, 'same')
      expect(found?.samples).to.deep.equal([20_000, 10_000, 0].map((beforeLastMs) => ({ beforeLastMs, values })))
      expect(found?.block).to.deep.equal(block)
      expect(found?.ago.clockMs).to.be.within(0, 60_000)
      expect(await short.read(on, 'other')).to.equal(undefined)
      expect(await short.read({ ...on, network: 'sepolia' }, 'same')).to.equal(undefined)
      if (found) await short.adopt(on, found, 400)
      const own = (await store.read((db) => db.selectFrom('market_samples').select('at').orderBy('at').execute())).map(({ at }) => at)
      expect(own).to.deep.equal([-19_600, -9_600, 0, 400, 500, 10_000, 20_000])
      await store.write((tx) => tx.updateTable('market_samples').set({ clock: 1 }).execute())
      expect(await short.read(on, 'same')).to.equal(undefined)
    })
  })
})
