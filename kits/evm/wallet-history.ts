// What wallets held at past blocks, and what moved in between.
import { id } from 'ethers/hash'
import { toQuantity } from 'ethers/utils'
import type { At, BlockRange, CoinMove, PastBlock, PastHoldings, PastTransfer, WalletHistory } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import type { RpcAnswer, RpcCall } from '../nodes/dialect.ts'
import { speaksOfLimit } from '../nodes/faults.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { feesOf } from './coin-gain.ts'
import { addressWord, isBytes, isSameHex, nativeAddress, numberOf, quantityOf, transferTopic } from './encoding.ts'
import { readLogs } from './log-ranges.ts'
import { gainsIn } from './movements.ts'
import { packAggregate3, unpackAggregate3 } from './multicall.ts'
import { callVerdict, saysLostState } from './node-errors.ts'
import { parseLog, readReceipt } from './receipts.ts'
import { readBlock } from './rpc.ts'
import { balanceOfCall, noResult, uintOf } from './tokens.ts'
import type { Call, CallResult, FoundLog } from './types.ts'

/** Of WETH9 and the wrapped coins that are made after it: https://etherscan.io/address/0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2#code */
const wrapTopics = [id('Deposit(address,uint256)'), id('Withdrawal(address,uint256)')]
/** Balances that one call reads: they use a few million gas at most. */
const tokensPerCall = 200
/** What validators are paid out: https://eips.ethereum.org/EIPS/eip-4895 has it in gwei. */
const gweiRaw = 1_000_000_000n
/** A deposit from layer 1: https://specs.optimism.io/protocol/deposits.html. It pays no fee here, and `mint` is what it brings its sender. */
const depositType = 126

interface HistoryParts {
  rpc: Rpc
  multicall: string
  wrapped: string
  /** Layer 1 is paid for beside the gas. */
  isRollup: boolean
}

export function createWalletHistory({ rpc, multicall, wrapped, isRollup }: HistoryParts): WalletHistory {
  /** In one request. Those that are the last word of a node are answered; trouble of the node is an error. */
  async function askBlocks(numbers: readonly number[], withTransactions: boolean, at: At): Promise<readonly unknown[]> {
    const answers = await rpc.batch(
      numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), withTransactions] })),
      at,
    )
    return answers.map((answer) => resultOf(rpc, 'eth_getBlockByNumber', answer))
  }

  async function blocks(numbers: readonly number[], at: At): Promise<readonly PastBlock[]> {
    const found = await askBlocks(numbers, false, at)
    return found.map((raw, index) => {
      const { number, hash, timestamp } = readBlock(rpc, raw)
      if (Number(number) !== numbers[index]) throw invalidAnswer(rpc, 'answered with another block than the one that it was asked for')
      return { number: Number(number), hash, timestamp }
    })
  }

  async function holdings(wallet: string, tokens: readonly string[], at: readonly number[], by: At) {
    if (at.length === 0) return []
    const calls = tokens.map((token) => balanceOfCall(token, wallet))
    const parts = partsOf(calls, tokensPerCall)
    const ofBlock = (block: string): readonly RpcCall[] => [
      { method: 'eth_getTransactionCount', params: [wallet, block] },
      { method: 'eth_getBalance', params: [wallet, block] },
      ...parts.map((part) => ({ method: 'eth_call', params: [{ to: multicall, data: packAggregate3(part) }, block] })),
    ]
    const highest = toQuantity(Math.max(...at))
    // A node that has not got the newest of them yet has not lost the others.
    const [proof, ...answers] = await rpc.batch(
      [{ method: 'eth_getBlockByNumber', params: [highest, false] }, ...at.flatMap((number) => ofBlock(toQuantity(number)))],
      by,
    )
    readBlock(rpc, resultOf(rpc, 'eth_getBlockByNumber', proof))
    const perBlock = 2 + parts.length
    return Promise.all(
      at.map(async (number, index): Promise<PastHoldings | undefined> => {
        const ofThis = answers.slice(index * perBlock, (index + 1) * perBlock)
        if (ofThis.some(isLost)) return undefined
        const [nonce, coinRaw] = [
          numberOf(resultOf(rpc, 'eth_getTransactionCount', ofThis[0])),
          quantityOf(resultOf(rpc, 'eth_getBalance', ofThis[1])),
        ]
        if (nonce === undefined || coinRaw === undefined)
          throw invalidAnswer(rpc, 'answered a question about a wallet with something that is no number')
        const results = parts.map((part, place) => aggregated(ofThis[2 + place], part.length))
        // The contract was not there yet, or what it called used up the gas.
        const read = results.some((each) => each === undefined)
          ? await callEach(calls, toQuantity(number), by)
          : results.flatMap((each) => each ?? [])
        return { nonce, coinRaw, balances: read.map(uintOf) }
      }),
    )
  }

  function aggregated(answer: RpcAnswer | undefined, expected: number): readonly CallResult[] | undefined {
    if (answer?.error && callVerdict(answer.error)) return undefined
    const bytes = resultOf(rpc, 'eth_call', answer)
    return isBytes(bytes) && bytes !== '0x' ? unpackAggregate3(bytes, expected) : undefined
  }

  async function callEach(calls: readonly Call[], block: string, at: At): Promise<readonly CallResult[]> {
    const answers = await rpc.batch(
      calls.map((call) => ({ method: 'eth_call', params: [call, block] })),
      at,
    )
    return answers.map((answer) => {
      if (answer.error && callVerdict(answer.error)) return noResult
      const bytes = resultOf(rpc, 'eth_call', answer)
      return isBytes(bytes) ? { ok: true, data: bytes } : noResult
    })
  }

  async function transfers(wallets: readonly string[], range: BlockRange, at: At) {
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
    return [...gains].flatMap(([token, amountRaw]) => {
      if (amountRaw === 0n || token.includes('/')) return []
      const { transactionHash: txHash, blockNumber, blockHash } = first
      const logIndex = Math.min(...logs.flatMap((log) => (isSameHex(log.address, token) ? log.logIndex : [])))
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
    return isLost(answer)
  }

  async function coinMoves(wallet: string, numbers: readonly number[], at: At): Promise<readonly CoinMove[]> {
    if (numbers.length === 0) return []
    const found = await askBlocks(numbers, true, at)
    const moves = found.flatMap((raw) => movesInBlock(raw, wallet))
    const hashes = moves.flatMap(({ hash }) => hash ?? [])
    const receipts = await rpc.batch(
      hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
      at,
    )
    const receiptOf = new Map(
      hashes.map((hash, index) => [hash, readReceipt(resultOf(rpc, 'eth_getTransactionReceipt', receipts[index]))] as const),
    )
    return moves.map(({ blockNumber, hash, nonce, valueRaw, mintRaw, isDeposit }): CoinMove => {
      if (hash === undefined) return { blockNumber, amountRaw: valueRaw }
      const receipt = receiptOf.get(hash)
      if (!receipt) throw invalidAnswer(rpc, 'has no receipt of a transaction that is in a final block')
      const amountRaw = (receipt.status === 1 ? valueRaw : 0n) + mintRaw
      if (nonce === undefined) return { blockNumber, txHash: hash, amountRaw }
      const feeRaw = isDeposit ? 0n : feesOf(receipt, isRollup)
      return { blockNumber, txHash: hash, nonce, amountRaw, ...(feeRaw !== undefined && { feeRaw }) }
    })
  }

  function movesInBlock(raw: unknown, wallet: string): readonly FoundMove[] {
    const blockNumber = Number(readBlock(rpc, raw).number)
    const { transactions, withdrawals } = isObject(raw) ? raw : {}
    if (!Array.isArray(transactions)) throw invalidAnswer(rpc, 'answered with a block without its transactions')
    const sent = (transactions as readonly unknown[]).flatMap((tx): readonly FoundMove[] => {
      if (!isObject(tx) || typeof tx['hash'] !== 'string') throw invalidAnswer(rpc, 'answered with a block without its transactions')
      const { hash, from, to, value, nonce, mint, type } = tx
      const [isSender, isRecipient] = [isSameHex(from, wallet), isSameHex(to, wallet)]
      const amountRaw = quantityOf(value) ?? 0n
      if (!isSender && (!isRecipient || amountRaw === 0n)) return []
      const valueRaw = (isRecipient ? amountRaw : 0n) - (isSender ? amountRaw : 0n)
      const ofSender = { nonce: numberOf(nonce) ?? 0, mintRaw: quantityOf(mint) ?? 0n, isDeposit: numberOf(type) === depositType }
      return [{ blockNumber, hash, valueRaw, mintRaw: 0n, isDeposit: false, ...(isSender && ofSender) }]
    })
    const paidOut = (Array.isArray(withdrawals) ? (withdrawals as readonly unknown[]) : []).flatMap((each): readonly FoundMove[] => {
      if (!isObject(each) || !isSameHex(each['address'], wallet)) return []
      return [{ blockNumber, valueRaw: (quantityOf(each['amount']) ?? 0n) * gweiRaw, mintRaw: 0n, isDeposit: false }]
    })
    return [...sent, ...paidOut]
  }

  return { blocks, holdings, transfers, coinMoves }
}

type PastLog = FoundLog & { readonly blockHash: string; readonly logIndex: number }

interface FoundMove {
  readonly blockNumber: number
  readonly hash?: string
  readonly nonce?: number
  readonly valueRaw: bigint
  readonly mintRaw: bigint
  readonly isDeposit: boolean
}

/** geth: https://eips.ethereum.org/EIPS/eip-4444 */
const prunedHistory = 4444

/** The node does not have it any more. What speaks of a limit is the node's trouble. */
function isLost(answer: RpcAnswer | undefined): boolean {
  const error = answer?.error
  if (!error || callVerdict(error) || speaksOfLimit(error.message)) return false
  return error.code === prunedHistory || saysLostState(error)
}

const partsOf = <T>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))
