import type { Head } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import { nodeLied } from '../../nodes/ask.ts'
import type { Rpc } from '../../nodes/types.ts'
import { quantityOf } from '../quantity.ts'

/** A block's head, and the base fee that the block after it will have. */
export interface Block extends Head {
  hash: string
  /** Absent where the chain has no base fee. */
  nextBaseFeeRaw?: bigint
}

/** Reads what `eth_getBlockByNumber` gave. */
export function readBlock(rpc: Rpc, raw: unknown): Block {
  const block = isObject(raw) ? raw : {}
  const number = quantityOf(block['number'])
  const timestamp = quantityOf(block['timestamp'])
  const { hash, parentHash } = block
  if (number === undefined || timestamp === undefined || typeof hash !== 'string')
    throw nodeLied(rpc, 'answered with something that is no block')
  const head = { number, timestamp: Number(timestamp), hash, ...(typeof parentHash === 'string' && { parentHash }) }
  const baseFeeRaw = quantityOf(block['baseFeePerGas'])
  const gasUsed = quantityOf(block['gasUsed'])
  const gasLimit = quantityOf(block['gasLimit'])
  if (baseFeeRaw === undefined || gasUsed === undefined || gasLimit === undefined) return head
  return { ...head, baseFeeRaw, nextBaseFeeRaw: nextBaseFee(baseFeeRaw, gasUsed, gasLimit) }
}

/** https://eips.ethereum.org/EIPS/eip-1559, with ELASTICITY_MULTIPLIER 2 and BASE_FEE_MAX_CHANGE_DENOMINATOR 8. */
function nextBaseFee(baseFeeRaw: bigint, gasUsed: bigint, gasLimit: bigint): bigint {
  const target = gasLimit / 2n
  if (gasUsed === target || target === 0n) return baseFeeRaw
  if (gasUsed < target) return baseFeeRaw - (baseFeeRaw * (target - gasUsed)) / target / 8n
  const rise = (baseFeeRaw * (gasUsed - target)) / target / 8n
  return baseFeeRaw + (rise > 1n ? rise : 1n)
}
