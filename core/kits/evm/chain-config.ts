import { parseUnits } from 'ethers'
import { nodeSettings } from '../../../kits/nodes/settings.ts'
import type { NodeSettings } from '../../../kits/nodes/settings.ts'

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
