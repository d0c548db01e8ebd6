import type { Block } from '../../ledger/block.ts'
import { largestAge, slotsPerEpoch } from '../../ledger/ledger.ts'
import { configOf, textOf } from '../params.ts'
import { RpcError } from '../rpc-error.ts'
import { apiVersion, blockFor, inContext, type View } from '../view.ts'
import type { Methods } from './method.ts'

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
