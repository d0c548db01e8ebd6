import { expect } from 'chai'
import { Contract, id, type TransactionResponse, type Wallet } from 'ethers'
import type { Swap } from '../../../core/contracts/index.ts'
import { deployer } from '../../../core/devnet/build-state.ts'
import { poolAMM } from '../../../kits/amm/index.ts'
import { weighted } from '../../../kits/amm/weighted/index.ts'
import { pools } from '../../../plugins/balancer/index.ts'
import { addresses } from '../../devnet/addresses.ts'
import { randomBits } from '../../../testkit/random-bits.ts'
import { rejection } from '../../kits/amm/v2/rejection.ts'
import { at, tokens } from '../../kits/amm/devnet-fixture.ts'
import { openBalancer } from './balancer-fixture.ts'

const { WETH, USDC, DAI, WBTC, USDT } = tokens
const all = Object.values(tokens)
const ids = pools['ethereum/local']
const [threeTokens = '', withOracle = ''] = ids.map((each) => each.slice(0, 42))
const sell: Swap = { tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw: 10n ** 18n }
const quotesOfWalk = 150

describe('the pools of Balancer', () => {
  let balancer: Awaited<ReturnType<typeof openBalancer>>
  before(async () => {
    balancer = await openBalancer()
    await balancer.approveAll()
  })
  after(() => balancer.fixture.close())

  const listed = (local: readonly string[], contracts?: Readonly<Record<string, string>>) => {
    const venue = balancer.fixture.venue(contracts ?? { routerAddress: balancer.vault })
    return poolAMM(venue, weighted(venue, { pools: { 'ethereum/local': local } }))
  }

  it('form one version without a name, behind one spender', () => {
    expect([balancer.AMM.versions, balancer.spenders]).to.deep.equal([[], { vault: balancer.vault }])
  })

  it('need one call for each quote, for all pairs of a pool of three tokens', async () => {
    for (const [tokenIn, tokenOut] of [
      [WETH, USDC],
      [USDC, WBTC],
      [WBTC, WETH],
    ] as const) {
      const before = balancer.fixture.counted.rpc
      const { route } = await balancer.AMM.quote(
        { tokenIn, tokenOut, exact: 'in', amountRaw: 10n ** BigInt(tokenIn.decimals - 1) },
        {},
        at(),
      )
      expect(route.map(({ pool }) => pool.toLowerCase())).to.deep.equal([threeTokens])
      expect(balancer.fixture.counted.rpc - before).to.equal(1)
    }
  })

  it('have a fee, and a marginal price that a small amount approaches', async () => {
    const quote = await balancer.AMM.quote({ tokenIn: DAI, tokenOut: WETH, exact: 'in', amountRaw: 10n ** 18n }, {}, at())
    expect(quote.route.map(({ pool, version, fee }) => [pool.toLowerCase(), version, fee])).to.deep.equal([
      [withOracle, 'weighted', '0.01'],
    ])
    expect(Number(quote.amountRaw) / Number(quote.spotAmountRaw)).to.be.closeTo(0.99, 0.0001)
  })

  it('refuse more than 30 % of their balance, and quote one unit less', async () => {
    const amm = listed(ids.slice(0, 1))
    const held = await balancer.fixture.balance(WETH, balancer.vault)
    const inThisPool = held - (await elsewhere())
    const most = (inThisPool * 3n) / 10n
    const swap = (amountRaw: bigint): Swap => ({ tokenIn: USDC, tokenOut: WETH, exact: 'out', amountRaw })
    expect((await amm.quote(swap(most), {}, at())).amountRaw > 0n).to.equal(true)
    expect(await rejection(amm.quote(swap(most + 1n), {}, at()))).to.include({ name: 'PRICE_FAILED' })
  })
  // The WETH of the other pools, all in the same Vault.
  const elsewhere = async (): Promise<bigint> => {
    const vault = new Contract(balancer.vault, vaultAbi, balancer.fixture.provider)
    const held = await Promise.all(ids.slice(1).map(async (each) => vault.getFunction('getPoolTokens')(each)))
    return held.reduce((sum: bigint, [tokensOfIt, balances]) => sum + (balances[tokensOfIt.indexOf(WETH.address)] ?? 0n), 0n)
  }

  it(`quote what the Vault answers, to the unit, along a random walk of ${quotesOfWalk} trades`, async () => {
    const { bits, below } = randomBits(20210418)
    const { fixture, AMM, own } = balancer
    let hops = 0
    for (let count = 0; count < quotesOfWalk; count += 1) {
      const into = below(all.length)
      const [tokenIn, tokenOut] = [all[into] ?? WETH, all[(into + 1 + below(all.length - 1)) % all.length] ?? USDC]
      const exact = below(2) === 0 ? 'in' : 'out'
      const { decimals } = exact === 'in' ? tokenIn : tokenOut
      const amountRaw = 1n + bits(Math.ceil(decimals * 3.32) + (tokenIn === WBTC || tokenOut === WBTC ? 0 : 6))
      const quote = await AMM.quote({ tokenIn, tokenOut, exact, amountRaw }, {}, at()).catch((error: Error) => error)
      if (quote instanceof Error) {
        expect(quote.name, quote.message).to.equal('PRICE_FAILED')
        continue
      }
      expect(await own(quote), `${amountRaw} ${tokenIn.symbol} ${tokenOut.symbol} ${exact}`).to.equal(quote.amountRaw)
      hops += quote.route.length
      const terms = { recipient: fixture.trader.address, boundRaw: quote.amountRaw, deadline: quote.head.timestamp + 600 }
      const plan = AMM.swap(quote, terms)
      const fill = AMM.fill(await fixture.execute(plan), plan.memo)
      expect(exact === 'in' ? fill?.amountOutRaw : fill?.amountInRaw).to.equal(quote.amountRaw)
    }
    expect(hops).to.be.above(quotesOfWalk)
  }).timeout(400_000)

  it('throw PAIR_NOT_FOUND without any pool of a token, and PRICE_FAILED where no pools connect two tokens', async () => {
    const alone = { symbol: 'ALONE', address: '0x00000000000000000000000000000000000000AA', decimals: 18 }
    expect(await rejection(listed(ids).quote({ ...sell, tokenIn: alone }, {}, at()))).to.include({ name: 'PRICE_FAILED' })
    expect(await rejection(listed([]).quote(sell, {}, at()))).to.include({ name: 'PAIR_NOT_FOUND' })
    expect(await rejection(listed(ids.slice(0, 1)).quote({ ...sell, tokenOut: USDT }, {}, at()))).to.include({ name: 'PRICE_FAILED' })
  })

  it('fail while the configured address is not a Vault, or lacks the listed pools', async () => {
    for (const wrong of [addresses.multicall3, WETH.address, balancer.fixture.trader.address, threeTokens]) {
      const error = await rejection(listed(ids, { routerAddress: wrong }).quote(sell, {}, at()))
      expect(error, wrong).to.include({ name: 'SERVICE_UNINITIALIZED' })
      expect(error.message).to.contain(wrong)
    }
    const [foreign = ''] = pools['polygon/mainnet']
    const error = await rejection(listed([...ids, foreign]).quote(sell, {}, at()))
    expect(error).to.include({ name: 'SERVICE_UNINITIALIZED' })
    expect(error.message).to.contain(foreign)
  })

  it('give no quote while they or the Vault are paused', async () => {
    const signer = deployer('balancer', balancer.fixture.provider)
    const amm = listed(ids)
    const through = async () => (await amm.quote(sell, {}, at())).route.map(({ pool }) => pool.toLowerCase())
    expect(await through()).to.deep.equal([threeTokens])
    const pause = await pausing(signer)
    await pause(threeTokens, true)
    const around = await through()
    expect(around.includes(threeTokens), around.join()).to.equal(false)
    expect(around[0]).to.equal(withOracle)
    await pause(threeTokens, false)
    await pause(balancer.vault, true)
    const closed = await rejection(through())
    expect(closed).to.include({ name: 'PAIR_NOT_FOUND' })
    expect(closed.message).to.match(/The pool 0x\w{40} exists and takes no swaps now: it or its exchange may be paused/)
    expect(closed.message).not.to.match(/wrong address|exists on this network/)
    const chosen = await rejection(amm.quote(sell, { pool: threeTokens }, at()))
    expect(chosen.message.toLowerCase()).to.contain(`the pool ${threeTokens} exists and takes no swaps now`)
    await pause(balancer.vault, false)
    expect(await through()).to.deep.equal([threeTokens])
  })

  const pausing = async (signer: Wallet) => {
    const vault = new Contract(balancer.vault, vaultAbi, signer)
    const authorizer = new Contract(await vault.getFunction('getAuthorizer')(), authorizerAbi, signer)
    const send = async (sending: Promise<TransactionResponse>) => balancer.fixture.mined((await sending).hash)
    return async (target: string, paused: boolean) => {
      const contract = new Contract(target, pausableAbi, signer)
      const action = await contract.getFunction('getActionId')(id('setPaused(bool)').slice(0, 10))
      await send(authorizer.getFunction('grantRole')(action, signer.address))
      await send(contract.getFunction('setPaused')(paused))
    }
  }
})

const vaultAbi = [
  'function getAuthorizer() view returns (address)',
  'function getPoolTokens(bytes32) view returns (address[], uint256[], uint256)',
]
const authorizerAbi = ['function grantRole(bytes32 role, address account)']
const pausableAbi = ['function getActionId(bytes4) view returns (bytes32)', 'function setPaused(bool)']
