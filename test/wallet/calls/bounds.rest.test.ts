import { expect } from 'chai'
import { Contract } from 'ethers'
import { SluiceError } from '../../../core/base/errors.ts'
import type { Plan } from '../../../core/contracts/index.ts'
import { readCall } from '../../../core/wallet/calls/index.ts'
import { rangeOf, type TickPool } from '../../../kits/amm/v3/range-prices.ts'
import type { Evm, EvmReceipt } from '../../../kits/evm/index.ts'
import { at, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'
import { drawing } from '../../kits/amm/walk/any-swap.ts'
import { randomBits } from '../../../testkit/random-bits.ts'
import { Refusal } from '../../../core/wallet/policy.ts'
import { randomOf } from '../../../tools/chaos/random.ts'
import { changedCall, type Call } from './changed-calls.ts'
import { approvalsOf, devnetRules, exchangeOn, names, openExchanges, type Exchange } from './released-exchanges.ts'

const swapsOfEach = Number(process.env['SLUICE_READ_SWAPS'] ?? 4)
const changesOfEach = Number(process.env['SLUICE_READ_CHANGES'] ?? 4)
const ether = 10n ** 18n
const inAnHour = () => Math.floor(Date.now() / 1000) + 3600

describe('what the readers of calls say that plans take', function () {
  this.timeout(300_000)
  const rules = devnetRules()
  const random = randomBits(7)
  const all = Object.values(tokens)
  let fixture: DevnetFixture
  let wallet: string
  const exchanges = new Map<string, Exchange>()
  const sent: { call: Call; what: string }[] = []
  before(async () => {
    fixture = await openExchanges(names)
    wallet = fixture.trader.address.toLowerCase()
    for (const name of names) {
      const exchange = await exchangeOn(fixture, name)
      exchanges.set(name, exchange)
      for (const call of approvalsOf(exchange)) await (await fixture.trader.sendTransaction(call)).wait()
    }
  })
  after(() => fixture.close())

  const balances = () => Promise.all([...all, fixture.chain.nativeCurrency].map((token) => fixture.balance(token)))

  /** Sends the plan, and holds what left the wallet against what the signer reads. @returns its receipt */
  async function carryOut({ steps: [step] }: Plan<Evm>, what: string): Promise<EvmReceipt> {
    const { to, data, value } = step ?? expect.fail(`${what} has no step`)
    const call = { to, data: data.toLowerCase(), valueRaw: BigInt(value) }
    const read = readCall({ ...call, wallet, contract: to.toLowerCase() }, rules, { countsApprovals: false })
    if ('unreadable' in read) expect.fail(`${what}: ${read.unreadable}`)
    sent.push({ call, what })
    return held(call, read, what)
  }

  async function held({ to, data, valueRaw }: Call, read: ReadonlyMap<string, bigint>, what: string): Promise<EvmReceipt> {
    const before = await balances()
    const receipt = await fixture.execute({ steps: [{ to, data, value: valueRaw.toString() }], needs: [], memo: null })
    const after = await balances()
    const gasRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
    const left = before.map((each, index) => each - (after[index] ?? 0n))
    const ofCoin = (left.pop() ?? 0n) - gasRaw
    expect(ofCoin <= valueRaw, `${what}: ${ofCoin} wei of ${data}`).to.equal(true)
    for (const [index, { address, symbol }] of all.entries())
      expect((left[index] ?? 0n) <= (read.get(address.toLowerCase()) ?? 0n), `${what}: ${left[index]} ${symbol} of ${data}`).to.equal(true)
    return receipt
  }

  for (const name of names)
    it(`bounds what swaps of ${name} take, to the unit`, async () => {
      const exchange = exchanges.get(name) ?? expect.fail(name)
      const ETH = fixture.chain.nativeCurrency
      const { anySwap, pick } = drawing([...all, ETH], tokens.WETH.address, random)
      let done = 0
      for (let tries = 0; done < swapsOfEach && tries < 40 * swapsOfEach; tries += 1) {
        const swap = anySwap(-4)
        const version = pick(['', ...exchange.AMM.versions])
        const what = `${name} ${version}: ${swap.tokenIn.symbol} → ${swap.tokenOut.symbol}, ${swap.amountRaw} ${swap.exact}`
        const quote = await exchange.AMM.quote(swap, version === '' ? {} : { version }, at()).catch((error: unknown) => {
          if (error instanceof SluiceError) return undefined
          throw error
        })
        if (!quote || quote.amountRaw === 0n) continue
        const boundRaw = swap.exact === 'in' ? (quote.amountRaw * 99n) / 100n : (quote.amountRaw * 101n) / 100n + 1n
        if (swap.exact === 'out' && swap.tokenIn.native && boundRaw > 100n * ether) continue
        const plan = exchange.AMM.swap(quote, { recipient: fixture.trader.address, boundRaw, deadline: inAnHour() })
        if ((await carryOut(plan, what)).status === 1) done += 1
      }
      expect(done).to.equal(swapsOfEach)
    })

  const terms = (native = false) => ({ owner: fixture.trader.address, deadline: inAnHour(), native })

  for (const name of ['uniswap', 'traderjoe', 'balancer'])
    for (const native of [false, true])
      it(`bounds what shares of ${name} take${native ? ', with the coin' : ''}`, async () => {
        const { AMM_SHARES: shares, spenders = {} } = exchanges.get(name) ?? expect.fail(name)
        const pair = name === 'balancer' ? [tokens.WETH, tokens.USDC, tokens.WBTC] : [tokens.WETH, tokens.USDC]
        const { positions } = await shares.sharePositions(pair, fixture.trader.address, at())
        const { pool } = positions[0] ?? expect.fail('there is no pool')
        const inOrder = pool.tokens.map((address) => pair.find((each) => each.address === address) ?? expect.fail(address))
        const maxRaw = inOrder.map(({ decimals }) => 10n ** BigInt(decimals))
        const found = await shares.depositFor({ pool, tokens: inOrder, maxRaw }, at())
        const minRaw = found.amountsRaw.map(() => 0n)
        const addition = { pool, ...found, minRaw, minSharesRaw: 0n }
        expect(await carryOut(shares.addShares(addition, terms(native)), `add to ${name}`)).to.include({ status: 1 })
        for (const spender of Object.values(spenders)) await fixture.approve(pool.shareToken, spender)
        const removal = { pool, sharesRaw: found.sharesRaw / 2n, minRaw }
        expect(await carryOut(shares.removeShares(removal, terms(native)), `remove of ${name}`)).to.include({ status: 1 })
      })

  for (const version of ['v3', 'v4'])
    for (const native of [false, true])
      it(`bounds what positions of Uniswap ${version} take${native ? ', with the coin' : ''}`, async () => {
        const { AMM_RANGE: range } = exchanges.get('uniswap') ?? expect.fail('uniswap')
        const first = native && version === 'v4' ? fixture.chain.nativeCurrency : tokens.WETH
        const { pools } = await range.rangePools([first, tokens.USDC], { version, fee: native ? 500 : 3000 }, at())
        const pool = pools[0] ?? expect.fail('there is no pool')
        const { tick, tickSpacing } = pool as TickPool
        const nearest = Math.floor(tick / tickSpacing)
        const ticks = rangeOf((nearest - 100) * tickSpacing, (nearest + 120) * tickSpacing)
        const most =
          pool.token0 === tokens.USDC.address ? { amount0Raw: 10n ** 9n, amount1Raw: ether } : { amount0Raw: ether, amount1Raw: 10n ** 9n }
        const slippage = { numerator: 1n, denominator: 100n }
        const plan = range.add({ pool, range: ticks, most }, { ...terms(native), slippage })
        const receipt = await carryOut(plan, `a position of ${version}`)
        const { tokenId } = range.rangeFill(receipt, plan.memo) ?? expect.fail('no position was made')
        const found = await range.positionOf?.({ tokenId, version }, at())
        const own = found?.position ?? expect.fail('there is no position')
        const removal = range.remove(own, { liquidity: own.liquidity, burn: true }, { ...terms(version === 'v4' && native), slippage })
        expect(await carryOut(removal, `removes a position of ${version}`)).to.include({ status: 1 })
      })

  it('bounds what changed calls take, or reads nothing of them', async () => {
    const thief = randomOf('changed calls')
    const { trader } = fixture
    const stranger = '0x5555555555555555555555555555555555555555'
    const counted = { unreadable: 0, refused: 0, done: 0, reverted: 0 }
    for (const { call, what } of sent)
      for (let times = 0; times < changesOfEach; times += 1) {
        const addresses = [stranger, trader.address, call.to, ...all.map(({ address }) => address)]
        const changed = changedCall(call, thief, { addresses })
        let read
        try {
          read = readCall({ ...changed, wallet, contract: changed.to.toLowerCase() }, rules, { countsApprovals: false })
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          counted.refused += 1
          continue
        }
        if ('unreadable' in read) counted.unreadable += 1
        else counted[(await held(changed, read, what)).status === 1 ? 'done' : 'reverted'] += 1
      }
    if (process.env['SLUICE_READ_CHANGES']) console.log(`      ${JSON.stringify(counted)}`)
    for (const each of Object.values(counted)) expect(each).to.be.above(5)
    expect(
      await new Contract(tokens.USDC.address, ['function balanceOf(address) view returns (uint256)'], trader).getFunction('balanceOf')(
        stranger,
      ),
    ).to.equal(0n)
  })
})
