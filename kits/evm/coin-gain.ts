// What mined transactions brought their senders of the native coin, which moves without events: by the balances after their blocks and the ones before.
import { toQuantity } from 'ethers/utils'
import type { At } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { isSameHex, quantityOf } from './encoding.ts'
import { paidFees, readReceipt } from './receipts.ts'
import type { EvmReceipt } from './types.ts'

/**
 * Above 0 what it brought, below what it took beside its gas, smallest units. Undefined where the balances do not tell: others sent the wallet coin by a call, something
 * paid it out of staking, another transaction of it in that block got coin too, or the receipt does not say all fees. Coin that calls within the transactions of others pay
 * out counts all the same.
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
  const found = touchingIn(block, wallet)
  const others = found?.filter(({ hash }) => !isSameHex(hash, receipt.transactionHash))
  if (!found || !others || others.length > maxOthers) return undefined
  const gainRaw = afterRaw - beforeRaw + paid.feeRaw
  if (others.length === 0) return gainRaw
  const own = found.find((each) => !others.includes(each))
  return own && withoutOthers(gainRaw, own, await receiptsOf(rpc, others, receipt, at), { wallet, isRollup })
}

/** Their receipts are read one by one. */
const maxOthers = 20

interface BlockTransaction {
  readonly hash: string
  readonly from: string
  readonly valueRaw: bigint
  /** Of its value, what leaves or reaches the wallet: nothing of what it sends itself. */
  readonly movesRaw: bigint
  readonly input: string
}

/** The transactions of a block that the wallet sent, or that send it coin; undefined where a withdrawal pays it, or one cannot be read. */
function touchingIn(
  { transactions, withdrawals = [] }: Readonly<Record<string, unknown>>,
  wallet: string,
): readonly BlockTransaction[] | undefined {
  if (!Array.isArray(transactions) || !Array.isArray(withdrawals)) return undefined
  if (!withdrawals.every((each) => isObject(each) && !isSameHex(each['address'], wallet))) return undefined
  const touching: BlockTransaction[] = []
  for (const tx of transactions as readonly unknown[]) {
    if (!isObject(tx) || typeof tx['from'] !== 'string' || typeof tx['hash'] !== 'string') return undefined
    const { hash, from, to, value, input } = tx
    const valueRaw = quantityOf(value)
    if (!isSameHex(from, wallet) && (!isSameHex(to, wallet) || valueRaw === 0n)) continue
    if (valueRaw === undefined) return undefined
    const isToItself = isSameHex(from, wallet) && isSameHex(to, wallet)
    touching.push({ hash, from, valueRaw, movesRaw: isToItself ? 0n : valueRaw, input: typeof input === 'string' ? input : '' })
  }
  return touching
}

interface Other {
  readonly tx: BlockTransaction
  readonly receipt: EvmReceipt
}

/** Undefined where one is missing or of another block. */
async function receiptsOf(
  rpc: Rpc,
  others: readonly BlockTransaction[],
  { blockHash }: EvmReceipt,
  at: At,
): Promise<readonly Other[] | undefined> {
  const method = 'eth_getTransactionReceipt'
  const answers = await rpc.batch(
    others.map(({ hash }) => ({ method, params: [hash] })),
    at,
  )
  const read = others.flatMap((tx, index): Other[] => {
    const receipt = readReceipt(resultOf(rpc, method, answers[index]))
    return receipt?.blockHash === blockHash ? [{ tx, receipt }] : []
  })
  return read.length === others.length ? read : undefined
}

/**
 * Coin leaves a wallet by the values and fees of its own transactions alone. What is left when these and plain transfers to it are taken off came in; and where nothing did, no
 * transaction brought anything. Otherwise it is this one's where no other can have brought coin.
 */
function withoutOthers(
  gainRaw: bigint,
  own: BlockTransaction,
  others: readonly Other[] | undefined,
  { wallet, isRollup }: { wallet: string; isRollup: boolean },
): bigint | undefined {
  if (!others) return undefined
  let cameRaw = gainRaw + own.movesRaw
  let isOwnAlone = true
  for (const { tx, receipt } of others) {
    const movedRaw = receipt.status === 0 ? 0n : tx.movesRaw
    if (isSameHex(tx.from, wallet)) {
      const paid = paidFees(receipt, isRollup)
      if (!paid) return undefined
      cameRaw += paid.feeRaw + movedRaw
      isOwnAlone &&= receipt.status === 0 || BigInt(receipt.gasUsed) === plainGas || bringsNoCoin(tx)
    } else {
      // Code of the wallet (EIP-7702) may have passed it on.
      if (BigInt(receipt.gasUsed) !== plainGas) return undefined
      cameRaw -= movedRaw
    }
  }
  return cameRaw >= 0n && (cameRaw === 0n || isOwnAlone) ? cameRaw - own.movesRaw : undefined
}

/** Of a transfer that runs no code: the yellow paper, appendix G. */
const plainGas = 21_000n

const bringsNoCoin = ({ input, valueRaw }: BlockTransaction): boolean => valueRaw === 0n && rightsCalls.has(input.slice(0, selectorLength))
const selectorLength = 10
/** What gives and takes rights: `approve` of ERC-20 and ERC-721, `setApprovalForAll`, `approve` of Permit2. */
const rightsCalls: ReadonlySet<string> = new Set(['0x095ea7b3', '0xa22cb465', '0x87517c45'])

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
