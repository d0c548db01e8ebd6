import { id } from 'ethers'
import type { EvmLog } from '../../../../kits/evm/types.ts'
import { addressInTopic, addressOf, listAt, signed, wordAt } from '../../../../kits/evm/encoding.ts'

/**
 * The logs that tell what becomes of a pool. Of the Vault (npm @balancer-labs/v2-vault 3.0.1): Swaps, PoolBalances, AssetManagers,
 * PoolTokens and PoolRegistry; of a pool: its fee (BasePool of npm @balancer-labs/v2-pool-utils 2.0.1); of both, whether they are paused.
 */
export const topics = {
  swap: id('Swap(bytes32,address,address,uint256,uint256)'),
  balanceChanged: id('PoolBalanceChanged(bytes32,address,address[],int256[],uint256[])'),
  balanceManaged: id('PoolBalanceManaged(bytes32,address,address,int256,int256)'),
  registered: id('PoolRegistered(bytes32,address,uint8)'),
  tokensRegistered: id('TokensRegistered(bytes32,address[],address[])'),
  tokensDeregistered: id('TokensDeregistered(bytes32,address[])'),
  feeChanged: id('SwapFeePercentageChanged(uint256)'),
  pauseChanged: id('PausedStateChanged(bool)'),
} as const

/** `deltas` by token, in lower case. */
export type PoolChange =
  | { readonly is: 'balances'; readonly deltas: ReadonlyMap<string, bigint> }
  | { readonly is: 'fee'; readonly swapFee: bigint }
  | { readonly is: 'pause'; readonly paused: boolean }

/** Of the Vault's logs. */
export const poolIdIn = ({ topics: [, poolId = ''] }: EvmLog): string => poolId.toLowerCase()

/** Undefined where it does not say what the pool has then. */
export function changeIn({ topics: found, data }: EvmLog): PoolChange | undefined {
  switch (found[0]) {
    case topics.swap: {
      const [amountIn, amountOut] = [wordAt(data, 0), wordAt(data, 1)]
      return balances([
        [addressInTopic(found[2]), amountIn],
        [addressInTopic(found[3]), -amountOut],
      ])
    }
    case topics.balanceChanged: {
      // What comes in or goes out, and what the protocol takes of the pool besides: `_processJoinPoolTransfers` and its like for exits.
      const [tokens, deltas, fees] = [listAt(data, 0), listAt(data, 1), listAt(data, 2)]
      return balances(tokens.map((token, index) => [addressOf(token), signed(deltas[index] ?? 0n) - (fees[index] ?? 0n)]))
    }
    case topics.balanceManaged:
      // A pool has what lies in the Vault and what its manager took out of it: swaps go by both together.
      return balances([[addressInTopic(found[3]), signed(wordAt(data, 0)) + signed(wordAt(data, 1))]])
    case topics.feeChanged:
      return { is: 'fee', swapFee: wordAt(data, 0) }
    case topics.pauseChanged:
      return { is: 'pause', paused: wordAt(data, 0) !== 0n }
    default:
      return undefined
  }
}

const balances = (deltas: readonly (readonly [token: string, delta: bigint])[]): PoolChange => ({ is: 'balances', deltas: new Map(deltas) })
