import { expect } from 'chai'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { newClient } from '../../../core/tls/certificates.ts'
import {
  admins,
  atNode,
  local,
  mined,
  noted,
  oneChain,
  others,
  sendAgain,
  takenOut,
  traders,
  uniswap,
  withoutBlocks,
} from '../../http/shared-server.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { until } from '../../transactions/site.ts'
import { type Bot, botsOf, chainNetwork, cuttablePost, decimals, numbers, texts } from './bot.ts'

const venue = { chainNetwork, connector: 'uniswap' }
const older = { network: 'local' }
const listed = {
  client: { permissions: ['read', 'trade'], wallets: 'all' },
  trader: { permissions: ['read', 'trade'], wallets: [traders] },
}

/** What clients need of a position: without one of these they stop. */
const amountsOfPosition = ['baseTokenAmount', 'quoteTokenAmount', 'baseFeeAmount', 'quoteFeeAmount', 'lowerPrice', 'upperPrice', 'price']

describe('liquidity of Hummingbot’s clients', function () {
  this.timeout(300_000)
  let server: TestServer
  let bot: Bot
  let trader: Bot
  let rpc: ReturnType<typeof rpcTo>
  const { botOf, close } = botsOf(() => server)

  before(async () => {
    server = await startServer({
      ...oneChain,
      // An open and a close may take longer than other requests.
      settings: { ...oneChain.settings, 'server.requestTimeoutSeconds': 14 },
      conf: {
        ...oneChain.conf,
        'clients.yml': { clients: listed },
        'interfaces/hummingbot.yml': { port: 0, receiptSeconds: 12, positionSeconds: 18, staleSeconds: 60, collectSeconds: 60 },
      },
    })
    rpc = rpcTo(server.rpcUrl)
    await newClient(server.certsDir, 'trader')
    bot = botOf()
    trader = botOf('trader')
    for (const address of [admins, others]) await submitted('/evm/wrap', { address, amount: '50' })
    await submitted('/evm/approve', { address: others, spender: 'uniswap', token: 'WETH' })
    for (const token of ['WETH', 'USDC'])
      for (const spender of ['uniswap/v2', 'uniswap/positions', 'uniswap/v4Positions', 'pancakeswap/positions', 'sushiswap/positions'])
        await submitted('/evm/approve', { address: admins, spender, token })
  })
  after(async () => {
    close()
    await server?.stop()
  })

  async function submitted(path: string, fields: object) {
    const { status, text, body } = await server.client.post(path, { ...local, ...fields })
    expect(status, text).to.equal(200)
    return (await mined(server.client, body.txHash)).body.fill
  }
  async function poolsOf(version: string, connector = 'uniswap'): Promise<{ pool: string; fee: string }[]> {
    const { body } = await server.client.get('/amm/pools', { ...local, connector, base: 'WETH', quote: 'USDC', version })
    return body.pools
  }

  /** A tenth of its price to both sides. */
  const around = ({ price }: { price: string }) => ({ lowerPrice: Number(price) * 0.9, upperPrice: Number(price) * 1.1 })

  /** Made by the server's own interface. */
  async function position(version: string): Promise<{ address: string; pool: string }> {
    const [{ pool } = { pool: '' }] = await poolsOf(version)
    const { token0, token1, price } = (await server.client.post('/amm/liquidity/price', { ...uniswap, pool })).body
    const [lowerPrice, upperPrice] = Object.values(around({ price })).map(String)
    const amounts = Number(price) < 1 ? { amount0: '300', amount1: '0.1' } : { amount0: '0.1', amount1: '300' }
    const range = { token0, token1, pool, lowerPrice, upperPrice, ...amounts }
    const { tokenId } = await submitted('/amm/liquidity/add', { ...uniswap, address: admins, ...range })
    return { address: version === 'v3' ? tokenId : `${version}:${tokenId}`, pool }
  }

  describe('pools with ranges', () => {
    it('have their ticks as bins and their own order of tokens, in both generations', async () => {
      for (const [connector, version] of [
        ['uniswap', 'v3'],
        ['uniswap', 'v4'],
        ['pancakeswap', 'v3'],
      ] as const)
        for (const { pool, fee } of await poolsOf(version, connector)) {
          const info = await bot.get('/trading/clmm/pool-info', { chainNetwork, connector, poolAddress: pool })
          const own = (await server.client.post('/amm/liquidity/price', { ...local, connector, pool })).body
          texts(info, 'address', 'baseTokenAddress', 'quoteTokenAddress')
          decimals(info, 'price', 'feePct', 'baseTokenAmount', 'quoteTokenAmount')
          numbers(info, 'activeBinId', 'binStep')
          expect(info).to.include({ address: pool, baseTokenAddress: own.token0, quoteTokenAddress: own.token1, activeBinId: own.tick })
          expect(Number(info.feePct)).to.be.closeTo(Number(fee) * 100, 1e-9)
          expect(Number(info.quoteTokenAmount) / Number(info.baseTokenAmount)).to.be.closeTo(Number(info.price), Number(info.price) / 1e4)
          expect(await bot.get(`/connectors/${connector}/clmm/pool-info/`, { ...older, poolAddress: pool })).to.deep.equal(info)
        }
    })

    it('are refused with another status than 404, which clients read as gone', async () => {
      for (const fields of [
        { poolAddress: admins },
        { connector: 'nothing', poolAddress: admins },
        { connector: 'sluice', poolAddress: admins },
      ]) {
        const { status, body } = await bot.refusal('GET', '/trading/clmm/pool-info', { ...venue, ...fields })
        expect([status, body.code], body.message).to.deep.equal([400, 'INVALID_PARAMS'])
      }
    })
  })

  describe('positions', () => {
    for (const version of ['v3', 'v4'])
      it(`of ${version} have every field that clients need, alone and in the list`, async () => {
        const { address, pool } = await position(version)
        const info = await bot.get('/trading/clmm/position-info', { ...venue, positionAddress: address })
        expect(info).to.include({ address, poolAddress: pool })
        texts(info, 'address', 'poolAddress', 'baseTokenAddress', 'quoteTokenAddress')
        decimals(info, ...amountsOfPosition)
        expect(Number.isInteger(info.lowerBinId) && Number.isInteger(info.upperBinId) && info.lowerBinId < info.upperBinId).to.equal(true)
        expect(Number(info.lowerPrice) < Number(info.price) && Number(info.price) < Number(info.upperPrice)).to.equal(true)
        expect(await bot.get('/connectors/uniswap/clmm/position-info', { ...older, positionAddress: address })).to.deep.equal(info)
        const owned = await bot.get('/trading/clmm/positions-owned', { ...venue, walletAddress: admins })
        expect(owned).to.deep.include(info)
        const ofPool = await bot.get('/connectors/uniswap/clmm/positions-owned', { ...older, walletAddress: admins, poolAddress: admins })
        expect(ofPool).to.deep.equal([])
      })

    it('are gone only once that is final, and in the words that clients look for', async () => {
      const { address } = await position('v3')
      const asked = { ...venue, positionAddress: address }
      const close = async () => bot.refusal('POST', '/trading/clmm/close', { ...asked, walletAddress: admins })
      // No block by the clock makes it final meanwhile.
      await rpc('evm_setIntervalMining', 0)
      try {
        const burnt = { ...uniswap, address: admins, tokenId: address, burn: true }
        const { text, body: removal } = await server.client.post('/amm/liquidity/remove', burnt)
        expect(removal, text).to.have.property('txHash')
        await atNode(rpc, removal.txHash)
        await rpc('evm_mine')
        await mined(server.client, removal.txHash)
        for (const look of [async () => bot.refusal('GET', '/trading/clmm/position-info', asked), close]) {
          const { status, body } = await look()
          expect(status).to.equal(503)
          expect(body.message).not.to.match(/position not found|position closed|does not exist|not found/)
        }
        await rpc('anvil_mine', 3)
        // The journal learns a moment later that its open is final.
        let refused = await bot.refusal('GET', '/trading/clmm/position-info', asked)
        await until('it is final', async () => {
          refused = await bot.refusal('GET', '/trading/clmm/position-info', asked)
          return refused.status !== 503
        })
        for (const { status, body } of [refused, await close()]) {
          expect(status).to.equal(404)
          expect(body.message).to.contain('position closed')
        }
      } finally {
        await rpc('evm_setIntervalMining', 1)
      }
    })

    it('are refused to who may not use their wallet, and by addresses that are none', async () => {
      const { address } = await position('v3')
      expect((await trader.refusal('GET', '/trading/clmm/position-info', { ...venue, positionAddress: address })).status).to.equal(403)
      for (const positionAddress of ['a b', `0x${'12'.repeat(32)}`, 'v9:1'])
        expect((await bot.refusal('GET', '/trading/clmm/position-info', { ...venue, positionAddress })).status, positionAddress).to.equal(
          400,
        )
    })
  })

  describe('changes', () => {
    const balances = async (): Promise<Record<string, string>> =>
      (await server.client.post('/network/balances', { ...local, address: admins, tokenSymbols: ['WETH', 'USDC', 'ETH'] })).body.balances
    const changes = async (): Promise<{ txHash: string }[]> =>
      (await server.client.get('/transactions', { kind: 'liquidity', limit: '200' })).body.transactions.filter(
        ({ txHash }: { txHash: string | null }) => txHash !== null,
      )
    const signed = async (count: number) => until('it is signed', async () => (await changes()).length === count)

    /** What opens a position around the price of the deepest pool, and the pool. */
    async function opening(version: string, connector = 'uniswap') {
      const [{ pool } = { pool: '' }] = await poolsOf(version, connector)
      const info = await bot.get('/trading/clmm/pool-info', { chainNetwork, connector, poolAddress: pool })
      const amounts =
        Number(info.price) < 1 ? { baseTokenAmount: 300, quoteTokenAmount: 0.1 } : { baseTokenAmount: 0.1, quoteTokenAmount: 300 }
      return { info, body: { chainNetwork, connector, walletAddress: admins, poolAddress: pool, ...around(info), ...amounts } }
    }
    /** It reverts: a larger swap in the block before it moves the price past its bound. */
    async function overtaken(path: string, body: object): Promise<void> {
      const before = (await changes()).length
      await withoutBlocks(rpc, async () => {
        const refused = bot.refusal('POST', path, body)
        await signed(before + 1)
        const [{ txHash } = { txHash: '' }] = await changes()
        const bytes = await takenOut(rpc, txHash)
        const [pool] = await poolsOf('v3')
        const trade = { ...uniswap, base: 'WETH', quote: 'USDC', side: 'SELL', amount: '20', pool: pool?.pool, address: others }
        const { status, text, body: moved } = await server.client.post('/amm/trade', trade)
        expect(status, text).to.equal(200)
        await atNode(rpc, moved.txHash)
        await rpc('evm_mine')
        await sendAgain(rpc, bytes)
        await rpc('anvil_mine', 3)
        expect((await refused).body).to.include({ code: 'SLIPPAGE_EXCEEDED' })
      })
    }
    /** Without amounts, and nothing is signed: 503 until it is final that the position is gone. */
    async function refusedAsClosed(close: object, path = '/trading/clmm/close'): Promise<void> {
      const before = (await changes()).length
      const { status, body } = await bot.refusal('POST', path, close)
      expect([status, body.message].join(' ')).to.match(/^(404 position closed: .*is gone|503 .*not there at this block)/)
      expect((await changes()).length).to.equal(before)
    }
    const symbols = (info: { price: string }) => (Number(info.price) < 1 ? ['USDC', 'WETH'] : ['WETH', 'USDC'])

    for (const [connector, version] of [
      ['uniswap', 'v3'],
      ['uniswap', 'v4'],
      ['pancakeswap', 'v3'],
      ['sushiswap', 'v3'],
    ] as const)
      it(`open, add, collect, remove and close on ${connector} ${version}, with the amounts of the receipts`, async () => {
        const { info, body } = await opening(version, connector)
        const [base = '', quote = ''] = symbols(info)
        const before = await balances()
        const opened = await bot.post('/trading/clmm/open', body)
        expect(opened.status, JSON.stringify(opened)).to.equal(1)
        texts(opened, 'signature')
        decimals(opened.data, 'baseTokenAmountAdded', 'quoteTokenAmountAdded', 'positionRent', 'fee')
        const { positionAddress } = opened.data
        expect(positionAddress).to.match(version === 'v4' ? /^v4:\d+$/ : /^\d+$/)
        const afterOpen = await balances()
        const paid = (symbol: string) => Number(before[symbol]) - Number(afterOpen[symbol])
        if (version !== 'v4') {
          expect(paid(base)).to.be.closeTo(Number(opened.data.baseTokenAmountAdded), 1e-6)
          expect(paid(quote)).to.be.closeTo(Number(opened.data.quoteTokenAmountAdded), 1e-6)
        }
        const of = { chainNetwork, connector, walletAddress: admins, positionAddress }
        const shown = await bot.get('/trading/clmm/position-info', { chainNetwork, connector, positionAddress })
        expect(Number(shown.lowerPrice)).to.be.closeTo(body.lowerPrice, body.lowerPrice / 50)
        expect(Number(shown.upperPrice)).to.be.closeTo(body.upperPrice, body.upperPrice / 50)

        const { baseTokenAmount, quoteTokenAmount } = body
        const added = await bot.post('/trading/clmm/add', { ...of, baseTokenAmount, quoteTokenAmount, slippagePct: 0.5 })
        decimals(added.data, 'baseTokenAmountAdded', 'quoteTokenAmountAdded', 'fee')
        const fees = await bot.post('/trading/clmm/collect-fees', of)
        decimals(fees.data, 'baseFeeAmountCollected', 'quoteFeeAmountCollected', 'fee')
        const part = await bot.post(`/connectors/${connector}/clmm/remove-liquidity`, { ...of, network: 'local', percentageToRemove: 50 })
        decimals(part.data, 'baseTokenAmountRemoved', 'quoteTokenAmountRemoved', 'fee')
        expect(Number(part.data.baseTokenAmountRemoved)).to.be.closeTo(
          (Number(opened.data.baseTokenAmountAdded) + Number(added.data.baseTokenAmountAdded)) / 2,
          Number(opened.data.baseTokenAmountAdded) / 100,
        )

        const closed = await bot.post('/trading/clmm/close', of)
        expect(closed.status).to.equal(1)
        decimals(closed.data, 'baseTokenAmountRemoved', 'quoteTokenAmountRemoved', 'positionRentRefunded', 'fee')
        if (version === 'v3') decimals(closed.data, 'baseFeeAmountCollected', 'quoteFeeAmountCollected')
        const end = await balances()
        if (version !== 'v4') expect(Number(before[base]) - Number(end[base])).to.be.within(0, 1e-5)
        // Who asks again would book the amounts twice: with any slippage, in any generation, and however the id is spelt.
        const spelt = positionAddress.replace(/\d+$/, '00$&')
        await refusedAsClosed({ ...of, positionAddress: spelt })
        await refusedAsClosed({ ...of, slippagePct: 1.25 })
        await refusedAsClosed({ ...of, network: 'local' }, `/connectors/${connector}/clmm/close-position`)
      })

    it('answer an open without a receipt with a handle, by which every path knows the position from then on', async () => {
      const { body } = await opening('v3')
      const before = (await changes()).length
      const opened = await withoutBlocks(rpc, async () => {
        const answer = await bot.post('/trading/clmm/open', body)
        expect(answer).to.deep.equal({ signature: answer.signature, data: { positionAddress: answer.signature } })
        const asked = { ...venue, positionAddress: answer.data.positionAddress }
        expect((await bot.refusal('GET', '/trading/clmm/position-info', asked)).status).to.equal(503)
        expect((await bot.refusal('POST', '/trading/clmm/close', { ...asked, walletAddress: admins })).status).to.equal(503)
        return answer
      })
      await noted(server.client, opened.signature)
      const { positionAddress } = opened.data
      const shown = await bot.get('/trading/clmm/position-info', { ...venue, positionAddress })
      expect(shown.address).to.match(/^\d+$/)
      const of = { ...venue, walletAddress: admins, positionAddress }
      const closed = await bot.post('/trading/clmm/close', of)
      expect(closed.status).to.equal(1)
      await refusedAsClosed({ ...of, positionAddress: shown.address })
      expect((await changes()).length).to.equal(before + 2)
    })

    it('close once while the first is under way, and after its answer was lost', async () => {
      const { body } = await opening('v3')
      const { positionAddress } = (await bot.post('/trading/clmm/open', body)).data
      const close = { ...venue, walletAddress: admins, positionAddress }
      const before = (await changes()).length
      await withoutBlocks(rpc, async () => {
        const lost = cuttablePost(new URL('/trading/clmm/close', server.kernel.interfaceUrls['hummingbot']), server.certsDir, close)
        await signed(before + 1)
        const otherwise = { ...close, walletAddress: admins.toLowerCase(), slippagePct: 0.25 }
        const both = [otherwise, close].map((each) => bot.refusal('POST', '/trading/clmm/close', each))
        lost.cut()
        await lost.answer
        // Clients book what an answer without amounts has not, as nothing.
        for (const { status, body: refused } of await Promise.all(both)) expect([status, refused.name]).to.deep.equal([503, 'TIMEOUT'])
      })
      const answer = await bot.post('/trading/clmm/close', close)
      const [{ txHash } = { txHash: '' }] = await changes()
      expect([answer.signature, answer.status]).to.deep.equal([txHash, 1])
      await refusedAsClosed({ ...close, slippagePct: 0.25 })
      expect((await bot.refusal('GET', '/trading/clmm/position-info', { ...venue, positionAddress })).status).to.be.oneOf([404, 503])
      decimals(answer.data, 'baseTokenAmountRemoved', 'quoteTokenAmountRemoved', 'baseFeeAmountCollected', 'quoteFeeAmountCollected')
      expect((await changes()).length).to.equal(before + 1)
    })

    it('open one position for an answer that was lost, and another for each that was delivered', async () => {
      const { body } = await opening('v3')
      const before = (await changes()).length
      await withoutBlocks(rpc, async () => {
        const otherwise = { ...body, slippagePct: '5e-01' }
        const lost = cuttablePost(new URL('/trading/clmm/open', server.kernel.interfaceUrls['hummingbot']), server.certsDir, otherwise)
        await signed(before + 1)
        lost.cut()
        await lost.answer
      })
      const [{ txHash } = { txHash: '' }] = await changes()
      const first = await bot.post('/trading/clmm/open', { ...body, slippagePct: 0.5 })
      expect([first.signature, first.status]).to.deep.equal([txHash, 1])
      const second = await bot.post('/trading/clmm/open', body)
      expect(second.data.positionAddress).not.to.equal(first.data.positionAddress)
      expect((await changes()).length).to.equal(before + 2)
    })

    it('close anew after a close that the chain reverted, with the slippage that the client asks for then', async () => {
      const { body } = await opening('v3')
      const { positionAddress } = (await bot.post('/trading/clmm/open', body)).data
      const close = { ...venue, walletAddress: admins, positionAddress }
      const before = (await changes()).length
      for (let times = 1; times <= 2; times += 1) {
        await overtaken('/trading/clmm/close', { ...close, slippagePct: 0.01 })
        expect((await changes()).length).to.equal(before + times)
      }
      const closed = await bot.post('/trading/clmm/close', { ...close, slippagePct: 0.5 })
      expect(closed.status).to.equal(1)
      await refusedAsClosed({ ...close, slippagePct: 0.01 })
      expect((await changes()).length).to.equal(before + 3)
    })

    it('have the code of slippage only where the price was past the bound', async () => {
      const { body } = await opening('v3')
      const before = (await changes()).length
      await overtaken('/trading/clmm/open', { ...body, slippagePct: 0.01 })
      const wrong = await bot.refusal('POST', '/trading/clmm/open', { ...body, lowerPrice: body.upperPrice, upperPrice: body.lowerPrice })
      expect([wrong.status, wrong.body.code]).to.deep.equal([400, 'INVALID_PARAMS'])
      const poor = await bot.refusal('POST', '/trading/clmm/open', { ...body, baseTokenAmount: 1e12, quoteTokenAmount: 1e12 })
      expect(poor.body.code).to.equal('INSUFFICIENT_BALANCE')
      expect((await changes()).length).to.equal(before + 1)
    })

    it('have the slippage that their client has set, where they name none, and a small one in any spelling', async () => {
      const { body } = await opening('v3')
      const asked = async () =>
        (await server.client.get('/transactions', { kind: 'liquidity', limit: '1' })).body.transactions[0].request.fields
      await bot.post('/config/update', { namespace: 'uniswap', path: 'slippagePct', value: 0.25 })
      try {
        const { positionAddress } = (await bot.post('/trading/clmm/open', body)).data
        expect(await asked()).to.include({ allowedSlippage: '250000/100000000' })
        await bot.post('/trading/clmm/remove', {
          ...venue,
          walletAddress: admins,
          positionAddress,
          percentageToRemove: '1E1',
          slippagePct: '5e-05',
        })
        expect(await asked()).to.include({ allowedSlippage: '50/100000000', decreasePercent: '10' })
      } finally {
        await bot.post('/config/update', { namespace: 'uniswap', path: 'slippagePct', value: 1 })
      }
    })

    it('are refused to who may not use the wallet', async () => {
      const { body } = await opening('v3')
      expect((await trader.refusal('POST', '/trading/clmm/open', body)).status).to.equal(403)
      const { address } = await position('v3')
      for (const path of ['close', 'collect-fees'])
        expect(
          (await trader.refusal('POST', `/trading/clmm/${path}`, { ...venue, positionAddress: address, walletAddress: traders })).status,
        ).to.equal(403)
    })
  })

  describe('shares of pools without ranges', () => {
    const asked = async () => {
      const [{ pool } = { pool: '' }] = await poolsOf('v2')
      return { ...venue, poolAddress: pool }
    }

    it('are quoted, added, shown and removed in the pool’s own order, with the amounts of the receipts', async () => {
      const of = await asked()
      const info = await bot.get('/trading/amm/pool-info', of)
      texts(info, 'address', 'baseTokenAddress', 'quoteTokenAddress')
      decimals(info, 'price', 'feePct', 'baseTokenAmount', 'quoteTokenAmount')
      expect(info.feePct).to.equal('0.3')
      expect(await bot.get('/connectors/uniswap/amm/pool-info', { ...older, poolAddress: of.poolAddress })).to.deep.equal(info)
      const position = { ...of, walletAddress: admins }
      const none = await bot.get('/trading/amm/position-info', position)
      expect(none).to.include({ poolAddress: info.address, walletAddress: admins, lpTokenAmount: '0.000000000000000000' })

      const most =
        Number(info.price) < 1 ? { baseTokenAmount: 3000, quoteTokenAmount: 0.5 } : { baseTokenAmount: 0.5, quoteTokenAmount: 3000 }
      const texted = Object.fromEntries(Object.entries(most).map(([name, value]) => [name, String(value)]))
      const quote = await bot.get('/trading/amm/quote-liquidity', { ...of, ...texted })
      decimals(quote, 'baseTokenAmount', 'quoteTokenAmount', 'baseTokenAmountMax', 'quoteTokenAmountMax')
      expect(quote.baseLimited).to.equal(Number(info.price) >= 1)
      const ofOlder = await bot.get('/connectors/uniswap/amm/quote-liquidity', { ...older, poolAddress: of.poolAddress, ...texted })
      numbers(ofOlder, 'baseTokenAmount', 'quoteTokenAmount', 'baseTokenAmountMax', 'quoteTokenAmountMax')

      const added = await bot.post('/trading/amm/add', { ...position, ...most, slippagePct: 0.5 })
      expect(added.status).to.equal(1)
      decimals(added.data, 'baseTokenAmountAdded', 'quoteTokenAmountAdded', 'fee')
      expect(Number(added.data.baseTokenAmountAdded)).to.be.closeTo(Number(quote.baseTokenAmount), Number(quote.baseTokenAmount) / 1e4)
      expect(Number(added.data.quoteTokenAmountAdded)).to.be.closeTo(Number(quote.quoteTokenAmount), Number(quote.quoteTokenAmount) / 1e4)
      const held = await bot.get('/trading/amm/position-info', position)
      decimals(held, 'lpTokenAmount', 'baseTokenAmount', 'quoteTokenAmount', 'price')
      expect(Number(held.baseTokenAmount)).to.be.closeTo(Number(added.data.baseTokenAmountAdded), 1e-5)
      expect(await bot.get('/trading/amm/positions-owned', { ...venue, walletAddress: admins })).to.deep.equal([held])

      const unapproved = await bot.refusal('POST', '/trading/amm/remove', { ...position, percentageToRemove: 50 })
      expect(unapproved.body.message).to.match(new RegExp(`In Hummingbot: gateway approve uniswap/amm ${info.address}$`))
      await submitted('/evm/approve', { address: admins, spender: 'uniswap/v2', token: info.address })
      const part = await bot.post('/connectors/uniswap/amm/remove-liquidity', { ...position, network: 'local', percentageToRemove: 50 })
      expect(part.status).to.equal(1)
      expect(Number(part.data.baseTokenAmountRemoved)).to.be.closeTo(Number(held.baseTokenAmount) / 2, Number(held.baseTokenAmount) / 1e4)
      const rest = await bot.post('/trading/amm/remove', { ...position, percentageToRemove: 100 })
      decimals(rest.data, 'baseTokenAmountRemoved', 'quoteTokenAmountRemoved', 'fee')
      expect((await bot.get('/trading/amm/position-info', position)).lpTokenAmount).to.equal(none.lpTokenAmount)
    })

    it('are sent once where the answer was lost, and refused for a wallet of others', async () => {
      const body = { ...(await asked()), walletAddress: admins, baseTokenAmount: 0.01, quoteTokenAmount: 30 }
      const listed = async (): Promise<unknown[]> =>
        (await server.client.get('/transactions', { kind: 'liquidity', limit: '200' })).body.transactions
      const before = (await listed()).length
      await withoutBlocks(rpc, async () => {
        const lost = cuttablePost(new URL('/trading/amm/add', server.kernel.interfaceUrls['hummingbot']), server.certsDir, body)
        await until('it is signed', async () => (await listed()).length === before + 1)
        lost.cut()
        await lost.answer
      })
      expect((await bot.post('/trading/amm/add', body)).status).to.equal(1)
      expect((await listed()).length).to.equal(before + 1)
      for (const [method, path] of [
        ['POST', 'add'],
        ['GET', 'position-info'],
      ] as const)
        expect((await trader.refusal(method, `/trading/amm/${path}`, body)).status).to.equal(403)
    })
  })
})
