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
