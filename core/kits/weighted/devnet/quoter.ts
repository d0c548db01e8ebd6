import { Contract, ZeroAddress, type Provider } from 'ethers'
import type { Quoter, QuoterHop } from '../../../contracts/devnet.ts'

const vaultAbi = [
  `function queryBatchSwap(
    uint8 kind,
    (bytes32 poolId, uint256 assetInIndex, uint256 assetOutIndex, uint256 amount, bytes userData)[] swaps,
    address[] assets,
    (address sender, bool fromInternalBalance, address recipient, bool toInternalBalance) funds
  ) returns (int256[])`,
]
const poolAbi = ['function getPoolId() view returns (bytes32)']
const funds = [ZeroAddress, false, ZeroAddress, false]

/** What the Vault itself says of a batch of swaps: it carries them out and takes them back. */
export function quoterOf(provider: Provider, vault: string): Quoter {
  const contract = new Contract(vault, vaultAbi, provider)
  const deltas = async (kind: 0 | 1, route: readonly QuoterHop[], amountRaw: bigint, blockTag: number): Promise<readonly bigint[]> => {
    const ids = await Promise.all(route.map(({ pool }) => new Contract(pool, poolAbi, provider).getFunction('getPoolId')()))
    const given = kind === 0 ? 0 : route.length - 1
    const swaps = ids.map((id, index) => [id, index, index + 1, index === given ? amountRaw : 0n, '0x'])
    const assets = [...route.slice(0, 1).map(({ tokenIn }) => tokenIn), ...route.map(({ tokenOut }) => tokenOut)]
    return contract.getFunction('queryBatchSwap').staticCall(kind, kind === 0 ? swaps : swaps.toReversed(), assets, funds, { blockTag })
  }
  return {
    exactIn: async (route, amountInRaw, block) => -((await deltas(0, route, amountInRaw, block)).at(-1) ?? 0n),
    exactOut: async (route, amountOutRaw, block) => (await deltas(1, route, amountOutRaw, block)).at(0) ?? 0n,
  }
}
