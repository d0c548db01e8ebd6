import type { Block, LandedTransaction } from '../../ledger/block.ts'
import { encodeLanded, formOf, versionsOf, resultOf, type Form } from '../encode-transaction.ts'
import { addressOf, configOf, signatureOf, slotOf, invalidParams, RpcError, flagOf, listOf, type Answer, type Config } from '../protocol.ts'
import { inContext, type View, type Methods } from '../view.ts'

export const historyMethods: Methods = {
  getTransaction(view, [signature, config]) {
    const given = typeof config === 'string' ? { encoding: config } : configOf(config)
    const found = view.find(signatureOf(signature))
    if (!found || found.block.height > settledBlock(view, given).height) return null
    const { block, landed } = found
    return { blockTime: block.time, slot: block.slot, ...encodeLanded(landed, formOf(given), versionsOf(given)) }
  },
  getSignaturesForAddress(view, [address, config]) {
    const { before, until, limit = 1000, minContextSlot, ...given } = configOf(config)
    const newest = settledBlock(view, given)
    if (minContextSlot !== undefined && newest.slot < minContextSlot)
      throw new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot: newest.slot })
    const most = Number(slotOf(limit))
    if (most < 1 || most > 1000) throw invalidParams('Invalid limit; max 1000')
    const of = addressOf(address)
    const all = newestFirst(view, newest).filter(({ landed }) => landed.wire.message.staticAccounts.includes(of))
    const first = before === undefined || before === null ? 0 : 1 + placeOf(all, signatureOf(before))
    const end = until === undefined || until === null ? all.length : placeOf(all, signatureOf(until))
    return all
      .slice(first, end)
      .slice(0, most)
      .map((each) => shown(view, each))
  },
}

interface FoundTransaction {
  block: Block
  landed: LandedTransaction
}

const newestFirst = (view: View, { height }: Block): readonly FoundTransaction[] =>
  view
    .known()
    .filter((block) => block.height <= height)
    .toReversed()
    .flatMap((block) => block.landed.toReversed().map((landed) => ({ block, landed })))

/** Behind the last where it is not among them. */
function placeOf(all: readonly FoundTransaction[], signature: string): number {
  const place = all.findIndex(({ landed }) => landed.signature === signature)
  return place < 0 ? all.length : place
}

const shown = (view: View, { block, landed }: FoundTransaction): Answer => ({
  blockTime: block.time,
  confirmationStatus: view.standing(block).confirmationStatus,
  err: landed.outcome.error,
  memo: null,
  signature: landed.signature,
  slot: block.slot,
})

export const blockMethods: Methods = {
  getBlock(view, [slot, config]) {
    const given = configOf(config)
    const block = blockAt(view, slotOf(slot), settledBlock(view, given))
    return {
      blockhash: block.blockhash,
      blockHeight: block.height,
      blockTime: block.time,
      parentSlot: block.parentSlot,
      previousBlockhash: block.previousBlockhash,
      ...(given['rewards'] === false ? {} : { rewards: [] }),
      ...transactionsOf(view, block, given),
    }
  },
  getBlocks(view, [first, last, config]) {
    // The last slot may be left out, and the configuration stand in its place.
    const isRange = typeof last === 'number'
    const newest = settledBlock(view, configOf(isRange ? config : last)).slot
    const [from, wanted] = [slotOf(first), isRange ? slotOf(last) : newest]
    if (wanted - from > 500_000n) throw invalidParams('Slot range too large; max 500000')
    return slotsBetween(view, from, wanted < newest ? wanted : newest)
  },
  getBlocksWithLimit(view, [first, limit, config]) {
    const newest = settledBlock(view, configOf(config)).slot
    return slotsBetween(view, slotOf(first), newest).slice(0, Number(slotOf(limit)))
  },
  getBlockTime: (view, [slot]) => blockAt(view, slotOf(slot), view.block('processed')).time,
  getFirstAvailableBlock: (view) => view.known()[0]?.slot ?? 0n,
}

/** Blocks that may still change are told of to nobody who asks by their numbers. */
function settledBlock(view: View, { commitment = 'finalized' }: Config): Block {
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
  return view.block(commitment)
}

const slotsBetween = (view: View, first: bigint, last: bigint): readonly bigint[] =>
  view
    .known()
    .map(({ slot }) => slot)
    .filter((slot) => slot >= first && slot <= last)

function blockAt(view: View, slot: bigint, newest: Block): Block {
  const blocks = view.known()
  const block = blocks.find((each) => each.slot === slot)
  const oldest = blocks[0]?.slot ?? 0n
  if (slot > newest.slot) throw new RpcError(-32004, `Block not available for slot ${slot}`)
  if (slot < oldest) throw new RpcError(-32001, `Block ${slot} cleaned up, does not exist on node. First available block: ${oldest}`)
  if (!block) throw new RpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`)
  return block
}

function transactionsOf(view: View, block: Block, given: Config): { [key: string]: Answer } {
  const { transactionDetails = 'full' } = given
  if (transactionDetails === 'none') return {}
  if (transactionDetails === 'signatures') return { signatures: block.landed.map(({ signature }) => signature) }
  if (transactionDetails !== 'full')
    throw invalidParams(`this test service gives no transactionDetails: ${JSON.stringify(transactionDetails)}`)
  const [form, versions]: [Form, number | undefined] = [formOf(given), versionsOf(given)]
  return { transactions: block.landed.map((each) => encodeLanded(each, form, versions)) }
}

/** So many blocks a node keeps the statuses of without a search in its history: solana-clock, MAX_RECENT_BLOCKHASHES. */
const statusCacheBlocks = 300n

export const signatureMethods: Methods = {
  getSignatureStatuses(view, [signatures, config]) {
    const { searchTransactionHistory } = configOf(config)
    const isDeep = flagOf(searchTransactionHistory)
    const statuses = listOf(signatures, 256).map((each) => status(view, signatureOf(each), isDeep))
    return inContext(view.block('processed'), statuses)
  },
}

function status(view: View, signature: ReturnType<typeof signatureOf>, isDeep: boolean): Answer {
  const found = view.find(signature)
  if (!found) return null
  const { block, landed } = found
  if (!isDeep && view.block('processed').height - block.height > statusCacheBlocks) return null
  return { slot: block.slot, ...view.standing(block), err: landed.outcome.error, status: resultOf(landed.outcome.error) }
}
