import { expect } from 'chai'
import { parseUnits } from 'ethers'
import type { Answer } from '../../../testkit/client.ts'
import { runCommand } from '../../cli/run-command.ts'
import { admins, local, mined, others, uniswap } from '../../http/shared-server.ts'
import { healthy, lyingAtNewest } from '../../http/trouble/faulty-proxy.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { until } from '../../transactions/site.ts'
import { decimals, texts } from './bot.ts'
import { converse, folder, startEnds, type Ends } from './own-ends.ts'
import { sharedServer } from './shared-server.ts'

type Body = Answer['body']

const names = ['life', 'closeOut', 'lostOpen', 'lostClose', 'refusedLook', 'stoppedWhileOpening'] as const

const finals = new Set(['CONFIRMED', 'REVERTED'])

/** Its executor of liquidity and its connector, unmodified, on a server with the devnet. Skipped where HUMMINGBOT_FOLDER names no checkout. */
describe('the LP executor of Hummingbot 2.16, from the checkout that HUMMINGBOT_FOLDER names', function () {
  this.timeout(300_000)
  let ends: Ends
  let seen: Body
  const books = new Map<string, Body>()
  let orphaned: Body[] = []

  const submitted = async (path: string, fields: object) => {
    const { status, text, body } = await ends.server.client.post(path, { ...local, ...fields })
    expect(status, text).to.equal(200)
    await mined(ends.server.client, body.txHash)
  }

  before(async function () {
    if (folder === undefined) return this.skip()
    ends = await startEnds(['WETH', 'USDC'], ['uniswap', 'uniswap/positions'])
    const { client } = ends.server
    await submitted('/evm/wrap', { address: others, amount: '100' })
    for (const token of ['WETH', 'USDC']) await submitted('/evm/approve', { address: others, spender: 'uniswap', token })
    const { pools } = (await client.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC', version: 'v3' })).body
    const pool = String(pools[0].pool)
    const swap = (side: string, amount: string) =>
      submitted('/amm/trade', { ...uniswap, address: others, base: 'WETH', quote: 'USDC', side, amount, pool })
    const rpc = rpcTo(ends.node.target)
    const book = async (name: string) => {
      let found: Body
      await rpc('anvil_mine', 3)
      await until('the book is whole', async () => {
        const { transactions } = (await client.get('/transactions', { limit: '200' })).body
        // Read after that: what became final in between is in it.
        found = (await client.get('/books', { address: admins })).body
        return found.complete === true && transactions.every(({ txState }: Body) => finals.has(txState))
      })
      books.set(name, found)
    }
    const told = await converse('own-executor.py', [folder, String(ends.proxy.port), 'uniswap', pool], {
      'no blocks': async () => {
        await rpc('evm_setAutomine', false)
        await rpc('evm_setIntervalMining', 0)
      },
      blocks: async () => {
        await rpc('evm_setAutomine', true)
        await rpc('evm_setIntervalMining', 1)
        await rpc('evm_mine')
      },
      trades: async () => {
        await swap('SELL', '3')
        await swap('BUY', '2')
      },
      fall: () => swap('SELL', '10'),
      async 'no readings'() {
        // A node that cannot be asked would have it told for a minute as it was read last.
        const { body } = await client.get('/connector/config', { connector: 'uniswap' })
        await ends.node.become(lyingAtNewest(body.contractAddresses.local.positionManagerAddress, ends.node))
      },
      async readings() {
        await ends.node.become(healthy)
        await until('its node reads again', async () => {
          orphaned = JSON.parse(await runCommand(ends.server, ['positions', '--orphaned', '--json']))
          return orphaned.every(({ amount0 }) => amount0 !== undefined)
        })
        for (const { tokenId } of orphaned)
          await submitted('/amm/liquidity/remove', { connector: 'uniswap', address: admins, tokenId, burn: true })
      },
      ...Object.fromEntries(
        names.flatMap((name) => ['before', 'after'].map((when) => [`book ${when} ${name}`, () => book(`${when} ${name}`)])),
      ),
    })
    seen = JSON.parse(told)
  })
  after(() => ends?.stop())

  const tokensOf = (position: string): { paid: string; received: string; fees: string }[] => {
    const found = books.get('after stoppedWhileOpening').liquidity.find((each: Body) => each.position === position)
    expect(found, position).to.include({ connector: 'uniswap', version: 'v3', closed: true })
    return found.tokens
  }
  const rawOf = (amount: string, side: number) =>
    parseUnits(
      amount.replace(/^(.*)E-\d+$/, (all) => Number(all).toFixed(18)),
      decimalsOf(side),
    )
  /** The pair is in the pool's own order. */
  const decimalsOf = (side: number) => (seen.pair.split('-')[side] === 'USDC' ? 6 : 18)
  const feesOf = (name: (typeof names)[number]) =>
    Number(books.get(`after ${name}`).fees[0].fee) - Number(books.get(`before ${name}`).fees[0].fee)
  const liquiditySent = (name: string): string[] =>
    seen[name].sent.map(({ path }: { path: string }) => path.split('/').at(-1)).filter((path: string) => path !== 'execute')

  /** Of a round that it booked: what it put in, got back and paid, as the book of the server has it. */
  function expectAsInBook(round: Body, position: string): void {
    const [prices, fee] = [[round.price, round.addPrice].map(Number), Number(round.txFee)]
    const [now = 0, then = 0] = prices
    const tokens = tokensOf(position)
    for (const [side, { paid, received, fees }] of tokens.entries()) {
      expect(rawOf(round.returned[side], side) + rawOf(round.fees[side], side)).to.equal(rawOf(received, side))
      expect(rawOf(round.fees[side], side)).to.equal(rawOf(fees, side))
      // What a position holds is rounded down, and its models have binary numbers.
      expect(Number(paid) - Number(round.initial[side])).to.be.within(-1e-15, decimalsOf(side) === 6 ? 1.1e-6 : 1e-15)
    }
    const [base = { paid: '', received: '' }, quote = { paid: '', received: '' }] = tokens
    const profit = Number(base.received) * now + Number(quote.received) - Number(base.paid) * then - Number(quote.paid) - fee
    // A unit of USDC in WETH.
    expect(profit).to.be.closeTo(Number(round.profit), 1e-9)
  }

  it('opens, watches, and closes, and its profit is that of the book', () => {
    const { life } = seen
    expect(life).to.include({ state: 'COMPLETE', close: 'POSITION_HOLD' })
    expect(liquiditySent('life')).to.deep.equal(['open-position', 'close-position'])
    for (const side of [0, 1]) expect(Number(life.watched.fees[side]), 'fees that it watched').to.be.above(0)
    expect(life.fees.map(Number)).to.deep.equal(life.watched.fees.map(Number))
    expectAsInBook(life, life.sent[1].positionAddress)
    expect(Number(life.txFee)).to.be.closeTo(feesOf('life'), 1e-15)
    expect(life.held).to.have.length(1)
  })

  it('closes at its limit, and swaps back what it has less of the base', () => {
    const { closeOut } = seen
    expect(closeOut).to.include({ state: 'COMPLETE', close: 'EARLY_STOP' })
    expectAsInBook(closeOut, closeOut.sent[1].positionAddress)
    const [short] = closeOut.initial.map((initial: string, side: number) => {
      return Number(initial) - Number(closeOut.returned[side]) - Number(closeOut.fees[side])
    })
    expect(closeOut.swaps).to.have.length(1)
    expect(closeOut.swaps[0]).to.include({ side: short > 0 ? 'BUY' : 'SELL' })
    expect(Number(closeOut.swaps[0].amount)).to.be.closeTo(Math.abs(short), 1e-6)
    const [before, after] = ['before closeOut', 'after closeOut'].map((name) => books.get(name).pairs.length)
    expect(after).to.equal(before + 1)
  })

  it('has the position of an open whose answer was lost, with the next executor, and no second one', () => {
    const { lostOpen } = seen
    expect(lostOpen.failed).to.include({ state: 'FAILED', open: null })
    expect(lostOpen).to.include({ state: 'COMPLETE', close: 'POSITION_HOLD' })
    expect(liquiditySent('lostOpen')).to.deep.equal(['open-position', 'open-position', 'close-position'])
    expectAsInBook(lostOpen, lostOpen.sent[2].positionAddress)
    // One open and one close were paid for.
    expect(Number(lostOpen.txFee)).to.be.closeTo(feesOf('lostOpen'), 1e-15)
  })

  it('is told by the address what a close gave back whose answer was lost', () => {
    const { failed, position, told } = seen.lostClose
    expect(failed).to.include({ state: 'FAILED', closed: null })
    expect(liquiditySent('lostClose')).to.deep.equal(['open-position', 'close-position', 'close-position'])
    const returned = [told.base_amount, told.quote_amount]
    const txFee = String(Number(failed.txFee) + Number(told.tx_fee))
    for (const [side, { received }] of tokensOf(position).entries())
      expect(rawOf(returned[side], side) + rawOf([told.base_fee, told.quote_fee][side], side)).to.equal(rawOf(received, side))
    expect(Number(txFee)).to.be.closeTo(feesOf('lostClose'), 1e-15)
  })

  it('is listed as one that nobody follows where it counts its position as closed after a look that was refused', () => {
    const { state, close, position } = seen.refusedLook
    expect({ state, close }).to.deep.equal({ state: 'COMPLETE', close: 'POSITION_HOLD' })
    expect(liquiditySent('refusedLook')).to.deep.equal(['open-position'])
    expect(orphaned.map(({ tokenId, refused }) => [tokenId, refused.asked, refused.client])).to.deep.equal([
      [position, 'position', 'client'],
    ])
  })

  it('finds the position of an open that it was stopped in, and closes it', () => {
    const { failed, position, found, closed } = seen.stoppedWhileOpening
    expect(failed).to.include({ state: 'FAILED' })
    expect(found).to.deep.equal([position])
    expect(closed).to.have.length(1)
    expect(tokensOf(position)).to.have.length(2)
  })

  it('leaves no position that nobody follows', async () => {
    const { body } = await ends.server.client.get('/transactions', { kind: 'liquidity', limit: '200' })
    const states = body.transactions.flatMap(({ delivery }: Body) => (delivery === undefined ? [] : [delivery.state]))
    // Lost, and told to the next request.
    expect(states).to.deep.equal(['delivered', 'delivered'])
    expect(books.get('after stoppedWhileOpening').liquidity.every(({ closed }: Body) => closed)).to.equal(true)
  })
})

/** What it sent in the test above, word by word but for ids: where the checkout is not there, this is what is left of it. */
describe('the requests of the LP executor of Hummingbot 2.16, as they were recorded', function () {
  this.timeout(300_000)
  const network = 'local'
  const path = (name: string) => `/connectors/uniswap/clmm/${name}`
  /** What its models of an answer lack: their loading throws then, and it ends as failed. */
  const readOfPosition = {
    texts: ['address', 'poolAddress', 'baseTokenAddress', 'quoteTokenAddress'],
    numbers: ['baseTokenAmount', 'quoteTokenAmount', 'baseFeeAmount', 'quoteFeeAmount', 'lowerPrice', 'upperPrice', 'price'],
    whole: ['lowerBinId', 'upperBinId'],
  }

  it('open, watch and close a position', async () => {
    const { bots, client } = await sharedServer()
    const bot = bots.client
    const poster = async (route: string, fields: object) => {
      const { status, text, body } = await client.post(route, { ...local, address: admins, ...fields })
      expect(status, text).to.equal(200)
      await mined(client, body.txHash)
    }
    await poster('/evm/wrap', { amount: '5' })
    for (const token of ['WETH', 'USDC']) await poster('/evm/approve', { spender: 'uniswap/positions', token })
    const { pools } = (await client.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC', version: 'v3' })).body
    const poolAddress = String(pools[0].pool)
    const info = await bot.get(path('pool-info'), { network, poolAddress })
    for (const name of ['price', 'feePct', 'baseTokenAmount', 'quoteTokenAmount']) expect(Number(info[name]), name).to.be.above(0)
    for (const name of ['binStep', 'activeBinId']) expect(Number.isInteger(Number(info[name])), name).to.equal(true)
    const price = Number(info.price)
    const [baseTokenAmount, quoteTokenAmount] = price < 1 ? [187.5, 0.0625] : [0.0625, 187.5]
    const opened = await bot.post(path('open-position'), {
      network,
      walletAddress: admins,
      poolAddress,
      lowerPrice: price * 0.9,
      upperPrice: price * 1.1,
      baseTokenAmount,
      quoteTokenAmount,
    })
    expect(opened).to.include({ status: 1 })
    texts(opened.data, 'positionAddress')
    decimals(opened.data, 'baseTokenAmountAdded', 'quoteTokenAmountAdded', 'positionRent', 'fee')
    const { positionAddress } = opened.data
    const position = await bot.get(path('position-info'), { network, positionAddress, walletAddress: admins })
    texts(position, ...readOfPosition.texts)
    for (const name of readOfPosition.numbers) expect(Number.isFinite(Number.parseFloat(position[name])), name).to.equal(true)
    for (const name of readOfPosition.whole) expect(Number.isInteger(Number(position[name])), name).to.equal(true)
    const closed = await bot.post(path('close-position'), { network, walletAddress: admins, positionAddress })
    expect(closed).to.include({ status: 1 })
    decimals(closed.data, 'baseTokenAmountRemoved', 'quoteTokenAmountRemoved', 'positionRentRefunded', 'fee')
    decimals(closed.data, 'baseFeeAmountCollected', 'quoteFeeAmountCollected')
  })
})
