import { expect } from 'chai'
import * as fc from 'fast-check'
import { AbiCoder, Interface, getCreate2Address, getCreateAddress, keccak256, toQuantity } from 'ethers'
import { readFile } from 'node:fs/promises'
import { readArtifact } from '../../../core/devnet/read-artifact.ts'
import { getSqrtRatioAtTick, maxSqrtRatioX96, minSqrtRatioX96 } from '../../../core/kits/uniswap-v3/math/index.ts'
import { v3Protocol } from '../../../core/kits/uniswap-v3/pools/v3-protocol.ts'
import { v3Deployments } from '../../../plugins/pancakeswap/deployments.ts'
import { at, startStillChain, wallet } from '../../kits/evm/test-chain.ts'

const { initCodeHash, deployer: liveDeployer } = v3Deployments['binance-smart-chain/mainnet']
const ethereum = new URL('../../../plugins/ethereum/devnet.ts', import.meta.url).href
const tokenAbi = new Interface(['function mint(address, uint256)'])
const fee = 2500
const tickSpacing = 50

describe('a pool of PancakeSwap’s own code', () => {
  let floor: Awaited<ReturnType<typeof openPool>>
  before(async () => {
    floor = await openPool()
  })
  after(() => floor.stop())

  it('is of the code that the exchange’s pools have on its chains, and is found by who deployed it', () => {
    expect(liveDeployer).to.not.equal(v3Deployments['binance-smart-chain/mainnet'].factory)
    expect(floor.poolCodeHash).to.equal(initCodeHash)
  })

  it('gives what was quoted, to the unit, also where the protocol keeps part of the fee', async () => {
    expect(await floor.feeProtocol()).not.to.equal(0n)
    const amount = fc.bigInt({ min: 1n, max: 10n * 10n ** 18n })
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.constantFrom('in' as const, 'out' as const), amount, async (zeroForOne, exact, amountRaw) => {
        const quoted = await floor.quote(zeroForOne, exact, amountRaw)
        expect(quoted).to.equal(await floor.swap(zeroForOne, exact, amountRaw))
      }),
      { numRuns: 60 },
    )
  })
})

/** A pool with a few ranges, deployed by another contract than the factory, on a chain of its own. */
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
  const deskAbi = new Interface(abi)
  const desk = await deploy(bytecode)
  const factory = wallet
  await send(
    desk,
    deskAbi.encodeFunctionData('make', [own.bytecode, [factory, token0, token1, fee, tickSpacing], getSqrtRatioAtTick(1_234)]),
  )

  const protocol = v3Protocol({ version: 'v3', factory, deployer: desk, initCodeHash, fees: [fee] })
  const pools = async () => {
    const reading = protocol.read([[token0, token1]], [])
    return reading.pools((await chain.reader.read(reading.calls, at)).results)
  }
  for (const each of tokens) await send(each, tokenAbi.encodeFunctionData('mint', [desk, 10n ** 30n]))
  const salt = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint24'], [token0, token1, fee]))
  const pool = getCreate2Address(desk, salt, initCodeHash)
  for (const [lower, upper, liquidity] of [
    [-50_000, 50_000, 10n ** 20n],
    [1_000, 1_500, 10n ** 21n],
    [1_250, 1_300, 5n * 10n ** 20n],
    [-2_000, 1_200, 3n * 10n ** 20n],
  ] as const)
    await send(desk, deskAbi.encodeFunctionData('add', [pool, lower, upper, liquidity]))

  return {
    stop,
    poolCodeHash: keccak256(own.bytecode),
    async feeProtocol(): Promise<bigint> {
      const slot0 = new Interface(own.abi)
      const data = await rpc('eth_call', { to: pool, data: slot0.encodeFunctionData('slot0') }, 'latest')
      return BigInt(slot0.decodeFunctionResult('slot0', String(data))[5])
    },
    /** The other side; undefined where the pool has too little. */
    async quote(zeroForOne: boolean, exact: 'in' | 'out', amountRaw: bigint): Promise<bigint | undefined> {
      const [found] = await pools()
      const [tokenIn, tokenOut] = zeroForOne ? [token0, token1] : [token1, token0]
      const passed = found && protocol.pass(found, { tokenIn, tokenOut }, exact, amountRaw)
      return passed && 'amountRaw' in passed ? passed.amountRaw : undefined
    },
    /** What the pool itself says, and then does. */
    async swap(zeroForOne: boolean, exact: 'in' | 'out', amountRaw: bigint): Promise<bigint> {
      const limit = zeroForOne ? minSqrtRatioX96 + 1n : maxSqrtRatioX96 - 1n
      const data = deskAbi.encodeFunctionData('swap', [pool, zeroForOne, exact === 'in' ? amountRaw : -amountRaw, limit])
      const answer = await rpc('eth_call', { from: wallet, to: desk, data, gas: toQuantity(100_000_000) }, 'latest')
      const [amount0, amount1] = deskAbi.decodeFunctionResult('swap', String(answer))
      await send(desk, data)
      const other = BigInt(zeroForOne === (exact === 'in') ? amount1 : amount0)
      return exact === 'in' ? -other : other
    },
  }
}
