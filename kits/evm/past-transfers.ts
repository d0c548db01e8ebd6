// What the events of tokens say that moved into and out of wallets, in blocks of the past.
import { toQuantity } from 'ethers/utils'
import type { At, BlockRange, PastTransfer, WalletHistory } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type ReadRpc } from '../nodes/rpc.ts'
import {
  addressWord,
  depositTopic,
  isAddressTopic,
  isSameHex,
  nativeAddress,
  numberOf,
  transferTopic,
  withdrawalTopic,
  wordAt,
  wordCount,
} from './encoding.ts'
import { readLogs } from './log-ranges.ts'
import { gainsIn } from './movements.ts'
import { saysLostHistory } from './node-errors.ts'
import { parseLog } from './receipts.ts'
import type { FoundLog } from './types.ts'

/** Of WETH9 and the wrapped coins that are made after it: https://etherscan.io/address/0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2#code */
const wrapTopics = [depositTopic, withdrawalTopic]
type PastLog = FoundLog & { readonly blockHash: string; readonly logIndex: number }

/**
 * @param wrapped the token that wraps the native coin: what it pays out is the one move of the coin that has an event
 * @param coin the native coin's address; absent where it is a token itself
 */
export function createPastTransfers(rpc: ReadRpc, wrapped: string, coin: string | undefined): WalletHistory['transfers'] {
  const transfers: WalletHistory['transfers'] = async (wallets, range, at) => {
    try {
      return { transfers: await transfersIn(wallets, range, at) }
    } catch (error) {
      if (!(await isWithoutLogs(range.from, at))) throw error
      const since = await firstWithLogs(range, at)
      return { transfers: since > range.to ? [] : await transfersIn(wallets, { from: since, to: range.to }, at), since }
    }
  }

  async function transfersIn(wallets: readonly string[], range: BlockRange, at: At): Promise<readonly PastTransfer[]> {
    const owners = wallets.map((wallet) => `0x${addressWord(wallet)}`)
    const filters = [
      { topics: [[transferTopic], owners] },
      { topics: [[transferTopic], null, owners] },
      { address: wrapped, topics: [wrapTopics, owners] },
    ]
    const found = await Promise.all(filters.map((filter) => readLogs(rpc, filter, range, pastLogsIn, at)))
    const ofTransaction = new Map<string, Map<number, PastLog>>()
    for (const log of found.flat()) {
      const logs = ofTransaction.get(log.transactionHash) ?? new Map<number, PastLog>()
      ofTransaction.set(log.transactionHash, logs.set(log.logIndex, log))
    }
    return [...ofTransaction.values()]
      .flatMap((logs) => wallets.flatMap((wallet) => movesOf(wallet, [...logs.values()])))
      .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  }

  /** @param logs of one transaction */
  function movesOf(wallet: string, logs: readonly PastLog[]): readonly PastTransfer[] {
    const [first] = logs
    if (!first) return []
    // Where the coin is itself a token, its events count: no address is left out.
    const gains = gainsIn({ logs }, wallet, { coin: nativeAddress, wrapped })
    const payouts = logs.filter(
      ({ address, topics: [event, owner], data }) =>
        event === withdrawalTopic && isSameHex(address, wrapped) && isAddressTopic(owner, wallet) && wordCount(data) >= 1,
    )
    if (coin !== undefined)
      gains.set(
        coin,
        payouts.reduce((sum, { data }) => sum + wordAt(data, 0), 0n),
      )
    return [...gains].flatMap(([token, amountRaw]) => {
      if (amountRaw === 0n || token.includes('/')) return []
      const { transactionHash: txHash, blockNumber, blockHash } = first
      const emitter = token === coin ? wrapped : token
      const logIndex = Math.min(...logs.flatMap((log) => (isSameHex(log.address, emitter) ? log.logIndex : [])))
      return { wallet, token, amountRaw, txHash, blockNumber, blockHash, logIndex }
    })
  }

  function pastLogsIn(answer: RpcAnswer): readonly PastLog[] {
    const raw = resultOf(rpc, 'eth_getLogs', answer)
    const logs: readonly unknown[] = Array.isArray(raw) ? raw : [undefined]
    return logs.map((each) => {
      const log = parseLog(each)
      const { blockHash, logIndex } = isObject(each) ? each : {}
      const index = numberOf(logIndex)
      if (!log || typeof blockHash !== 'string' || index === undefined)
        throw invalidAnswer(rpc, 'answered eth_getLogs with something else than logs')
      return { ...log, transactionHash: log.transactionHash.toLowerCase(), blockHash, logIndex: index }
    })
  }

  /** By halves, as nodes keep the newest. One past the range where they have none of it. */
  async function firstWithLogs({ from, to }: BlockRange, at: At): Promise<number> {
    let [lost, kept] = [from, to + 1]
    while (kept - lost > 1) {
      const middle = Math.floor((lost + kept) / 2)
      if (await isWithoutLogs(middle, at)) lost = middle
      else kept = middle
    }
    return kept
  }

  /** Asked beside what every node can answer: so the trouble of one call is not that of the node. */
  async function isWithoutLogs(block: number, at: At): Promise<boolean> {
    const filter = { address: wrapped, fromBlock: toQuantity(block), toBlock: toQuantity(block) }
    const calls = [
      { method: 'eth_getLogs', params: [filter], size: 1, smallest: true },
      { method: 'eth_blockNumber', params: [] },
    ]
    const [answer] = await rpc.batch(calls, at)
    return saysLostHistory(answer)
  }

  return transfers
}
