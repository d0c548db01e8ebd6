import type { Block } from '../../ledger/block.ts'
import type { Answer } from '../answer.ts'
import { encodeLanded, formOf, versionsOf, type Form } from '../encode/landed.ts'
import { configOf, slotOf, type Config } from '../params.ts'
import { invalidParams, RpcError } from '../rpc-error.ts'
import type { View } from '../view.ts'
import type { Methods } from './method.ts'

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
export function settledBlock(view: View, { commitment = 'finalized' }: Config): Block {
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
