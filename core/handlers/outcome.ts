// What a plan would do to the wallet. Plugins make plans, and one may name another recipient, take more than it was given, or give somebody a
// right: so the plans of plugins that are not built in are simulated before they are signed. This is evidence and no proof, because a contract
// may do something else when it is mined.
import type { Allowance, At, Bridge, Checked, Plan, SimulatedOutcome, StepOutcome, Swap } from '../contracts/index.ts'
import { divideRaw } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { pluginDefect } from '../transactions/submit-request.ts'
import { callsIn, isDeclaredDeposit, tokenRights } from '../wallet/token-rights.ts'
import type { NetworkEntry, VenueEntry } from '../plugins/index.ts'
import type { Slippage } from './slippage.ts'

/** What the wallet may gain of a token, smallest units; negative: what it may lose. Of the native coin without gas. */
interface Range {
  readonly minRaw: bigint
  /** Absent: any amount. */
  readonly maxRaw?: bigint
  /** The most follows the quote: more of it is no harm to the wallet. */
  readonly isQuoted?: true
  /** What the caller accepts to pay at most, where that is more than what the plan may take: approvals are made by it before the price is known. */
  readonly acceptedRaw?: bigint
}

/** What a request lets its plan do to the wallet, by token address. The wallet may lose nothing of the other tokens. */
export type OutcomeBounds = ReadonlyMap<string, Range>

export const nothingLeaves: OutcomeBounds = new Map()

/** The wallet may lose at most these amounts, smallest units. What it gains is the exchange's word. */
export function atMostLeaves(amounts: readonly { token: string; amountRaw: bigint; acceptedRaw?: bigint | undefined }[]): OutcomeBounds {
  const bounds = new Map<string, Range>()
  for (const { token, amountRaw, acceptedRaw } of amounts) {
    const minRaw = (bounds.get(token)?.minRaw ?? 0n) - amountRaw
    bounds.set(token, { minRaw, ...(acceptedRaw !== undefined && { acceptedRaw }) })
  }
  return bounds
}

/** By token, what may leave the wallet at most. */
export const mostLeaving = (bounds: OutcomeBounds): Record<string, bigint> =>
  Object.fromEntries([...bounds].flatMap(([token, { minRaw }]) => (minRaw < 0n ? [[token, -minRaw] as const] : [])))

/** A quote may be below what the swap gives by this much or by the slippage, whichever is more: prices move between quote and simulation. */
const leastTolerance: Slippage = { numerator: 1n, denominator: 100n }

/**
 * The wallet gives at most what the request says and gets at least its bound. A swap that gives much more than its quote is refused as well:
 * the bound follows the quote, and what is above the bound somebody else can take.
 * @param swap with its quoted and its bound other side
 * @param acceptedRaw what a purchase may cost by the caller's limit
 */
export function swapBounds(
  { tokenIn, tokenOut, exact, amountRaw }: Swap,
  {
    quotedRaw,
    boundRaw,
    slippage,
    acceptedRaw,
  }: { quotedRaw: bigint; boundRaw: bigint; slippage: Slippage; acceptedRaw?: bigint | undefined },
): OutcomeBounds {
  const { numerator, denominator } =
    slippage.numerator * leastTolerance.denominator > leastTolerance.numerator * slippage.denominator ? slippage : leastTolerance
  const toleranceRaw = (quotedRaw * numerator) / denominator
  return exact === 'in'
    ? new Map([
        [tokenIn.address, { minRaw: -amountRaw, maxRaw: 0n }],
        [tokenOut.address, { minRaw: boundRaw, maxRaw: quotedRaw + toleranceRaw, isQuoted: true }],
      ])
    : new Map([
        [
          tokenIn.address,
          { minRaw: -boundRaw, maxRaw: toleranceRaw - quotedRaw, isQuoted: true, ...(acceptedRaw !== undefined && { acceptedRaw }) },
        ],
        [tokenOut.address, { minRaw: amountRaw, maxRaw: amountRaw + (amountRaw * numerator) / denominator }],
      ])
}

interface PlanToSimulate {
  readonly plan: Pick<Plan, 'steps' | 'needs'>
  readonly wallet: string
  /** Absent: only rights over the wallet's tokens are refused. */
  readonly bounds?: OutcomeBounds | undefined
  /** What the steps are signed with: a contract may do something else at another price, or with other gas. */
  readonly checked?: Promise<Pick<Checked, 'prepared'>>
}

/**
 * @returns what the plan does by its simulation; undefined: nothing simulates transactions of the network
 * @throws SluiceError unless that is within the bounds: then nothing must be signed
 */
export async function checkOutcome(
  { plan, wallet, bounds, checked }: PlanToSimulate,
  { impl, chain, network }: NetworkEntry,
  { connector, bridges }: VenueEntry,
  at: At,
): Promise<(SimulatedOutcome & { is: 'done' }) | undefined> {
  const bridge = Object.hasOwn(bridges, chain) ? bridges[chain] : undefined
  if (impl.evm) refuseTokenCalls(plan.steps, connector, bridge?.network === network ? bridge : undefined)
  const allowances = plan.needs.flatMap((need): Allowance[] => (need.is === 'balance' ? [] : [need]))
  // One token of a contract (EIP-721) is seen by its events only.
  const tokens = [...(bounds?.keys() ?? [])].filter((token) => token !== impl.nativeCurrency.address && impl.address(token) !== undefined)
  const prepared = impl.evm && (await checked)?.prepared
  const fees = prepared && { fees: prepared.map((each) => each.fees) }
  const outcome = await (impl.evm ?? impl.altchain)?.simulate?.(plan.steps, wallet, { tokens, allowances, ...fees }, at)
  if (outcome === undefined) return undefined
  if (outcome === 'unavailable')
    throw new SluiceError(
      'UNSUPPORTED',
      `The nodes of ${chain}/${network} can neither simulate transactions (eth_simulateV1) nor take state overrides, and the plans of ${connector}, which is not built in, are simulated before they are signed: nothing was signed. Name a node in rpcUrls that can.`,
    )
  if (outcome.is === 'failed')
    throw new SluiceError('TRADE_FAILED', `The transaction would fail, so it was not signed: ${outcome.reason}.`, {
      details: { reason: outcome.reason },
    })
  const { grants } = outcome
  const [grant] = grants
  if (grant)
    throw pluginDefect(
      `The connector ${connector}`,
      `has a plan that lets ${grant.spender} move the wallet's tokens of ${grant.token}, by a simulation of it`,
    )
  const steps = stepsOf(outcome, plan, connector, { chain, network })
  const outside = [...outsideBounds(outcome, bounds), ...tooMuchSent(steps, bounds), ...unpaidSteps(steps, bounds)]
  const fault = outside.find(({ isBetter }) => !isBetter)
  if (fault) throw pluginDefect(`The connector ${connector}`, `has a plan that ${fault.what}, by a simulation of it${fault.cause ?? ''}`)
  const [better] = outside
  // Somebody else could take the part above the bound.
  if (better)
    throw new SluiceError(
      'TRADE_FAILED',
      `The trade would be much better than its quote, so it was not signed: by a simulation it ${better.what}. The price has moved since the quote, or ${connector} quotes less than it gives. Nothing was done: send the request again for a new quote, and with a limitPrice.`,
      { details: { reason: 'better than quoted' } },
    )
  return outcome
}

/**
 * A step that calls a token to move it or to give a right over it is refused whatever the simulation says: what somebody may take later, no
 * simulation shows. Plans leave approvals to the caller (`needs`), and only the server's own deposit by a bridge is a transfer: a plan of this one step.
 * @param bridge of a trusted connector, from the network that the plan is for
 * @throws SluiceError
 */
function refuseTokenCalls(steps: Plan['steps'], connector: string, bridge: Bridge | undefined): void {
  const deposits = bridge && steps.length === 1 ? [{ token: bridge.token.toLowerCase(), recipient: bridge.recipient.toLowerCase() }] : []
  for (const step of steps) {
    const { to, data: bytes, value } = isObject(step) ? step : {}
    // The network's rail refuses what is no call.
    if (typeof to !== 'string' || typeof bytes !== 'string') continue
    const data = bytes.toLowerCase()
    const calls = callsIn(data)
    if (!calls) throw pluginDefect(`The connector ${connector}`, `has a plan whose call of ${to} has calls inside that cannot be read`)
    const rights = calls.map((each) => tokenRights.get(each.slice(0, 10))).find((each) => each !== undefined)
    if (!rights) continue
    if (value === '0' && isDeclaredDeposit({ target: to.toLowerCase(), value: 0n, data }, deposits)) continue
    throw pluginDefect(
      `The connector ${connector}`,
      `has a plan that calls ${rights.call} of ${to}. A plan may not move tokens or give rights over them itself: name what it needs in needs, and let its contract take it`,
    )
  }
}

/** From so many times the amount on, the quote is wrong rather than the market moved. */
const farOff = 2n

/** What its author may have got wrong in a swap, and where that is. */
function likelyMistake(gainRaw: bigint, { minRaw, maxRaw }: Range): string | undefined {
  if (maxRaw === undefined) return undefined
  if (minRaw > 0n && gainRaw <= 0n)
    return '. What is bought goes to somebody else: the recipient in the call of `swap` has to be terms.recipient'
  if (isFarOff(gainRaw, { minRaw, maxRaw }))
    return '. The amountRaw of its quote is far from that: look at the order and types of the fields in the ABI that `quote` decodes, and at the decimals'
  if (minRaw > 0n && gainRaw < minRaw)
    return '. If transfers of this token take a fee, `quote` has to refuse it: see `loan` of the protocol of pools'
  return undefined
}

function isFarOff(gainRaw: bigint, { minRaw, maxRaw = minRaw }: Range): boolean {
  const [statedRaw, isRaw] = minRaw > 0n ? [maxRaw, gainRaw] : [-minRaw, -gainRaw]
  return isRaw > farOff * statedRaw || statedRaw > farOff * isRaw
}

/** What is outside of the bounds. */
function outsideBounds(
  { gains }: SimulatedOutcome & { is: 'done' },
  bounds: OutcomeBounds | undefined,
): { readonly what: string; readonly isBetter: boolean; readonly cause: string | undefined }[] {
  if (!bounds) return []
  const outside: ReturnType<typeof outsideBounds> = []
  for (const token of new Set([...gains.keys(), ...bounds.keys()])) {
    const gainRaw = gains.get(token) ?? 0n
    const range: Range = bounds.get(token) ?? { minRaw: 0n }
    const { minRaw, maxRaw, isQuoted } = range
    if (gainRaw >= minRaw && (maxRaw === undefined || gainRaw <= maxRaw)) continue
    const change = gainRaw < 0n ? `takes ${-gainRaw} of ${token} from the wallet` : `gives the wallet ${gainRaw} of ${token}`
    outside.push({
      what: `${change}, where the request allows ${inWords(range)} (smallest units)`,
      isBetter: isQuoted === true && gainRaw > minRaw && !isFarOff(gainRaw, range),
      cause: likelyMistake(gainRaw, range),
    })
  }
  return outside
}

/**
 * Of a plan of several steps each is a transaction of its own: in the simulation one block has them all, and on the chain another may come between.
 * @throws SluiceError UNSUPPORTED where nobody tells what each does
 */
function stepsOf(
  outcome: SimulatedOutcome & { is: 'done' },
  { steps }: Pick<Plan, 'steps'>,
  connector: string,
  { chain, network }: Pick<NetworkEntry, 'chain' | 'network'>,
): readonly StepOutcome[] {
  if (steps.length === 1) return [outcome]
  if (outcome.steps?.length === steps.length) return outcome.steps
  throw new SluiceError(
    'UNSUPPORTED',
    `The plan of ${connector}, which is not built in, has ${steps.length} steps, and nothing on ${chain}/${network} tells what each of its ${steps.length} transactions does by itself: nothing was signed.`,
    { details: { reason: 'not simulated' } },
  )
}

/** By token, what leaves by a step: by balances, or by the events of transfers where that is more. Tokens that come back in the simulation need not come back on chain. */
export function takenBy({ gains, sent = new Map() }: StepOutcome): Map<string, bigint> {
  const taken = new Map<string, bigint>()
  for (const [token, raw] of [...[...gains].map(([of, gainRaw]) => [of, -gainRaw] as const), ...sent])
    if (raw > (taken.get(token) ?? 0n)) taken.set(token, raw)
  return taken
}

/** What one step gives back is not there for the next. So what leaves by all of them has to keep the bounds by itself. */
function tooMuchSent(steps: readonly StepOutcome[], bounds: OutcomeBounds | undefined): ReturnType<typeof outsideBounds> {
  if (!bounds) return []
  const all = new Map<string, bigint>()
  // Of one step alone the balances were held against the bounds already.
  for (const step of steps)
    for (const [token, raw] of steps.length === 1 ? (step.sent ?? []) : takenBy(step)) all.set(token, (all.get(token) ?? 0n) + raw)
  return [...all].flatMap(([token, sentRaw]) => {
    const { minRaw } = bounds.get(token) ?? { minRaw: 0n }
    const maxRaw = minRaw < 0n ? -minRaw : 0n
    if (sentRaw <= maxRaw) return []
    const where = steps.length === 1 ? '' : ' in its steps'
    const what = `moves ${sentRaw} of ${token} out of the wallet${where}, where the request allows ${maxRaw} at most (smallest units), whatever comes back`
    return [{ what, isBetter: false, cause: undefined }]
  })
}

/**
 * What a step has to bring for what it takes: as much of it as the bounds want for all that may leave. By token, smallest units, rounded up. Pure.
 * @param leastRaw what the wallet may gain at least, by token; negative: what it may lose
 */
export function dueOfStep(leastRaw: ReadonlyMap<string, bigint>, taken: ReadonlyMap<string, bigint>): Map<string, bigint> {
  const due = new Map<string, bigint>()
  for (const [wanted, minRaw] of leastRaw)
    for (const [token, takenRaw] of minRaw > 0n ? taken : []) {
      const mostRaw = -(leastRaw.get(token) ?? 0n)
      const dueRaw = mostRaw > 0n ? divideRaw(minRaw * takenRaw, mostRaw, 'up') : minRaw
      if (takenRaw > 0n && dueRaw > (due.get(wanted) ?? 0n)) due.set(wanted, dueRaw)
    }
  return due
}

/** A swap in several steps: one that takes and does not pay would be a loss where the others are not mined, or do something else then. */
function unpaidSteps(steps: readonly StepOutcome[], bounds: OutcomeBounds | undefined): ReturnType<typeof outsideBounds> {
  if (!bounds || steps.length === 1) return []
  const leastRaw = new Map([...bounds].map(([token, { minRaw }]) => [token, minRaw]))
  return steps.flatMap((step, index) => {
    const taken = takenBy(step)
    return [...dueOfStep(leastRaw, taken)].flatMap(([wanted, dueRaw]) => {
      const broughtRaw = step.gains.get(wanted) ?? 0n
      if (broughtRaw >= dueRaw) return []
      const takes = [...taken].map(([token, raw]) => `${raw} of ${token}`).join(' and ')
      const what = `takes ${takes} in step ${index + 1} and brings ${broughtRaw} of ${wanted} there, where the request wants ${dueRaw} for that (smallest units): each step is a transaction of its own, and has to pay for what it takes by itself`
      return [{ what, isBetter: false, cause: undefined }]
    })
  })
}

function inWords({ minRaw, maxRaw }: Range): string {
  if (maxRaw === undefined) return minRaw > 0n ? `giving ${minRaw} at least` : minRaw < 0n ? `taking ${-minRaw} at most` : 'taking none'
  if (minRaw >= 0n) return `giving ${minRaw} to ${maxRaw}`
  return maxRaw <= 0n ? `taking ${-maxRaw} to ${-minRaw}` : `taking ${-minRaw} at most and giving ${maxRaw} at most`
}
