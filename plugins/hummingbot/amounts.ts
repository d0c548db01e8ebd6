// Amounts of requests, in units that their token has. Bots divide and multiply, and send all digits of what comes out: what is smaller than the token's
// unit is cut off, as their own gateway does. Toward zero, so that nobody gives more than was asked for.
import { divide, isZero } from 'sluice/decimal'
import { after, badFields, SluiceError, type InterfaceCall } from 'sluice/interface'
import { isPassing } from './errors.ts'
import type { NamedNetwork } from './networks.ts'
import { canonical, decimalPattern } from './numbers.ts'

const isDecimal = new RegExp(decimalPattern)

/** Of a coin of EVM: wei. */
export const coinDecimals = 18

interface AmountOf {
  /** As the request names it. */
  readonly field: string
  /** A symbol or an address. */
  readonly token: string
}

type CallWithAsk = Pick<InterfaceCall, 'ask'>

/** What is no number is left to the endpoint, which refuses it. @throws SluiceError INCOMPLETE_PARAMS where nothing is left of an amount above 0 */
export function cutTo(decimals: number, amount: string, of: AmountOf): string {
  const cut = cutDown(decimals, amount)
  if (isDecimal.test(amount) && isZero(cut) && !isZero(amount)) throw tooSmall(decimals, amount, of)
  return cut
}

/** At once where the amount is whole. @throws SluiceError as `cutTo`; trouble of a node */
export function cutAmount(amount: string, of: AmountOf, on: NamedNetwork, call: CallWithAsk): string | Promise<string> {
  const text = canonical(amount)
  if (!text.includes('.')) return text
  return after(decimalsOf([of.token], on, call), ([decimals]) => (decimals === undefined ? text : cutTo(decimals, text, of)))
}

type Amounts = readonly [base: string | undefined, quote: string | undefined]

/** Of two amounts, one of which may be enough. @throws SluiceError INCOMPLETE_PARAMS where nothing is left of either; trouble of a node */
export async function cutBoth(amounts: Amounts, tokens: readonly [string, string], on: NamedNetwork, call: CallWithAsk): Promise<Amounts> {
  const decimals = await decimalsOf(tokens, on, call)
  const [base, quote] = [0, 1].map((side) => {
    const [amount, places] = [amounts[side], decimals[side]]
    return amount === undefined || places === undefined ? amount : cutDown(places, amount)
  })
  const isLeft = [base, quote].some((amount) => amount !== undefined && !isZero(amount))
  for (const [side, field] of isLeft ? [] : (['baseTokenAmount', 'quoteTokenAmount'] as const).entries()) {
    const [amount, places, token] = [amounts[side], decimals[side], tokens[side]]
    if (amount !== undefined && places !== undefined && token !== undefined) cutTo(places, amount, { field, token })
  }
  return [base, quote]
}

function cutDown(decimals: number, amount: string): string {
  const text = canonical(amount)
  return text.includes('.') && isDecimal.test(text) ? divide(text, '1', decimals, 'down') : text
}

const tooSmall = (decimals: number, amount: string, { field, token }: AmountOf) =>
  badFields([{ field, problem: `${amount} is less than the smallest unit of ${token}, which has ${decimals} decimals` }])

/** @returns undefined where it is refused, as a name that is no token is: the endpoint refuses that by its own field. @throws SluiceError trouble of a node */
async function decimalsOf(
  tokenSymbols: readonly string[],
  { own }: NamedNetwork,
  { ask }: CallWithAsk,
): Promise<readonly (number | undefined)[]> {
  try {
    return (await ask('NetworkTokens', { ...own, tokenSymbols: [...tokenSymbols] })).map(({ decimals }) => decimals)
  } catch (thrown) {
    if (!(thrown instanceof SluiceError) || isPassing(thrown)) throw thrown
    return tokenSymbols.map(() => undefined)
  }
}
