// What the exchange answers over HTTP where it is no result. It has no error codes, only texts, and gateways before it answer by themselves. So a refusal
// of the exchange has to be recognised; everything else is trouble, after which an action may have been carried out or not.
import { SluiceError } from 'sluice/plugin'
import { is, object, text, union } from './shape.ts'

/** An answer, whatever its status. */
export interface HttpAnswer {
  readonly status: number
  /** JSON, or the text of a body that is none. */
  readonly body: unknown
  readonly retryAfterSeconds?: number
}

/**
 * What the exchange means by the text of an error.
 * - `refused`: it did not carry out the action, and will not
 * - `nonce-used`: an action with that nonce was carried out, perhaps this one
 * - `nonce-outside`: the nonce is outside of the accepted window now
 * - `expired`
 * - `limited`: nothing was done, since too much is asked
 * - `trouble`: anything else
 */
type TextMeaning = 'refused' | 'nonce-used' | 'nonce-outside' | 'expired' | 'limited' | 'trouble'

/**
 * Refusals of an action as a whole begin like this, perhaps after "L1 error: ". Of the exchange's pages on signing and error responses, the list of ccxt
 * (`ts/src/hyperliquid.ts`), and what people reported: test/fixtures/hyperliquid/answers.ts has each with its source.
 */
const refusals: readonly RegExp[] = [
  /^user or api wallet 0x[0-9a-f]+ does not exist\b/,
  /^must deposit before performing actions\b/,
  /^(unable to recover signer|invalid signature)\b/,
  /^(mainnet and testnet require different|nonce mismatch)\b/,
  /^vault not registered\b/,
  /^price must be divisible by tick size\b/,
  /^order (must have minimum value|has (invalid|zero) (size|price)|could not immediately match|would cause position to exceed|price cannot be more than|value too large|was never placed, already cancell?ed)/,
  /^reduce only (order would increase|is not allowed)\b/,
  /^post only order would have immediately matched\b/,
  /^only post-only orders allowed immediately after\b/,
  /^(trading is halted|no liquidity available|batch of orders is empty|duplicate cloid|placing trigger orders is not|twap (order value too small|was never placed))\b/,
  /^insufficient ([\w-]+ )?(margin|balance|funds|quote token|collateral|staking)\b/,
  /^invalid (tp\/sl price|asset|leverage value|send|decimal number|withdrawal amount|user|price|size|order)\b/,
  /^(cross margin is not allowed|(cross|isolated) position does not have sufficient margin|no isolated position|margin cannot be removed)\b/,
  /^cannot (switch leverage type|modify cancell?ed or filled|update margin|remove isolated margin|self-transfer|repay more|set scheduled cancel|add an existing user)\b/,
  /^error placing new order during modify: /,
  /^builder fee has not been approved\b/,
  /^(action disabled when|abstraction transition not allowed|portfolio margin is not enabled)\b/,
  /^(token is not borrowable|borrow exceeds|unknown token)\b/,
  // The library that reads requests (axum) says so before the exchange has seen anything.
  /^failed to (deserialize|parse) the (json|request) body\b|^expected request with `content-type\b/,
]

const unreadable = /^failed to (deserialize|parse) the\b|^expected request with `content-type\b/

/** Of a failure inside the exchange, or before it: an action may have been carried out before that. */
const failure =
  /\b(internal|time(d)?[ -]?out|unavailable|try again|later|gateway|overload(ed)?|maintenance|upstream|unexpected|unknown error|server error|down)\b/
const limit =
  /\brate[ -]?limit|\btoo many (cumulative )?requests\b|\bthrottl|\b(request|requests|weight) limit\b|\bslow down\b|\berror 1015\b|\bquota\b/

/** Tested in lower case; the first that fits counts. */
const meanings: readonly (readonly [RegExp, TextMeaning])[] = [
  // https://github.com/nomeida/hyperliquid/issues/61
  [/\bduplicate nonce\b/, 'nonce-used'],
  // "Invalid nonce: nonce too low 1 < 2": the exchange keeps the highest hundred, and does not tell whether this one was used.
  [/\bnonce\b.*\b(too (low|old|high|far)|lower|higher|outside|must be)\b/, 'nonce-outside'],
  [/\b(already |has )expired\b|\bexpires ?after\b/, 'expired'],
  // "Too many cumulative requests sent (165960 > 163553) for cumulative volume traded $153554.48.": of the wallet.
  [limit, 'limited'],
]

/** What it means stands at its beginning, and the expressions take as long as the square of what they read. */
const maxReadChars = 2_000

export function meaningOf(said: string): TextMeaning {
  const line = said
    .slice(0, maxReadChars)
    .toLowerCase()
    .trim()
    .replace(/^l1 error: /, '')
  const known = meanings.find(([pattern]) => pattern.test(line))?.[1]
  if (known !== undefined) return known
  return refusals.some((pattern) => pattern.test(line)) ? 'refused' : 'trouble'
}

/** Whether the text that the exchange gives to one order of an action speaks of a failure of its own. */
export const saysFailure = (said: string): boolean => limit.test(said.toLowerCase()) || failure.test(said.toLowerCase())

const refusal = object({ status: text, response: text })
const gatewayError = union(object({ error: text }), object({ message: text }), object({ error: object({ message: text }) }))

/** The text of an error; undefined where the body is no error of a known form. */
export function errorTextOf(body: unknown): string | undefined {
  if (typeof body === 'string') return body
  if (is(refusal, body)) return body.status === 'err' ? body.response : undefined
  if (!is(gatewayError, body)) return undefined
  if ('message' in body) return body.message
  return typeof body.error === 'string' ? body.error : body.error.message
}

const maxQuoted = 300

/** The exchange's own words, on one line. Undefined for a page for people. */
export function quoted(body: unknown): string | undefined {
  const said = errorTextOf(body)
  if (said === undefined || /^\s*</.test(said)) return undefined
  const line = said.replaceAll(/\s+/g, ' ').trim().slice(0, maxQuoted)
  return line === '' ? undefined : line
}

/** How long to wait where the answer does not say. */
const retrySeconds = { limited: 10, failed: 2, form: 60 } as const
const tooMany = 429

export const isOverLimit = ({ status, body }: HttpAnswer): boolean =>
  status === tooMany ||
  (status !== 200 && limit.test((errorTextOf(body) ?? '').toLowerCase())) ||
  meaningOf(errorTextOf(body) ?? '') === 'limited'

/** What a query fails with. Undefined where the answer may be a result. */
export function queryFailure(answer: HttpAnswer, query: string): SluiceError | undefined {
  const { status, body, retryAfterSeconds } = answer
  if (isOverLimit(answer))
    return new SluiceError('RATE_LIMIT', "Hyperliquid's rate limit for this IP address is used up. Try again later.", {
      retryAfterSeconds: retryAfterSeconds ?? retrySeconds.limited,
    })
  const said = quoted(body)
  // Some results are text. A page is none, which the result's shape shows.
  if (status === 200 && (typeof body === 'string' || errorTextOf(body) === undefined)) return undefined
  const withWords = said === undefined ? '' : `, ${JSON.stringify(said)}`
  if (unreadable.test((said ?? '').toLowerCase()))
    return new SluiceError(
      'NETWORK',
      `Hyperliquid does not take the query ${query} in this form (HTTP ${status}${withWords}): its interface may have changed. See whether there is a newer Sluice.`,
      { retryAfterSeconds: retryAfterSeconds ?? retrySeconds.form },
    )
  return unavailable(
    status === 403 || status === 451
      ? `it refuses this machine's address, or where it is (HTTP ${status}${withWords})`
      : status === 200
        ? `it answered ${query} with an error${said === undefined ? '' : `: ${JSON.stringify(said)}`}`
        : `it failed (HTTP ${status}${withWords})`,
    retryAfterSeconds,
  )
}

export const unavailable = (reason: string, retryAfterSeconds: number = retrySeconds.failed): SluiceError =>
  new SluiceError('NETWORK', `Hyperliquid is not available: ${reason}. Try again, or check networks in conf/connectors/hyperliquid.yml.`, {
    retryAfterSeconds,
  })
