// The reserve balance of a chain that executes blocks after they are agreed upon: a transaction whose value would leave less than it reverts, and pays for its gas. The
// rule is Monad's: https://docs.monad.xyz/developer-essentials/reserve-balance
import { toQuantity, parseUnits } from 'ethers/utils'
import { fromRaw } from '../../core/base/decimal.ts'
import { SluiceError, type At, type Checked, type Token } from '../../core/contracts/index.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { quantityOf } from './encoding.ts'
import { costOf, type EvmFees } from './fees.ts'
import type { ReserveBalance } from './network.ts'
import { readBlock } from './rpc.ts'
import type { EvmIntent } from './types.ts'

/** What steps spend of the coin, smallest units, where each is mined behind the ones before it. */
interface Spending {
  /** Of the first step by its value. */
  readonly firstRaw: bigint
  /** Of a later step that has a value, with all that the steps before it cost: the most of them. 0 where there is none. */
  readonly laterRaw: bigint
}

export function spendingOf(prepared: readonly { readonly step: EvmIntent; readonly fees: EvmFees }[]): Spending {
  let beforeRaw = 0n
  let laterRaw = 0n
  for (const [index, { step, fees }] of prepared.entries()) {
    const valueRaw = BigInt(step.value)
    if (index > 0 && valueRaw > 0n && beforeRaw + valueRaw > laterRaw) laterRaw = beforeRaw + valueRaw
    beforeRaw += costOf(step, fees)
  }
  return { firstRaw: BigInt(prepared[0]?.step.value ?? '0'), laterRaw }
}

interface ReserveQuestion {
  readonly from: string
  readonly spends: Spending
  readonly nativeRaw: bigint
  /** How many transactions of the wallet the newest block and those before it have. */
  readonly sentBefore: number
  /** The newest block as the node gave it. */
  readonly newest: unknown
}

/**
 * Why the steps may not be signed on top of what the wallet's pending transactions may take; undefined where the network has no reserve balance. The gas of a step may
 * be paid out of it, its value may not: unless the wallet sent nothing in the last blocks and has no code.
 */
export async function readReserve(
  { rpc, nativeCurrency, reserveBalance: rule }: { rpc: Rpc; nativeCurrency: Token; reserveBalance?: ReserveBalance | undefined },
  { from, spends: { firstRaw, laterRaw }, nativeRaw, sentBefore, newest }: ReserveQuestion,
  at: At,
): Promise<Checked['checkFunds'] | undefined> {
  if (!rule) return undefined
  const reserveRaw = parseUnits(rule.amount, nativeCurrency.decimals)
  const isSpent = firstRaw > 0n && nativeRaw - firstRaw < reserveRaw
  const isAlone = isSpent && (await sendsAlone(rpc, { from, sentBefore, newest, rule }, at))
  return (committedRaw) => {
    const leftRaw = nativeRaw - committedRaw - reserveRaw
    const isBehind = committedRaw > 0n || !isAlone
    const isFirstRefused = isBehind && firstRaw > 0n && leftRaw < firstRaw
    if (!isFirstRefused && (laterRaw === 0n || leftRaw >= laterRaw)) return undefined
    return reserveSpent(nativeCurrency, rule, {
      reserveRaw,
      currentRaw: nativeRaw - committedRaw,
      spentRaw: isFirstRefused ? firstRaw : laterRaw,
    })
  }
}

/** Whether the wallet has no code, and sent nothing in the last blocks. */
async function sendsAlone(
  rpc: Rpc,
  { from, sentBefore, newest, rule }: Pick<ReserveQuestion, 'from' | 'sentBefore' | 'newest'> & { rule: ReserveBalance },
  at: At,
): Promise<boolean> {
  const oldest = readBlock(rpc, newest).number - BigInt(rule.blocks)
  const calls = [
    { method: 'eth_getTransactionCount', params: [from, toQuantity(oldest > 0n ? oldest : 0n)] },
    { method: 'eth_getCode', params: [from, 'latest'] },
  ]
  const answers = await rpc.batch(calls, at)
  const [count, code] = calls.map(({ method }, index) => resultOf(rpc, method, answers[index]))
  const sent = quantityOf(count)
  if (sent === undefined) throw invalidAnswer(rpc, 'answered eth_getTransactionCount with something that is no number')
  return sent === BigInt(sentBefore) && code === '0x'
}

function reserveSpent(
  { symbol, decimals }: Token,
  { amount, blocks }: ReserveBalance,
  { reserveRaw, currentRaw, spentRaw }: { reserveRaw: bigint; currentRaw: bigint; spentRaw: bigint },
): SluiceError {
  const [current, needed] = [currentRaw > 0n ? currentRaw : 0n, reserveRaw + spentRaw].map((raw) => fromRaw(raw, decimals))
  return new SluiceError(
    'INSUFFICIENT_BALANCE',
    `The network has a reserve balance of ${amount} ${symbol}: a transaction whose value would leave less reverts, and pays for its gas, where its wallet sent another one in the last ${blocks} blocks or has code. This one would leave less than that, so nothing was signed: wait until those are ${blocks} blocks old, spend less, or fund the wallet up to ${needed} ${symbol}.`,
    {
      details: {
        token: symbol,
        current: current ?? '0',
        needed: needed ?? '0',
        reserve: fromRaw(reserveRaw, decimals),
        reason: 'reserve balance',
      },
    },
  )
}
