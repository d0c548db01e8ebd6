import { parseUnits } from 'ethers'
import type { Token } from '../../core/contracts/index.ts'
import { nodeSettings, relaySettings, type NodeSettings, type RelaySettings } from '../nodes/settings.ts'

/** The definition of a network in a chain plugin: what holds for every operator. */
export interface EvmNetwork {
  chainId: number
  /** Symbol of the coin that pays for gas. It has 18 decimals on every EVM chain. */
  nativeCurrency: string
  /** Addresses by which lists name the native coin on this network, beside those that stand for it on every EVM chain. */
  coinAddresses?: readonly string[]
  /** The token that wraps it. */
  wrapped: Token
  /** Tokens that routes usually pass through. */
  intermediates: readonly Token[]
  /** Address of Multicall3. */
  multicall: string
  /** The usual time between blocks. */
  blockSeconds: number
  /** After how many blocks a transaction counts as final, unless the settings say otherwise. */
  confirmations: number
  /** By how many percent both fees of a replacement must be raised for its nodes to take it. Absent: 10, as in geth. */
  leastBumpPercent?: number
  /** The lowest tip that its validators or nodes take, in gwei. Absent: 0. */
  minTipGwei?: number
  /** The maximum that a request may offer per gas, in gwei, unless the settings say otherwise. Absent: 500. */
  feeCapGwei?: number
  /** Blocks have no base fee, and transactions are of type 0. */
  legacyFees?: boolean
  /** The maximum gas of one transaction (EIP-7825). Absent: the block's gas limit. */
  maxGas?: bigint
  /** What is charged on top of gas. `op-stack`: the data fee of layer 1 and the operator fee, which its GasPriceOracle tells. */
  rollup?: 'op-stack'
  /** Gas includes the cost of layer 1, so the same call uses more of it at another time (Arbitrum). */
  gasPaysLayer1?: boolean
  /** A transaction pays for its whole gas limit, whether it uses it or not (Monad). */
  gasLimitIsPaid?: boolean
  /**
   * Of the native coin, in whole coins, what the value of a transaction has to leave in the wallet where the wallet sent another one in so many blocks before it, or has code
   * (EIP-7702): else it reverts, and pays. Gas may be paid out of it. Absent: the network has no such rule (Monad:
   * https://docs.monad.xyz/developer-essentials/reserve-balance).
   */
  reserveBalance?: { readonly amount: string; readonly blocks: number }
  /** A call that returns the block's number, where the opcode returns that of another chain, as on Arbitrum that of layer 1. */
  blockNumberCall?: { readonly to: string; readonly data: string }
  /** The native coin is itself the token `wrapped`: nothing wraps it, and it is traded as that token (Celo). */
  coinIsToken?: boolean
  /** A network on the operator's own machine, where well-known keys may be used. */
  local?: boolean
}

export type ReserveBalance = NonNullable<EvmNetwork['reserveBalance']>

/** The usual address of Multicall3: https://github.com/mds1/multicall3 */
export const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** One network's settings in `conf/chains/<chain>.yml`. */
export interface EvmChainConfig extends NodeSettings, RelaySettings {
  confirmations?: number
  /** The maximum that a request may offer per gas, in gwei. */
  feeCap?: number | string
  feePolicy?: EvmFeePolicy
}

export interface EvmFeePolicy {
  /** Takes the tip from what recent blocks were paid, at this percentile. Absent: the node's suggestion. */
  tipPercentile?: number
  /** The maximum fee is the base fee times this, plus the tip. */
  baseFeeMultiplier?: number
  /** The tip if the node suggests none or less, in gwei. */
  minTip?: number | string
  /** After how many seconds a transaction that pays too little is replaced by one with higher fees. */
  bumpAfterSeconds?: number
  /** By how many percent, at least, the replacement raises both fees. */
  bumpPercent?: number
}

const gwei = {
  anyOf: [
    { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000 },
    { type: 'string', pattern: '^\\d{1,7}(\\.\\d{1,9})?$' },
  ],
} as const

/** JSON Schema of one network's settings. */
export const evmChainSchema = {
  type: 'object',
  properties: {
    ...nodeSettings,
    ...relaySettings,
    confirmations: { type: 'integer', minimum: 1, maximum: 10_000 },
    feeCap: gwei,
    feePolicy: {
      type: 'object',
      properties: {
        tipPercentile: { type: 'number', minimum: 1, maximum: 99 },
        baseFeeMultiplier: { type: 'number', minimum: 1, maximum: 10 },
        minTip: gwei,
        bumpAfterSeconds: { type: 'number', minimum: 0.1, maximum: 86_400 },
        bumpPercent: { type: 'number', minimum: 10, maximum: 900 },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const

/** Far above what networks charge under load, far below an amount in wei. */
export const defaultFeeCapGwei = 500
/** Wei per gas. */
export function gweiRaw(gwei: number | string): bigint {
  return parseUnits(typeof gwei === 'number' ? gwei.toFixed(9) : gwei, 'gwei')
}

/** The time of three blocks that left the transaction out, but at least 3 seconds: nodes answer more slowly than some blocks come. */
export function defaultBumpAfterSeconds(blockSeconds: number): number {
  return Math.max(3, 3 * blockSeconds)
}
