import { SluiceError, type BookSet } from '../../api/index.ts'
import type { ActionOutcome, BookAction } from '../../contracts/index.ts'
import type { Submitted } from '../../transactions/submit-request.ts'
import type { Call, On, Services } from '../context.ts'
import type { readWallet } from '../../verbs/read-wallet.ts'
import { bookOf } from '../../verbs/clob/book-type.ts'
import { planActions, type Planned } from '../../verbs/clob/orders/plan-actions.ts'
import { submitPlan } from '../../verbs/clob/orders/submit-plan.ts'
import { outcomesAtOnce } from '../../verbs/clob/orders/told-by.ts'

export type BookContext = Call & { services: Services } & On<'connector'>
export type Wallet = ReturnType<typeof readWallet>

/** What an action came to: where it was sent, and what the exchange said at once, if it did. */
export interface Done {
  readonly submitted: Submitted
  /** By the chain rather than by the exchange's own rail. */
  readonly onChain: boolean
  readonly outcome?: ActionOutcome
}
export type Result = Done | SluiceError
export type Results = ReadonlyMap<number, Result>

/** So many plans of a request are submitted at a time: a wallet's queue is for its other requests too. */
const atOnce = 8

/**
 * Has actions carried out, each by the plan that covers it. Plans are submitted by themselves, those that only cancel first: what fails
 * fails for the actions of its plan only. Where the time ends before it is known whether the answer of a request with a key is journaled, that
 * is the request's: what it is answered must not differ from what it would be told again.
 * @param actions by any number that tells them apart
 * @param answer what the request answers: journaled under its Idempotency-Key with the last submission, when all others have come to something
 * @param beforeLast finds out what the answer needs besides
 */
export async function carryOut(
  type: BookSet,
  actions: ReadonlyMap<number, BookAction>,
  wallet: Wallet,
  context: BookContext,
  answer: (results: Results) => object,
  beforeLast: (results: Results) => Promise<void> = async () => {},
): Promise<Results> {
  const { venue, signal } = context
  const book = bookOf(type, venue)
  const { planned, refused } = await planActions(book, wallet.address, actions, { signal })
  const results = new Map<number, Result>(refused)

  async function submit(each: Planned, isLast: boolean): Promise<void> {
    const keep = (submitted: Submitted) => {
      const outcomes = outcomesAtOnce(book, each, submitted)
      const onChain = !('via' in each.plan)
      for (const [index, place] of each.covers.entries()) {
        const outcome = outcomes?.[index]
        results.set(place, { submitted, onChain, ...(outcome && { outcome }) })
      }
    }
    const answerWith = (submitted: Submitted) => {
      keep(submitted)
      return answer(results)
    }
    try {
      keep(await submitPlan(type, each, actions, wallet, context, isLast ? answerWith : undefined))
    } catch (error) {
      if (!(error instanceof SluiceError) || (isLast && context.keyed && error.name === 'TIMEOUT')) throw error
      for (const place of each.covers) results.set(place, error)
    }
  }

  const onlyCancels = ({ covers }: Planned) => covers.every((place) => actions.get(place)?.do === 'cancel')
  const [cancels, others] = [planned.filter(onlyCancels), planned.filter((each) => !onlyCancels(each))]
  const last = others.pop() ?? cancels.pop()
  for (const some of [cancels, others]) await inTurns(some, (each) => submit(each, false), signal)
  for (const place of actions.keys()) if (!results.has(place) && !last?.covers.includes(place)) results.set(place, notBegun())
  if (last) {
    await beforeLast(results)
    await submit(last, true)
  }
  return results
}

/** What is left over when the time is over is not begun. */
async function inTurns<T>(work: T[], run: (each: T) => Promise<void>, signal: AbortSignal): Promise<void> {
  const worker = async () => {
    for (let each = work.shift(); each !== undefined && !signal.aborted; each = work.shift()) await run(each)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

const notBegun = () => new SluiceError('TIMEOUT', 'The time for this request ran out before this was begun: nothing was sent. Try again.')

/** @throws SluiceError what it came to, where it came to nothing */
export function doneOf(result: Result | undefined): Done {
  if (result instanceof SluiceError) throw result
  if (!result) throw new Error('An action was neither carried out nor refused.')
  return result
}
