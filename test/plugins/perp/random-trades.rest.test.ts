import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { formatUnits, JsonRpcProvider, parseUnits } from 'ethers'
import fc from 'fast-check'
import { devnetPerpOperator } from '../../../testkit/devnet-operators.ts'
import { tradingWallets } from '../../../core/devnet/anvil.ts'
import { expectSame } from '../../../testkit/cards/expect.ts'
import type { PerpOperator } from '../../../core/contracts/devnet.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { mined } from '../../http/shared-server.ts'

const chain = { chain: 'ethereum', network: 'local' }
const on = { ...chain, connector: 'perp' }
const wallets = tradingWallets.slice(0, 2)
const prices = { ETH: 3000, BTC: 60_000 }
const bases = ['ETH', 'BTC'] as const

const step = fc.record({
  what: fc.constantFrom('open', 'open', 'open', 'turn', 'leave', 'close', 'deposit', 'withdraw', 'index', 'time'),
  address: fc.constantFrom(...wallets),
  base: fc.constantFrom(...bases),
  side: fc.constantFrom('LONG' as const, 'SHORT' as const),
  dollars: fc.integer({ min: 1, max: 40_000 }),
  /** Sizes with all decimals. */
  digits: fc.bigInt(1n, 10n ** 15n),
  index: fc.integer({ min: 970, max: 1030 }),
  seconds: fc.nat(4000),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

describe('random trades in perpetual accounts through the server', function () {
  this.timeout(400_000)
  let server: TestServer
  let provider: JsonRpcProvider
  let operator: PerpOperator
  before(async () => {
    server = await startServer()
    provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1 })
    const found = await devnetPerpOperator(fileURLToPath(new URL('../../../plugins/perp/devnet.ts', import.meta.url)), provider)
    if (!found) throw new Error('The devnet names no operator of the exchange.')
    operator = found
    for (const address of wallets) {
      const { body } = await server.client.post('/evm/approve', { ...chain, address, spender: 'perp', token: 'USDC' })
      await mined(server.client, body.txHash)
      await act('deposit', { address, token: 'USDC', amount: '20000' })
    }
  })
  after(async () => {
    provider.destroy()
    await server.stop()
  })

  const ask = (verb: string, fields: object) => server.client.post(`/perpAMM/${verb}`, { ...on, ...fields })
  const answered = async (verb: string, fields: object) => {
    const { status, body, text } = await ask(verb, fields)
    expect(status, `${verb} ${JSON.stringify(fields)}: ${text}`).to.equal(200)
    return body
  }
  /** Undefined where it was refused, which happens only for what the account does not have. */
  const act = async (verb: string, fields: object) => {
    const { status, body, text } = await ask(verb, fields)
    if (status !== 200) return void expect(['INSUFFICIENT_MARGIN', 'UNKNOWN_POSITION'], text).to.include(body.name)
    const { body: poll } = await mined(server.client, body.txHash)
    expect(poll.txReceipt.status, `${verb} ${JSON.stringify(fields)}: ${poll.reason}`).to.equal(1)
    return { answer: body, poll }
  }
  const pass = async (seconds: number) => {
    await provider.send('evm_increaseTime', [seconds])
    await provider.send('evm_mine', [])
  }
  const signed = ({ positionAmt, positionSide }: { positionAmt: string; positionSide: string }) =>
    positionSide === 'SHORT' ? `-${positionAmt}` : positionAmt

  /** The requested change, if it is one of a position. */
  async function orderOf({ what, address, base, side, dollars, digits }: Step) {
    const market = { base, quote: 'USD' }
    const fields = { address, ...market, leverage: '10', margin: ((dollars / 10) * 1.1 + 0.01).toFixed(2) }
    const opened = parseUnits((dollars / prices[base]).toFixed(6), 18) + digits
    const { position } = await answered('position', { ...market, wallet_address: address })
    const held = parseUnits(position.positionAmt, 18)
    if (what === 'open' || held === 0n) return { ...fields, side, amount: formatUnits(opened, 18) }
    const back = position.positionSide === 'LONG' ? 'SHORT' : 'LONG'
    return { ...fields, side: back, amount: formatUnits(what === 'turn' ? held + opened : held, 18) }
  }

  async function take(each: Step): Promise<void> {
    const { what, address, base, dollars, index, seconds } = each
    if (what === 'index') return operator.moveIndex(`${base}USD`, String((prices[base] * index) / 1000))
    if (what === 'time') return pass(seconds)
    // The price can only move so far in fifteen seconds.
    await pass(20)
    if (what === 'deposit' || what === 'withdraw')
      return void (await act(what, { address, token: 'USDC', amount: (dollars / 20).toFixed(2) }))
    const done = what === 'close' ? await act('close', { address, base, quote: 'USD' }) : await act('open', await orderOf(each))
    if (!done) return
    const { answer, poll } = done
    expect(poll.fill.price).to.equal(answer.price)
    if (answer.position === undefined) return
    const { position } = await answered('position', { base, quote: 'USD', wallet_address: address })
    expect(answer.position).to.include({
      entryPrice: position.entryPrice,
      positionAmt: position.positionAmt,
      positionSide: position.positionSide,
    })
  }

  async function holds(address: string): Promise<void> {
    for (const base of bases) {
      const { position, blockNumber } = await answered('position', { base, quote: 'USD', wallet_address: address })
      const views = await operator.views(address, `${base}USD`, blockNumber)
      expectSame(signed(position), views.size, 'size')
      expectSame(position.unrealizedProfit, views.unrealizedProfit, 'unrealized profit')
      expectSame(position.pendingFundingPayment, views.pendingFunding, 'pending funding')
      expectSame(position.markPrice, views.markPrice, 'mark price')
    }
    const { margin, blockNumber } = await answered('margin', { wallet_address: address })
    const views = await operator.views(address, 'ETHUSD', blockNumber)
    for (const key of ['accountValue', 'freeCollateral', 'collateral', 'initialMargin', 'maintenanceMargin'] as const)
      expectSame(margin[key], views[key], key)
  }

  it("fill as quoted, leave the expected position, and agree with the exchange's own figures to the unit", async () => {
    for (const each of fc.sample(step, { numRuns: 16, seed: 2 })) {
      await take(each)
      await holds(each.address)
    }
  })
})
