import { AbiCoder, Contract, MaxUint256, parseEther } from 'ethers'
import { deployer } from '../../../core/devnet/build-state.ts'
import { poolAMM } from '../../../kits/amm/index.ts'
import { weighted } from '../../../kits/amm/weighted/index.ts'
import { pools } from '../../../plugins/balancer/index.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { tokens } from '../../kits/amm/devnet-fixture.ts'
import type { openBalancer } from './balancer-fixture.ts'
import { allow, newManagedPool, shareTokens, vaultAbi } from './managed-pool.ts'

export type Act = () => Promise<unknown>

const coder = AbiCoder.defaultAbiCoder()
const gasLimit = 3_000_000n
// Of WeightedPoolUserDataHelpers, npm @balancer-labs/v2-pool-weighted 2.0.1.
const joinKind = { exactTokensIn: 1, oneTokenIn: 2 }
const exitKind = { oneTokenOut: 0, allTokensOut: 1, exactTokensOut: 2 }
/** PoolBalanceOpKind of IVault. */
export const managing = { withdraw: 0, deposit: 1, update: 2 }
const poolAbi = [
  'function totalSupply() view returns (uint256)',
  'function setSwapFeePercentage(uint256)',
  'function setPaused(bool)',
  'function pause()',
  'function unpause()',
  'function enableRecoveryMode()',
]

/** Changes of the Vault's pools, several in one block: those of the devnet, and one with an asset manager. */
export async function vaultActs({ fixture, vault: vaultAddress }: Awaited<ReturnType<typeof openBalancer>>) {
  const { provider } = fixture
  const rpc = rpcTo(fixture.devnet.rpcUrl)
  const owner = deployer('balancer', provider)
  const vault = new Contract(vaultAddress, await vaultAbi(), owner)
  await shareTokens(fixture, owner)
  const ids = [...pools['ethereum/local'], await newManagedPool(fixture, owner, vault)]
  const contracts = ids.map((each) => new Contract(each.slice(0, 42), poolAbi, owner))
  const collector = new Contract(await vault.getFunction('getProtocolFeesCollector')(), ['function setSwapFeePercentage(uint256)'], owner)
  for (const [target, method] of [
    [await collector.getAddress(), 'setSwapFeePercentage(uint256)'],
    [vaultAddress, 'setPaused(bool)'],
    ...ids.flatMap((each) => ['setPaused(bool)', 'pause()', 'unpause()', 'enableRecoveryMode()'].map((name) => [each.slice(0, 42), name])),
  ] as const)
    await allow(fixture, owner, vault, target, method)
  await rpc('evm_setIntervalMining', 0)
  await rpc('evm_setAutomine', false)

  let nonce = 0
  async function send(contract: Contract, method: string, ...args: unknown[]): Promise<void> {
    const data = contract.interface.encodeFunctionData(method, args)
    await owner.sendTransaction({ to: await contract.getAddress(), data, gasLimit, nonce })
    nonce += 1
  }
  const contractOf = (pool: number): Contract => contracts[pool] ?? vault
  const held = async (pool: number): Promise<{ token: string; raw: bigint }[]> => {
    const [addresses, balances] = await vault.getFunction('getPoolTokens')(ids[pool])
    return [...addresses].map((token: string, index) => ({ token, raw: balances[index] }))
  }
  const funds = [owner.address, false, owner.address, false]
  const change =
    (name: 'joinPool' | 'exitPool', pool: number, limit: bigint, types: readonly string[], args: Act): Act =>
    async () => {
      const assets = (await held(pool)).map(({ token }) => token)
      const request = [assets, assets.map(() => limit), coder.encode(types, [await args()].flat()), false]
      await send(vault, name, ids[pool], owner.address, owner.address, request)
    }
  const share = async (pool: number, part: bigint): Promise<bigint> => (await contractOf(pool).getFunction('totalSupply')()) / part
  const numbers = ['uint256', 'uint256', 'uint256']
  const lists = ['uint256', 'uint256[]', 'uint256']

  const act = {
    swap:
      (pool: number, part = 1000n, into = 0, kind: 0 | 1 = 0): Act =>
      async () => {
        const inPool = await held(pool)
        const [tokenIn, tokenOut] = [inPool[into % inPool.length], inPool[(into + 1) % inPool.length]]
        const amount = ((kind === 0 ? tokenIn : tokenOut)?.raw ?? 0n) / part
        const swap = [ids[pool], kind, tokenIn?.token, tokenOut?.token, amount, '0x']
        await send(vault, 'swap', swap, funds, kind === 0 ? 0n : MaxUint256, MaxUint256)
      },
    /** Through two pools, and through the first again. */
    batch: (): Act => async () => {
      const assets = [tokens.WETH.address, tokens.USDC.address, tokens.DAI.address]
      const amount = ((await held(0)).find(({ token }) => token === assets[0])?.raw ?? 0n) / 700n
      const hops = [
        [ids[0], 0, 1, amount, '0x'],
        [ids[2], 1, 2, 0n, '0x'],
        [ids[0], 0, 1, amount, '0x'],
      ]
      const limits = assets.map(() => 2n ** 127n)
      await send(vault, 'batchSwap', 0, hops, assets, funds, limits, MaxUint256)
    },
    join: (pool: number, part = 500n): Act =>
      change('joinPool', pool, MaxUint256, lists, async () => [
        joinKind.exactTokensIn,
        (await held(pool)).map(({ raw }, index) => raw / (part * BigInt(index + 1))),
        0n,
      ]),
    joinOne: (pool: number, part = 900n): Act =>
      change('joinPool', pool, MaxUint256, numbers, async () => [joinKind.oneTokenIn, await share(pool, part), 0]),
    exit: (pool: number, part = 50n): Act =>
      change('exitPool', pool, 0n, numbers.slice(1), async () => [exitKind.allTokensOut, await share(pool, part)]),
    exitOne: (pool: number, part = 300n): Act =>
      change('exitPool', pool, 0n, numbers, async () => [exitKind.oneTokenOut, await share(pool, part), 0]),
    exitExact: (pool: number, part = 400n): Act =>
      change('exitPool', pool, 0n, lists, async () => [
        exitKind.exactTokensOut,
        (await held(pool)).map(({ raw }, index) => (index === 1 ? raw / part : 0n)),
        MaxUint256,
      ]),
    fee:
      (pool: number, swapFee: string): Act =>
      () =>
        send(contractOf(pool), 'setSwapFeePercentage', parseEther(swapFee)),
    protocolFee:
      (part = '0.5'): Act =>
      () =>
        send(collector, 'setSwapFeePercentage', parseEther(part)),
    pause:
      (target: number | 'vault', paused: boolean): Act =>
      () => {
        if (target === 'vault') return send(vault, 'setPaused', paused)
        // The third version has a name for each.
        return target < 2 ? send(contractOf(target), 'setPaused', paused) : send(contractOf(target), paused ? 'pause' : 'unpause')
      },
    recover:
      (pool: number): Act =>
      () =>
        send(contractOf(pool), 'enableRecoveryMode'),
    manage:
      (kind: number, index: number, amountRaw: bigint): Act =>
      async () =>
        send(vault, 'managePoolBalance', [[kind, ids[4], (await held(4))[index]?.token, amountRaw]]),
  }
  const venue = fixture.venue({ routerAddress: vaultAddress })
  return {
    ...act,
    amm: poolAMM(venue, weighted(venue, { pools: { 'ethereum/local': ids } })),
    count: ids.length,
    /** Does this in one block, in this order. */
    async block(acts: readonly Act[]) {
      nonce = await provider.getTransactionCount(owner.address)
      for (const each of acts) await each()
      await rpc('evm_mine')
    },
  }
}
