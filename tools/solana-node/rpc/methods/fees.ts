import { getCompiledTransactionMessageDecoder, type Address } from '@solana/kit'
import type { Block } from '../../ledger/block.ts'
import { computeBudgetOf, feeOf } from '../../ledger/fee.ts'
import { largestAge } from '../../ledger/ledger.ts'
import { writableAccounts, type Message } from '../../ledger/read-wire.ts'
import { addressOf, configOf, listOf, textOf } from '../params.ts'
import { invalidParams } from '../rpc-error.ts'
import { blockFor, inContext } from '../view.ts'
import { decoded } from './given-wire.ts'
import type { Methods } from './method.ts'

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
