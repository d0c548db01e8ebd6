import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Contract } from 'ethers'
import { mergedFiles } from '../../../core/config/yaml.ts'
import { SluiceError } from '../../../core/base/errors.ts'
import { builtInPlugins } from '../../../core/base/layout.ts'
import type { Connector, Plan, Token } from '../../../core/contracts/index.ts'
import { readCall } from '../../../core/wallet/calls/index.ts'
import { policyFromFiles } from '../../../core/wallet/policy-files.ts'
import { rulesOfPolicy, type EvmRules } from '../../../core/wallet/policy.ts'
import { rangeOf, type TickPool } from '../../../kits/amm/v3/range-prices.ts'
import type { Evm, EvmReceipt } from '../../../kits/evm/index.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'
import { drawing } from '../../kits/amm/walk/any-swap.ts'
import { randomBits } from '../../kits/amm/v3/math/random-bits.ts'

const swapsOfEach = Number(process.env['SLUICE_READ_SWAPS'] ?? 8)
const names = [
  'uniswap',
  'sushiswap',
  'pancakeswap',
  'balancer',
  'curve',
  'camelot-v4',
  'quickswap',
  'quickswap-v3',
  'quickswap-v4',
  'traderjoe',
  'pangolin',
]
const ether = 10n ** 18n
const inAnHour = () => Math.floor(Date.now() / 1000) + 3600
const permit2Abi = ['function approve(address token, address spender, uint160 amount, uint48 expiration)']
const [most, never] = [2n ** 160n - 1n, 2n ** 48n - 1n]

/** The policy of the release, for its connectors on the devnet. */
export function devnetRules(): EvmRules {
  const confDir = mkdtempSync(path.join(tmpdir(), 'sluice-rules-'))
  const policy = policyFromFiles(
    { confDir, plugins: ['ethereum', ...names, 'oasis', 'perp'], allowedSpenders: [], environment: {}, tries: false },
    {},
  )
  const rules = rulesOfPolicy(policy).get('ethereum/local')
  if (rules?.keys !== 'secp256k1') throw new Error('The release has no devnet.')
  return rules
}

type Exchange = Connector<Evm, 'AMM' | 'AMM_RANGE' | 'AMM_SHARES'>

describe('what the readers of calls say that plans take', function () {
  this.timeout(300_000)
  const rules = devnetRules()
  const random = randomBits(7)
  const all = Object.values(tokens)
  let fixture: DevnetFixture
  let wallet: string
  const exchanges = new Map<string, Exchange>()
  before(async () => {
    const files = [...names, 'ethereum'].map((name) => fileURLToPath(new URL(`../../../plugins/${name}/devnet.ts`, import.meta.url)))
    fixture = await openDevnetFixture(files, { pollingSeconds: 0.05 })
    wallet = fixture.trader.address.toLowerCase()
    for (const name of names) {
      const { default: plugin } = (await import(`../../../plugins/${name}/index.ts`)) as { default: { create(venue: unknown): Exchange } }
      const defaults = mergedFiles([path.join(builtInPlugins, name, 'defaults.yml')]) as {
        contractAddresses: Record<string, Record<string, string>>
      }
      const exchange = plugin.create({ ...fixture.venue(defaults.contractAddresses['local'] ?? {}), config: defaults })
      exchanges.set(name, exchange)
      const permit2 = exchange.permit2
      for (const { address } of all) {
        for (const spender of [...Object.values(exchange.spenders ?? {}), ...(permit2 ? [permit2.address] : [])])
          await fixture.approve(address, spender)
        for (const spender of permit2?.spenders ?? [])
          await (
            await new Contract(permit2?.address ?? '', permit2Abi, fixture.trader).getFunction('approve')(address, spender, most, never)
          ).wait()
      }
    }
  })
  after(() => fixture.close())

  const balances = () => Promise.all([...all, fixture.chain.nativeCurrency].map((token) => fixture.balance(token)))

  /** Sends the plan, and holds what left the wallet against what the signer reads. @returns its receipt */
  async function carryOut(plan: Plan<Evm>, what: string): Promise<EvmReceipt> {
    const [{ to, data, value = '0' } = { to: '', data: '' }] = plan.steps
    const call = { wallet, contract: to.toLowerCase(), data: data.toLowerCase(), valueRaw: BigInt(value) }
    const read = readCall(call, rules, { countsApprovals: false })
    if ('unreadable' in read) expect.fail(`${what}: ${read.unreadable}`)
    const before = await balances()
    const receipt = await fixture.execute(plan)
    const after = await balances()
    const gasRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
    const left = before.map((each, index) => each - (after[index] ?? 0n))
    const ofCoin = (left.pop() ?? 0n) - gasRaw
    expect(ofCoin <= call.valueRaw, `${what}: ${ofCoin} wei`).to.equal(true)
    for (const [index, { address, symbol }] of all.entries())
      expect((left[index] ?? 0n) <= (read.get(address.toLowerCase()) ?? 0n), `${what}: ${left[index]} ${symbol}`).to.equal(true)
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
})
