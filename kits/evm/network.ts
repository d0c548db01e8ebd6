import { parseUnits } from 'ethers'
import type { Token } from '../../core/contracts/index.ts'
import { nodeSettings, type NodeSettings } from '../nodes/settings.ts'

/** What is true of a network whoever runs the server: a chain plugin's part. */
export interface EvmNetwork {
  chainId: number
  /** Symbol of the coin that pays for gas; it has 18 decimals on every EVM chain. */
  nativeCurrency: string
  /** The token that wraps it. */
  wrapped: Token
  /** Tokens that routes usually pass through. */
  intermediates: readonly Token[]
  /** Multicall3. */
  multicall: string
  /** The usual time between blocks. */
  blockSeconds: number
  /** After how many blocks a transaction counts as final, unless the settings say otherwise. */
  confirmations: number
  /** By how many percent its nodes want both fees of a replacement raised; 10 where absent, as in geth. */
  leastBumpPercent?: number
  /** The least tip that its validators or nodes take, in gwei; 0 where absent. */
  minTipGwei?: number
  /** The most a request may offer per gas, in gwei, unless the settings say otherwise; 500 where absent. */
  feeCapGwei?: number
  /** Blocks have no base fee, and transactions are of type 0. */
  legacyFees?: boolean
  /** The most gas that one transaction may have (EIP-7825); only the block's limit where absent. */
  mostGas?: bigint
  /** What is charged on top of gas: `op-stack`, the data fee of layer 1 and the operator fee, as its GasPriceOracle says. */
  rollup?: 'op-stack'
  /** Gas has in it what layer 1 costs, so that the same call takes more of it at another time (Arbitrum). */
  gasPaysLayer1?: boolean
  /** A transaction pays for its whole gas limit, used or not (Monad). */
  gasLimitIsPaid?: boolean
  /** Asked for the block's number where the opcode gives that of another chain, as Arbitrum's gives layer 1's. */
  blockNumberCall?: { readonly to: string; readonly data: string }
  /** The native coin is itself a token, `wrapped`: nothing wraps it, and it is traded as that token (Celo). */
  coinIsToken?: boolean
  /** A network of one's own machine, where well-known keys may be used. */
  local?: boolean
}

/** Multicall3 lies at this address on every chain that has it: https://github.com/mds1/multicall3 */
export const multicall3 = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** One network's settings in `conf/chains/<chain>.yml`. */
export interface EvmChainConfig extends NodeSettings {
  confirmations?: number
  /** The most a request may offer per gas, in gwei. */
  feeCap?: number | string
  feePolicy?: EvmFeePolicy
}

export interface EvmFeePolicy {
  /** Take the tip from what recent blocks were paid, at this percentile; absent: the node's suggestion. */
  tipPercentile?: number
  /** The most offered is the base fee times this, plus the tip. */
  baseFeeMultiplier?: number
  /** The tip where the node suggests none or less, in gwei. */
  minTip?: number | string
  /** How long a transaction that pays too little waits before another attempt at higher fees is signed. */
  bumpAfterSeconds?: number
  /** By how many percent that raises both fees, at least. */
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

/** Far above what a network asks in trouble, far below what an amount in wei would be. */
export const defaultFeeCapGwei = 500
/** Wei per gas. */
export function gweiRaw(gwei: number | string): bigint {
  return parseUnits(typeof gwei === 'number' ? gwei.toFixed(9) : gwei, 'gwei')
}

/** Three blocks that it was left out of; blocks that come faster than nodes answer say less. */
export function defaultBumpAfterSeconds(blockSeconds: number): number {
  return Math.max(3, 3 * blockSeconds)
}
