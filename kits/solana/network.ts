import { nodeSettings, relaySettings, type NodeSettings, type RelaySettings } from '../nodes/settings.ts'
import { tokenWarningCodes } from './warning-codes.ts'

/** One network's settings in `conf/chains/<chain>.yml`. */
export interface SolanaChainConfig extends NodeSettings, RelaySettings {
  /** Where accounts are subscribed to, one after the other where one ends. Absent: they are read in batches. */
  subscribeUrls?: readonly string[]
  /** The highest priority fee of a transaction, in lamports. */
  feeCap?: number
  feePolicy?: SolanaFeePolicy
  /** Wallet → its durable nonce accounts; a request's `nonce` is an index of them. */
  durableNonces?: Readonly<Record<string, readonly string[]>>
  /** What a private transaction pays to whoever passes it on. Absent: nothing. */
  privateTip?: SolanaTipSetting
  /** Codes of warnings about tokens and accounts: trades that buy such a token are refused. Absent: none. */
  refuseWarnings?: readonly string[]
}

export interface SolanaTipSetting {
  readonly lamports: number
  /** Of the endpoints in `privateUrls`: each takes any of them. */
  readonly accounts: readonly string[]
}

export interface SolanaFeePolicy {
  /** The price is this percentile of recent fees of transactions that write the same accounts. */
  percentile?: number
  /** The minimum price, in micro-lamports per compute unit. */
  minPrice?: number
}

const address = { type: 'string', pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' } as const

/** JSON Schema of one network's settings. */
export const solanaChainSchema = {
  type: 'object',
  properties: {
    ...nodeSettings,
    ...relaySettings,
    subscribeUrls: { type: 'array', items: { type: 'string', pattern: '^wss?://[^\\s/]+' }, uniqueItems: true, minItems: 1 },
    privateTip: {
      type: 'object',
      properties: {
        lamports: { type: 'integer', minimum: 1_000, maximum: 100_000_000 },
        accounts: { type: 'array', items: address, uniqueItems: true, minItems: 1, maxItems: 64 },
      },
      required: ['lamports', 'accounts'],
      additionalProperties: false,
    },
    feeCap: { type: 'integer', minimum: 10_000, maximum: 1_000_000_000 },
    feePolicy: {
      type: 'object',
      properties: {
        percentile: { type: 'number', minimum: 1, maximum: 99 },
        minPrice: { type: 'integer', minimum: 0, maximum: 1_000_000_000 },
      },
      additionalProperties: false,
    },
    refuseWarnings: { type: 'array', items: { enum: tokenWarningCodes }, uniqueItems: true },
    durableNonces: {
      type: 'object',
      propertyNames: address,
      additionalProperties: { type: 'array', items: address, uniqueItems: true, minItems: 1, maxItems: 100 },
    },
  },
  additionalProperties: false,
} as const

/** 0.002 SOL: enough on the busiest days, and far below a fee in a wrong unit. */
export const defaultFeeCapLamports = 2_000_000
export const defaultFeePolicy = { percentile: 75, minPrice: 1_000 } as const satisfies Required<SolanaFeePolicy>
/** Slots come every 0.4 s. Polling every second is soon enough, and public nodes should not be polled more often. */
export const defaultPollingSeconds = 1

/** Facts of a network that no operator changes. A chain plugin gives them. */
export interface SolanaNetwork {
  /** The number by which wallets and token lists know it. */
  chainId: number
  /** The hash of the first block, which identifies the network. Absent: any network of the nodes is accepted. */
  genesisHash?: string
  /** Slots never pass faster than this for long. Faster slots are not believed. Absent: no such bound. */
  leastSlotSeconds?: number
  /** A network on this machine. */
  local?: boolean
}

/** A block that is finalized has this many others behind it: agave `vote/src/vote_state`, MAX_LOCKOUT_HISTORY + 1. */
export const finalDepth = 32
/** The usual time between slots: agave `clock`, DEFAULT_MS_PER_SLOT. */
export const slotSeconds = 0.4
