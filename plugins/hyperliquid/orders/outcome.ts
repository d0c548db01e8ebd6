import type { ActionOutcome, Json } from 'sluice/plugin'
import { decimal, either, is, list, object, text, word } from '../shape.ts'
import type { Of } from '../shape.ts'
import { compare, plain } from '../decimal.ts'
import { errorOf, isReceipt } from '../rail/receipt.ts'
import type { Said } from '../rail/receipt.ts'

const covered = either(object({ do: word('create'), amount: decimal, timeInForce: text }), object({ do: word('cancel') }))
type Covered = Of<typeof covered>
const memoShape = object({ actions: list(covered) })
/** What is kept of a plan's actions, to tell what came of each. */
export type Memo = Of<typeof memoShape>

/** What became of each action of a plan. @throws where the journal has something else than what was kept */
export function outcomeOf(receipt: Json, memo: Json): readonly ActionOutcome[] {
  if (!isReceipt(receipt) || !is(memoShape, memo))
    throw new Error('The journal has something else than what Hyperliquid said of an action.')
  const { statuses } = receipt
  const [only] = statuses
  // Some refusals are said once for all.
  const common = statuses.length === 1 && only !== undefined && errorOf(only) !== undefined ? only : undefined
  return memo.actions.map((action, index) => {
    const said = common ?? (statuses.length === memo.actions.length ? statuses[index] : undefined)
    // Of more or fewer nobody can say which is which: the exchange tells when it is asked for each.
    if (said === undefined) throw new Error('Hyperliquid said of more or fewer orders what came of them than it was given.')
    return outcome(action, said)
  })
}

function outcome(action: Covered, said: Said): ActionOutcome {
  const reason = errorOf(said)
  if (reason !== undefined) return { state: 'REJECTED', reason }
  if (typeof said === 'object' && 'found' in said) {
    const { oid, ...told } = said.found
    return { orderId: String(oid), ...told }
  }
  if (action.do === 'cancel') return { state: 'CANCELED' }
  if (typeof said === 'object' && 'filled' in said) return filled(action, said.filled)
  return typeof said === 'object' && 'resting' in said ? { orderId: String(said.resting.oid), state: 'OPEN' } : { state: 'OPEN' }
}

/** Of what is not to wait, the rest is over. */
function filled(
  { amount, timeInForce }: Covered & { do: 'create' },
  { oid, totalSz, avgPx }: { oid: number; totalSz: string; avgPx: string },
): ActionOutcome {
  const partly = timeInForce === 'GTC' ? 'PARTIALLY_FILLED' : 'CANCELED'
  const state = compare(totalSz, amount) < 0 ? partly : 'FILLED'
  return { orderId: String(oid), state, filledAmount: plain(totalSz), averagePrice: plain(avgPx) }
}
