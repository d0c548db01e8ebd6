import { expect } from 'chai'
import { compare } from '../../core/base/decimal.ts'
import type { Answer } from '../client.ts'

/** The body of an answer that must be a success. */
// eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
export function expectOk({ status, body, text }: Answer, request = ''): any {
  expect(status, `${request} ${text}`).to.equal(200)
  return body
}

// eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
export const bodyOf = async (answer: Promise<Answer>): Promise<any> => expectOk(await answer)

/** The request must be refused with this status and error, such as "422 TRADE_FAILED", naming the field. */
export function expectRefusal({ status, body, text }: Answer, outcome: string, request: string, field?: string): void {
  expect(`${status} ${body?.name}`, `${request}: ${text}${neededFor(outcome)}`).to.equal(outcome)
  if (field !== undefined) expect(body.details[0].field, text).to.equal(field)
}

/** What a plan lacks whose wallet is not told what it lacks. */
function neededFor(outcome: string): string {
  const need = outcome.endsWith('INSUFFICIENT_BALANCE')
    ? "{ is: 'balance', token, amountRaw }"
    : outcome.endsWith('INSUFFICIENT_ALLOWANCE') && "{ is: 'allowance', token, spender, amountRaw }"
  return need ? ` Look at the plan's \`needs\`: they have to name ${need}` : ''
}

/** Both decimal strings must be the same number. */
export function expectSame(actual: string, expected: string, what: string): void {
  expect(compare(actual, expected) === 0, `${what}: ${actual} and ${expected}`).to.equal(true)
}

/** The numbers may differ by this part of the larger one, for figures that are rounded many times. */
export function expectClose(actual: string | number, expected: string | number, part: number, what: string): void {
  const [a, b] = [Number(actual), Number(expected)]
  expect(Math.abs(a - b) <= part * Math.max(Math.abs(a), Math.abs(b)), `${what}: ${actual} and ${expected}`).to.equal(true)
}

/** The numbers may differ by `off`, for amounts that change a little with time and the settlement token's decimals. */
export function expectNear(actual: number, expected: number, off: number, what: string): void {
  expect(Math.abs(actual - expected) <= off, `${what}: ${actual} and ${expected}`).to.equal(true)
}

const timeoutMs = 40_000
const pollMs = 15

/** Polls until the answer satisfies the condition. */
export async function waitFor<T>(what: string, poll: () => Promise<T>, holds: (answer: T) => boolean): Promise<T> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const answer = await poll()
    if (holds(answer)) return answer
    if (performance.now() > end) throw new Error(`Timeout waiting until ${what}. Last answer: ${JSON.stringify(answer)}`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
