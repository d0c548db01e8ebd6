// How values are stored in few bytes. What is written here is read for years: a form is never changed, only another one added.
import { createHash } from 'node:crypto'
import { constants, deflateSync, inflateSync } from 'node:zlib'

/** No journaled text is longer. A damaged or made-up row must not fill the memory. */
const maxTextBytes = 64 * 1024 * 1024

/**
 * JSON as zlib (RFC 1950) with a preset dictionary: the keys of a trade cost nothing, and hexadecimal digits half a byte. A checksum of the
 * text is in it, and one of the dictionary.
 */
export const pack = (json: string): Buffer => deflateSync(`${noMarks}${json}`, { dictionary: newest, strategy: constants.Z_FILTERED })

/**
 * @param bytes as a database gives them
 * @throws Error if they are not what `pack` makes
 */
export function unpack(bytes: Uint8Array | ArrayBuffer): string {
  const text = inflate(bytes, dictionaryOf(bytes))
  return text.toString('utf8', unfoldAddresses(text))
}

/**
 * Two texts, of which the first is often read without the second: a byte that begins no zlib stream, the length of the first stream in four bytes, and the streams. The
 * dictionary of the second has the first text.
 */
export function packInTwo(first: string, second: string): Buffer {
  const head = Buffer.alloc(headBytes)
  const packed = deflateSync(first, { dictionary: newest, strategy: constants.Z_FILTERED })
  head.writeUInt8(inTwo)
  head.writeUInt32BE(packed.length, 1)
  if (second === '') return Buffer.concat([head, packed])
  const rest = deflateSync(`${noMarks}${second}`, { dictionary: dictionaryBehind(first, newest), strategy: constants.Z_FILTERED })
  return Buffer.concat([head, packed, rest])
}
const inTwo = 0x02
const headBytes = 5

export const isInTwo = (bytes: Uint8Array | ArrayBuffer): boolean => bytesIn(bytes)[0] === inTwo

/** @throws Error if the bytes are not what `packInTwo` makes */
export function unpackFirst(bytes: Uint8Array | ArrayBuffer): string {
  const { first } = streamsIn(bytes)
  return inflate(first, dictionaryOf(first)).toString()
}

/** @throws Error if the bytes are not what `packInTwo` makes */
export function unpackBoth(bytes: Uint8Array | ArrayBuffer): { readonly first: string; readonly second: string } {
  const streams = streamsIn(bytes)
  const dictionary = dictionaryOf(streams.first)
  const first = inflate(streams.first, dictionary).toString()
  if (streams.second.length === 0) return { first, second: '' }
  const text = inflate(streams.second, dictionaryBehind(first, dictionary))
  return { first, second: text.toString('utf8', unfoldAddresses(text)) }
}

function streamsIn(bytes: Uint8Array | ArrayBuffer): { readonly first: Buffer; readonly second: Buffer } {
  const all = bytesIn(bytes)
  const end = headBytes + all.readUInt32BE(1)
  if (end > all.length) throw new Error('The first of two packed texts has no end.')
  return { first: all.subarray(headBytes, end), second: all.subarray(end) }
}

const bytesIn = (bytes: Uint8Array | ArrayBuffer): Buffer =>
  bytes instanceof ArrayBuffer ? Buffer.from(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const inflate = (stream: Uint8Array | ArrayBuffer, dictionary: Buffer): Buffer =>
  inflateSync(stream, { finishFlush: constants.Z_FINISH, maxOutputLength: maxTextBytes, chunkSize, dictionary })

/** Earlier versions wrote addresses of the second text in lower case. */
const dictionaryBehind = (first: string, dictionary: Buffer): Buffer =>
  Buffer.concat([dictionary, Buffer.from(first.replaceAll(addresses, (address) => address.toLowerCase()))])

/** Four bytes after the header of two of a stream say which dictionary it was: its checksum. */
function dictionaryOf(bytes: Uint8Array | ArrayBuffer): Buffer {
  const id = bytesIn(bytes).readUInt32BE(2)
  return dictionaries.get(id) ?? newest
}

/** Most texts fit in one piece of memory of this size. */
const chunkSize = 8 * 1024

/** An address of an EVM chain. Upper case letters are its checksum (EIP-55). */
const addresses = /0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g

/** Before a text whose addresses stand as they are. */
const noMarks = ' \n'

/**
 * Earlier versions wrote addresses in lower case. In a line before the text stands which were in upper case: for each address in the text a character, `0` for none
 * and others for one of the checksums, and the bits of the checksums' letters. Restores them in place, and returns where the text begins.
 */
function unfoldAddresses(text: Buffer): number {
  const start = text.indexOf(newline) + 1
  if (start === 0) throw new Error('A packed text has no first line.')
  const [marks = '', base64 = ''] = text.toString('latin1', 0, start - 1).split(' ')
  const bytes = Buffer.from(base64, 'base64')
  const known = new Map<string, Buffer>()
  let bit = 0
  let index = 0
  for (const at of addressesIn(text, start)) {
    if (index === marks.length) break
    const mark = marks[index] ?? '0'
    index += 1
    if (mark === '0') continue
    const same = known.get(mark)
    if (same) {
      same.copy(text, at)
      continue
    }
    const address = text.subarray(at, at + addressLength)
    for (let place = 2; place < addressLength; place += 1) {
      const letter = address[place] ?? 0
      // After the digits come A to F and a to f.
      if (letter < upperA) continue
      const isUpper = ((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1
      bit += 1
      address[place] = isUpper === 1 ? letter & ~lowerCase : letter | lowerCase
    }
    known.set(mark, address)
  }
  return start
}

/** Where `addresses` begin in a text. */
function* addressesIn(text: Buffer, start: number): Generator<number> {
  for (let x = text.indexOf(letterX, start); x !== -1;) {
    let end = x + 1
    // One digit more than an address has: then it is none.
    if (x > start && text[x - 1] === zero) while (end < x + addressLength && isHexDigit[text[end] ?? 0] === 1) end += 1
    const isAddress = end - x === addressLength - 1
    if (isAddress) yield x - 1
    // The last digit of an address begins no other one.
    x = text.indexOf(letterX, isAddress ? end + 1 : end)
  }
}
const addressLength = 42
const [newline, zero, upperA, letterX, lowerCase] = [0x0a, 0x30, 0x41, 0x78, 0x20]
const isHexDigit = Uint8Array.from({ length: 256 }, (_, code) => (/[0-9a-fA-F]/.test(String.fromCharCode(code)) ? 1 : 0))

/** What is hexadecimal takes half as many bytes; any other text stays. The first byte says which it is. */
export function hashBytes(hash: string): Buffer {
  const isHex = /^0x(?:[0-9a-f]{2})+$/.test(hash)
  return Buffer.concat([Buffer.of(isHex ? 1 : 0), isHex ? Buffer.from(hash.slice(2), 'hex') : Buffer.from(hash)])
}

/**
 * Stands for a wallet in events. Two wallets may have the same number, so who looks for one compares its address too.
 * @param address by `addressKey`
 * @returns a signed number of 32 bits
 */
export function walletNumber(address: string): number {
  const known = walletNumbers.get(address)
  if (known !== undefined) return known
  const number = createHash('sha256').update(address).digest().readInt32BE()
  if (walletNumbers.size >= maxWalletNumbers) walletNumbers.clear()
  walletNumbers.set(address, number)
  return number
}
const walletNumbers = new Map<string, number>()
const maxWalletNumbers = 10_000

/** Tells two texts apart: of other texts one in 2^72 has the same. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('base64').slice(0, 12)

const zeros = '0'.repeat(192)

/** Texts as answers and entries have them, those that are found most often last. */
const texts = [
  '{"instructions":[{"programAddress":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA","accounts":[{"address":"","role":"signature":"blockhash":"lastValidBlockHeight":"computeUnits":"',
  '{"errorCode":"name":"message":"httpErrorCode":"requestId":"spender":"tokenAddress":"transactions":[{"spender":"market":"clientOrderId":"orderType":"LIMIT","price":"orderId":"OPEN"PENDING_OPEN"FILLED"CANCELED"',
  '"tokenId":"liquidity":"amount0":"amount1":"token0":"token1":"margin":"leverage":"LONG"SHORT"collateral":"size":"ticker":"fee":',
  '{"base":"0x","quote":"0x","price":"0.000000000000000000","gasPrice":1.000000,"gasPriceToken":"ETH","gasLimit":,"gasCost":"0.000","nonce":,"txHash":"0x","amount":"0.000000000000000000","rawAmount":"000000000000000000","expectedAmount":"0.00","limitPrice":"0.000000000000000000","network":"mainnet","timestamp":179,"latency":0.0,"deadline":179}',
  `02f90000000000843b9aca00000080b9010438ed17395ae401dcac9650d8${zeros}c001a0c080a0`,
  '"step":{"to":"0x","data":"0x5ae401dc","value":"0","gasLimit":"alike":{"kind":"in token token v2 v3 2 out native","units":"160000","firstWriteUnits":"140000","through":["0x","0x"]}},',
  '"seen":"underpriced"lost"replacedBy":"0x"reason":"refused":"sequence-used"sequence-ahead"outbid"unfunded"not-now"invalid"sendsSinceLost":"deadSince":"admin":true,"signer":"0x',
  '"state":"QUEUED"SIGNED"BROADCAST"MINED"REVERTED"REPLACED"CANCELLED"DROPPED"OVERTAKEN"EXPIRED"',
  '"kind":"approve"cancel"fill"liquidity"position"collateral"order"order-cancel"funds"token-account"',
  '"network":"local"',
  '"step":null,"memo":{"router":"0x","exact":"out","amountRaw":"000000000000000000","hops":[{"kind":"pair"range","pool":"0x","tokenIn":"0x","tokenOut":"0x","to":"0x"},{"kind":"range","pool":"0x","tokenIn":"0x","tokenOut":"0x","to":"0x"}]},',
  '"about":{"side":"BUY"SELL","base":{"symbol":"WETH","decimals":18},"quote":{"symbol":"USDC","decimals":6}},"deadline":179,"nonce":0,"feesGiven":false,"rank":0,"state":"CONFIRMED","deadLooks":0,"seen":"pays",',
  `"landed":{"id":"0x","ok":true,"blockNumber":2,"blockHash":"0x","receipt":{"type":2,"status":1,"cumulativeGasUsed":"1","logs":[{"address":"0x","topics":["0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1"],"data":"0x${zeros}","logIndex":1},{"address":"0x","topics":["0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822","0x000000000000000000000000","0x000000000000000000000000"],"data":"0x${zeros}","logIndex":2}],`,
]

const logOf = (topic: string, data: string, index: number): string =>
  `{"address":"0x","topics":["0x${topic}","0x${zeros.slice(0, 24)}","0x${zeros.slice(0, 24)}"],"data":"0x${data}","logIndex":${index}}`
const transferOf = (index: number): string =>
  logOf('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', zeros.slice(0, 58), index)
const swapOf = (first: string, second: string, index: number): string =>
  logOf(
    'c42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67',
    `${first.repeat(48)}${second.repeat(48)}${zeros.slice(0, 80)}${'f'.repeat(60)}`,
    index,
  )
const hop = '{"kind":"range","pool":"0x","tokenIn":"0x","tokenOut":"0x","to":"0x"}'

/**
 * Ends with a whole trade of two hops, with gaps where trades differ. Packed bytes have the checksum of their dictionary: a change of this text
 * would be another dictionary, beside this one.
 */
const first = Buffer.from(
  [
    ...texts,
    '{"version":5,"chain":"","network":"mainnet","address":"0x","kind":"trade","connector":"","client":"bot","createdAt":179,"updatedAt":179,"part":{"index":0,"of":1},"step":null,',
    `"memo":{"router":"0x","exact":"in","amountRaw":"","hops":[${hop},${hop}]},`,
    '"about":{"side":"BUY","base":{"symbol":"WETH","decimals":18},"quote":{"symbol":"USDC","decimals":6}},"deadline":179,"sequence":1,"nonce":1,"sequenceGiven":false,"feesGiven":false,"rank":0,"state":"CONFIRMED","deadLooks":0,"seen":"pays",',
    '"landed":{"id":"0x","ok":true,"blockNumber":2,"blockHash":"0x","receipt":{"type":2,"status":1,"cumulativeGasUsed":"","logs":[',
    [transferOf(0), transferOf(1), swapOf('f', '0', 2), transferOf(3), transferOf(4), swapOf('0', 'f', 5)].join(','),
    '],"transactionHash":"0x","transactionIndex":0,"blockHash":"0x","blockNumber":2,"gasUsed":"1","effectiveGasPrice":"1","blobGasPrice":"1","from":"0x","to":"0x","contractAddress":null,"blockTimestamp":179}},',
    '"attempts":[{"id":"0x","fees":{"gasLimit":"","maxFeePerGas":"1","maxPriorityFeePerGas":"1"},"signedAt":179,"sends":1,"sentAt":179}]}',
  ].join(''),
)

const quotedHop = '{"pool":"0x","version":"v3","tokenIn":"0x","tokenOut":"0x","fee":"0.003"}'

/** What is written now: with what entries tell of what was asked for, planned, quoted, brought and cost. */
const newest = Buffer.concat([
  Buffer.from(
    [
      '"request":{"path":"/amm/liquidity/add"/clob/orders"/clob/batchOrders"/perp/open"/evm/approve"/evm/wrap"/evm/send","fields":{"chain":"","network":"mainnet","address":"0x","spender":"token":"amount":"tokenId":"lowerPrice":"upperPrice":"amount0":"amount1":"market":"order":{"clientOrderId":"price":"amount":"side":"BUY","orderType":"LIMIT"}}},"planned":{"token":"0x","spender":"0x","amount":"gasCost":"0.000","transactionCount":1},',
      '"cost":{"feeRaw":"","gasUsed":"","layer1FeeRaw":""}',
    ].join(''),
  ),
  first,
  Buffer.from(
    [
      '"request":{"path":"/amm/trade","fields":{"chain":"","network":"mainnet","connector":"any","base":"WETH","quote":"USDC","amount":"0.","side":"SELL"BUY","address":"0x","limitPrice":"","allowedSlippage":"1/100","version":"v3","connectors":[""]}},',
      '"planned":{"base":"0x","quote":"0x","amount":"0.000000000000000000","rawAmount":"000000000000000000","expectedAmount":"","price":"0.000000000000000000","limitPrice":"0.000000000000000000","deadline":179,"gasCost":"0.000","connector":""},',
      `"quote":{"blockNumber":2,"source":"rpc"memory","route":[${quotedHop},${quotedHop}],"marketPrice":"0.000000000000000000"},"outcome":{"amountIn":"0.000000000000000000","amountOut":"0.000000","price":"0.000000000000000000"},`,
    ].join(''),
  ),
])

/** By the checksum that stands in packed bytes. */
const dictionaries: ReadonlyMap<number, Buffer> = new Map(
  [first, newest].map((dictionary) => [deflateSync('', { dictionary }).readUInt32BE(2), dictionary]),
)
