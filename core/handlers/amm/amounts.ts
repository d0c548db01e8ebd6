// Several amounts in one request for a price: a series of depth.
import type { AMMPriceRequest, AMMPriceResponse } from '../../api/index.ts'
import { OneBlock } from '../../live-state/one-block.ts'
import { badFields, errorFields, SluiceError, type FieldProblem } from '../../base/errors.ts'

export type WithAmount = AMMPriceRequest & { amount: string }
export const hasAmount = (request: AMMPriceRequest): request is WithAmount => request.amount !== undefined

type Price = Omit<AMMPriceResponse, 'network' | 'timestamp' | 'latency' | 'quotes'>

type PriceOf = (request: WithAmount, block: OneBlock) => Price | Promise<Price>
type PriceOfEach = Price & Pick<AMMPriceResponse, 'quotes'>

/** Connectors whose pools are not in memory yet may be loaded after others have answered: the next time all are there. */
const maxTries = 5

/**
 * A price for each amount, at one block where they come from memory. What is beside them is that of `amount`, or of the first of them.
 * @throws SluiceError NETWORK where blocks come too fast for that
 */
export async function priceOfEach(amounts: readonly string[], request: AMMPriceRequest, price: PriceOf): Promise<PriceOfEach> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const block = new OneBlock()
    const answer = await priceAt(block, amounts, request, price)
    if (block.isOne) return answer
  }
  throw new SluiceError('NETWORK', 'Blocks come faster than the pools can be read for so many amounts. Try again, or ask for fewer.', {
    retryAfterSeconds: 1,
  })
}

async function priceAt(block: OneBlock, amounts: readonly string[], request: AMMPriceRequest, priceOf: PriceOf): Promise<PriceOfEach> {
  const price = (each: WithAmount) => priceOf(each, block)
  const { address: _, ...noWallet } = request
  const own = hasAmount(request) ? begun(() => price(request)) : undefined
  const each = amounts.map((amount, index) =>
    // The allowance is for the amount of the answer itself.
    begun(() => price({ ...(own === undefined && index === 0 ? request : noWallet), amount })).catch((error: unknown) => {
      if (!(error instanceof SluiceError)) throw error
      if (error.name === 'PRICE_FAILED') return error
      throw inAmounts(error, index)
    }),
  )
  const [wanted, ...priced] = await Promise.all([own, ...each])
  const first = wanted ?? priced.find((found) => !(found instanceof SluiceError)) ?? priced[0]
  if (first === undefined || first instanceof SluiceError) throw first
  const quotes = priced.map((found, index) => {
    if (found instanceof SluiceError) return { amount: amounts[index] ?? '', error: errorFields(found) }
    const { base: _base, quote: _quote, allowance: _allowance, ...quoted } = found
    return quoted
  })
  return { ...first, quotes }
}

/** A promise of what is called at once, also where that throws. */
const begun = async <T>(make: () => T | Promise<T>): Promise<T> => make()

/** Of the field that the caller knows. */
function inAmounts(error: SluiceError, index: number): SluiceError {
  const { name, details } = error
  if (name !== 'INCOMPLETE_PARAMS' || !Array.isArray(details)) return error
  const [problem] = details as readonly FieldProblem[]
  return problem?.field === 'amount' ? badFields([{ field: `amounts[${index}]`, problem: problem.problem }]) : error
}
