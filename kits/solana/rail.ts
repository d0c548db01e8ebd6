import type { At, Log, Rail, Token } from '../../core/contracts/index.ts'
import type { Rpc } from '../../core/kits/nodes/types.ts'
import type { createAssociated } from '../../core/kits/solana/reading/associated.ts'
import type { SolanaIntent } from './types.ts'
import { check } from '../../core/kits/solana/rail/check.ts'
import { draft, seal } from './message.ts'
import { costOf } from './fees.ts'
import type { FeeLimits, SolanaFees } from './fees.ts'
import { createLook } from './poll.ts'
import { send } from '../../core/kits/solana/rail/send.ts'
import { claimSlots, durableSlots, mergeSynced, standingOf } from './sequence.ts'
import type { SolanaSlot, SolanaSynced } from './sequence.ts'
import { sync } from '../../core/kits/solana/rail/sync.ts'

export interface SolanaRailOptions extends FeeLimits {
  rpc: Rpc
  /** How logs name the network: "solana/mainnet". */
  network: string
  nativeCurrency: Token
  associated: ReturnType<typeof createAssociated>
  /** Wallet → its durable nonce accounts. */
  durableNonces: Readonly<Record<string, readonly string[]>>
  /** No slots pass faster than this for long; 0 where they may. */
  leastSlotMs: number
  log: Log
  /** Symbol and decimals, for errors that name a token. */
  token: (address: string, at: At) => Promise<Token | undefined>
}

/** The slot of a transaction is a blockhash or a durable nonce; nothing takes its place while it may live. */
export type SolanaRail = Rail<SolanaIntent, string, SolanaSlot, SolanaSynced, SolanaFees>

export function solanaRail(options: SolanaRailOptions): SolanaRail {
  const { rpc, durableNonces } = options
  return {
    slots: 'independent',
    outline: ({ instructions, value }) => ({ contracts: instructions.map(({ program }) => program), valueRaw: BigInt(value) }),
    check: (steps, needs, from, price, at) => check(options, steps, needs, from, price, at),
    cost: costOf,
    sync: (from, at) => sync(rpc, from, durableNonces[from] ?? [], at),
    merge: mergeSynced,
    doubtful: () => false,
    claim: claimSlots,
    slotsFrom: durableSlots,
    nonceOf: ({ number }) => number,
    standing: standingOf,
    gaps: () => [],
    draft,
    seal,
    send: (sealed, at) => send(rpc, sealed, at),
    look: createLook(options),
  }
}
