import { Signature } from 'ethers/crypto'
import { Transaction } from 'ethers/transaction'
import { getBytes, hexlify } from 'ethers/utils'
import type { At, Head, Rail, Prepared, Sealed, Sent, Signable, BroadcastResult, RefusalMeaning } from '../../core/contracts/index.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { quoteNode } from '../nodes/faults.ts'
import { invalidAnswer, resultOf, sendToAll, type Rpc } from '../nodes/rpc.ts'
import { check, createCacheCheck, readAllNonceCounts, readNonceCounts, type EvmRailOptions } from './check.ts'
import { bumpFees, costOf, defaultFeePolicy, describeMinReplacement, maxFeeOf, outbids, overrideFees } from './fees.ts'
import type { EvmFees, FeeConditions, FeePolicy } from './fees.ts'
import { createGasLimitCache } from './gas-limit.ts'
import { sendErrorMeaning, type ErrorMeaning } from './node-errors.ts'
import { createMinedFollower } from './follow-mined.ts'
import { aggregateResults, packAggregate3 } from './multicall.ts'
import { claimNonces, isDoubtful, mergeCounts, nonceGaps, noncesFrom, nonceStatus, type NonceCounts } from './nonces.ts'
import { permit2AllowanceCall, permit2AllowanceOf, sealPermit } from './permit2.ts'
import { createPoll } from './poll.ts'
import { paidFees } from './receipts.ts'
import type { EvmIntent } from './types.ts'

/** What orders EVM transactions is the nonce. Attempts on one nonce exclude each other. */
type EvmRail = Rail<EvmIntent, string, number, NonceCounts, EvmFees>

/**
 * Flashbots Protect and MEV Blocker (`softCancellations=true`) take a transaction to oneself without data for the withdrawal of what they have
 * on its nonce, and include neither: docs.flashbots.net/flashbots-protect/cancellations, docs.cow.fi/mevblocker. Protect's endpoint
 * (flashbots/rpc-endpoint, server/request_sendrawtx.go) counts up to two bytes as none.
 */
const noWithdrawal = '0x00000000'

/**
 * Transfers, approvals and wraps of usual tokens use 25,000 to 100,000 gas, those of tokens that count interest or ask other contracts up to
 * 300,000.
 */
const transferGas = 500_000n
/** Where gas pays for layer 1, too, its price there decides how much of it a transfer takes. Gas is cheap on these networks. */
const layer1TransferGas = 5_000_000n

/** The life of a transaction on one network: check, sign, send, poll, replace. */
export function evmRail(options: Omit<EvmRailOptions, 'policy'> & { policy?: Partial<FeePolicy> }): EvmRail {
  const policy = { ...defaultFeePolicy, ...options.policy }
  const complete = { ...options, policy }
  const { rpc, chainId, confirmations, feeCapRaw, knownTipRaw, reader, blocks, blockMs = 0, multicall } = complete
  const conditionsAt = ({ baseFeeRaw = 0n }: Head): FeeConditions => ({
    baseFeeRaw: policy.legacy ? 0n : baseFeeRaw,
    tipRaw: knownTipRaw?.(),
    policy,
    feeCapRaw,
  })
  const gasLimits = createGasLimitCache()
  const poll = createPoll(rpc, confirmations)
  const mined = blocks && createMinedFollower({ rpc, blocks, poll, blockMs })
  const fromCache = reader && createCacheCheck(complete, gasLimits, reader)
  // Elsewhere a cached limit, which is larger than needed, would cost something or be out of date.
  const isGasCacheable = complete.rollup === undefined && !complete.gasPaysLayer1 && !complete.gasLimitIsPaid && !complete.reserveBalance
  return {
    sequences: 'ordered',
    outline: ({ to, value }) => ({ contracts: [to], valueRaw: BigInt(value) }),
    async check(steps, needs, from, price, at) {
      const checked = await check(complete, gasLimits, steps, needs, from, price, at)
      mined?.noteCount(from, checked.synced.latest)
      return checked
    },
    ...(fromCache &&
      isGasCacheable && {
        cachedChecks: {
          ...fromCache,
          check(steps, needs, from, ...rest) {
            const checked = fromCache.check(steps, needs, from, ...rest)
            if (checked && 'synced' in checked) mined?.noteCount(from, checked.synced.latest)
            return checked
          },
        },
      }),
    cost: costOf,
    maxFee: maxFeeOf,
    paidFees: (receipt) => paidFees(receipt, complete.rollup !== undefined),
    sync: (from, at) => readNonceCounts(rpc, from, at),
    syncAll: (from, at) => readAllNonceCounts(rpc, from, at),
    merge: mergeCounts,
    needsSync: isDoubtful,
    claim: claimNonces,
    sequencesFrom: (_counts, nonce, count) => noncesFrom(nonce, count),
    nonceOf: (nonce) => nonce,
    sequenceStatus: nonceStatus,
    gaps: nonceGaps,
    draft: (prepared, nonce) => draft(prepared, nonce, chainId),
    seal,
    sendsPrivately: rpc.hasRelays,
    transferGas: complete.gasPaysLayer1 ? layer1TransferGas : transferGas,
    async send(sealed, at) {
      // A relay's word is not that of a node which could be asked about it.
      const sent = sealed.privateOnly ? undefined : mined?.sending(sealed.id)
      const result = await send(rpc, sealed, at)
      sent?.(result.is === 'accepted')
      return result
    },
    async poll(open, head, at) {
      const result = await (mined ? mined.look(open, head, at) : poll(open, head, at))
      const failed = new Set(result.statuses.flatMap((each) => (each.is === 'landed' && !each.ok ? [each.id] : [])))
      for (const { id, step, from } of open) if (failed.has(id)) gasLimits.forget(step, from)
      return result
    },
    permits: {
      seal: (permit, signature, owner) => sealPermit(permit, signature, owner, chainId),
      async nonces(owner, permits, at) {
        const views = permits.map(({ permit2, token, spender }) => permit2AllowanceCall(permit2, token, owner, spender))
        const [read] = await rpc.batch([{ method: 'eth_call', params: [{ to: multicall, data: packAggregate3(views) }, 'latest'] }], at)
        return aggregateResults(rpc, resultOf(rpc, 'eth_call', read), views.length).map((result) => {
          const allowance = permit2AllowanceOf(result)
          if (!allowance) throw invalidAnswer(rpc, 'answered a question about Permit2 with something that is no allowance')
          return Number(allowance.nonce)
        })
      },
    },
    replace: {
      outbids: (fees, over) => outbids(fees, over, policy.minBumpPercent),
      minimumReplacement: (over) => describeMinReplacement(over, policy.minBumpPercent),
      cancel: (from) => ({ to: from, data: '0x', value: '0' }),
      cancelAgain: (from) => ({ to: from, data: noWithdrawal, value: '0' }),
      bump: (fees, head, overrides) => (overrides ? overrideFees(fees, overrides, conditionsAt(head)) : bumpFees(fees, conditionsAt(head))),
    },
  }
}

/** The unsigned bytes of a transaction of type 2 (EIP-1559), or of type 0 if the network has no base fee. */
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

/** Sends the same bytes to every node, or to every relay where they are to be private. It is enough that one of them has them. */
export function send(rpc: Rpc, { id, raw, privateOnly }: Sent, at: At): Promise<BroadcastResult> {
  const isAccepted = (result: unknown) => String(result).toLowerCase() === id.toLowerCase()
  return sendToAll(rpc, { id, raw: hexlify(raw), privateOnly }, { isAccepted, error: broadcastResultOf }, at)
}

/** What an error means for the life of the transaction. `unclear`: nodes say the same of bytes that are in a mempool or a block. */
const broadcastResults: Readonly<Record<Exclude<ErrorMeaning, 'known'>, { is: 'refused' | 'unclear'; meaning?: RefusalMeaning }>> = {
  // Perhaps this very transaction used the nonce.
  'nonce-too-low': { is: 'unclear', meaning: 'sequence-used' },
  'nonce-too-high': { is: 'refused', meaning: 'sequence-ahead' },
  'replacement-underpriced': { is: 'refused', meaning: 'outbid' },
  'fee-too-low': { is: 'refused', meaning: 'underpriced' },
  'insufficient-funds': { is: 'refused', meaning: 'unfunded' },
  'out-of-gas': { is: 'refused', meaning: 'invalid' },
  'not-now': { is: 'refused', meaning: 'not-now' },
  invalid: { is: 'refused', meaning: 'invalid' },
  // A mempool executes nothing. A node that says this does something else with transactions, and it is not known what.
  reverted: { is: 'unclear' },
}

function broadcastResultOf(error: NonNullable<RpcAnswer['error']>): BroadcastResult {
  // A gateway's own error may have any code.
  const meaning = error.fault?.is === 'trouble' ? undefined : sendErrorMeaning(error)
  if (meaning === 'known') return { is: 'accepted' }
  const reason = quoteNode(error.message)
  // An unknown message may mean anything.
  return { ...(meaning === undefined ? { is: 'unclear' } : broadcastResults[meaning]), reason }
}
