import type { Fill, Json } from '../../../contracts/index.ts'
import type { EvmLog, EvmReceipt } from '../../../../kits/evm/types.ts'
import { parseMemo, type SwapMemo } from './memo.ts'
import { vaultAbi } from '../../../../kits/amm/weighted/router.ts'

const swapEvent = vaultAbi.getEvent('Swap')

/**
 * What a swap really moved, from the Vault's logs. Undefined where the receipt shows no such swap. The Vault lets nobody in
 * while it swaps and pays, so its logs of a transaction that calls it are those of one batch, in order.
 */
export function readFill({ status, logs }: EvmReceipt, memo: Json): Fill | undefined {
  const asked = parseMemo(memo)
  if (!asked || status !== 1) return undefined
  const swaps = logs.filter(({ address }) => same(address, asked.vault)).flatMap((log) => swapIn(log) ?? [])
  if (swaps.length !== asked.swaps.length || !swaps.every((swap, index) => isOf(swap, asked.swaps[index]))) return undefined
  const inOrder = asked.exact === 'in' ? swaps : swaps.toReversed()
  const [first, last] = [inOrder.at(0), inOrder.at(-1)]
  return first && last && { amountInRaw: first.amountInRaw, amountOutRaw: last.amountOutRaw }
}

type Swapped = SwapMemo['swaps'][number] & { readonly amountInRaw: bigint; readonly amountOutRaw: bigint }

function swapIn({ topics, data }: EvmLog): Swapped | undefined {
  if (!swapEvent || topics[0] !== swapEvent.topicHash || topics.length !== 4 || data.length !== 2 + 2 * 64) return undefined
  const [poolId, tokenIn, tokenOut, amountInRaw, amountOutRaw] = vaultAbi.decodeEventLog(swapEvent, data, topics)
  return { poolId, tokenIn, tokenOut, amountInRaw, amountOutRaw }
}

const isOf = (swap: Swapped, asked: SwapMemo['swaps'][number] | undefined) =>
  asked !== undefined && same(swap.poolId, asked.poolId) && same(swap.tokenIn, asked.tokenIn) && same(swap.tokenOut, asked.tokenOut)

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()
