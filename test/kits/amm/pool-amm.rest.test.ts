import { expect } from 'chai'
import { getIcapAddress } from 'ethers'
import type { AMM, Swap, Venue } from '../../../core/contracts/index.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import { poolAMM, type PoolExchange, type PoolProtocol } from '../../../kits/amm/index.ts'
import { uniswapV2 } from '../../../kits/amm/v2/index.ts'
import { uniswapV3 } from '../../../kits/amm/v3/index.ts'
import { v2Deployments, v3Deployments } from '../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../devnet/addresses.ts'
import { keptByLogs } from './kept-by-logs.ts'
import { rejection } from './v2/rejection.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from './devnet-fixture.ts'

const { WETH, USDC, DAI, WBTC, USDT } = tokens
const contracts = {
  v2RouterAddress: addresses.exchanges.uniswap.router,
  v3RouterAddress: addresses.rangeExchanges.uniswap.router,
  positionManagerAddress: addresses.rangeExchanges.uniswap.positionManager,
}
const v2Options = { version: 'v2', fee: [3n, 1000n], deployments: v2Deployments } as const
const v3Options = { deployments: v3Deployments, mixedWith: { version: 'v2', deployments: v2Deployments } }
const sell = { tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n } as const

describe('an exchange with several kinds of pools', () => {
  let fixture: DevnetFixture
  let amm: AMM<Evm> & { readonly spenders: Readonly<Record<string, string>> }

  const both = (venue: Venue<Evm>) => poolAMM(venue, uniswapV2(venue, v2Options), uniswapV3(venue, v3Options))

  before(async () => {
    fixture = await openDevnetFixture()
    amm = both(fixture.venue(contracts))
  })
  after(() => fixture.close())

  it('names its versions, and its routers as spenders', () => {
    expect(amm.versions).to.deep.equal(['v2', 'v3'])
    expect(amm.spenders).to.deep.equal({ v2: contracts.v2RouterAddress, v3: contracts.v3RouterAddress })
  })

  it('has no versions if there is only one and the configuration names none', () => {
    const alone = fixture.venue({ routerAddress: contracts.v2RouterAddress })
    expect(poolAMM(alone, uniswapV2(alone, { ...v2Options, version: undefined })).versions).to.deep.equal([])
    const listed = { ...fixture.venue(contracts), config: { versions: { v2: {} } } }
    expect(poolAMM(listed, uniswapV2(listed, v2Options)).versions).to.deep.equal(['v2'])
  })

  it('leaves out versions that the configuration does not list, and needs no addresses of them', async () => {
    const { v3RouterAddress, positionManagerAddress } = contracts
    const listed = both({ ...fixture.venue({ v3RouterAddress, positionManagerAddress }), config: { versions: { v3: {} } } })
    expect([listed.versions, Object.keys(listed.spenders)]).to.deep.equal([['v3'], ['v3']])
    expect((await listed.quote({ ...sell, tokenOut: USDT }, {}, at())).route.every(({ version }) => version === 'v3')).to.equal(true)
    expect(() => both({ ...fixture.venue(contracts), config: { versions: { v9: {} } } })).to.throw(/No router of the exchange trades/)
  })

  for (const exact of ['in', 'out'] as const) {
    it(`quotes the better version, or the requested one (exact ${exact})`, async () => {
      const swap: Swap = { ...sell, exact, amountRaw: exact === 'in' ? 10n ** 19n : 10n ** 10n }
      const [best, v2, v3] = await Promise.all([{}, { version: 'v2' }, { version: 'v3' }].map((choice) => amm.quote(swap, choice, at())))
      expect(v2?.route.map(({ version }) => version)).to.deep.equal(['v2'])
      expect([v2?.spender, v3?.spender]).to.deep.equal([contracts.v2RouterAddress, contracts.v3RouterAddress])
      expect(best?.amountRaw).to.equal(v3?.amountRaw)
      expect(exact === 'in' ? (v3?.amountRaw ?? 0n) > (v2?.amountRaw ?? 0n) : (v3?.amountRaw ?? 0n) < (v2?.amountRaw ?? 0n)).to.equal(true)
    })
  }

  it('plans with the router of the quote', async () => {
    const terms = { recipient: fixture.trader.address, boundRaw: 1n, deadline: 9 }
    for (const version of ['v2', 'v3']) {
      const quote = await amm.quote(sell, { version }, at())
      expect(amm.swap(quote, terms).steps.map(({ to }) => to)).to.deep.equal([amm.spenders[version]])
    }
  })

  it('reads all kinds of pools by one call at one block for each quote', async () => {
    for (const [tokenIn, tokenOut] of [
      [WETH, USDC],
      [DAI, WBTC],
      [fixture.chain.nativeCurrency, USDT],
    ] as const) {
      const before = fixture.counted.rpc
      for (const version of [undefined, 'v2', 'v3'])
        await amm.quote({ tokenIn, tokenOut, exact: 'in', amountRaw: 10n ** 18n / 10n ** BigInt(18 - tokenIn.decimals) }, { version }, at())
      expect(fixture.counted.rpc - before).to.equal(3)
    }
  })

  it('reads missing state that a swap needs, and reads it at once the next time', async () => {
    const venue = fixture.venue(contracts)
    const v2 = uniswapV2(venue, v2Options)
    const reserved = (protocol: PoolProtocol): PoolProtocol => {
      let whole = false
      return {
        ...protocol,
        read(pairs, missing) {
          whole = missing.length > 0
          return protocol.read(pairs, missing)
        },
        pass: (...asked) => (whole ? protocol.pass(...asked) : { missing: 'all' }),
      }
    }
    const fresh = poolAMM(venue, { ...v2, protocols: v2.protocols.map(reserved) })
    const calls = async () => {
      const before = fixture.counted.rpc
      await fresh.quote(sell, {}, at())
      return fixture.counted.rpc - before
    }
    expect([await calls(), await calls()]).to.deep.equal([2, 1])
  })

  it('does not read more for others because one request asked for more than there is', async () => {
    const venue = fixture.venue(contracts)
    const v3 = uniswapV3(venue, v3Options)
    const farther: number[] = []
    const watched = (protocol: PoolProtocol): PoolProtocol => ({
      ...protocol,
      read(pairs, missing) {
        farther.push(missing.length)
        return protocol.read(pairs, missing)
      },
    })
    const fresh = poolAMM(venue, { ...v3, protocols: v3.protocols.map(watched) })
    // More than all positions take.
    const large = { ...sell, amountRaw: 100_000n * 10n ** 18n }
    expect(await rejection(fresh.quote(large, {}, at()))).to.include({ name: 'PRICE_FAILED' })
    expect(farther.length).to.be.within(2, 4)
    await fresh.quote(sell, {}, at())
    expect(farther.at(-1)).to.equal(0)
  })

  it('gives up on a pool whose state stays missing although it was read', async () => {
    const venue = fixture.venue(contracts)
    const wanting = (protocol: PoolProtocol): PoolProtocol => ({ ...protocol, pass: () => ({ missing: 'all' }) })
    const v2 = uniswapV2(venue, v2Options)
    const never: PoolExchange = { ...v2, protocols: v2.protocols.map(wanting) }
    const before = fixture.counted.rpc
    expect(await rejection(poolAMM(venue, never).quote(sell, {}, at()))).to.include({ name: 'PRICE_FAILED' })
    expect(fixture.counted.rpc - before).to.equal(4)
    // With others that are able, it is passed over.
    const quote = await poolAMM(venue, never, uniswapV3(venue, v3Options)).quote(sell, {}, at())
    expect(quote.route.map(({ version }) => version)).to.deep.equal(['v3'])
  })

  it('does not read missing state of a pool that cannot be the best', async () => {
    const venue = fixture.venue(contracts)
    const v2 = uniswapV2(venue, v2Options)
    const hopeless = (protocol: PoolProtocol): PoolProtocol => ({ ...protocol, pass: () => ({ missing: 'all', atBestRaw: 1n }) })
    const amm = poolAMM(venue, { ...v2, protocols: v2.protocols.map(hopeless) }, uniswapV3(venue, { deployments: v3Deployments }))
    const before = fixture.counted.rpc
    await amm.quote(sell, {}, at())
    expect(fixture.counted.rpc - before).to.equal(1)
  })

  it('refuses quotes if a router belongs to another exchange, but not those of its other versions', async () => {
    const misled = both(fixture.venue({ ...contracts, v3RouterAddress: addresses.exchanges.sushiswap.router }))
    const error = await rejection(misled.quote(sell, {}, at()))
    expect(error).to.include({ name: 'SERVICE_UNINITIALIZED' })
    expect(error.message).to.contain(addresses.exchanges.sushiswap.router)
    expect((await misled.quote(sell, { version: 'v2' }, at())).spender).to.equal(contracts.v2RouterAddress)
  })

  it('says between which tokens there is no route', async () => {
    const alone = { symbol: 'ALONE', address: '0x00000000000000000000000000000000000000AA', decimals: 18 }
    const error = await rejection(amm.quote({ ...sell, tokenIn: alone }, { version: 'v3' }, at()))
    expect(error).to.include({ name: 'PRICE_FAILED' })
    expect(error.message).to.match(/no pool of version v3 from ALONE to USDC, .* Leave version out, or try another connector/)
    const nowhere = {
      ...v2Options,
      deployments: { 'ethereum/local': { ...v2Deployments['ethereum/local'], initCodeHash: `0x${'0'.repeat(64)}` } },
    }
    const venue = fixture.venue(contracts)
    expect(await rejection(poolAMM(venue, uniswapV2(venue, nowhere)).quote(sell, {}, at()))).to.include({ name: 'PAIR_NOT_FOUND' })
  })

  it('says that a pool or a router reverts, as while it is paused, and calls no address wrong', async () => {
    const venue = fixture.venue(contracts)
    const onV2 = () => poolAMM(venue, uniswapV2(venue, v2Options))
    const fresh = onV2()
    const lonely = await fixture.list('TestToken', 'LONELY', 10n ** 18n, WETH, 10n ** 18n)
    const swap: Swap = { tokenIn: lonely, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 9n }
    const [{ pool } = { pool: '' }] = (await fresh.quote(swap, {}, at())).route
    const { provider } = fixture
    // Bytecode that reverts whatever is called: PUSH1 0, PUSH1 0, REVERT.
    const paused = async (address: string, act: () => Promise<void>) => {
      const code = await provider.getCode(address)
      await provider.send('anvil_setCode', [address, '0x60006000fd'])
      await act()
      await provider.send('anvil_setCode', [address, code])
    }
    await paused(pool, async () => {
      const memory = await keptByLogs(fixture, fresh, [lonely, WETH])
      const head = await fixture.chain.head(at())
      const errors = [
        await rejection(fresh.quote(swap, {}, at())),
        await rejection(fresh.quote(swap, { pool }, at())),
        await rejection((async () => fresh.followed?.quote(swap, {}, [...memory.states.values()], head, 0))()),
      ]
      for (const { message } of errors) {
        expect(message).to.contain(`The contract ${pool} exists, and reverts when it is read: the exchange may have paused it`)
        expect(message).not.to.contain('wrong address')
      }
    })
    await paused(contracts.v2RouterAddress, async () => {
      const { name, message } = await rejection(onV2().quote(swap, {}, at()))
      expect([name, message]).to.deep.equal([
        'SERVICE_UNINITIALIZED',
        `The configured router ${contracts.v2RouterAddress} reverts when its factory() is called: it may be paused, then wait. If it is not paused, it is another contract: correct contractAddresses in the connector's configuration.`,
      ])
    })
    expect((await fresh.quote(swap, {}, at())).route.map((hop) => hop.pool)).to.deep.equal([pool])
  })

  it('asks the node for the tokens of a pool by its address only: a node that refuses other spellings is not to blame', async () => {
    const [{ pool } = { pool: '' }] = (await amm.quote(sell, { version: 'v2' }, at())).route
    const sorted = BigInt(WETH.address) < BigInt(USDC.address) ? [WETH.address, USDC.address] : [USDC.address, WETH.address]
    for (const spelling of [pool, pool.toLowerCase()]) expect(await amm.poolTokens?.(spelling, at())).to.deep.equal(sorted)
    const before = fixture.counted.rpc
    const wrongChecksum = `0x${pool.slice(2).replace(/[a-f]/i, (letter) => (/[a-f]/.test(letter) ? letter.toUpperCase() : letter.toLowerCase()))}`
    for (const spelling of [getIcapAddress(pool), pool.slice(2), pool.slice(2).toLowerCase(), ` ${pool}`, wrongChecksum, ''])
      expect(await amm.poolTokens?.(spelling, at()), spelling).to.equal(undefined)
    expect(fixture.counted.rpc).to.equal(before)
  })

  it('recognises a token with a fee on transfer by a loan from any kind of pool', async () => {
    const taxed = await fixture.list('FeeOnTransferToken', 'TAX', 1000n * 10n ** 18n, WETH, 10n ** 18n)
    const error = await rejection(amm.quote({ tokenIn: taxed, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 17n }, {}, at()))
    expect(error).to.include({ name: 'TOKEN_NOT_SUPPORTED' })
  })
})
