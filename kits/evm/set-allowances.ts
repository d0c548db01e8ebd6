// Which allowances a mined transaction of a wallet set, and what they held just before it.
import { id } from 'ethers'
import type { Allowance, At, SetAllowance } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { addressWord, isAddressTopic, isBytes, isSameHex, transferTopic, wordAt, wordCount } from './encoding.ts'
import { addressIn, canonical } from './movements.ts'
import { allowanceCall } from './tokens.ts'
import type { EvmLog, EvmReceipt } from './types.ts'

/** https://eips.ethereum.org/EIPS/eip-20. One of EIP-721 has a fourth topic. */
const approvalTopic = id('Approval(address,address,uint256)')

export function approvalsIn({ logs }: Pick<EvmReceipt, 'logs'>, wallet: string): SetAllowance[] {
  return logs.flatMap((log) => (isApproval(log, wallet) ? [{ ...approvedBy(log), amountRaw: wordAt(log.data, 0) }] : []))
}

const isApproval = ({ topics: [event, owner, , fourth], data }: EvmLog, wallet: string): boolean =>
  event === approvalTopic && fourth === undefined && isAddressTopic(owner, wallet) && wordCount(data) >= 1

const approvedBy = ({ address, topics: [, , spender] }: EvmLog) => ({ token: canonical(address), spender: addressIn(spender) })

/**
 * What it held after the block before, and what approvals in its own block before it have set, less all of the token that left the wallet from then on:
 * nobody can tell who took that.
 * @throws SluiceError NETWORK also where the node has another block there
 */
export async function readAllowanceBefore(
  rpc: Rpc,
  { blockHash, transactionHash }: EvmReceipt,
  wallet: string,
  { token, spender }: Allowance,
  at: At,
): Promise<bigint> {
  const block = resultOf(
    rpc,
    'eth_getBlockByHash',
    (await rpc.batch([{ method: 'eth_getBlockByHash', params: [blockHash, false] }], at))[0],
  )
  const parentHash = isObject(block) ? block['parentHash'] : undefined
  if (typeof parentHash !== 'string') throw invalidAnswer(rpc, 'has no block of that hash')
  const topics = [[transferTopic, approvalTopic], `0x${addressWord(wallet)}`]
  const calls = [
    { method: 'eth_call', params: [allowanceCall(token, wallet, spender), { blockHash: parentHash }] },
    { method: 'eth_getLogs', params: [{ blockHash, address: token, topics }] },
  ]
  const answers = await rpc.batch(calls, at)
  const [before, logs] = calls.map(({ method }, index) => resultOf(rpc, method, answers[index]))
  // A token that answers nonsense.
  if (!isBytes(before) || wordCount(before) < 1) return 0n
  if (!Array.isArray(logs)) throw invalidAnswer(rpc, 'answered eth_getLogs with something else than logs')
  let heldRaw = wordAt(before, 0)
  for (const log of logs as readonly unknown[]) {
    if (!isLog(log)) throw invalidAnswer(rpc, 'answered eth_getLogs with something else than logs')
    if (isSameHex(log.transactionHash, transactionHash)) return heldRaw
    if (isApproval(log, wallet) && isAddressTopic(log.topics[2], spender)) heldRaw = wordAt(log.data, 0)
    else if (log.topics[0] === transferTopic && wordCount(log.data) >= 1) {
      const takenRaw = wordAt(log.data, 0)
      heldRaw = heldRaw > takenRaw ? heldRaw - takenRaw : 0n
    }
  }
  throw invalidAnswer(rpc, 'lacks the logs of a transaction that it has mined')
}

function isLog(log: unknown): log is EvmLog & { readonly transactionHash: string } {
  if (!isObject(log)) return false
  const { topics, data, transactionHash, address } = log
  return Array.isArray(topics) && isBytes(data) && typeof transactionHash === 'string' && typeof address === 'string'
}
