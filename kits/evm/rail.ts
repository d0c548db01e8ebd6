import { Signature } from 'ethers/crypto'
import { Transaction } from 'ethers/transaction'
import { getBytes, hexlify } from 'ethers/utils'
import type { At, Head, Rail, Token, Prepared, Sealed, Signable, Reception, RefusalMeaning } from '../../core/contracts/index.ts'
import type { Rpc, RpcAnswer } from '../nodes/dialect.ts'
import { quoteNode, sendToAll } from '../nodes/rpc.ts'
import { check, sync, createCacheCheck } from './check.ts'
import {
  bumpFees,
  cancelIsCheaper,
  overrideFees,
  costOf,
  defaultFeePolicy,
  outbids,
  describeMinReplacement,
  type EvmFees,
  type FeePolicy,
  type FeeConditions,
} from './fees.ts'
import { createGasLimitCache } from './gas-limit.ts'
import { sendErrorMeaning, type ErrorMeaning } from './node-errors.ts'
import { claimNonces, isDoubtful, mergeCounts, nonceGaps, noncesFrom, nonceStatus, type NonceCounts } from './nonces.ts'
import { createPoll } from './poll.ts'
import type { EvmIntent, EvmReader } from './types.ts'

export interface EvmRailOptions {
  rpc: Rpc
  chainId: number
  /** How errors name the network: "ethereum/sepolia". */
  network: string
  nativeCurrency: Token
  /** Address of Multicall3. */
  multicall: string
  /** How many blocks, the transaction's own included, make it final. */
  confirmations: number
  /** The most a transaction may offer, wei per gas. */
  feeCapRaw: bigint
  policy: FeePolicy
  /** The most gas that one transaction may have; absent: what a block has. */
  maxGas?: bigint | undefined
  /** Its GasPriceOracle says what is charged on top of gas. */
  rollup?: 'op-stack' | undefined
  /** Address of the token that the native coin itself is: what is traded of it is not there to pay for gas. */
  coinToken?: string | undefined
  /** The tip by the network's fees, wei per gas, given what the node suggested in the check's batch; absent: that. */
  tipFor?: (suggested: bigint | undefined, at: At) => Promise<bigint | undefined>
  /** Gas pays for layer 1, too, whose price is another with every block there. */
  gasPaysLayer1?: boolean | undefined
  gasLimitIsPaid?: boolean | undefined
  /** Reads what is kept in memory of wallets; absent: every check asks the network. */
  reader?: EvmReader | undefined
  /** The tip by the network's fees as far as it is known, wei per gas. */
  knownTipRaw?: () => bigint | undefined
  /** Symbol and decimals, for errors that name a token. */
  token: (address: string, at: At) => Promise<Token | undefined>
}

/** The slot of an EVM transaction is its nonce; attempts on one nonce exclude each other. */
type EvmRail = Rail<EvmIntent, string, number, NonceCounts, EvmFees>

export function evmRail(options: Omit<EvmRailOptions, 'policy'> & { policy?: Partial<FeePolicy> }): EvmRail {
  const settled = { ...options, policy: { ...defaultFeePolicy, ...options.policy } }
  const { rpc, chainId, confirmations, policy, feeCapRaw, knownTipRaw } = settled
  const pricesAt = ({ baseFeeRaw = 0n }: Head): FeeConditions => ({
    baseFeeRaw: policy.legacy ? 0n : baseFeeRaw,
    tipRaw: knownTipRaw?.(),
    policy,
    feeCapRaw,
  })
  const gasTable = createGasLimitCache()
  const look = createPoll(rpc, confirmations)
  // What is left over of a limit from the table costs something there.
  const isGasKnowable = settled.rollup === undefined && !settled.gasPaysLayer1 && !settled.gasLimitIsPaid
  return {
    slots: 'ordered',
    outline: ({ to, value }) => ({ contracts: [to], valueRaw: BigInt(value) }),
    check: (steps, needs, from, price, at) => check(settled, gasTable, steps, needs, from, price, at),
    ...(settled.reader && isGasKnowable && { recall: createCacheCheck(settled, gasTable, settled.reader) }),
    cost: costOf,
    sync: (from, at) => sync(settled, from, at),
    merge: mergeCounts,
    doubtful: isDoubtful,
    claim: claimNonces,
    slotsFrom: (_synced, nonce, count) => noncesFrom(nonce, count),
    nonceOf: (slot) => slot,
    standing: nonceStatus,
    gaps: nonceGaps,
    draft: (prepared, slot) => draft(prepared, slot, chainId),
    seal,
    send: (sealed, at) => send(rpc, sealed, at),
    async look(open, head, at) {
      const seen = await look(open, head, at)
      const failed = new Set(seen.sightings.flatMap((sighting) => (sighting.is === 'landed' && !sighting.ok ? [sighting.id] : [])))
      for (const { id, step, from } of open) if (failed.has(id)) gasTable.forget(step, from)
      return seen
    },
    replace: {
      outbids: (fees, over) => outbids(fees, over, policy.minBumpPercent),
      least: (over) => describeMinReplacement(over, policy.minBumpPercent),
      cancel: (from) => ({ to: from, data: '0x', value: '0' }),
      bump: (fees, head, wish) => (wish ? overrideFees(fees, wish, pricesAt(head)) : bumpFees(fees, pricesAt(head))),
      cancelIsCheaper: (step, fees, head) => cancelIsCheaper(step, fees, pricesAt(head)),
    },
  }
}

/** The unsigned bytes of a transaction of type 2 (EIP-1559), or 0 where the network has no base fee. */
function draft({ step, fees }: Pick<Prepared<EvmIntent, EvmFees>, 'step' | 'fees'>, nonce: number, chainId: number): Signable {
  const { to, data, value } = step
  const { gasLimit, maxFeePerGas, maxPriorityFeePerGas, legacy = false } = fees
  const price = legacy ? { type: 0, gasPrice: maxFeePerGas } : { type: 2, maxFeePerGas, maxPriorityFeePerGas }
  const tx = Transaction.from({ chainId, nonce, to, data, value, gasLimit, ...price })
  return { scheme: 'evm-transaction', bytes: getBytes(tx.unsignedSerialized) }
}

/** @param signature 65 bytes: r, s, v */
function seal({ bytes }: Signable, signature: Uint8Array): Sealed {
  const tx = Transaction.from(hexlify(bytes))
  tx.signature = Signature.from(hexlify(signature))
  if (tx.hash === null) throw new Error('A signed transaction has no hash: ethers could not serialize it.')
  return { id: tx.hash, raw: getBytes(tx.serialized) }
}

/** The same bytes to every node; one that has them is enough. */
export function send(rpc: Rpc, { id, raw }: Sealed, at: At): Promise<Reception> {
  const isTaken = (result: unknown) => String(result).toLowerCase() === id.toLowerCase()
  return sendToAll(rpc, { id, raw: hexlify(raw) }, { isTaken, error: judge }, at)
}

/** What a node says of the bytes, for those who do not know EVM; `unclear` is what may be said of bytes that are in a pool or a block. */
const verdicts: Readonly<Record<Exclude<ErrorMeaning, 'known'>, { is: 'refused' | 'unclear'; meaning?: RefusalMeaning }>> = {
  // By this very transaction, it may be.
  'nonce-too-low': { is: 'unclear', meaning: 'slot-used' },
  'nonce-too-high': { is: 'refused', meaning: 'slot-ahead' },
  'replacement-underpriced': { is: 'refused', meaning: 'outbid' },
  'fee-too-low': { is: 'refused', meaning: 'underpriced' },
  'insufficient-funds': { is: 'refused', meaning: 'unfunded' },
  'out-of-gas': { is: 'refused', meaning: 'invalid' },
  'not-now': { is: 'refused', meaning: 'not-now' },
  invalid: { is: 'refused', meaning: 'invalid' },
  // A pool runs nothing; whoever says this does more than take transactions, and nobody knows what.
  reverted: { is: 'unclear' },
}

function judge(error: NonNullable<RpcAnswer['error']>): Reception {
  const meaning = sendErrorMeaning(error)
  if (meaning === 'known') return { is: 'accepted' }
  const reason = quoteNode(error.message)
  // Words that nobody knows may mean anything.
  return { ...(meaning === undefined ? { is: 'unclear' } : verdicts[meaning]), reason }
}
