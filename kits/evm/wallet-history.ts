// What wallets held at past blocks, and what moved in between.
import { toQuantity } from 'ethers/utils'
import type { At, PastBlock, PastHoldings, WalletHistory } from '../../core/contracts/index.ts'
import type { RpcAnswer, RpcCall } from '../nodes/dialect.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { isBytes, numberOf, quantityOf } from './encoding.ts'
import { packAggregate3, unpackAggregate3 } from './multicall.ts'
import { callVerdict, saysLostHistory } from './node-errors.ts'
import { askBlocks, createCoinMoves } from './coin-moves.ts'
import { createPastTransfers } from './past-transfers.ts'
import { readBlock } from './rpc.ts'
import { balanceOfCall, noResult, uintOf } from './tokens.ts'
import type { Call, CallResult } from './types.ts'

/** Balances that one call reads: they use a few million gas at most. */
const tokensPerCall = 200
interface HistoryParts {
  rpc: Rpc
  multicall: string
  wrapped: string
  /** Absent where the native coin is a token itself. */
  coin?: string | undefined
  /** Layer 1 is paid for beside the gas. */
  isRollup: boolean
}

export function createWalletHistory({ rpc, multicall, wrapped, coin, isRollup }: HistoryParts): WalletHistory {
  async function blocks(numbers: readonly number[], at: At): Promise<readonly PastBlock[]> {
    const found = await askBlocks(rpc, numbers, false, at)
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
        if (ofThis.some(saysLostHistory)) return undefined
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

  return {
    blocks,
    holdings,
    transfers: createPastTransfers(rpc, wrapped, coin),
    coinMoves: createCoinMoves(rpc, isRollup),
  }
}

const partsOf = <T>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))
