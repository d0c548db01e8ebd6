import { expect } from 'chai'
import { Contract, ContractFactory, id, Interface, MaxUint256 } from 'ethers'
import { SluiceError, type Plan, type Token } from '../../../../../core/contracts/index.ts'
import { v3Range } from '../../../../../kits/amm/v3/range.ts'
import type { Evm } from '../../../../../kits/evm/index.ts'
import { addresses } from '../../../../devnet/addresses.ts'
import oddToken from '../../../../fixtures/tokens/OddToken.json' with { type: 'json' }
import { tokens } from '../../devnet-fixture.ts'
import { openRangeFixture, type RangeFixture } from './range-fixture.ts'

const { WETH } = tokens
const ether = 10n ** 18n
const { positionManager } = addresses.rangeExchanges.uniswap
const thief = `0x${id('thief').slice(-40)}`

describe('the coin of a position beside a token that is not listed', () => {
  let fixture: RangeFixture
  let odd: Token
  let contract: Contract
  let tokenId: string

  before(async function () {
    this.timeout(400_000)
    fixture = await openRangeFixture()
    // The pool pays the wrapped coin first where it is token0.
    do {
      const deployed = await new ContractFactory(oddToken.abi, oddToken.bytecode, fixture.trader).deploy('Odd', 'ODD', 18)
      odd = { symbol: 'ODD', address: await (await deployed.waitForDeployment()).getAddress(), decimals: 18 }
    } while (BigInt(odd.address) < BigInt(WETH.address))
    contract = new Contract(odd.address, oddToken.abi, fixture.trader)
    await (await contract.getFunction('mint')(fixture.owner, 1000n * ether)).wait()
    for (const spender of [positionManager, addresses.rangeExchanges.uniswap.router]) await fixture.approve(odd.address, spender)
    const manager = new Contract(
      positionManager,
      ['function createAndInitializePoolIfNecessary(address,address,uint24,uint160) payable'],
      fixture.trader,
    )
    const pool = [WETH.address, odd.address, 3000, 2n ** 96n]
    await (await manager.getFunction('createAndInitializePoolIfNecessary')(...pool, { gasLimit: 8_000_000n })).wait()
    const made = await fixture.pool(WETH, odd, 3000)
    const most = { amount0Raw: 10n * ether, amount1Raw: MaxUint256 }
    tokenId = await fixture.minted(made, fixture.about(made, -10, 10), most)
    await fixture.swap(WETH, odd, 3000, ether)
    // Its code runs where the pool pays some of it.
    await fixture.swap(odd, WETH, 3000, ether / 2n)
    const taking = new Interface(['function unwrapWETH9(uint256 amountMinimum, address recipient)'])
    const data = taking.encodeFunctionData('unwrapWETH9', [0n, thief])
    await (await contract.getFunction('callBack')(positionManager, data)).wait()
  })
  after(() => fixture.close())

  const plans = async (
    native: boolean,
    range = fixture.range,
    listed: readonly string[] = [],
  ): Promise<readonly (() => Plan<Evm> | Promise<Plan<Evm>>)[]> => {
    const position = await fixture.position(tokenId)
    const terms = fixture.terms({ native, listed, slippage: { numerator: 1n, denominator: 2n } })
    return [() => range.collect(position, terms), () => range.remove(position, { liquidity: position.liquidity / 2n, burn: false }, terms)]
  }

  it('could be taken by the token’s code, so that it is refused where it is to be paid out as the coin', async () => {
    const listed = new Set([...fixture.exchange.listed, odd.address])
    const [collect] = await plans(true, v3Range({ ...fixture.exchange, listed }, fixture.chain.reader))
    const { unclaimed } = await fixture.position(tokenId)
    if (collect) await fixture.succeed(await collect())
    expect(unclaimed.amount0Raw > 0n).to.equal(true)
    expect(await fixture.provider.getBalance(thief)).to.equal(unclaimed.amount0Raw)

    for (const plan of await plans(true))
      expect(plan)
        .to.throw(SluiceError, /is not on the network's token list.* Leave native out/)
        .with.property('name', 'INCOMPLETE_PARAMS')
    // A list may get tokens while the server runs.
    for (const plan of await plans(true, fixture.range, [odd.address])) expect(await plan()).to.have.property('steps')
  })

  it('comes to the wallet in its wrapped form', async () => {
    const stolen = await fixture.provider.getBalance(thief)
    for (const index of [0, 1]) {
      await fixture.swap(WETH, odd, 3000, ether)
      const { unclaimed } = await fixture.position(tokenId)
      const held = await fixture.balance(WETH)
      const plan = (await plans(false))[index]
      if (plan) await fixture.succeed(await plan())
      expect((await fixture.balance(WETH)) - held >= unclaimed.amount0Raw && unclaimed.amount0Raw > 0n).to.equal(true)
    }
    expect(await fixture.provider.getBalance(thief)).to.equal(stolen)
  })
})
