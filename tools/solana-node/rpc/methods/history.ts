import type { Block, LandedTransaction } from '../../ledger/block.ts'
import type { Answer } from '../answer.ts'
import { encodeLanded, formOf, versionsOf } from '../encode/landed.ts'
import { addressOf, configOf, signatureOf, slotOf } from '../params.ts'
import { invalidParams, RpcError } from '../rpc-error.ts'
import type { View } from '../view.ts'
import { settledBlock } from './blocks.ts'
import type { Methods } from './method.ts'

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
