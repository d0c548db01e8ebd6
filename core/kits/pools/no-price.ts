import { formatUnits } from 'ethers'
import { SluiceError, type Swap, type Token } from '../../contracts/index.ts'
import { mostHops, type Course } from '../../../kits/amm/routing/best-route.ts'
import type { Lanes } from '../../../kits/amm/routing/graph.ts'
import { mostIn, mostOut } from './routing/most.ts'
import type { Ways } from './routing/ways.ts'

export interface NoRoute {
  readonly swap: Swap
  readonly course: Course
  readonly lanes: Lanes
  readonly ways: Ways
  /** A pool took the amount and gave nothing for it. */
  readonly tooLittle: boolean
  readonly intermediates: readonly Token[]
  /** The only version that was asked for. */
  readonly version: string | undefined
}

/** Why no route gives a price, for the caller. `details.most` is what could be had, where that is the reason and known. */
export function noPrice({ swap, course, lanes, ways, tooLittle, intermediates, version }: NoRoute): SluiceError {
  const { tokenIn, tokenOut, exact, amountRaw } = swap
  const mixes = ways.mixes.filter((mix) => leadsThrough(lanes, course, mix))
  if (mixes.length === 0) {
    if (version === undefined && lanes.none) {
      return new SluiceError(
        'PAIR_NOT_FOUND',
        `None of the pools that could lead from ${tokenIn.symbol} to ${tokenOut.symbol} exists on this network. Try another connector.`,
      )
    }
    const through = intermediates.map(({ symbol }) => symbol).join(', ')
    const [kind, cure] = version === undefined ? ['', 'Try'] : [` of version ${version}`, 'Leave version out, or try']
    return new SluiceError(
      'PRICE_FAILED',
      `The exchange has no pool${kind} from ${tokenIn.symbol} to ${tokenOut.symbol}, neither of the two nor through ${through || 'other tokens'}. ${cure} another connector.`,
    )
  }
  const limited = exact === 'in' ? tokenIn : tokenOut
  if (tooLittle) {
    return new SluiceError(
      'PRICE_FAILED',
      `${formatUnits(amountRaw, limited.decimals)} ${limited.symbol} is too little: it is worth less than the smallest unit of ${tokenOut.symbol}. Ask for a larger amount.`,
    )
  }
  const verb = exact === 'in' ? 'take' : 'give'
  const limits = mixes.map((mix) => (exact === 'in' ? mostIn : mostOut)(lanes, course, mix))
  const mostRaw = limits.reduce((a, b) => (a === undefined || b === undefined ? undefined : a > b ? a : b))
  // Where less than the most is refused, it is a later pool that refuses it.
  if (mostRaw === undefined || mostRaw >= amountRaw) {
    return new SluiceError('PRICE_FAILED', `The pools cannot ${verb} that much ${limited.symbol}, at any price. Ask for a smaller amount.`)
  }
  const most = formatUnits(mostRaw, limited.decimals)
  return new SluiceError(
    'PRICE_FAILED',
    `The pools cannot ${verb} that much: at most ${most} ${limited.symbol}, at any price. Ask for a smaller amount.`,
    { details: { token: limited.symbol, most } },
  )
}

/** Whether pools of these versions connect the two at all, for whatever amount. */
function leadsThrough(lanes: Lanes, { tokenIn, tokenOut, between }: Course, versions: ReadonlySet<string>): boolean {
  let here: readonly string[] = [tokenIn]
  for (let hop = 1; hop <= mostHops; hop += 1) {
    const connects = (to: string) => here.some((from) => lanes.between(from, to).some(({ protocol }) => versions.has(protocol.version)))
    if (connects(tokenOut)) return true
    here = between.filter(connects)
  }
  return false
}
