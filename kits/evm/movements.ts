// What events say that a transaction moved into and out of a wallet.
import { id } from 'ethers'
import {
  addressInTopic,
  canonicalAddress,
  depositTopic,
  isAddressTopic,
  isSameAddress,
  listAt,
  transferTopic,
  withdrawalTopic,
  wordAt,
  wordCount,
} from './encoding.ts'
import type { EvmLog, EvmReceipt } from './types.ts'

/** https://eips.ethereum.org/EIPS/eip-20, and with a fourth topic https://eips.ethereum.org/EIPS/eip-721 */
/** https://eips.ethereum.org/EIPS/eip-1155 */
const transferSingle = id('TransferSingle(address,address,address,uint256,uint256)')
const transferBatch = id('TransferBatch(address,address,address,uint256[],uint256[])')

/** By token, or by `address/id`. */
interface Movements {
  /** What all transfers that name the wallet add up to. */
  gains: Map<string, bigint>
  /** What left the wallet, whatever came back. */
  sent: Map<string, bigint>
}

/**
 * What the events of transfers say that moved. Undefined if one of those that name the wallet cannot be read.
 * @param unreadable `passed over`: the others count all the same
 */
export function movementsByEvents(logs: readonly EvmLog[], wallet: string): Movements | undefined
export function movementsByEvents(logs: readonly EvmLog[], wallet: string, unreadable: 'passed over'): Movements
export function movementsByEvents(logs: readonly EvmLog[], wallet: string, unreadable?: 'passed over'): Movements | undefined {
  const [gains, sent] = [new Map<string, bigint>(), new Map<string, bigint>()]
  for (const log of logs) {
    if (!log.topics.some((topic) => isAddressTopic(topic, wallet))) continue
    const transfers = transfersIn(log)
    if (!transfers && unreadable === 'passed over') continue
    if (!transfers) return undefined
    for (const { from, to, key, amountRaw } of transfers) {
      const [leaves, comes] = [isAddressTopic(from, wallet), isAddressTopic(to, wallet)]
      if (leaves) add(gains, key, -amountRaw)
      if (comes) add(gains, key, amountRaw)
      if (leaves && !comes) add(sent, key, amountRaw)
    }
  }
  return { gains, sent }
}

const add = (to: Map<string, bigint>, key: string, amountRaw: bigint): void => void to.set(key, (to.get(key) ?? 0n) + amountRaw)

interface Transfer {
  /** Topics. */
  from: string | undefined
  to: string | undefined
  key: string
  amountRaw: bigint
}

function transfersIn({ address: emitter, topics: [event, first, second, third], data }: EvmLog): readonly Transfer[] | undefined {
  const words = wordCount(data)
  const address = canonical(emitter)
  if (event === transferTopic) {
    if (third !== undefined) return [{ from: first, to: second, key: `${address}/${BigInt(third)}`, amountRaw: 1n }]
    return words < 1 ? undefined : [{ from: first, to: second, key: address, amountRaw: wordAt(data, 0) }]
  }
  if (event === transferSingle)
    return words < 2 ? undefined : [{ from: second, to: third, key: `${address}/${wordAt(data, 0)}`, amountRaw: wordAt(data, 1) }]
  if (event !== transferBatch) return []
  const [ids, amounts] = [0, 1].map((index) => readList(data, index))
  return ids?.map((token, index) => ({ from: second, to: third, key: `${address}/${token}`, amountRaw: amounts?.[index] ?? 0n }))
}

function readList(data: string, index: number): readonly bigint[] | undefined {
  try {
    return listAt(data, index)
  } catch {
    return undefined
  }
}

/** Of WETH9 and the wrapped coins that are made after it: https://etherscan.io/address/0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2#code */

/** The tokens that stand for the native coin. */
interface CoinTokens {
  /** What answers call the native coin. */
  readonly coin: string
  readonly wrapped: string
}

/**
 * What a mined transaction moved into and out of the wallet that sent it, with `sentRaw` of the native coin, by token. The coin that a contract sends back or pays out has no
 * event: so the native coin is there only where all that was sent was wrapped, as its events say, and nothing could come back.
 */
export function movedIn({ status, logs }: EvmReceipt, sentRaw: bigint, wallet: string, tokens: CoinTokens) {
  const [coin, wrapped] = [canonical(tokens.coin), canonical(tokens.wrapped)]
  const moved = status === 1 ? movementsByEvents(logs, wallet)?.gains : undefined
  if (!moved) return undefined
  const wraps = logs.filter(
    ({ address, topics: [event] }) => canonical(address) === wrapped && (event === depositTopic || event === withdrawalTopic),
  )
  // Some wrapped coins tell this by a transfer too, and some do not.
  if (wraps.some(({ topics: [, owner] }) => isAddressTopic(owner, wallet))) moved.delete(wrapped)
  if (coin === wrapped) {
    if (sentRaw > 0n) moved.delete(coin)
    return moved
  }
  const wrappedRaw = wraps
    .filter(({ topics: [event], data }) => event === depositTopic && wordCount(data) >= 1)
    .reduce((sum, { data }) => sum + wordAt(data, 0), 0n)
  moved.delete(coin)
  if (sentRaw > 0n && wrappedRaw === sentRaw) moved.set(coin, -sentRaw)
  return moved
}

/**
 * What a mined transaction moved into (above 0) and out of a wallet, by token or `address/id`, to be held against what it was to do. Not the native
 * coin, which has no events. Events that cannot be read are passed over: a contract that emits one must not hide the others.
 */
export function gainsIn({ logs }: Pick<EvmReceipt, 'logs'>, wallet: string, tokens: CoinTokens): Map<string, bigint> {
  const { gains } = movementsByEvents(logs, wallet, 'passed over')
  const ofWrapped = logs.filter(
    ({ address, topics }) => isSameAddress(address, tokens.wrapped) && topics.some((each) => isAddressTopic(each, wallet)),
  )
  // Some wrapped coins tell of a wrap by a transfer from nobody, too, and some do not.
  const isTold = (nobody: 1 | 2) => ofWrapped.some(({ topics }) => topics[0] === transferTopic && BigInt(topics[nobody] ?? '0x1') === 0n)
  const sumOf = (kind: string) =>
    ofWrapped
      .filter(({ topics: [event, owner], data }) => event === kind && isAddressTopic(owner, wallet) && wordCount(data) >= 1)
      .reduce((sum, { data }) => sum + wordAt(data, 0), 0n)
  const untold = (isTold(1) ? 0n : sumOf(depositTopic)) - (isTold(2) ? 0n : sumOf(withdrawalTopic))
  if (untold !== 0n) add(gains, canonical(tokens.wrapped), untold)
  for (const token of gains.keys()) if (isSameAddress(token, tokens.coin)) gains.delete(token)
  return gains
}

/**
 * What a contract turned from the wrapped coin into the native one, by the only event of a transaction that says so. Undefined where there is none, or several: then nobody
 * can tell which of them paid the wallet.
 */
export function unwrappedBy({ status, logs }: Pick<EvmReceipt, 'status' | 'logs'>, contract: string, wrapped: string): bigint | undefined {
  if (status !== 1) return undefined
  const ofContract = logs.filter(
    ({ address, topics: [, owner], data }) => isSameAddress(address, wrapped) && isAddressTopic(owner, contract) && wordCount(data) >= 1,
  )
  const withdrawals = ofContract.filter(({ topics: [event] }) => event === withdrawalTopic)
  // Some wrapped coins tell of it by a transfer to nobody alone.
  const told =
    withdrawals.length > 0
      ? withdrawals
      : ofContract.filter(({ topics: [event, , to] }) => event === transferTopic && BigInt(to ?? '0x1') === 0n)
  const [only, ...others] = told
  return only && others.length === 0 ? wordAt(only.data, 0) : undefined
}

export const canonical = (address: string): string => canonicalAddress(address.toLowerCase()) ?? address

export const addressIn = (topic: string | undefined): string => canonical(addressInTopic(topic))
