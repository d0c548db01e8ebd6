import { nodeSettings, type NodeSettings } from '../nodes/settings.ts'

/** One network's settings in `conf/chains/<chain>.yml`. */
export interface SolanaChainConfig extends NodeSettings {
  /** The most lamports that a transaction may offer as priority fee. */
  feeCap?: number
  feePolicy?: SolanaFeePolicy
  /** Wallet → its durable nonce accounts; a request's `nonce` is an index of them. */
  durableNonces?: Readonly<Record<string, readonly string[]>>
}

export interface SolanaFeePolicy {
  /** The price is this percentile of what transactions paid lately that write the same accounts. */
  percentile?: number
  /** The least offered, in micro-lamports per compute unit. */
  minPrice?: number
}

const address = { type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' } as const

/** JSON Schema of one network's settings. */
export const solanaChainSchema = {
  type: 'object',
  properties: {
    ...nodeSettings,
    feeCap: { type: 'integer', minimum: 10_000, maximum: 1_000_000_000 },
    feePolicy: {
      type: 'object',
      properties: {
        percentile: { type: 'number', minimum: 1, maximum: 99 },
        minPrice: { type: 'integer', minimum: 0, maximum: 1_000_000_000 },
      },
      additionalProperties: false,
    },
    durableNonces: {
      type: 'object',
      propertyNames: address,
      additionalProperties: { type: 'array', items: address, uniqueItems: true, minItems: 1, maxItems: 100 },
    },
  },
  additionalProperties: false,
} as const

/** 0.002 SOL: what gets a transaction in on the busiest days, and far below what a mistaken unit would be. */
export const defaultFeeCapLamports = 2_000_000
export const defaultFeePolicy = { percentile: 75, minPrice: 1_000 } as const satisfies Required<SolanaFeePolicy>
/** Slots come every 0.4 s; whoever waits for one hears of it within about a second, and public nodes are not asked more often. */
export const defaultPollingSeconds = 1

/** What is true of a network whoever runs the server: a chain plugin's part. */
export interface SolanaNetwork {
  /** The number by which wallets and token lists know it. */
  chainId: number
  /** Of its first block: what a node shows its network by. Absent: whatever the nodes serve. */
  genesisHash?: string
  /** Slots never pass faster than this for long: more of them than that are not believed. Absent: as fast as they like. */
  leastSlotSeconds?: number
  /** A network of one's own machine. */
  local?: boolean
}

/** A block that is finalized has this many others behind it: agave `vote/src/vote_state`, MAX_LOCKOUT_HISTORY + 1. */
export const finalDepth = 32
/** The usual time between slots: agave `clock`, DEFAULT_MS_PER_SLOT. */
export const slotSeconds = 0.4
