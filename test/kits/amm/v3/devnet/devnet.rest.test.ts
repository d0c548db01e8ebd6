import { expect } from 'chai'
import { Contract, getCreate2Address, keccak256, AbiCoder } from 'ethers'
import { devnetQuoter } from '../../../../../testkit/devnet-operators.ts'
import { v3Deployments } from '../../../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../../../devnet/addresses.ts'
import { devnetFiles } from '../../../../devnet/test-devnet.ts'
import { openDevnetFixture, tokens, type DevnetFixture } from '../../devnet-fixture.ts'
import { quotedBy } from '../router/quoted.ts'

const { WETH, USDC, DAI, WBTC, USDT } = tokens
const { factory, router, positionManager } = addresses.rangeExchanges.uniswap
const [uniswapFile = ''] = devnetFiles

describe('concentrated liquidity on the devnet', () => {
  let fixture: DevnetFixture
  let quoted: Awaited<ReturnType<typeof quotedBy>>
  before(async () => {
    fixture = await openDevnetFixture()
    quoted = await quotedBy(fixture)
  })
  after(() => fixture.close())

  const read = (address: string, signature: string, ...args: unknown[]): Promise<unknown> => {
    const contract = new Contract(address, [`function ${signature}`], fixture.provider)
    return contract.getFunction(signature.slice(0, signature.indexOf('('))).staticCall(...args)
  }
  const poolOf = (a: string, b: string, fee: number) => read(factory, 'getPool(address, address, uint24) view returns (address)', a, b, fee)

  it('lies at its constant addresses, all of one exchange', async () => {
    for (const address of [router, positionManager]) {
      expect(await read(address, 'factory() view returns (address)')).to.equal(factory)
      expect(await read(address, 'WETH9() view returns (address)')).to.equal(WETH.address)
    }
    expect(await read(router, 'factoryV2() view returns (address)')).to.equal(addresses.exchanges.uniswap.factory)
    expect(await read(router, 'positionManager() view returns (address)')).to.equal(positionManager)
  })

  it('has pools of the same creation code as on mainnet', async () => {
    const key = AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint24'], [...[WETH.address, USDC.address].toSorted(), 500])
    expect(await poolOf(WETH.address, USDC.address, 500)).to.equal(
      getCreate2Address(factory, keccak256(key), v3Deployments['ethereum/mainnet'].initCodeHash),
    )
  })

  for (const [name, base, quote, fee, price] of [
    ['ether in dollars', WETH, USDC, 500, 3000],
    ['ether in dollars', WETH, USDC, 3000, 3000],
    ['ether in dollars', WETH, USDC, 10_000, 3000],
    ['ether in dollars', WETH, USDT, 500, 3000],
    ['ether in dollars', WETH, DAI, 3000, 3000],
    ['bitcoin in ether', WBTC, WETH, 3000, 20],
    ['bitcoin in dollars', WBTC, USDC, 3000, 60_000],
    ['a dollar in dollars', USDC, USDT, 100, 1],
    ['a dollar in dollars', DAI, USDC, 100, 1],
    ['a dollar in dollars', DAI, USDC, 500, 1],
  ] as const) {
    it(`has ${name} at about ${price} in the pool of ${base.symbol} and ${quote.symbol} with a fee of ${fee}`, async () => {
      const raw = 10n ** BigInt(base.decimals) / 100n
      const { amountRaw } = await quoted('in', raw, [base, fee, quote], router)
      const got = (100 * Number(amountRaw)) / 10 ** quote.decimals
      expect(got).to.be.closeTo(price * (1 - fee / 1e6), price / 400)
    })
  }

  it('has an oracle with some history', async () => {
    const pool = String(await poolOf(WETH.address, USDC.address, 500))
    const slot0 = await read(pool, 'slot0() view returns (uint160, int24, uint16, uint16, uint16 cardinalityNext, uint8, bool)')
    expect(Array.isArray(slot0) && slot0[4] >= 120n).to.equal(true)
  })

  it('names quoters that answer for routes through either kind of pool and through both', async () => {
    const raw = 10n ** 18n
    const [v2, v3] = [await quoted('in', raw, [WETH, 'v2', USDC], router), await quoted('in', raw, [WETH, 500, USDC], router)]
    const onward = (before: bigint) => quoted('in', before, [USDC, 100, USDT], router)
    expect((await quoted('in', raw, [WETH, 'v2', USDC, 100, USDT], router)).amountRaw).to.equal((await onward(v2.amountRaw)).amountRaw)
    expect((await quoted('in', raw, [WETH, 500, USDC, 100, USDT], router)).amountRaw).to.equal((await onward(v3.amountRaw)).amountRaw)
    const quoter = await devnetQuoter(uniswapFile, fixture.provider)
    const { route, head } = await quoted('in', raw, [WETH, 'v2', USDC, 100, USDT], router)
    const failure = await quoter?.exactOut(route, raw, Number(head.number)).catch((error: unknown) => String(error))
    expect(failure).to.match(/no exact output of a route through pools of several versions/)
  })
})
