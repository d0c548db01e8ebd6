import type { Commitment, Signature } from '@solana/kit'
import type { Faucet } from '../faucet.ts'
import type { Block, LandedTransaction } from '../ledger/block.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { RpcError, type Answer, type Config } from './protocol.ts'

export interface ViewOptions {
  /** How many blocks it is behind the others: it answers as they did then, with a straight face. */
  lagBlocks: number
  /** How many blocks it keeps; what is older it does not find. */
  historyBlocks: number
  /** The first and the last height of blocks that it was away for: it came back upon a newer snapshot. */
  missing: readonly [bigint, bigint] | undefined
  /** By how much it says too much of every height and slot, with no more to show for it. */
  aheadBlocks: bigint
  /** How many slots behind it says to be when it is asked for its health; undefined where it is well. */
  slotsBehind: number | undefined
  /**
   * Whether it takes subscriptions; what it tells: all that it should, of the clock alone, or nothing more. 'late': all, and it takes a subscription up
   * a block after it has confirmed it.
   */
  subscriptions: 'none' | 'all' | 'late' | 'clock' | 'silent'
  /** So many subscriptions of a connection it takes. */
  mostSubscriptions: number
  /** Also answers the methods that no node of a public cluster has. */
  hasControls: boolean
}

/** What one node knows of the chain. */
export interface View {
  readonly ledger: Ledger
  /** Who pays for airdrops. */
  readonly faucet: Faucet
  readonly options: ViewOptions
  block(commitment: Commitment): Block
  /** The blocks that it has, oldest first. */
  known(): readonly Block[]
  find(signature: Signature): { block: Block; landed: LandedTransaction } | undefined
  /** How far a block is from being taken back. */
  standing(block: Block): { confirmations: bigint | null; confirmationStatus: Commitment }
}

/** A block is confirmed when two thirds have voted on it, which they do in the one after it. */
const confirmedDepth = 1n

export function createView(ledger: Ledger, faucet: Faucet, given: Partial<ViewOptions> = {}): View {
  const options: ViewOptions = {
    lagBlocks: 0,
    historyBlocks: Infinity,
    missing: undefined,
    aheadBlocks: 0n,
    slotsBehind: undefined,
    subscriptions: 'all',
    mostSubscriptions: Infinity,
    hasControls: false,
    ...given,
  }
  const known = () => {
    const end = Math.max(1, ledger.blocks.length - options.lagBlocks)
    const [first, last] = options.missing ?? [1n, 0n]
    return ledger.blocks.slice(Math.max(0, end - options.historyBlocks), end).filter(({ height }) => height < first || height > last)
  }
  /** What is final stays it, also when the blocks after it are taken back. */
  const heightOf = (commitment: Commitment, { height }: Block): bigint => {
    if (commitment === 'finalized') return ledger.root - BigInt(options.lagBlocks)
    return commitment === 'confirmed' && height > ledger.root ? height - confirmedDepth : height
  }
  const block = (commitment: Commitment): Block => {
    const blocks = known()
    const newest = blocks.at(-1)
    if (!newest) throw new RangeError('A node that keeps no block knows none.')
    const found = blocks.findLast(({ height }) => height <= heightOf(commitment, newest)) ?? blocks[0] ?? newest
    return { ...found, slot: found.slot + options.aheadBlocks, height: found.height + options.aheadBlocks }
  }
  return {
    ledger,
    faucet,
    options,
    block,
    known,
    find(signature) {
      const found = ledger.find(signature)
      return found && known().includes(found.block) ? found : undefined
    },
    standing({ height }) {
      if (height <= block('finalized').height) return { confirmations: null, confirmationStatus: 'finalized' }
      const confirmationStatus = height <= block('confirmed').height ? 'confirmed' : 'processed'
      return { confirmations: block('processed').height - height, confirmationStatus }
    },
  }
}

/** The block that a caller asks for; finalized where no commitment is named, as nodes do. */
export function blockFor(view: View, { commitment = 'finalized', minContextSlot }: Config): Block {
  const block = view.block(commitment)
  if (minContextSlot !== undefined && block.slot < minContextSlot)
    throw new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot: block.slot })
  return block
}

/** Source: agave, version/src/lib.rs: what LiteSVM 1.5.0 runs is of this line. */
export const apiVersion = '3.0.0'

export const inContext = (block: Block, value: Answer): Answer => ({ context: { apiVersion, slot: block.slot }, value })

type Method = (view: View, params: readonly unknown[]) => Answer | Promise<Answer>
export type Methods = Readonly<Record<string, Method>>
