import { id } from 'ethers'
import type { Fill, Json } from '../../contracts/index.ts'
import type { EvmLog, EvmReceipt } from '../../../kits/evm/types.ts'
import { parseMemo } from './memo.ts'

const transferTopic = id('Transfer(address,address,uint256)')
const swapTopic = id('Swap(address,uint256,uint256,uint256,uint256,address)')

/**
 * What a swap really moved, from the receipt's logs: what the trader paid to the first pool and what the last pool paid
 * out. Undefined where the receipt shows no such swap.
 */
export function readFill(receipt: EvmReceipt, memo: Json): Fill | undefined {
  const swap = parseMemo(memo)
  if (!swap || receipt.status !== 1) return undefined
  const { logs, from } = receipt
  const { router, recipient, nativeIn, nativeOut, hops } = swap
  const [first, last] = [hops.at(0), hops.at(-1)]
  if (!first || !last) return undefined

  const payee = nativeOut ? router : recipient
  // Pairs log a swap when it is done, so one that a token's own code makes in between stands before ours: hence from the
  // end, and from a hop to the one before it.
  let before = logs.length
  let lastSwap: number | undefined
  for (const [index, { pool }] of [...hops.entries()].toReversed()) {
    const to = hops[index + 1]?.pool ?? payee
    before = lastIndexBefore(logs, before, (log) => isSwap(log, pool, router, to))
    if (before < 0) return undefined
    lastSwap ??= before
  }

  const paid = lastIndexBefore(logs, before, (log) => isTransfer(log, first.tokenIn, nativeIn ? router : from, first.pool))
  const got = lastIndexBefore(logs, lastSwap ?? 0, (log) => isTransfer(log, last.tokenOut, last.pool, payee))
  const [amountInRaw, amountOutRaw] = [amountOf(logs[paid]), amountOf(logs[got])]
  return amountInRaw !== undefined && amountOutRaw !== undefined ? { amountInRaw, amountOutRaw } : undefined
}

function lastIndexBefore(logs: readonly EvmLog[], end: number, matches: (log: EvmLog) => boolean): number {
  return logs.slice(0, end).findLastIndex(matches)
}

function isSwap({ address, topics: [topic, sender, to] }: EvmLog, pool: string, router: string, payee: string): boolean {
  return topic === swapTopic && same(address, pool) && isTopic(sender, router) && isTopic(to, payee)
}

function isTransfer({ address, topics: [topic, from, to] }: EvmLog, token: string, payer: string, payee: string): boolean {
  return topic === transferTopic && same(address, token) && isTopic(from, payer) && isTopic(to, payee)
}

const word = /^0x[0-9a-f]{64}$/i
const amountOf = (log: EvmLog | undefined) => (log && word.test(log.data) ? BigInt(log.data) : undefined)

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** An address stands in a topic as a word. */
const isTopic = (topic: string | undefined, address: string) => topic !== undefined && same(`0x${topic.slice(-40)}`, address)
