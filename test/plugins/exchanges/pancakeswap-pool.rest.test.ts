import { expect } from 'chai'
import * as fc from 'fast-check'
import { AbiCoder, Interface, getCreate2Address, getCreateAddress, keccak256, toQuantity } from 'ethers'
import { readFile } from 'node:fs/promises'
import { readArtifact } from '../../../core/devnet/build-state.ts'
import type { FoundLog } from '../../../kits/evm/index.ts'
import type { Pool } from '../../../kits/amm/index.ts'
import { getSqrtRatioAtTick, maxSqrtRatioX96, minSqrtRatioX96 } from '../../../kits/amm/v3/math.ts'
import type { V3PoolState } from '../../../kits/amm/v3/swap.ts'
import { v3Protocol } from '../../../kits/amm/v3/pools.ts'
import { v3Deployments } from '../../../plugins/pancakeswap/index.ts'
import { at, startStillChain, wallet } from '../../kits/evm/test-chain.ts'

const { initCodeHash, deployer: liveDeployer } = v3Deployments['binance-smart-chain/mainnet']
const ethereum = new URL('../../../plugins/ethereum/devnet.ts', import.meta.url).href
const tokenAbi = new Interface(['function mint(address, uint256)'])
const fee = 2500
const tickSpacing = 50

describe('a pool of PancakeSwap’s own code', () => {
  let devnetFixture: Awaited<ReturnType<typeof openPool>>
  before(async () => {
    devnetFixture = await openPool()
  })
  after(() => devnetFixture.stop())

  it('has the code of the exchange’s pools on its chains, and an address by its deployer', () => {
    expect(liveDeployer).to.not.equal(v3Deployments['binance-smart-chain/mainnet'].factory)
    expect(devnetFixture.poolCodeHash).to.equal(initCodeHash)
  })

  it('gives what was quoted, to the unit, also where the protocol keeps part of the fee', async () => {
    expect(await devnetFixture.feeProtocol()).not.to.equal(0n)
    const amount = fc.bigInt({ min: 1n, max: 10n * 10n ** 18n })
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.constantFrom('in' as const, 'out' as const), amount, async (zeroForOne, exact, amountRaw) => {
        const quoted = await devnetFixture.quote(zeroForOne, exact, amountRaw)
        expect(quoted).to.equal(await devnetFixture.swap(zeroForOne, exact, amountRaw))
      }),
      { numRuns: 60 },
    )
  })

  it('follows its logs in memory, with its own log of swaps, whatever the protocol keeps', async () => {
    const ether = 10n ** 18n
    let held = await devnetFixture.pool()
    for (const change of [
      () => devnetFixture.swap(true, 'in', 40n * ether),
      () => devnetFixture.keep(1500),
      () => devnetFixture.swap(false, 'in', 55n * ether),
      () => devnetFixture.add(1_100, 1_350, 10n ** 20n),
      () => devnetFixture.swap(false, 'out', 3n * ether),
      () => devnetFixture.remove(1_000, 1_500, 10n ** 21n),
      () => devnetFixture.keep(0),
      () => devnetFixture.swap(true, 'out', ether),
    ]) {
      await change()
      for (const log of await devnetFixture.logs()) {
        const after = devnetFixture.memory.apply(held, log, { number: BigInt(log.blockNumber), timestamp: 0 })
        if (after === null || after === 'reload') throw new Error(`The pool is ${String(after)}.`)
        held = after
      }
      expect(devnetFixture.memory.same?.(held, await devnetFixture.pool(), { number: 0n, timestamp: 0 })).to.equal(true)
      expect(await devnetFixture.quote(true, 'in', ether, held)).to.equal(await devnetFixture.ask(true, 'in', ether))
    }
  })
})

/** A pool with a few ranges, deployed by another contract than the factory, on a test chain. */
async function openPool() {
  const { chain, rpc, stop } = await startStillChain({ flags: ['--gas-limit', '200000000'] })
  await chain.start?.(new AbortController().signal)
  let nonce = 0
  const send = async (to: string | undefined, data: string): Promise<void> => {
    const hash = await rpc('eth_sendTransaction', { from: wallet, to, data, gas: toQuantity(100_000_000) })
    nonce += 1
    await rpc('evm_mine')
    const receipt: unknown = await rpc('eth_getTransactionReceipt', hash)
    expect(receipt, data.slice(0, 10)).to.have.property('status', '0x1')
  }
  const deploy = async (bytecode: string): Promise<string> => {
    const address = getCreateAddress({ from: wallet, nonce })
    await send(undefined, bytecode)
    return address
  }
  const token = async (name: string) => {
    const { abi, bytecode } = await readArtifact('TestToken', ethereum)
    return deploy(bytecode + new Interface(abi).encodeDeploy([name, name, 18]).slice(2))
  }
  const fixture = async (name: string): Promise<{ abi: string; bytecode: string }> =>
    JSON.parse(await readFile(new URL(`../../fixtures/pancakeswap/${name}.json`, import.meta.url), 'utf8'))

  const tokens = [await token('ONE'), await token('OTHER')]
  const [token0 = '', token1 = ''] = tokens.toSorted((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  const [own, { abi, bytecode }] = [await fixture('PancakeV3Pool'), await fixture('PancakePoolDesk')]
  const swapperAbi = new Interface(abi)
  const swapper = await deploy(bytecode)
  const factory = wallet
  await send(
    swapper,
    swapperAbi.encodeFunctionData('make', [own.bytecode, [factory, token0, token1, fee, tickSpacing], getSqrtRatioAtTick(1_234)]),
  )

  const ownAbi = new Interface(own.abi)
  const protocol = v3Protocol({ version: 'v3', factory, deployer: swapper, initCodeHash, fees: [fee] })
  const { memory } = protocol
  if (!memory) throw new Error('The protocol has no memory.')
  const pools = async () => {
    const reading = protocol.read([[token0, token1]], [])
    return reading.pools((await chain.reader.read(reading.calls, at)).results)
  }
  for (const each of tokens) await send(each, tokenAbi.encodeFunctionData('mint', [swapper, 10n ** 30n]))
  const salt = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint24'], [token0, token1, fee]))
  const pool = getCreate2Address(swapper, salt, initCodeHash)
  const add = (lower: number, upper: number, liquidity: bigint) =>
    send(swapper, swapperAbi.encodeFunctionData('add', [pool, lower, upper, liquidity]))
  await add(-50_000, 50_000, 10n ** 20n)
  await add(1_000, 1_500, 10n ** 21n)
  await add(1_250, 1_300, 5n * 10n ** 20n)
  await add(-2_000, 1_200, 3n * 10n ** 20n)

  /** The other side of a swap, by the contract that swaps and by the pool. */
  const asked = async (zeroForOne: boolean, exact: 'in' | 'out', amountRaw: bigint) => {
    const limit = zeroForOne ? minSqrtRatioX96 + 1n : maxSqrtRatioX96 - 1n
    const data = swapperAbi.encodeFunctionData('swap', [pool, zeroForOne, exact === 'in' ? amountRaw : -amountRaw, limit])
    const answer = await rpc('eth_call', { from: wallet, to: swapper, data, gas: toQuantity(100_000_000) }, 'latest')
    const [amount0, amount1] = swapperAbi.decodeFunctionResult('swap', String(answer))
    const other = BigInt(zeroForOne === (exact === 'in') ? amount1 : amount0)
    return { data, otherRaw: exact === 'in' ? -other : other }
  }
  const poolNow = async (): Promise<Pool<V3PoolState>> => {
    const [found] = await pools()
    if (!found) throw new Error('There is no pool.')
    return found
  }

  return {
    stop,
    poolCodeHash: keccak256(own.bytecode),
    memory,
    pool: poolNow,
    add,
    remove: (lower: number, upper: number, liquidity: bigint) =>
      send(swapper, swapperAbi.encodeFunctionData('remove', [pool, lower, upper, liquidity])),
    /** The share of the fee that the protocol keeps, in hundredths of a percent. */
    keep: (share: number) => send(pool, ownAbi.encodeFunctionData('setFeeProtocol', [share, share])),
    /** The followed logs of the pool in the latest block. */
    async logs(): Promise<readonly FoundLog[]> {
      const latest = await rpc('eth_blockNumber')
      const logs = await rpc('eth_getLogs', { fromBlock: latest, toBlock: latest, topics: [memory.follow] })
      return Array.isArray(logs) ? logs.filter((log) => memory.poolsOf(log).includes(pool.toLowerCase())) : []
    },
    async feeProtocol(): Promise<bigint> {
      const data = await rpc('eth_call', { to: pool, data: ownAbi.encodeFunctionData('slot0') }, 'latest')
      return BigInt(ownAbi.decodeFunctionResult('slot0', String(data))[5])
    },
    /** The other side; undefined where the pool has too little. */
    async quote(zeroForOne: boolean, exact: 'in' | 'out', amountRaw: bigint, by?: Pool<V3PoolState>): Promise<bigint | undefined> {
      const [tokenIn, tokenOut] = zeroForOne ? [token0, token1] : [token1, token0]
      const passed = protocol.pass(by ?? (await poolNow()), { tokenIn, tokenOut }, exact, amountRaw)
      return passed && 'amountRaw' in passed ? passed.amountRaw : undefined
    },
    ask: async (...swap: Parameters<typeof asked>): Promise<bigint> => (await asked(...swap)).otherRaw,
    /** The pool's own quote, and then its swap. */
    async swap(...swap: Parameters<typeof asked>): Promise<bigint> {
      const { data, otherRaw } = await asked(...swap)
      await send(swapper, data)
      return otherRaw
    },
  }
}
