import type { NetworkPollResponse } from '../api/index.ts'
import type { At, Chain, Json, Transaction } from '../contracts/index.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { canonicalHash } from '../base/addresses.ts'
import { isFinal, type Entry } from '../transactions/entry.ts'
import { withoutBlock } from '../transactions/lifecycle.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { mayUseWallet, type Handler, type NetworkContext } from './context.ts'
import { noteOpened } from './amm/absent-positions.ts'
import { hasFill, journaledFill, readFill } from './fills.ts'
import { liquidationsBefore } from './perp/fills.ts'
import { notYet, type NetworkEntry, type Registry } from '../plugins/index.ts'
import { causeOf, refusalMeaning } from './refusals.ts'

export const networkPoll: Handler<'NetworkPoll'> = async ({ txHash, connector }, context) => {
  const { network, services, caller, signal } = context
  const { impl } = network
  if (!impl.isTransactionId(txHash)) throw badFields([{ field: 'txHash', problem: 'is not a transaction hash of this chain' }])
  const { registry } = services
  const journaled = await services.transactions.find(network.chain, network.network, txHash)
  const isOwn = journaled !== undefined && mayUseWallet(caller, journaled.address)
  // Neither one that is pending nor one that is gone is needed to follow a transaction.
  const isNamed = isOwn && journaled.connector === connector
  if (connector !== undefined && !isNamed && !registry.pending(connector) && !registry.isLeaving(connector)) registry.connector(connector)
  // A caller that may not use the wallet learns of this hash only.
  const attempts = isOwn ? journaled.attempts.map(({ id }) => id) : [txHash]
  const isExchangeAction = journaled?.signer !== undefined
  const location = isExchangeAction
    ? locateAction(txHash, isOwn ? journaled : undefined)
    : await locateTransaction(txHash, attempts, journaled, impl, { signal })
  const { head, txBlock, receipt, found } = location
  const entry = journaled && location.isUndone ? { ...withoutBlock(journaled), ...(!found && { seen: 'lost' as const }) } : journaled
  const own = isOwn ? entry : undefined
  // A new block may come between the query of the head and that of the transaction.
  const currentBlock = head === undefined ? -1 : Math.max(head, txBlock)
  // A caller that learns of a trade's block expects later prices to be of that block or newer.
  if (!isExchangeAction && currentBlock >= 0) services.following.expectBlock(network, BigInt(currentBlock))
  return {
    currentBlock,
    txHash,
    txStatus: own ? services.transactions.status(own, found) : foreignStatus(txHash, found, entry, services.transactions),
    txBlock,
    txData: location.tx,
    // The response of an exchange is not a receipt that the chain could decode.
    txReceipt: receipt && (isExchangeAction ? receipt : decodeReceipt(receipt, network, services.registry, connector)),
    confirmations: txBlock < 0 ? 0 : head === undefined ? impl.confirmations : currentBlock - txBlock + 1,
    ...(own && {
      txState: shownState(own, found),
      final: isFinal(own),
      ...(own.archived && { archived: true }),
      ...replacedBy(txHash, own, location),
      ...(await failureReason(own, context)),
      ...(await fillOf(own, location, network, services.registry)),
    }),
  }
}

/** The journal is a moment behind the chain: what the chain has in a block is mined, and `txStatus` says so, too. */
const shownState = ({ state }: Entry, found: Pick<Transaction, 'blockNumber'> | undefined): Entry['state'] =>
  found?.blockNumber !== undefined && beforeMined.has(state) ? 'MINED' : state

const beforeMined: ReadonlySet<Entry['state']> = new Set(['QUEUED', 'SIGNED', 'BROADCAST'])

/**
 * The status of a transaction that is not in the journal or not the caller's. The journal still prevents that it is reported as unknown too
 * early.
 */
function foreignStatus(
  txHash: string,
  found: Pick<Transaction, 'blockNumber' | 'pays'> | undefined,
  entry: Entry | undefined,
  transactions: Transactions,
): number {
  if (found) return found.blockNumber !== undefined ? 1 : found.pays === false ? 3 : 2
  if (!entry) return -1
  const isReplaced = isFinal(entry) && entry.landed !== undefined && !isSameHash(txHash, entry.landed.id)
  return isReplaced ? -1 : transactions.status(entry)
}

/** The hash that replaced the polled one, or is to: of another attempt, or of another transaction. */
function replacedBy(txHash: string, entry: Entry, location: TransactionLocation): Pick<NetworkPollResponse, 'replacedBy'> {
  if (location.txBlock >= 0) return isSameHash(txHash, location.txHash) ? {} : { replacedBy: location.txHash }
  const newest = entry.attempts.at(-1)?.id
  const hash = entry.replacedBy ?? (newest === undefined || isSameHash(txHash, newest) ? undefined : newest)
  return hash === undefined ? {} : { replacedBy: hash }
}

/** Decodes logs by the events of the named connector, or of all connectors on the network: those of this release say first what a log is. */
function decodeReceipt(receipt: Json, { impl, chain, network }: NetworkEntry, registry: Registry, connector: string | undefined): Json {
  const venues = registry.venuesOn(chain, network).filter((each) => connector === undefined || each.connector === connector)
  const ordered = [...venues.filter(({ builtIn }) => builtIn), ...venues.filter(({ builtIn }) => !builtIn)]
  return impl.decode(receipt, [...new Set(ordered.flatMap((each) => each.impl.events ?? []))])
}

/** Where a transaction is, by the chain and the journal together. */
interface TransactionLocation {
  /** The attempt that is shown: the mined one, else the newest that the node has, else the polled one. */
  txHash: string
  /** The newest block; undefined if no node answered. */
  head: number | undefined
  /** -1 until mined. */
  txBlock: number
  tx: Json
  receipt: Json
  /** The node's transaction. */
  found: Transaction | undefined
  /** A reorganisation undid the block that the journal has it in, and the watcher has not seen that yet. */
  isUndone?: boolean
}

/**
 * A node may be behind the journal, and may have an attempt in a block that the journal has not read yet: the one that has a block is
 * right, unless the node has another block in its place. If no node answers, the journal is right about what is final.
 * @param attempts oldest first; at most one of them is ever mined
 */
async function locateTransaction(
  txHash: string,
  attempts: readonly string[],
  entry: Entry | undefined,
  impl: Chain,
  at: At,
): Promise<TransactionLocation> {
  const landed = attempts.some((each) => isSameHash(each, entry?.landed?.id)) ? entry?.landed : undefined
  const journaled = { txHash: landed?.id ?? txHash, txBlock: landed?.blockNumber ?? -1, receipt: landed?.receipt ?? null }

  const answer = await queryChain(txHash, attempts, impl, at).catch((error: unknown) => {
    if (entry && isFinal(entry) && error instanceof SluiceError) return undefined
    throw error
  })
  if (!answer) return { ...journaled, head: undefined, tx: null, found: undefined }
  const { head, lookups } = answer
  const mined = lookups.find(({ found }) => found?.blockNumber !== undefined)
  const isUndone = !mined && (await isBlockUndone(entry, impl, at))
  if (landed && !mined && !isUndone) {
    const found = lookups.find((each) => isSameHash(each.txHash, landed.id))?.found
    return { ...journaled, head, tx: found?.tx ?? null, found }
  }
  const shown = mined ?? lookups.find(({ found }) => found) ?? { txHash, found: undefined }
  const { found } = shown
  const { tx = null, receipt = null, blockNumber: txBlock = -1 } = found ?? {}
  return { txHash: shown.txHash, head, txBlock, tx, receipt, found, isUndone }
}

/** What is final stays so. */
async function isBlockUndone(entry: Entry | undefined, impl: Chain, at: At): Promise<boolean> {
  if (!entry || isFinal(entry) || entry.landed?.blockHash === undefined) return false
  const { blockNumber, blockHash } = entry.landed
  return (await impl.isUndone?.({ number: BigInt(blockNumber), hash: blockHash }, at)) ?? false
}

/**
 * An action on an exchange's own rail is in no block: only the journal has the exchange's response, and shows it to those who may use the
 * wallet.
 */
function locateAction(txHash: string, own: Entry | undefined): TransactionLocation {
  const receipt = own?.landed?.receipt ?? null
  return { txHash: own?.landed?.id ?? txHash, head: undefined, txBlock: -1, tx: own?.step ?? null, receipt, found: undefined }
}

interface AttemptLookup {
  txHash: string
  found: Transaction | undefined
}

/** Looks the attempts up, newest first. The others are looked up only if the polled one is in no block. */
async function queryChain(
  txHash: string,
  attempts: readonly string[],
  impl: Chain,
  at: At,
): Promise<{ head: number; lookups: readonly AttemptLookup[] }> {
  const lookUp = async (id: string): Promise<AttemptLookup> => ({ txHash: id, found: await impl.find(id, at) })
  const [{ number }, polled] = await Promise.all([impl.head(at), lookUp(txHash)])
  const head = Number(number)
  if (polled.found?.blockNumber !== undefined) return { head, lookups: [polled] }
  const others = await Promise.all(attempts.filter((each) => !isSameHash(each, txHash)).map(lookUp))
  const age = (each: AttemptLookup) => attempts.findIndex((id) => isSameHash(id, each.txHash))
  return { head, lookups: [polled, ...others].toSorted((a, b) => age(b) - age(a)) }
}

const isSameHash = (a: string, b: string | undefined) => b !== undefined && canonicalHash(a) === canonicalHash(b)

async function fillOf(
  entry: Entry,
  { receipt, txBlock }: TransactionLocation,
  network: NetworkEntry,
  registry: Registry,
): Promise<Pick<NetworkPollResponse, 'fill' | 'fillMissing'>> {
  const found = await findFill(entry, receipt, network, registry)
  if (found.fill && 'tokenId' in found.fill) noteOpened(entry, found.fill, txBlock, network, registry)
  return found
}

/** What a transaction brought, or why that is not known. */
async function findFill(
  entry: Entry,
  receipt: Json,
  network: NetworkEntry,
  registry: Registry,
): Promise<Pick<NetworkPollResponse, 'fill' | 'fillMissing'>> {
  const { archived, connector = '', plugin } = entry
  const journaled = journaledFill(entry)
  if (journaled) return { fill: journaled }
  // How to read an archived one's receipt is in the archive.
  if (archived) return {}
  const reading = await readFill(entry, receipt, network, registry)
  if (reading.is === 'read') return { fill: reading.fill }
  // Without a fill a caller would take it that nothing was traded.
  if (reading.is === 'pending')
    throw notYet(connector, 'It reads what this transaction brought, and can be asked in a moment. GET /transactions has the state')
  if (reading.is === 'gone')
    return {
      fillMissing: `Only the version of ${connector} that planned it${plugin === undefined ? '' : ` (${plugin})`} can read what it brought, and that does not run here. The receipt has its events.`,
    }
  if (reading.is === 'failed')
    return { fillMissing: `${connector} could not read now what it brought: ask again. The receipt has its events.` }
  return hasNoReceipt(entry, receipt, network)
    ? { fillMissing: 'No node has the receipt of this transaction, which tells what it brought: ask again, or add a node with history.' }
    : {}
}

/** Of a chain whose receipts have all that was moved: it is final by its status alone. */
const hasNoReceipt = ({ kind, landed, address, ...entry }: Entry, receipt: Json, { impl }: NetworkEntry): boolean =>
  hasFill(kind) &&
  isFinal(entry) &&
  landed?.ok === true &&
  impl.movements !== undefined &&
  (receipt === null || !impl.movements(receipt, address))

/** Why a transaction failed: the meaning of the exchange's code, and whether a liquidation came before it. */
async function failureReason(
  entry: Entry,
  { network, services, signal }: NetworkContext,
): Promise<Pick<NetworkPollResponse, 'reason' | 'cause'>> {
  const { reason } = entry
  if (reason === undefined) return {}
  const venue = services.registry.venueOf(entry, network)
  if (!venue) return { reason }
  const meaning = refusalMeaning(reason, venue)
  const explained = meaning === undefined ? reason : `${meaning} (${reason})`
  const cause = causeOf(reason, entry.signer === undefined ? entry.step : undefined, network, venue)
  if (entry.archived) return { reason: explained, ...cause }
  // If the exchange cannot be asked for liquidations, the response goes without them.
  const hashes = await liquidationsBefore(entry, { network, venue, services, signal }).catch(() => [])
  return { reason: hashes.length === 0 ? explained : `${explained}; the position was liquidated before, in ${hashes.join(', ')}`, ...cause }
}
