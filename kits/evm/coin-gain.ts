// What mined transactions brought their senders of the native coin, which moves without events: by the balances after their blocks and the ones before.
import { toQuantity } from 'ethers/utils'
import type { At } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { isSameHex, quantityOf } from './encoding.ts'
import { paidFees } from './receipts.ts'
import type { EvmReceipt } from './types.ts'

/**
 * Above 0 what it brought, below what it took beside its gas, smallest units. Undefined where the balances do not tell: the wallet sent another
 * transaction in that block, others sent it coin, or the receipt does not say all fees. Coin that calls within the transactions of others pay out counts all the same.
 * @param isRollup whether layer 1 is paid for beside the gas
 * @throws SluiceError NETWORK also where the node has another block of that number
 */
export async function readCoinGain(rpc: Rpc, receipt: EvmReceipt, wallet: string, isRollup: boolean, at: At): Promise<bigint | undefined> {
  const paid = paidFees(receipt, isRollup)
  if (!paid) return undefined
  const [after, before] = [receipt.blockNumber, receipt.blockNumber - 1].map((number) => toQuantity(number))
  const calls = [
    ...[after, before].map((block) => ({ method: 'eth_getBalance', params: [wallet, block] })),
    { method: 'eth_getBlockByNumber', params: [after, true] },
  ]
  const answers = await rpc.batch(calls, at)
  const [balanceAfter, balanceBefore, block] = calls.map(({ method }, index) => resultOf(rpc, method, answers[index]))
  const [afterRaw, beforeRaw] = [quantityOf(balanceAfter), quantityOf(balanceBefore)]
  if (afterRaw === undefined || beforeRaw === undefined)
    throw invalidAnswer(rpc, 'answered a question about a wallet with something that is no number')
  if (!isObject(block) || block['hash'] !== receipt.blockHash) throw invalidAnswer(rpc, 'has another block of that number')
  return isAloneWith(wallet, receipt, block) ? afterRaw - beforeRaw + paid.feeRaw : undefined
}

/** Whether no other transaction of the block is the wallet's, or moves coin to it by its value, and no withdrawal pays it. */
function isAloneWith(
  wallet: string,
  { transactionHash }: EvmReceipt,
  { transactions, withdrawals = [] }: Readonly<Record<string, unknown>>,
): boolean {
  if (!Array.isArray(transactions) || !Array.isArray(withdrawals)) return false
  const movesNothing = (tx: unknown) =>
    isObject(tx) &&
    (isSameHex(tx['hash'], transactionHash) ||
      // Another one of the wallet pays gas, and a deposit of a rollup mints.
      (typeof tx['from'] === 'string' &&
        !isSameHex(tx['from'], wallet) &&
        (!isSameHex(tx['to'], wallet) || quantityOf(tx['value']) === 0n)))
  return transactions.every(movesNothing) && withdrawals.every((each) => isObject(each) && !isSameHex(each['address'], wallet))
}

/**
 * What the coin of many wallets did in the blocks of their transactions, beside the gas, in the order asked for: in one batch, without the transactions of
 * a block. What others sent the wallet in that block is in it. Undefined where it sent another transaction there, or the receipt does not say all fees; and
 * where the node has another block of that number, or not the state of it any more, but tells others.
 * @throws SluiceError NETWORK also where the node has another block of each of the numbers; RpcError where it tells none
 */
export async function readCoinChanges(
  rpc: Rpc,
  asked: readonly (readonly [receipt: EvmReceipt, wallet: string])[],
  isRollup: boolean,
  at: At,
): Promise<readonly (bigint | undefined)[]> {
  const numbers = [...new Set(asked.map(([{ blockNumber }]) => blockNumber))]
  const headers = numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), false] }))
  const ofWallets = asked.flatMap(([{ blockNumber }, wallet]) =>
    ['eth_getBalance', 'eth_getTransactionCount'].flatMap((method) =>
      [blockNumber, blockNumber - 1].map((number) => ({ method, params: [wallet, toQuantity(number)] })),
    ),
  )
  const calls = [...headers, ...ofWallets]
  const answers = await rpc.batch(calls, at)

  function changeOf([receipt]: (typeof asked)[number], index: number): CoinChange {
    const from = headers.length + index * 4
    const indexes = [numbers.indexOf(receipt.blockNumber), from, from + 1, from + 2, from + 3]
    const failed = indexes.find((each) => answers[each]?.error)
    if (failed !== undefined) return { refuse: () => void resultOf(rpc, calls[failed]?.method ?? '', answers[failed]) }
    const [header, ...ofWallet] = indexes.map((each) => answers[each]?.result)
    if (!isObject(header) || header['hash'] !== receipt.blockHash)
      return { refuse: () => void refuseAnswer(rpc, 'has another block of that number') }
    const [after, before, countAfter, countBefore] = ofWallet.map((each) => quantityOf(each))
    if (after === undefined || before === undefined || countAfter === undefined || countBefore === undefined)
      return { refuse: () => void refuseAnswer(rpc, 'answered a question about a wallet with something that is no number') }
    const paid = paidFees(receipt, isRollup)
    return { raw: paid && countAfter === countBefore + 1n ? after - before + paid.feeRaw : undefined }
  }
  const changes = asked.map(changeOf)
  // One that cannot be read says nothing of the node while it tells others.
  const [first, ...others] = changes
  if (first?.refuse && others.every(({ refuse }) => refuse)) first.refuse()
  return changes.map(({ raw }) => raw)
}

interface CoinChange {
  readonly raw?: bigint | undefined
  /** Where it is not told. @throws SluiceError, RpcError */
  readonly refuse?: () => void
}

function refuseAnswer(rpc: Rpc, what: string): never {
  throw invalidAnswer(rpc, what)
}
