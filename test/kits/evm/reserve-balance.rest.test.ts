import { expect } from 'chai'
import { parseUnits, toBeHex } from 'ethers'
import { mineOnDemand, mined, startStillChain, wallet, type TestChain } from './test-chain.ts'

const coins = (amount: string) => parseUnits(amount, 18)
const somebody = '0x00000000000000000000000000000000000000A1'

describe("a chain's reserve balance, as Monad has one of 10", () => {
  let site: TestChain
  before(async () => {
    const config = { feePolicy: { baseFeeMultiplier: 1 } }
    site = await startStillChain({ config, definition: { reserveBalance: { amount: '10', blocks: 3 }, gasLimitIsPaid: true, local: true } })
    await mineOnDemand(site.rpc)
  })
  after(() => site.stop())

  beforeEach(async () => {
    await site.rpc('anvil_setCode', wallet, '0x')
    await site.rpc('anvil_mine', '0x5')
    await hold('12.5')
  })
  const hold = (amount: string) => site.rpc('anvil_setBalance', wallet, toBeHex(coins(amount)))
  const sent = async () => mined(site, await site.rpc('eth_sendTransaction', { from: wallet, to: somebody, value: '0x1' }))
  const check = (...amounts: readonly string[]) =>
    site.chain.rail.check(
      amounts.map((amount) => ({ to: somebody, data: '0x', value: coins(amount).toString() })),
      [],
      wallet,
      { feeOverrides: {} },
      { signal: AbortSignal.timeout(60_000) },
    )
  const why = async (...amounts: readonly string[]) => {
    try {
      await check(...amounts)
      return 'signed'
    } catch (error) {
      expect(Object(error).details).to.include({ reason: 'reserve balance', reserve: '10.000000000000000000' })
      return `${Object(error).name} ${Object(error).message}`
    }
  }
  const says = /^INSUFFICIENT_BALANCE .*reserve balance of 10.* ETH.*last 3 blocks.*nothing was signed/

  it('lets one transaction spend it, where the wallet sent none in the blocks before', async () => {
    for (const amount of ['2', '2.5', '12']) expect(await why(amount)).to.equal('signed')
  })

  it('refuses one that would leave less behind others that are not mined yet, and none that leaves enough or sends nothing', async () => {
    const first = await check('2')
    const committedRaw = first.prepared.reduce((sum, { step, fees }) => sum + site.chain.rail.cost(step, fees), 0n)
    const refusal = (checked: typeof first) => checked.checkFunds(committedRaw)
    const refused = refusal(first)
    expect(`${refused?.name} ${refused?.message}`).to.match(says)
    expect(refused?.details).to.include({ reason: 'reserve balance' })
    expect(refusal(await check('0'))).to.equal(undefined)
    expect(refusal(await check('0.4'))).to.equal(undefined)
    await hold('100')
    expect(refusal(await check('2'))).to.equal(undefined)
  })

  it('refuses one behind others that were mined in the last blocks, until these have passed', async () => {
    await sent()
    await hold('11')
    expect(await why('2')).to.match(says)
    expect(await why('1')).to.equal('signed')
    await site.rpc('anvil_mine', '0x2')
    expect(await why('2')).to.match(says)
    await site.rpc('anvil_mine', '0x1')
    expect(await why('2')).to.equal('signed')
  })

  it('refuses a plan whose later step spends it, and every spending of it by a wallet with code', async () => {
    expect(await why('0', '2')).to.equal('signed')
    expect(await why('2', '2')).to.match(says)
    expect(await why('0', '3')).to.match(says)
    await site.rpc('anvil_setCode', wallet, `0xef0100${somebody.slice(2).toLowerCase()}`)
    expect(await why('2')).to.equal('signed')
    expect(await why('2.6')).to.match(says)
  })
})
