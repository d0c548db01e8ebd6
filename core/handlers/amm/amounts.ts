// Several amounts in one request for a price: a series of depth.
import type { AMMPriceRequest, AMMPriceResponse } from '../../api/index.ts'
import { OneBlock } from '../../live-state/one-block.ts'
import { after } from '../../base/async.ts'
import { badFields, errorFields, SluiceError, type FieldProblem } from '../../base/errors.ts'

type Price = Omit<AMMPriceResponse, 'network' | 'timestamp' | 'latency' | 'quotes'>

/** The price of an amount. @param isAnswer whether it is what the answer itself has, which tells the allowance of a wallet, too */
type PriceOf = (amount: string, block: OneBlock, isAnswer: boolean) => Price | Promise<Price>
/** `amount` and `amounts` of a request. */
interface WantedAmounts extends Pick<AMMPriceRequest, 'amount'> {
  readonly amounts: readonly string[]
}
type PriceOfEach = Price & Pick<AMMPriceResponse, 'quotes'>
/** Undefined where nobody else waits for the event loop; else until it is this request's turn again. */
type NextTurn = () => Promise<unknown> | undefined

/** Connectors whose pools are not in memory yet may be loaded after others have answered: the next time all are there. */
const maxTries = 5

/**
 * A price for each amount, at one block where they come from memory, and then at once. What is beside them is that of `amount`, or of the first of them.
 * @throws SluiceError NETWORK where blocks come too fast for that
 */
export function priceOfEach(
  asked: WantedAmounts,
  price: PriceOf,
  nextTurn: NextTurn = () => undefined,
  triesLeft = maxTries,
): PriceOfEach | Promise<PriceOfEach> {
  const block = new OneBlock()
  return after(priceAt(block, asked, price, nextTurn), (answer) => {
    if (block.isOne) return answer
    if (triesLeft > 1) return priceOfEach(asked, price, nextTurn, triesLeft - 1)
    throw new SluiceError('NETWORK', 'Blocks come faster than the pools can be read for so many amounts. Try again, or ask for fewer.', {
      retryAfterSeconds: 1,
    })
  })
}

function priceAt(
  block: OneBlock,
  { amount, amounts }: WantedAmounts,
  priceOf: PriceOf,
  nextTurn: NextTurn,
): PriceOfEach | Promise<PriceOfEach> {
  const own = amount === undefined ? undefined : begun(() => priceOf(amount, block, true))
  const priceOne = (each: string, index: number) =>
    begun(
      () => priceOf(each, block, own === undefined && index === 0),
      (error) => refusalOf(error, index),
    )
  const show = ([wanted, ...priced]: readonly (Outcome | undefined)[]) => showEach(wanted, priced, amounts)
  const all: (Outcome | Promise<Outcome> | undefined)[] = [own]
  function priceFrom(first: number): PriceOfEach | Promise<PriceOfEach> {
    for (let index = first; index < amounts.length; index += 1) {
      const turn = index > first ? nextTurn() : undefined
      if (turn) {
        // One that is refused meanwhile is said at the end.
        for (const found of all) if (found instanceof Promise) found.catch(() => {})
        return turn.then(() => priceFrom(index))
      }
      all.push(priceOne(amounts[index] ?? '', index))
    }
    return all.every(isHere) ? show(all) : Promise.all(all.map(async (found) => found)).then(show)
  }
  return priceFrom(0)
}

const isHere = (found: Outcome | Promise<Outcome> | undefined): found is Outcome | undefined => !(found instanceof Promise)

type Outcome = Price | SluiceError

function showEach(own: Outcome | undefined, priced: readonly (Outcome | undefined)[], amounts: readonly string[]): PriceOfEach {
  const first = own ?? priced.find((found) => !(found instanceof SluiceError)) ?? priced[0]
  if (first === undefined || first instanceof SluiceError) throw first
  const quotes: PriceOfEach['quotes'] = []
  for (let index = 0; index < priced.length; index += 1) {
    const found = priced[index]
    if (found instanceof SluiceError) quotes.push({ amount: amounts[index] ?? '', error: errorFields(found) })
    // Whole: of what the answer itself says once, the schema of `quotes` has nothing, so that it is not written.
    else if (found) quotes.push(found)
  }
  return { ...first, quotes }
}

/** What is called at once: its answer, or a promise of it. What it throws is a promise too, so that it is handled with those of the others. */
function begun(make: () => Price | Promise<Price>, refuse: (error: unknown) => SluiceError = rethrow): Outcome | Promise<Outcome> {
  const settle = async (error: unknown) => refuse(error)
  try {
    const made = make()
    return made instanceof Promise ? made.catch(refuse) : made
  } catch (error) {
    return settle(error)
  }
}

function rethrow(error: unknown): never {
  throw error
}

/** That there is no price for one amount is said beside the prices of the others. @throws whatever else it is */
function refusalOf(error: unknown, index: number): SluiceError {
  if (!(error instanceof SluiceError)) throw error
  if (error.name === 'PRICE_FAILED') return error
  throw inAmounts(error, index)
}

/** Of the field that the caller knows. */
function inAmounts(error: SluiceError, index: number): SluiceError {
  const { name, details } = error
  if (name !== 'INCOMPLETE_PARAMS' || !Array.isArray(details)) return error
  const [problem] = details as readonly FieldProblem[]
  return problem?.field === 'amount' ? badFields([{ field: `amounts[${index}]`, problem: problem.problem }]) : error
}
