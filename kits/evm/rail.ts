import type { At, Head, Rail, Token } from '../../core/contracts/index.ts'
import type { Rpc } from '../../core/kits/nodes/types.ts'
import { bumpFees, cancelIsCheaper, wishedFees } from '../../core/kits/evm/rail/bump.ts'
import { check, sync } from './check.ts'
import { draft, seal } from '../../core/kits/evm/rail/draft.ts'
import { costOf, defaultFeePolicy, outbids, sayLeast } from './fees.ts'
import type { EvmFees, FeePolicy, Prices } from './fees.ts'
import { createGasTable } from '../../core/kits/evm/rail/gas-table.ts'
import { createLook } from './poll.ts'
import { createRecall } from '../../core/kits/evm/rail/recall.ts'
import { send } from '../../core/kits/evm/rail/send.ts'
import { claimNonces, isDoubtful, mergeSynced, nonceGaps, noncesFrom, nonceStanding } from './nonces.ts'
import type { EvmSynced } from './nonces.ts'
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
  mostGas?: bigint | undefined
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
export type EvmRail = Rail<EvmIntent, string, number, EvmSynced, EvmFees>

export function evmRail(options: Omit<EvmRailOptions, 'policy'> & { policy?: Partial<FeePolicy> }): EvmRail {
  const settled = { ...options, policy: { ...defaultFeePolicy, ...options.policy } }
  const { rpc, chainId, confirmations, policy, feeCapRaw, knownTipRaw } = settled
  const pricesAt = ({ baseFeeRaw = 0n }: Head): Prices => ({
    baseFeeRaw: policy.legacy ? 0n : baseFeeRaw,
    tipRaw: knownTipRaw?.(),
    policy,
    feeCapRaw,
  })
  const gasTable = createGasTable()
  const look = createLook(rpc, confirmations)
  // What is left over of a limit from the table costs something there.
  const isGasKnowable = settled.rollup === undefined && !settled.gasPaysLayer1 && !settled.gasLimitIsPaid
  return {
    slots: 'ordered',
    outline: ({ to, value }) => ({ contracts: [to], valueRaw: BigInt(value) }),
    check: (steps, needs, from, price, at) => check(settled, gasTable, steps, needs, from, price, at),
    ...(settled.reader && isGasKnowable && { recall: createRecall(settled, gasTable, settled.reader) }),
    cost: costOf,
    sync: (from, at) => sync(settled, from, at),
    merge: mergeSynced,
    doubtful: isDoubtful,
    claim: claimNonces,
    slotsFrom: (_synced, nonce, count) => noncesFrom(nonce, count),
    nonceOf: (slot) => slot,
    standing: nonceStanding,
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
      outbids: (fees, over) => outbids(fees, over, policy.leastBumpPercent),
      least: (over) => sayLeast(over, policy.leastBumpPercent),
      cancel: (from) => ({ to: from, data: '0x', value: '0' }),
      bump: (fees, head, wish) => (wish ? wishedFees(fees, wish, pricesAt(head)) : bumpFees(fees, pricesAt(head))),
      cancelIsCheaper: (step, fees, head) => cancelIsCheaper(step, fees, pricesAt(head)),
    },
  }
}
