import { badFields, type NetworkPollResponse } from '../api/index.ts'
import type { Json, Transaction } from '../contracts/index.ts'
import { isFinal, type Entry } from '../transactions/entry.ts'
import { type Transactions } from '../transactions/transactions.ts'
import type { Verb } from './context.ts'
import { mayUseWallet } from './caller.ts'
import type { Directory, NetworkEntry } from './registry.ts'
import { fillOf } from '../verbs/network/fill.ts'
import { reasonOf } from '../verbs/network/reason.ts'
import { isSameHash, whereaboutsOf, whereaboutsOfAction, type Whereabouts } from '../verbs/network/whereabouts.ts'

export const networkPoll: Verb<'NetworkPoll'> = async ({ txHash, connector }, context) => {
  const { network, services, caller, signal } = context
  const { impl } = network
  if (!impl.isTransactionId(txHash)) throw badFields([{ field: 'txHash', problem: 'is no transaction hash of this chain' }])
  if (connector !== undefined) services.directory.connector(connector)

  const entry = await services.transactions.find(network.chain, network.network, txHash)
  const own = entry && mayUseWallet(caller, entry.address) ? entry : undefined
  // Who may not use the wallet learns of the one hash only.
  const attempts = own ? own.attempts.map(({ id }) => id) : [txHash]
  const isVenues = entry?.signer !== undefined
  const where = isVenues ? whereaboutsOfAction(txHash, own) : await whereaboutsOf({ txHash, attempts, entry }, impl, { signal })
  const { head, txBlock, receipt, found } = where
  // A block may come between both questions.
  const currentBlock = head === undefined ? -1 : Math.max(head, txBlock)
  // Who was told that a trade is in a block asks for a price after it.
  if (!isVenues && currentBlock >= 0) services.following.heardOf(network, BigInt(currentBlock))
  return {
    currentBlock,
    txHash,
    txStatus: own ? services.transactions.status(own, found) : strangersStatus(txHash, found, entry, services.transactions),
    txBlock,
    txData: where.tx,
    // What an exchange said is no receipt of the chain's.
    txReceipt: receipt && (isVenues ? receipt : decode(receipt, network, services.directory, connector)),
    confirmations: txBlock < 0 ? 0 : head === undefined ? impl.confirmations : currentBlock - txBlock + 1,
    ...(own && {
      txState: own.state,
      ...replacedBy(txHash, own, where),
      ...(await reasonOf(own, context)),
      ...fillOf(own, receipt, network, services.directory),
    }),
  }
}

/** Of a transaction that is not in the journal, or not the caller's: the journal still keeps it from being called dead too early. */
function strangersStatus(
  txHash: string,
  found: Pick<Transaction, 'blockNumber' | 'pays'> | undefined,
  entry: Entry | undefined,
  transactions: Transactions,
): number {
  if (found) return found.blockNumber !== undefined ? 1 : found.pays === false ? 3 : 2
  if (!entry) return -1
  const lost = isFinal(entry) && entry.landed !== undefined && !isSameHash(txHash, entry.landed.id)
  return lost ? -1 : transactions.status(entry)
}

/** What took, or is to take, the place of the hash that was asked for: another attempt, or another transaction. */
function replacedBy(txHash: string, { replacedBy: heir, attempts }: Entry, where: Whereabouts): Pick<NetworkPollResponse, 'replacedBy'> {
  if (where.txBlock >= 0) return isSameHash(txHash, where.txHash) ? {} : { replacedBy: where.txHash }
  const newest = attempts.at(-1)?.id
  const hash = heir ?? (newest === undefined || isSameHash(txHash, newest) ? undefined : newest)
  return hash === undefined ? {} : { replacedBy: hash }
}

/** Logs are explained by the events of the named connector, or of all that are on the network. */
function decode(receipt: Json, { impl, chain, network }: NetworkEntry, directory: Directory, connector: string | undefined): Json {
  const venues = directory.venuesOn(chain, network).filter((each) => connector === undefined || each.connector === connector)
  return impl.decode(receipt, [...new Set(venues.flatMap((each) => each.impl.events ?? []))])
}
