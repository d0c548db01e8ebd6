import { Contract, ContractFactory, JsonRpcProvider, MaxUint256, type Block } from 'ethers'
import { readArtifact } from '../../../../core/devnet/build-state.ts'
import { startAnvil } from '../../../../core/devnet/anvil.ts'
import { poolKinds, type StablePool } from '../../../../kits/amm/stable/pools.ts'
import { precision, stablePoolState, type StablePoolState } from '../../../../kits/amm/stable/math.ts'
import type { Pool } from '../../../../kits/amm/index.ts'
import { portLogs } from './port-logs.ts'

export type Act = () => Promise<unknown>
export type LaterKind = 'second' | 'template'

const fixtures = new URL('../../../fixtures/stable/take.mjs', import.meta.url).href
const artifactsOfTokens = new URL('../../../../plugins/ethereum/devnet.ts', import.meta.url).href
// Where tools/artifacts/artifacts.mjs has the pool look for it.
const libraryAddress = '0x000000000000000000000000000000000057AB1e'
const decimals = [18, 6, 6]
const gasLimit = 3_000_000n
const plenty = 2n ** 100n
// The port keeps two more digits of it, like the last of Curve's pools; the pools between keep none.
const aPrecision = 100n

/** A pool of three coins of another exchange's port of Curve's later contracts, on a test chain. Its logs are translated to Curve's. */
export async function portPool(kind: LaterKind) {
  // Mines by interval at first: a wait for the next block would never end without one.
  const anvil = await startAnvil(0, ['--block-time', '1', '--mixed-mining'])
  const provider = new JsonRpcProvider(anvil.rpcUrl, undefined, {
    staticNetwork: true,
    pollingInterval: 20,
    batchMaxCount: 1,
    cacheTimeout: -1,
  })
  const signer = await provider.getSigner(0)
  const deploy = async (name: string, moduleUrl: string, ...args: unknown[]) => {
    const { abi, bytecode } = await readArtifact(name, moduleUrl)
    const contract = await new ContractFactory(abi, bytecode, signer).deploy(...args)
    return new Contract(await (await contract.waitForDeployment()).getAddress(), abi, signer)
  }
  const library = await (await deploy('SwapUtilsExternal', fixtures)).getAddress()
  await anvil.rpc('anvil_setCode', libraryAddress, await provider.getCode(library))
  const pool = await deploy('StableSwap', fixtures)
  const address = await pool.getAddress()
  const coins: StablePool['coins'][number][] = []
  for (const each of decimals) {
    const token = await deploy('TestToken', artifactsOfTokens, 'T', 'T', each)
    await (await token.getFunction('mint')(signer.address, plenty)).wait()
    await (await token.getFunction('approve')(address, MaxUint256)).wait()
    coins.push({ address: await token.getAddress(), decimals: each })
  }
  const shares = await (await deploy('LPToken', fixtures)).getAddress()
  const fees = { fee: 4_000_000n, adminFee: 5_000_000_000n }
  const places = coins.map((coin) => coin.address)
  // Half of the fee leaves the pool.
  await (await pool.getFunction('initialize')(places, decimals, 'S', 'S', 2000n, fees.fee, fees.adminFee, shares)).wait()
  const storage = async (blockTag: number) => pool.getFunction('swapStorage').staticCall({ blockTag })
  const token = new Contract(
    (await storage(await provider.getBlockNumber()))['lpToken'],
    ['function approve(address, uint256)', 'function totalSupply() view returns (uint256)'],
    signer,
  )
  await (await token.getFunction('approve')(address, MaxUint256)).wait()
  const filling = decimals.map((each, index) => BigInt(index + 5) * 10n ** BigInt(each + 5))
  await (await pool.getFunction('addLiquidity')(filling, 0n, MaxUint256)).wait()
  await anvil.rpc('evm_setIntervalMining', 0)
  await anvil.rpc('evm_setAutomine', false)

  const held = async (blockTag: number): Promise<readonly bigint[]> =>
    Promise.all(decimals.map(async (_, index) => BigInt(await pool.getFunction('getTokenBalance').staticCall(index, { blockTag }))))
  const latest = () => provider.getBlockNumber()
  const digits = kind === 'second' ? aPrecision : 1n
  const rates = decimals.map((each) => precision * 10n ** BigInt(18 - each))

  /** Read by its views. */
  async function read(blockTag: number): Promise<Pool<StablePoolState>> {
    const [found, balances] = [await storage(blockTag), await held(blockTag)]
    const ramp = {
      initial: found['initialA'] / digits,
      future: found['futureA'] / digits,
      initialTime: found['initialATime'],
      futureTime: found['futureATime'],
    }
    const state = stablePoolState({ balances, ramp, fee: found['swapFee'], adminFee: found['adminFee'], rates, rounding: poolKinds[kind] })
    if (!state) throw new Error('The pool is filled.')
    return { address, tokens: places, state }
  }

  let nonce = 0
  async function send(method: string, ...args: unknown[]): Promise<void> {
    await signer.sendTransaction({ to: address, data: pool.interface.encodeFunctionData(method, args), gasLimit, nonce })
    nonce += 1
  }
  const only = (amounts: readonly bigint[], indices: readonly number[], part: bigint) =>
    amounts.map((raw, index) => (indices.includes(index) ? raw / part : 0n))
  const supply = async (part: bigint): Promise<bigint> => BigInt(await token.getFunction('totalSupply')()) / part

  return {
    listed: { address, kind, coins } satisfies StablePool,
    read,
    /** Its logs, translated to Curve's; to be read block by block. */
    logs: (block: number) => portLogs(provider, pool.interface, address, block, fees),
    /** The output of a swap in that block. */
    gives: async (from: number, to: number, inRaw: bigint, blockTag: number): Promise<bigint> =>
      pool.getFunction('calculateSwap').staticCall(from, to, inRaw, { blockTag }),
    /** The shares that a deposit gives after that block; undefined where it is refused. */
    minted: async (amounts: readonly bigint[], blockTag: number): Promise<bigint | undefined> =>
      pool
        .getFunction('addLiquidity')
        .staticCall(amounts, 0n, MaxUint256, { blockTag })
        .then(BigInt, () => undefined),
    /** All shares after that block. */
    supply: async (blockTag: number): Promise<bigint> => BigInt(await token.getFunction('totalSupply').staticCall({ blockTag })),
    swap:
      (from: number, to: number, part = 1000n): Act =>
      async () =>
        send('swap', from, to, ((await held(await latest()))[from] ?? 0n) / part, 0n, MaxUint256),
    add:
      (indices: readonly number[], part = 300n): Act =>
      async () =>
        send('addLiquidity', only(await held(await latest()), indices, part), 0n, MaxUint256),
    remove:
      (part = 200n): Act =>
      async () =>
        send('removeLiquidity', await supply(part), [0n, 0n, 0n], MaxUint256),
    removeSome:
      (indices: readonly number[], part = 300n): Act =>
      async () =>
        send('removeLiquidityImbalance', only(await held(await latest()), indices, part), MaxUint256 / 2n, MaxUint256),
    removeOne:
      (index: number, part = 400n): Act =>
      async () =>
        send('removeLiquidityOneToken', await supply(part), index, 0n, MaxUint256),
    fee:
      (raw: bigint): Act =>
      () =>
        send('setSwapFee', raw),
    adminFee:
      (raw: bigint): Act =>
      () =>
        send('setAdminFee', raw),
    /** Only upward: downward the port rounds where Curve does not. */
    rampUp:
      (more: bigint, seconds: number): Act =>
      async () => {
        const now: bigint = await pool.getFunction('getA')()
        await send('rampA', now + more, ((await provider.getBlock('latest'))?.timestamp ?? 0) + seconds)
      },
    stop: (): Act => () => send('stopRampA'),
    wait:
      (seconds: number): Act =>
      () =>
        anvil.rpc('evm_increaseTime', seconds),
    /** Does this in one block, in this order. */
    async block(acts: readonly Act[]): Promise<{ block: Block; statuses: readonly string[] }> {
      nonce = await provider.getTransactionCount(signer.address)
      for (const each of acts) await each()
      await anvil.rpc('evm_mine')
      const [block, receipts] = [await provider.getBlock('latest'), await provider.send('eth_getBlockReceipts', ['latest'])]
      if (!block) throw new Error('A block was made.')
      return { block, statuses: receipts.map(({ status }: { status: string }) => status) }
    },
    async close() {
      provider.destroy()
      await anvil.stop()
    },
  }
}
