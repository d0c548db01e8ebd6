import { EventFragment, Interface, Result, toQuantity, type ParamType } from 'ethers'
import type { At, Transaction, Json, PaidFees } from '../../core/contracts/index.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { isBytes, isSameHex, numberOf, quantityOf } from './encoding.ts'
import { blockCall, readBlock } from './rpc.ts'
import type { EvmLog, EvmReceipt, Evm, FoundLog } from './types.ts'
import { isObject } from '../../core/base/json.ts'

/** Reads the result of `eth_getTransactionReceipt`. Undefined if it is not a receipt. */
export function readReceipt(raw: unknown): EvmReceipt | undefined {
  if (!isObject(raw)) return undefined
  const { transactionHash, blockHash, from, to } = raw
  const blockNumber = numberOf(raw['blockNumber'])
  const gasUsed = quantityOf(raw['gasUsed'])
  // Receipts before Byzantium (2017) have no status.
  const status = quantityOf(raw['status'] ?? '0x1')
  const logs = Array.isArray(raw['logs']) ? raw['logs'].map(readLog) : undefined
  if (blockNumber === undefined || gasUsed === undefined || !logs?.every((log) => log !== undefined)) return undefined
  if (status === undefined || status > 1n) return undefined
  if (typeof transactionHash !== 'string' || typeof blockHash !== 'string' || typeof from !== 'string') return undefined
  return {
    ...jsonFieldsOfNode(raw),
    status: status === 0n ? 0 : 1,
    transactionHash,
    blockNumber,
    blockHash,
    from,
    to: typeof to === 'string' ? to : null,
    gasUsed: gasUsed.toString(),
    effectiveGasPrice: (quantityOf(raw['effectiveGasPrice']) ?? 0n).toString(),
    logs,
  }
}

/** A log of a receipt. Undefined if it is not a log. */
function readLog(raw: unknown): EvmLog | undefined {
  if (!isLog(raw)) return undefined
  const { address, topics, data } = raw
  const logIndex = numberOf(raw['logIndex'])
  return { address, topics, data, ...(logIndex !== undefined && { logIndex }) }
}

/** A log of `eth_getLogs`. Undefined if it is not a log. */
export function parseLog(raw: unknown): FoundLog | undefined {
  if (!isLog(raw)) return undefined
  const { address, topics, data, transactionHash } = raw
  const blockNumber = numberOf(raw['blockNumber'])
  if (blockNumber === undefined || typeof transactionHash !== 'string') return undefined
  return { address, topics, data, transactionHash, blockNumber }
}

const isLog = (raw: unknown): raw is EvmLog & Record<string, unknown> =>
  isObject(raw) &&
  typeof raw['address'] === 'string' &&
  isBytes(raw['data']) &&
  Array.isArray(raw['topics']) &&
  raw['topics'].every(isBytes)

/**
 * What a mined transaction cost its sender, in wei. Undefined where the receipt does not say all of it.
 * @param isRollup whether layer 1 is paid for beside the gas: then a receipt without that part says too little
 */
export function paidFees(receipt: Json, isRollup: boolean): PaidFees | undefined {
  if (!isObject(receipt)) return undefined
  const gasUsed = wholeNumber(receipt['gasUsed'])
  const price = wholeNumber(receipt['effectiveGasPrice'])
  const dataRaw = isRollup ? wholeNumber(receipt['l1Fee']) : partOf(receipt['l1Fee'])
  const [scalar, constantRaw] = [partOf(receipt['operatorFeeScalar']), partOf(receipt['operatorFeeConstant'])]
  // A receipt of a node that does not say the price has 0.
  if (gasUsed === undefined || !price || dataRaw === undefined || scalar === undefined || constantRaw === undefined) return undefined
  // Isthmus took a millionth of the product. A receipt without the field of Jovian may be of either, or of a node that leaves it out.
  if (scalar > 0n && !isOfJovian(receipt)) return undefined
  const feeRaw = gasUsed * price + dataRaw + gasUsed * scalar * operatorFactor + constantRaw
  return { feeRaw, gasUsed, ...(dataRaw > 0n && { layer1FeeRaw: dataRaw }) }
}

/** The operator's fee since Jovian is a factor of the gas, and an amount: https://specs.optimism.io/protocol/jovian/exec-engine.html#operator-fee */
const operatorFactor = 100n

/** The scalar of the data's footprint came with Jovian, and is never 0: https://specs.optimism.io/protocol/jovian/l1-attributes.html */
const isOfJovian = (receipt: Readonly<Record<string, unknown>>) => (wholeNumber(receipt['daFootprintGasScalar']) ?? 0n) > 0n

/** A part that is 0 where it is absent. */
const partOf = (value: Json | undefined): bigint | undefined => (value === undefined || value === null ? 0n : wholeNumber(value))

/** Decimal or hexadecimal digits, or a number: receipts are kept with all three. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  return typeof value === 'string' && /^(\d{1,78}|0x[0-9a-f]{1,64})$/i.test(value) ? BigInt(value) : undefined
}

/** A transaction with its receipt, in one round trip. For a pending one, whether it pays the next block's base fee. */
export async function findTransaction(rpc: Rpc, hash: string, at: At): Promise<Transaction<Evm> | undefined> {
  const calls = [
    { method: 'eth_getTransactionByHash', params: [hash] },
    { method: 'eth_getTransactionReceipt', params: [hash] },
    blockCall('latest'),
  ]
  const answers = await rpc.batch(calls, at)
  const [tx, rawReceipt, block] = calls.map(({ method }, index) => resultOf(rpc, method, answers[index]))
  if (!isObject(tx) && !isObject(rawReceipt)) return undefined
  const receipt = isObject(rawReceipt) ? readReceipt(rawReceipt) : null
  if (receipt === undefined) throw invalidAnswer(rpc, 'answered with something that is no receipt')
  const named = [...(isObject(tx) ? [tx['hash']] : []), ...(receipt ? [receipt.transactionHash] : [])]
  if (!named.every((each) => isSameHex(each, hash)))
    throw invalidAnswer(rpc, 'answered with another transaction than the one that it was asked for')
  const json = jsonOfNode(tx)
  if (receipt) return { tx: json, receipt, blockNumber: receipt.blockNumber }
  const { nextBaseFeeRaw = 0n } = readBlock(rpc, block)
  const offeredRaw = isObject(tx) ? (quantityOf(tx['maxFeePerGas']) ?? quantityOf(tx['gasPrice'])) : undefined
  return { tx: json, receipt: null, pays: (offeredRaw ?? 0n) >= nextBaseFeeRaw }
}

/** Whether the node has another block at its height. */
export async function isUndone(rpc: Rpc, { number, hash }: { readonly number: bigint; readonly hash: string }, at: At): Promise<boolean> {
  const call = blockCall(toQuantity(number))
  const [answer] = await rpc.batch([call], at)
  const block = resultOf(rpc, call.method, answer)
  return block !== null && !isSameHex(readBlock(rpc, block).hash, hash)
}

/** Events of tokens and wrapped coins: EIP-20, EIP-721 (which indexes one more argument), WETH9. */
const commonEvents = [
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  'event Deposit(address indexed dst, uint256 wad)',
  'event Withdrawal(address indexed src, uint256 wad)',
]

interface EventCodec {
  codec: Interface
  fragment: EventFragment
  /** ethers would write the signature, and hash it, for every log. */
  topic: string
  indexedCount: number
}
/** By signature. The lists of connectors are constants, so this stays small. */
const eventCodecs = new Map<string, EventCodec>()

/**
 * The receipt, with `name` and `events: [{ name, value }]` added to each log of a known event. Integers are decimal strings. The first event
 * whose topics fit counts; the exchange's own come before the common ones.
 * @param events signatures: "event Sync(uint112 reserve0, uint112 reserve1)"
 */
export function decodeLogs(receipt: EvmReceipt, events: readonly string[]): Json {
  const codecs = [...events, ...commonEvents].map(eventCodec)
  const budget = { left: maxDecodedWords }
  return { ...receipt, logs: receipt.logs.map((log) => decodeLog(log, codecs, budget)) }
}

/**
 * Of the arguments without a fixed size, of all logs of a receipt. Anybody's contract can log what it likes under the name of a known event, and
 * reading takes up to a tenth of a millisecond a word. A log for which too little is left stays as it is.
 */
const maxDecodedWords = 2_048

function decodeLog(log: EvmLog, codecs: readonly EventCodec[], budget: { left: number }): Json {
  for (const { codec, fragment, topic, indexedCount } of codecs) {
    if (log.topics[0] !== topic || log.topics.length !== indexedCount + 1) continue
    // Each of them may read all the data.
    const words = fragment.inputs.filter(isDynamic).length * (log.data.length / 64)
    // Transfers cost nothing, so that no other logs hide them.
    if (words > budget.left) return log
    budget.left -= words
    try {
      const values = codec.decodeEventLog(fragment, log.data, [...log.topics])
      return {
        ...log,
        name: fragment.name,
        events: fragment.inputs.map((input, index) => ({ name: input.name, value: jsonOf(values[index]) })),
      }
    } catch {
      // Another contract's event of that name, or invalid data: the log stays as it is.
    }
  }
  return log
}

function eventCodec(signature: string): EventCodec {
  const found = eventCodecs.get(signature)
  if (found) return found
  const event = eventOf(signature)
  if (event && (event.inputs.length > maxArguments || event.inputs.some(isNested)))
    throw new Error(
      `"${signature}" has more than ${maxArguments} arguments, or one whose parts have no fixed size: a short log could take minutes to read. Leave this event out.`,
    )
  if (!event)
    throw new Error(
      `"${signature}" is not an event signature: write it like "event Transfer(address indexed from, address indexed to, uint256 value)".`,
    )
  const indexedCount = event.inputs.filter((input) => input.indexed).length
  const codec = { codec: new Interface([event]), fragment: event, topic: event.topicHash, indexedCount }
  eventCodecs.set(signature, codec)
  return codec
}

/** Each may lie at the same bytes. */
const maxArguments = 17

/** Whether its parts may all lie at the same bytes, so that what is read grows with the square of the data, or faster. */
function isNested({ arrayChildren, components }: Pick<ParamType, 'arrayChildren' | 'components'>): boolean {
  return [...(arrayChildren ? [arrayChildren] : []), ...(components ?? [])].some((part) => isDynamic(part))
}

const isDynamic = ({ type, arrayLength, arrayChildren, components }: ParamType): boolean =>
  type === 'bytes' ||
  type === 'string' ||
  arrayLength === -1 ||
  [...(arrayChildren ? [arrayChildren] : []), ...(components ?? [])].some((part) => isDynamic(part))

/** An Interface of ethers would print what it cannot read. */
function eventOf(signature: string): EventFragment | undefined {
  try {
    return EventFragment.from(signature)
  } catch {
    return undefined
  }
}

function jsonOf(value: unknown): Json {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Result) return value.toArray().map(jsonOf)
  // The log has only the hash of an indexed string or array.
  if (isObject(value) && 'hash' in value) return jsonOf(value.hash)
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' ? value : null
}

/** Fields that fit into a number. */
const numberFields: ReadonlySet<string> = new Set([
  'blockNumber',
  'transactionIndex',
  'logIndex',
  'nonce',
  'type',
  'chainId',
  'status',
  'yParity',
  'blockTimestamp',
  'l1BlockNumber',
  'l1BaseFeeScalar',
  'l1BlobBaseFeeScalar',
  'operatorFeeScalar',
  'daFootprintGasScalar',
])
/** Fields that may not fit, shown as decimal strings. They include those of rollups' receipts. */
const bigintFields: ReadonlySet<string> = new Set([
  'value',
  'gas',
  'gasPrice',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
  'maxFeePerBlobGas',
  'gasUsed',
  'cumulativeGasUsed',
  'effectiveGasPrice',
  'blobGasUsed',
  'blobGasPrice',
  'gasUsedForL1',
  'l1Fee',
  'l1GasPrice',
  'l1GasUsed',
  'l1BlobBaseFee',
  'operatorFeeConstant',
])
/** Half a kilobyte that helps only in a search through blocks. */
const omittedFields: ReadonlySet<string> = new Set(['logsBloom'])

/** A transaction, receipt or log of a node, with its quantities as numbers or decimal strings. */
export function jsonOfNode(value: unknown): Json {
  if (Array.isArray(value)) return value.map(jsonOfNode)
  if (isObject(value)) return jsonFieldsOfNode(value)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

function jsonFieldsOfNode(value: Record<string, unknown>): Record<string, Json> {
  const fields = Object.entries(value).filter(([key]) => !omittedFields.has(key))
  return Object.fromEntries(fields.map(([key, field]) => [key, fieldOfNode(key, field)]))
}

function fieldOfNode(key: string, value: unknown): Json {
  const quantity = numberFields.has(key) || bigintFields.has(key) ? quantityOf(value) : undefined
  if (quantity === undefined) return jsonOfNode(value)
  return numberFields.has(key) && quantity <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(quantity) : quantity.toString()
}
