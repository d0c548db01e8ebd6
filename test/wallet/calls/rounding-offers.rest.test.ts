import path from 'node:path'
import { expect } from 'chai'
import { Contract, Wallet } from 'ethers'
import { isObject } from '../../../core/base/json.ts'
import { builtInPlugins } from '../../../core/base/layout.ts'
import { mergedFiles } from '../../../core/config/yaml.ts'
import { tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'
import { openExchanges } from './released-exchanges.ts'

const { USDC } = tokens
const marketAbi = ['function offer(uint256 pay_amt, address pay_gem, uint256 buy_amt, address buy_gem, uint256 pos, bool rounding)']
const tokenAbi = ['function mint(address, uint256)', 'function approve(address, uint256)']
const dollar = 10n ** 6n

function marketAddress(): string {
  const { contractAddresses } = mergedFiles([path.join(builtInPlugins, 'oasis', 'defaults.yml')])
  const local = isObject(contractAddresses) ? contractAddresses['local'] : undefined
  return isObject(local) ? String(local['routerAddress']) : ''
}

describe('an offer in the matching market', function () {
  this.timeout(300_000)
  let fixture: DevnetFixture
  before(async () => {
    fixture = await openExchanges(['oasis'])
  })
  after(() => fixture.close())

  it('of one dollar pays no more without rounding, and ten thousand with it: so the signer reads none that has it', async () => {
    const { trader, provider } = fixture
    const maker = new Wallet(`0x${'12'.repeat(32)}`, provider)
    const market = marketAddress()
    const send = async (of: Contract, method: string, ...args: readonly unknown[]) =>
      (await of.getFunction(method)(...args, { gasLimit: 1_000_000n })).wait()
    await (await trader.sendTransaction({ to: maker.address, value: 10n ** 18n })).wait()
    const odd = await (await fixture.deploy('TestToken', 'ODD', 'ODD', 8)).getAddress()
    await send(new Contract(odd, tokenAbi, trader), 'mint', maker.address, 1n)
    await send(new Contract(odd, tokenAbi, maker), 'approve', market, 1n)
    await send(new Contract(USDC.address, tokenAbi, trader), 'approve', market, 10n ** 30n)
    await send(new Contract(market, marketAbi, maker), 'offer', 1n, odd, 10_000n * dollar, USDC.address, 0n, false)
    const paid: bigint[] = []
    for (const rounding of [false, true]) {
      const before = await fixture.balance(USDC)
      await send(new Contract(market, marketAbi, trader), 'offer', dollar, USDC.address, 1n, odd, 0n, rounding)
      paid.push(before - (await fixture.balance(USDC)))
    }
    expect(paid).to.deep.equal([dollar, 10_000n * dollar])
  })
})
