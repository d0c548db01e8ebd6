import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { Contract } from 'ethers'
import { parse } from 'yaml'
import type { Swap } from '../../../../core/contracts/index.ts'
import { algebraProtocol } from '../../../../kits/amm/algebra/pools.ts'
import { completeReading, readBy } from '../../../../kits/amm/protocol.ts'
import { trialReading, type Trial } from '../../../../kits/amm/trial.ts'
import type { Call } from '../../../../kits/evm/types.ts'
import type { Pool } from '../../../../kits/pools/protocol.ts'
import { swap } from '../../../../kits/amm/v3/swap.ts'
import plugin, { deployments } from '../../../../plugins/camelot-v4/index.ts'
import { devnetQuoter } from '../../../../testkit/devnet-operators.ts'
import { devnetFiles } from '../../../devnet/test-devnet.ts'
import { rpcTo } from '../../evm/test-chain.ts'
import { at, openDevnetFixture, tokens, type DevnetFixture } from '../devnet-fixture.ts'

const folder = new URL('../../../../plugins/camelot-v4/', import.meta.url)
const devnetFile = fileURLToPath(new URL('devnet.ts', folder))
const defaults = parse(readFileSync(new URL('defaults.yml', folder), 'utf8'))
const { WETH, USDC, DAI } = tokens
const amountRaw = 10n ** 18n

describe('a pool of Algebra with its own plugin', () => {
  let fixture: DevnetFixture
  before(async () => {
    fixture = await openDevnetFixture([...devnetFiles, devnetFile])
  })
  after(() => fixture?.close())

  const protocol = algebraProtocol({ version: 'integral', kind: 'integral', deployment: deployments['ethereum/local'] })
  const { memory } = protocol
  if (!memory) throw new Error('It is kept in memory.')

  async function readPool(tokenA: string, tokenB: string): Promise<Pool<Parameters<typeof protocol.pass>[0]['state']>> {
    const { reader } = fixture.chain
    const reading = readBy(memory ?? never())([[tokenA, tokenB]], [])
    const [pool] = await completeReading(reading, await reader.read(reading.calls, at()), reader, at())
    return pool ?? never()
  }
  const never = (): never => {
    throw new Error('There is no such pool.')
  }

  it('takes the fee of the block, not the one that it stored, by which every quote would be wrong', async () => {
    const { AMM: amm } = plugin.create({
      ...fixture.venue(defaults.contractAddresses.local),
      config: { allowedSlippage: '0/1', ttl: 600, contractAddresses: {} },
    })
    const asked: Swap = { tokenIn: WETH, tokenOut: USDC, exact: 'in', amountRaw }
    const quote = await amm?.quote(asked, {}, at())
    const quoter = await devnetQuoter(devnetFile, fixture.provider)
    const real = await quoter?.exactIn(quote?.route ?? [], amountRaw, Number(quote?.head.number))
    expect(quote?.amountRaw).to.equal(real)
    expect(quote?.route.map(({ fee }) => fee)).to.deep.equal(['0.0001'])
    const { state, tokens: own } = await readPool(WETH.address, USDC.address)
    expect(state.range.fee, 'stored').to.equal(500)
    const byStored = swap(state.range, own[0] === WETH.address, 'in', amountRaw)
    expect(byStored).to.have.property('amountRaw').that.is.not.equal(real)
  })

  it('is told by the code of the plugin: with one other byte it is tried for each amount', async () => {
    const rpc = rpcTo(fixture.devnet.rpcUrl)
    const pool = await readPool(WETH.address, DAI.address)
    expect(pool.state.hasBlockFees).to.equal(true)
    const view = new Contract(pool.address, ['function plugin() view returns (address)'], fixture.provider)
    const address: string = await view.getFunction('plugin').staticCall()
    const code = await fixture.provider.getCode(address)
    // In the metadata at its end, where it makes no difference to what the code does.
    const last = code.length - 40
    await rpc('anvil_setCode', address, `${code.slice(0, last)}${code[last] === '0' ? '1' : '0'}${code.slice(last + 1)}`)
    const changed = await readPool(WETH.address, DAI.address)
    expect(changed.state.hasBlockFees).to.equal(false)
    expect(memory.ofBlock?.(changed, await fixture.chain.head(at()))).to.deep.equal([])
    await rpc('anvil_setCode', address, code)
    expect((await readPool(WETH.address, DAI.address)).state.hasBlockFees).to.equal(true)
  })

  it('uses the same gas in a trial, whatever else is tried or called beside it', async () => {
    const { reader } = fixture.chain
    const head = await fixture.chain.head(at())
    const pools = await Promise.all([readPool(WETH.address, USDC.address), readPool(WETH.address, DAI.address)])
    const trials = pools.flatMap(({ address }) =>
      [true, false].flatMap((zeroForOne) =>
        [10n ** 9n, 10n ** 12n].map((amountRaw): Trial => ({
          pool: address,
          zeroForOne,
          exact: 'in',
          amountRaw,
          block: head.hash ?? '',
          number: head.number,
        })),
      ),
    )
    // What a contract that was called has touched is cheaper afterwards (EIP-2929).
    const views = pools.flatMap(({ address }) => ['0xe76c01e4', '0xef01df4f'].map((data) => ({ to: address, data })))
    const tried = async (some: readonly Trial[], beside: readonly Call[] = []) => {
      const reading = trialReading(some, ({ pool }) => ({ target: pool }))
      const { results } = await reader.read([...beside, ...reading.calls], at(), head)
      return reading.pools(results.slice(beside.length)).map(({ trial, done }) => ({ trial, done }))
    }
    const alone = (await Promise.all(trials.map((trial) => tried([trial])))).flat()
    expect(alone.filter(({ done }) => done)).to.have.length(trials.length)
    expect(await tried(trials), 'together').to.deep.equal(alone)
    expect(await tried(trials.toReversed()), 'in another order').to.deep.equal(alone.toReversed())
    expect(await tried(trials, views), 'after calls of the same pools').to.deep.equal(alone)
  })
})
