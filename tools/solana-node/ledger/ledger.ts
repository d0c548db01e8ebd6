import type { Signature } from '@solana/kit'
import { LiteSVM } from 'litesvm'
import { accountsBefore, setAccounts, whileSet, type Block, type LandedTransaction } from './block.ts'
import { fillBlock, takesAll, type Leader, type PendingTransaction } from './leaders.ts'
import type { Wire } from './read-wire.ts'

export interface LedgerOptions {
  firstSlot: bigint
  firstHeight: bigint
  isSkipped(slot: bigint): boolean
  /** Seconds since the Unix epoch. */
  time(): number
  /** How many blockhashes lie behind the first one: two clusters share none. */
  hashesBehind: number
}

/** A chain of blocks over a real runtime, with its forks. */
export interface Ledger {
  svm: LiteSVM
  readonly genesisHash: string
  /** On the fork that is followed, oldest first; there is always one. */
  readonly blocks: readonly Block[]
  readonly tip: Block
  /** Up to this height no block is ever taken back. */
  readonly root: bigint
  /** The slots that have passed, skipped ones too. */
  readonly slot: bigint
  /** Who makes the blocks to come. */
  leader: Leader
  readonly waiting: readonly PendingTransaction[]
  /** Everything that was ever sent, in its order, whatever became of it. */
  readonly sent: readonly Wire[]
  /** A slot's time passes: its leader makes a block, or is away. */
  passSlot(): void
  /** `retries`: how often the node sends it again by itself where a leader did not take it. */
  submit(wire: Wire, retries: number): void
  /** Nobody sends it any more. */
  forget(signature: Signature): void
  find(signature: Signature): { block: Block; landed: LandedTransaction } | undefined
  /** Good for a transaction in a block on top of this one. */
  isRecent(blockhash: string, from: Block): boolean
  /** Of the newest blocks up to this one, oldest first. */
  slotsUpTo(block: Block): readonly bigint[]
  /** The newest blocks were on a fork that lost. Their transactions are sent again, or nobody has them any more. */
  reorganise(depth: number, transactions?: 'again' | 'lost'): readonly Block[]
  /** Calls back with every new block, and after blocks were taken back, until the returned function is called. */
  onBlock(listener: () => void): () => void
  /** What is read, or tried, on the accounts as a block left them. Nothing that is changed on the way stays. */
  asOf<T>(block: Block, read: (svm: LiteSVM) => T): T
}

/** A blockhash is good for the block after one from which it is so old. Source: solana-clock, MAX_PROCESSING_AGE. */
export const largestAge = 150n
/** Votes on a block lock up for good so many blocks later: solana-vote-interface, MAX_LOCKOUT_HISTORY + 1. */
export const finalizedDepth = 32n
/** Source: solana-epoch-schedule, DEFAULT_SLOTS_PER_EPOCH. */
export const slotsPerEpoch = 432_000n

export function createLedger({ firstSlot, firstHeight, isSkipped, time, hashesBehind }: LedgerOptions): Ledger {
  // What it would check is checked here, as validators do: it has no blocks.
  const svm = new LiteSVM().withSigverify(false).withBlockhashCheck(false).withTransactionHistory(0n).withNativeMints()
  // LiteSVM's blockhashes follow from one another, and always from the same first one.
  for (let index = 0; index < hashesBehind; index++) svm.expireBlockhash()
  const blocks: Block[] = []
  const heights = new Map<string, bigint>()
  const sent: Wire[] = []
  const listeners = new Set<() => void>()
  let waiting: PendingTransaction[] = []
  let slot = firstSlot
  let root = firstHeight
  let tip = produce()

  const ledger: Ledger = {
    svm,
    genesisHash: tip.blockhash,
    blocks,
    get tip() {
      return tip
    },
    get root() {
      return root
    },
    get slot() {
      return slot
    },
    leader: takesAll,
    get waiting() {
      return waiting
    },
    sent,
    passSlot() {
      slot += 1n
      if (isSkipped(slot)) return
      tip = produce(tip)
      for (const listener of listeners) listener()
    },
    submit(wire, retries) {
      sent.push(wire)
      if (!waiting.some((each) => each.wire.signature === wire.signature)) waiting.push({ wire, retries, missed: 0 })
    },
    forget(signature) {
      waiting = waiting.filter(({ wire }) => wire.signature !== signature)
    },
    find,
    isRecent,
    slotsUpTo,
    reorganise(depth, transactions = 'again') {
      const undone = blocks.slice(blocks.length - depth)
      const fork = blocks[blocks.length - depth - 1]
      if (!fork || fork.height < root) throw new RangeError(`The newest ${depth} blocks are not to be taken back: some of them are final.`)
      setAccounts(svm, accountsBefore(undone))
      blocks.length -= depth
      tip = fork
      for (const { blockhash } of undone) heights.delete(blockhash)
      const again = undone.flatMap(({ landed }) => landed).map(({ wire }) => ({ wire, retries: Infinity, missed: 0 }))
      if (transactions === 'again') waiting = [...again, ...waiting]
      for (const listener of listeners) listener()
      return undone
    },
    onBlock(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    asOf: (block, read) => whileSet(svm, accountsBefore(blocks.filter(({ height }) => height > block.height)), read),
  }
  return ledger

  function produce(parent?: Block): Block {
    const seconds = Math.max(time(), parent?.time ?? 0)
    setClock(seconds)
    const isLanded = (wire: Wire) => find(wire.signature) !== undefined
    const filled = parent
      ? fillBlock(
          {
            svm,
            leader: ledger.leader,
            blockhash: parent.blockhash,
            isLanded,
            isRecent: (blockhash) => isRecent(blockhash, parent),
            slots: () => slotsUpTo(parent),
          },
          waiting,
        )
      : { landed: [], before: new Map<never, never>(), waiting: [] }
    ;({ waiting } = filled)
    svm.expireBlockhash()
    const block: Block = {
      slot,
      parentSlot: parent?.slot ?? slot - 1n,
      height: parent ? parent.height + 1n : firstHeight,
      blockhash: svm.latestBlockhash(),
      previousBlockhash: parent?.blockhash ?? svm.latestBlockhash(),
      time: seconds,
      landed: filled.landed,
      before: filled.before,
    }
    heights.set(block.blockhash, block.height)
    blocks.push(block)
    if (block.height - finalizedDepth > root) root = block.height - finalizedDepth
    return block
  }

  function setClock(seconds: number): void {
    const clock = svm.getClock()
    clock.slot = slot
    clock.epoch = slot / slotsPerEpoch
    clock.unixTimestamp = BigInt(seconds)
    svm.setClock(clock)
  }

  function find(signature: Signature): { block: Block; landed: LandedTransaction } | undefined {
    for (const block of blocks.toReversed()) {
      const landed = block.landed.find((each) => each.signature === signature)
      if (landed) return { block, landed }
    }
    return undefined
  }

  function slotsUpTo({ height }: Block): readonly bigint[] {
    return blocks.filter((each) => each.height <= height).map((each) => each.slot)
  }

  function isRecent(blockhash: string, { height }: Block): boolean {
    const since = heights.get(blockhash)
    return since !== undefined && since <= height && height - since <= largestAge
  }
}
