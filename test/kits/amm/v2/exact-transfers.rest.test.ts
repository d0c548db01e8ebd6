import { expect } from 'chai'
import type { AMM, Token } from '../../../../core/contracts/index.ts'
import type { Evm } from '../../../../kits/evm/index.ts'
import { feeOnTransferCheck, tryTransfer } from '../../../../kits/amm/fee-on-transfer.ts'
import { loanOf } from '../../../../kits/amm/v2/pools.ts'
import { v2Deployments } from '../../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../../devnet/addresses.ts'
import { pairAMM } from './pair-amm.ts'
import { rejection } from './rejection.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../devnet-fixture.ts'

const { WETH, USDC } = tokens
const ether = 10n ** 18n
const revertsAlways = '0x60006000fd'

describe('tokens that take a fee on transfer', () => {
  let fixture: DevnetFixture
  let amm: AMM<Evm>
  let taxed: Token
  let plain: Token
  let paused: Token
  let drained: Token

  before(async () => {
    fixture = await openDevnetFixture()
    amm = pairAMM(fixture.venue({ v2RouterAddress: addresses.exchanges.uniswap.router }), {
      version: 'v2',
      fee: [3n, 1000n],
      deployments: v2Deployments,
    })
    taxed = await fixture.list('FeeOnTransferToken', 'TAX', 1000n * ether, WETH, ether)
    plain = await fixture.list('TestToken', 'PLAIN', 1000n * ether, WETH, ether)
    paused = await fixture.list('TestToken', 'STOP', 1000n * ether, WETH, ether)
    await fixture.provider.send('anvil_setCode', [paused.address, revertsAlways])
    drained = await fixture.list('TestToken', 'DRY', 1n, WETH, ether)
  })
  after(() => fixture.close())

  const poolOf = (address: string, token: string, reserveRaw: bigint) => {
    const tokenFirst = token.toLowerCase() < WETH.address.toLowerCase()
    return tokenFirst
      ? { address, tokens: [token, WETH.address], state: { reserve0Raw: reserveRaw, reserve1Raw: ether } }
      : { address, tokens: [WETH.address, token], state: { reserve0Raw: ether, reserve1Raw: reserveRaw } }
  }
  const buy = (token: Token) => amm.quote({ tokenIn: USDC, tokenOut: token, exact: 'in', amountRaw: 10n ** 7n }, {}, at())
  const sell = (token: Token) => amm.quote({ tokenIn: token, tokenOut: WETH, exact: 'in', amountRaw: ether }, {}, at())

  it('get a refusal when bought and when sold, which names the fee', async () => {
    for (const error of [await rejection(buy(taxed)), await rejection(sell(taxed))]) {
      expect(error).to.include({ name: 'TOKEN_NOT_SUPPORTED' })
      expect(error.message).to.match(/^TAX \(0x[0-9a-fA-F]{40}\) takes a fee on transfer \(2 % when bought, 2 % when sold\)/)
    }
  })

  it('cost one call to detect, at the first quote only', async () => {
    await sell(plain)
    const before = fixture.counted.rpc
    await sell(plain)
    await buy(plain)
    expect(fixture.counted.rpc - before).to.equal(2)
    const untried = await fixture.list('TestToken', 'NEW', 1000n * ether, WETH, ether)
    const beforeNew = fixture.counted.rpc
    await sell(untried)
    expect(fixture.counted.rpc - beforeNew).to.equal(2)
  })

  it('need no check where they are the network’s own intermediate tokens', async () => {
    await amm.quote({ tokenIn: USDC, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 9n }, {}, at())
    const before = fixture.counted.rpc
    await amm.quote({ tokenIn: tokens.USDT, tokenOut: tokens.WBTC, exact: 'in', amountRaw: 10n ** 9n }, {}, at())
    expect(fixture.counted.rpc - before).to.equal(1)
  })

  it('get another reason than a token that cannot be tried', async () => {
    const error = await rejection(sell(paused))
    expect(error).to.include({ name: 'TOKEN_NOT_SUPPORTED' })
    expect(error.message).to.match(/a trial transfer out of its pool failed/)
  })

  it('need no check where no pool can lend any, because none can be sold', async () => {
    expect((await sell(drained)).amountRaw > 0n).to.equal(true)
  })

  it('show what arrives to the unit, without a balance and without changing the chain', async () => {
    const address = (await sell(plain)).route[0]?.pool ?? ''
    const reserveRaw = await fixture.balance(plain, address)
    const loan = loanOf(poolOf(address, plain.address, reserveRaw), plain.address)
    expect(loan && (await tryTransfer(fixture.chain.reader, loan, at()))).to.deep.equal({
      sentRaw: reserveRaw / 100_000n,
      arrivedRaw: reserveRaw / 100_000n,
      returnedRaw: reserveRaw / 100_000n,
    })
    expect(await fixture.balance(plain, address)).to.equal(reserveRaw)
  })

  it('get no verdict while the node is down: the caller gets the node’s error', async () => {
    const away = { ...fixture.chain.reader, call: () => Promise.reject(new Error('away')) }
    const pool = plain.address
    const loan = loanOf(poolOf(pool, plain.address, ether), plain.address)
    const outcome = await feeOnTransferCheck(away)([{ token: plain, pool, loan: () => loan && { loan, pool } }], at())?.catch(String)
    expect(outcome).to.equal('Error: away')
  })
})
