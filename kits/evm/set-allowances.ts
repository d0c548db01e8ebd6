// Which allowances a mined transaction of a wallet set, and what they held just before it.
import { id, toQuantity } from 'ethers'
import type { Allowance, At, ExpiringAllowance, SetAllowance } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { addressOf, addressWord, approvalTopic, isAddressTopic, isBytes, isSameHex, transferTopic, wordAt, wordCount } from './encoding.ts'
import { addressIn, canonical } from './movements.ts'
import { isUnlimitedByPermit2, permit2AllowanceCall, permit2AllowanceOf } from './permit2.ts'
import { allowanceCall } from './tokens.ts'
import type { EvmLog, EvmReceipt } from './types.ts'

/** https://eips.ethereum.org/EIPS/eip-20. One of EIP-721 has a fourth topic. */
/** Of Permit2, each with owner, token and spender, the amount and its expiry: https://github.com/Uniswap/permit2/blob/main/src/interfaces/IAllowanceTransfer.sol */
const permit2Approval = id('Approval(address,address,address,uint160,uint48)')
const permit2Topics = [permit2Approval, id('Permit(address,address,address,uint160,uint48,uint48)')]
/** Expiries have 48 bits. */
const mostExpires = 2n ** 48n - 1n
/** It takes away what a spender may take: token and spender are data. */
const lockdownTopic = id('Lockdown(address,address,address)')

export function approvalsIn({ logs }: Pick<EvmReceipt, 'logs'>, wallet: string): SetAllowance[] {
  return logs.flatMap((log): SetAllowance[] => {
    if (isApproval(log, wallet)) return [{ ...approvedBy(log), amountRaw: wordAt(log.data, 0) }]
    const [event, owner, token, spender] = log.topics
    if (event !== permit2Approval || !isAddressTopic(owner, wallet) || wordCount(log.data) < 2) return []
    const of = { token: addressIn(token), spender: addressIn(spender), permit2: canonical(log.address) }
    return [{ ...of, amountRaw: wordAt(log.data, 0), expires: Number(wordAt(log.data, 1) & mostExpires) }]
  })
}

const isApproval = ({ topics: [event, owner, , fourth], data }: EvmLog, wallet: string): boolean =>
  event === approvalTopic && fourth === undefined && isAddressTopic(owner, wallet) && wordCount(data) >= 1

const approvedBy = ({ address, topics: [, , spender] }: EvmLog) => ({ token: canonical(address), spender: addressIn(spender) })

/**
 * What it held after the block before, and what approvals in its own block before it have set, less all of the token that left the wallet from then on:
 * nobody can tell who took that. One by Permit2 holds its amount also once it has expired: what was not taken until then never is.
 * @throws SluiceError NETWORK also where the node has another block there
 */
export async function readAllowanceBefore(
  rpc: Rpc,
  { blockHash, transactionHash }: EvmReceipt,
  wallet: string,
  allowance: Allowance,
  at: At,
): Promise<bigint> {
  const { token, spender, permit2 } = allowance
  const block = resultOf(
    rpc,
    'eth_getBlockByHash',
    (await rpc.batch([{ method: 'eth_getBlockByHash', params: [blockHash, false] }], at))[0],
  )
  const parentHash = isObject(block) ? block['parentHash'] : undefined
  if (typeof parentHash !== 'string') throw invalidAnswer(rpc, 'has no block of that hash')
  const topics = [[transferTopic, approvalTopic, ...permit2Topics, lockdownTopic], `0x${addressWord(wallet)}`]
  const asked = permit2 === undefined ? allowanceCall(token, wallet, spender) : permit2AllowanceCall(permit2, token, wallet, spender)
  const calls = [
    { method: 'eth_call', params: [asked, { blockHash: parentHash }] },
    { method: 'eth_getLogs', params: [{ blockHash, address: permit2 === undefined ? token : [token, permit2], topics }] },
  ]
  const answers = await rpc.batch(calls, at)
  const [before, logs] = calls.map(({ method }, index) => resultOf(rpc, method, answers[index]))
  // A token that answers nonsense.
  if (!isBytes(before) || wordCount(before) < 1) return 0n
  if (!Array.isArray(logs)) throw invalidAnswer(rpc, 'answered eth_getLogs with something else than logs')
  let heldRaw = wordAt(before, 0)
  for (const log of logs as readonly unknown[]) {
    if (!isLog(log)) throw invalidAnswer(rpc, 'answered eth_getLogs with something else than logs')
    // An amount of Permit2 that lasts is not reduced by what is taken: nobody can tell.
    if (isSameHex(log.transactionHash, transactionHash)) return permit2 !== undefined && isUnlimitedByPermit2(heldRaw) ? 0n : heldRaw
    const setRaw = setBy(log, wallet, allowance)
    if (setRaw !== undefined) heldRaw = setRaw
    else if (log.topics[0] === transferTopic && wordCount(log.data) >= 1) {
      const takenRaw = wordAt(log.data, 0)
      heldRaw = heldRaw > takenRaw ? heldRaw - takenRaw : 0n
    }
  }
  throw invalidAnswer(rpc, 'lacks the logs of a transaction that it has mined')
}

/** One that is not reduced by what is taken held nothing, as far as anybody can tell. @throws SluiceError NETWORK */
export async function readExpiredAllowances(
  rpc: Rpc,
  confirmations: number,
  asked: readonly ExpiringAllowance[],
  at: At,
): Promise<readonly (bigint | undefined)[]> {
  const none = asked.map(() => undefined)
  const isAnyAt = (timestamp: bigint) => asked.some(({ expires }) => timestamp > BigInt(expires))
  const head = await readBlock(rpc, 'latest', at)
  const finalNumber = head.number - BigInt(confirmations - 1)
  if (finalNumber < 0n || !isAnyAt(head.timestamp)) return none
  const final = confirmations === 1 ? head : await readBlock(rpc, toQuantity(finalNumber), at)
  const ended = asked.flatMap(({ wallet, allowance: { token, spender, permit2 }, expires }, index) =>
    permit2 === undefined || final.timestamp <= BigInt(expires)
      ? []
      : [{ index, expires, call: permit2AllowanceCall(permit2, token, wallet, spender) }],
  )
  if (ended.length === 0) return none
  const calls = ended.map(({ call }) => ({ method: 'eth_call', params: [call, { blockHash: final.hash }] }))
  const answers = await rpc.batch(calls, at)
  const leftRaws = ended.map(({ index, expires }, which): readonly [number, bigint | undefined] => {
    const data = answers[which]?.result
    const held = permit2AllowanceOf({ ok: true, data: isBytes(data) ? data : '0x' })
    if (!held || held.expires !== BigInt(expires)) return [index, undefined]
    return [index, isUnlimitedByPermit2(held.amountRaw) ? 0n : held.amountRaw]
  })
  const byIndex = new Map(leftRaws)
  return asked.map((_, index) => byIndex.get(index))
}

async function readBlock(rpc: Rpc, number: string, at: At): Promise<{ number: bigint; timestamp: bigint; hash: string }> {
  const method = 'eth_getBlockByNumber'
  const block = resultOf(rpc, method, (await rpc.batch([{ method, params: [number, false] }], at))[0])
  const { number: of, timestamp, hash } = isObject(block) ? block : {}
  if (![of, timestamp, hash].every(isBytesOrQuantity)) throw invalidAnswer(rpc, 'has no block of that number')
  return { number: BigInt(String(of)), timestamp: BigInt(String(timestamp)), hash: String(hash) }
}

const isBytesOrQuantity = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value)

/** Undefined: it does not set this allowance. */
function setBy(log: EvmLog, wallet: string, { token, spender, permit2 }: Allowance): bigint | undefined {
  const [event = '', , second, third] = log.topics
  if (permit2 === undefined) return isApproval(log, wallet) && isAddressTopic(second, spender) ? wordAt(log.data, 0) : undefined
  if (!isSameHex(log.address, permit2)) return undefined
  const isSet = permit2Topics.includes(event) && isAddressTopic(second, token) && isAddressTopic(third, spender)
  if (isSet && wordCount(log.data) >= 1) return wordAt(log.data, 0)
  const isTakenAway = event === lockdownTopic && wordCount(log.data) >= 2
  return isTakenAway && [token, spender].every((each, index) => isSameHex(addressOf(wordAt(log.data, index)), each)) ? 0n : undefined
}

function isLog(log: unknown): log is EvmLog & { readonly transactionHash: string } {
  if (!isObject(log)) return false
  const { topics, data, transactionHash, address } = log
  return Array.isArray(topics) && isBytes(data) && typeof transactionHash === 'string' && typeof address === 'string'
}
