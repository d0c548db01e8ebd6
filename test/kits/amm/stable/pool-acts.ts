import { Contract } from 'ethers'
import { readArtifact } from '../../../../core/devnet/build-state.ts'
import { rpcTo } from '../../evm/test-chain.ts'
import type { StableFixture } from './stable-fixture.ts'

export type Act = () => Promise<unknown>

const kit = new URL('../../../../kits/amm/stable/devnet.ts', import.meta.url).href
const gasLimit = 3_000_000n
/** `admin_actions_delay` of susd/StableSwapSUSD.vy. */
const delaySeconds = 3 * 86_400

/** Changes of Curve's own pools, several in one block, by their owner and only liquidity provider. */
export async function poolActs({ pools, trader, provider, devnet }: StableFixture) {
  const rpc = rpcTo(devnet.rpcUrl)
  const { abi } = await readArtifact('Stableswap', kit)
  const contracts = pools.map(({ address }) => new Contract(address, abi, trader))
  const contractOf = (pool: number): Contract => contracts[pool % contracts.length] ?? new Contract(pools[0].address, abi, trader)
  await rpc('evm_setIntervalMining', 0)
  await rpc('evm_setAutomine', false)

  let nonce = 0
  async function send(pool: number, method: string, ...args: unknown[]): Promise<void> {
    const contract = contractOf(pool)
    const data = contract.interface.encodeFunctionData(method, args)
    await trader.sendTransaction({ to: await contract.getAddress(), data, gasLimit, nonce })
    nonce += 1
  }
  const held = async (pool: number, part: bigint): Promise<readonly bigint[]> =>
    Promise.all([0, 1, 2, 3].map(async (at) => BigInt(await contractOf(pool).getFunction('balances')(at)) / part))
  const begun = await Promise.all(contracts.map((_, pool) => held(pool, 1n)))
  /** Of what it began with: a coin that swaps took nearly all of comes back, and the pool does not grow without end. */
  const more = (pool: number, part: bigint): readonly bigint[] => (begun[pool % begun.length] ?? []).map((raw) => raw / part)
  const only = (amounts: readonly bigint[], coins: readonly number[]) => amounts.map((raw, at) => (coins.includes(at) ? raw : 0n))
  /** A share of the first provider's liquidity. */
  const shares = async (pool: number, part: bigint): Promise<bigint> => {
    const [price, balances] = [BigInt(await contractOf(pool).getFunction('get_virtual_price')()), await held(pool, 1n)]
    const whole = balances.reduce((sum, raw, at) => sum + raw * 10n ** BigInt(18 - (pools[pool % 2]?.coins[at]?.decimals ?? 18)), 0n)
    return (whole * 10n ** 18n) / price / part
  }
  const swapBy =
    (method: string) =>
    (pool: number, from: number, to: number, part = 1000n): Act =>
    async () =>
      send(pool, method, from, to, (await held(pool, part))[from] ?? 0n, 0n)

  return {
    swap: swapBy('exchange'),
    swapUnderlying: swapBy('exchange_underlying'),
    add:
      (pool: number, coins: readonly number[], part = 300n): Act =>
      () =>
        send(pool, 'add_liquidity', only(more(pool, part), coins), 0n),
    remove:
      (pool: number, part = 200n): Act =>
      async () =>
        send(pool, 'remove_liquidity', await shares(pool, part), [0n, 0n, 0n, 0n]),
    removeShares:
      (pool: number, sharesRaw: bigint): Act =>
      () =>
        send(pool, 'remove_liquidity', sharesRaw, [0n, 0n, 0n, 0n]),
    removeSome:
      (pool: number, coins: readonly number[], part = 300n): Act =>
      async () =>
        send(pool, 'remove_liquidity_imbalance', only(await held(pool, part), coins), 2n ** 200n),
    takeFees:
      (pool: number): Act =>
      () =>
        send(pool, 'withdraw_admin_fees'),
    /** Committed now, and applied days later. */
    commit:
      (pool: number, amplification: bigint, fee: bigint, adminFee: bigint): Act =>
      () =>
        send(pool, 'commit_new_parameters', amplification, fee, adminFee),
    change:
      (pool: number): Act =>
      () =>
        send(pool, 'apply_new_parameters'),
    wait:
      (seconds = delaySeconds): Act =>
      () =>
        rpc('evm_increaseTime', seconds),
    /** Does this in one block, in this order. */
    async block(acts: readonly Act[]): Promise<readonly string[]> {
      nonce = await provider.getTransactionCount(trader.address)
      for (const each of acts) await each()
      await rpc('evm_mine')
      const receipts = await provider.send('eth_getBlockReceipts', ['latest'])
      return receipts.map(({ status }: { status: string }) => status)
    },
  }
}
