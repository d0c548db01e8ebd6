// What transactions of blocks did to the native coin of a wallet, as far as fields of transactions and blocks tell.
import { toQuantity } from 'ethers/utils'
import type { At, CoinMove, WalletHistory } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type ReadRpc } from '../nodes/rpc.ts'
import { isSameHex, numberOf, quantityOf } from './encoding.ts'
import { paidFees, readReceipt } from './receipts.ts'
import { readBlock } from './rpc.ts'

/** What validators are paid out: https://eips.ethereum.org/EIPS/eip-4895 has it in gwei. */
const gweiRaw = 1_000_000_000n
/** A deposit from layer 1: https://specs.optimism.io/protocol/deposits.html. It pays no fee here, and `mint` is what it brings its sender. */
const depositType = 126

interface FoundMove {
  readonly blockNumber: number
  readonly hash?: string
  readonly nonce?: number
  readonly valueRaw: bigint
  readonly mintRaw: bigint
  readonly isDeposit: boolean
}

/** @param isRollup whether layer 1 is paid for beside the gas */
export function createCoinMoves(rpc: ReadRpc, isRollup: boolean): WalletHistory['coinMoves'] {
  const coinMoves: WalletHistory['coinMoves'] = async (wallet, numbers, at) => {
    if (numbers.length === 0) return []
    const found = await askBlocks(rpc, numbers, true, at)
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
      const feeRaw = isDeposit ? 0n : paidFees(receipt, isRollup)?.feeRaw
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

  return coinMoves
}

/** In one request. @throws SluiceError NETWORK */
export async function askBlocks(rpc: ReadRpc, numbers: readonly number[], withTransactions: boolean, at: At): Promise<readonly unknown[]> {
  const answers = await rpc.batch(
    numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), withTransactions] })),
    at,
  )
  return answers.map((answer) => resultOf(rpc, 'eth_getBlockByNumber', answer))
}
