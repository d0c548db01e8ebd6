import { getCompiledTransactionMessageDecoder, type Address } from '@solana/kit'
import type { Block } from '../../ledger/block.ts'
import { computeBudgetOf, feeOf } from '../../ledger/execute.ts'
import { largestAge, slotsPerEpoch } from '../../ledger/ledger.ts'
import { writableAccounts, type Message } from '../../ledger/read-wire.ts'
import { configOf, textOf, RpcError, addressOf, listOf, invalidParams } from '../protocol.ts'
import { apiVersion, blockFor, inContext, type View, type Methods } from '../view.ts'
import { decoded } from './sending.ts'

/** How far the chain is, and which blockhashes are good. */
export const chainMethods: Methods = {
  getHealth(view) {
    const numSlotsBehind = view.options.slotsBehind
    if (numSlotsBehind === undefined) return 'ok'
    throw new RpcError(-32005, `Node is behind by ${numSlotsBehind} slots`, { numSlotsBehind })
  },
  getVersion: () => ({ 'feature-set': 3640012085, 'solana-core': apiVersion }),
  getGenesisHash: ({ ledger }) => ledger.genesisHash,
  getSlot: (view, [config]) => blockFor(view, configOf(config)).slot,
  getBlockHeight: (view, [config]) => blockFor(view, configOf(config)).height,
  getTransactionCount: (view, [config]) => transactionCount(view, blockFor(view, configOf(config))),
  getEpochInfo(view, [config]) {
    const block = blockFor(view, configOf(config))
    return {
      absoluteSlot: block.slot,
      blockHeight: block.height,
      epoch: block.slot / slotsPerEpoch,
      slotIndex: block.slot % slotsPerEpoch,
      slotsInEpoch: slotsPerEpoch,
      transactionCount: transactionCount(view, block),
    }
  },
  getLatestBlockhash(view, [config]) {
    const block = blockFor(view, configOf(config))
    return inContext(block, { blockhash: block.blockhash, lastValidBlockHeight: block.height + largestAge })
  },
  isBlockhashValid(view, [blockhash, config]) {
    const block = blockFor(view, configOf(config))
    return inContext(block, view.ledger.isRecent(textOf(blockhash), block))
  },
}

function transactionCount({ ledger }: View, { height }: Block): bigint {
  const blocks = ledger.blocks.filter((each) => each.height <= height)
  return BigInt(blocks.reduce((sum, { landed }) => sum + landed.length, 0))
}

export const feeMethods: Methods = {
  getFeeForMessage(view, [text, config]) {
    const block = blockFor(view, configOf(config))
    const message = messageOf(decoded(textOf(text), 'base64'))
    return inContext(block, view.ledger.isRecent(message.lifetimeToken, block) ? feeOf(message) : null)
  },
  getRecentPrioritizationFees(view, [addresses]) {
    const wanted = listOf(addresses ?? [], 128).map(addressOf)
    const recent = view.known().slice(-Number(largestAge))
    return recent.map((block) => ({ prioritizationFee: priceIn(block, wanted), slot: block.slot }))
  },
}

/**
 * Micro-lamports per compute unit: the least that a transaction paid in the block, or that one paid which wrote to one of these
 * accounts, where that is more. Source: agave, runtime/src/prioritization_fee_cache.rs.
 */
function priceIn({ landed }: Block, accounts: readonly Address[]): bigint {
  const messages = landed.map(({ wire }) => wire.message)
  const writers = accounts.map((each) => messages.filter((message) => writableAccounts(message).includes(each)))
  return [messages, ...writers].map(leastPrice).reduce((most, each) => (each > most ? each : most))
}

function leastPrice(messages: readonly Message[]): bigint {
  const prices = messages.map((each) => computeBudgetOf(each).microLamports)
  return prices.reduce((least, each) => (each < least ? each : least), prices[0] ?? 0n)
}

function messageOf(bytes: Uint8Array): Message {
  try {
    const message = getCompiledTransactionMessageDecoder().decode(bytes)
    if (message.version !== 1) return message
  } catch (error) {
    throw invalidParams(`failed to deserialize solana_message::versions::VersionedMessage: ${String(error)}`)
  }
  throw invalidParams('transaction version 1 is not active on this cluster')
}
