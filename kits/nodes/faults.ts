// What providers of any chain say in place of an answer: that they are asked too much, or for too much at once. What is the word of a chain is known
// to its family only, which asks here about the rest.
import { isObject } from '../../core/base/json.ts'
import type { Fault, NodeError } from './dialect.ts'

/**
 * Of a batch with too many calls, or with too long an answer in all. Not "limit … per second", which is about time.
 * geth `rpc/errors.go` ("batch too large", "response too large"), jsonrpsee ("The batch request was too large", "Batched requests are not
 * supported by this server"), erigon ("batch limit 100 exceeded"), besu ("Number of requests exceeds max batch size"), dRPC ("Batch of more than 3
 * requests are not allowed on free tier"), Hedera's relay ("Batch requests are disabled").
 */
const batchSize =
  /\bbatch(ed|es)?\b.*\b(large|long|big|limit\w*|exceed\w*|max\w*|more than|at most|up to|size|allowed|supported|disabled|enabled|many|only)\b|\b(too many|max\w*|limit\w*|exceed\w*|number of)\b.*\bbatch(ed|es)?\b|\btoo many (rpc )?(calls|requests) in\b/

/** Of a batch that is refused as a whole. */
const wholeBatch =
  /\btoo (many|large|big|long)\b(?! requests)|\bexceeded max limit of \d+\b|\bmax\w* (size|length|number)\b|\brequest entity\b/

/** Of a range of blocks, or of the logs found in it. */
const blockRange =
  /\bblocks? ?range|\brange\b.*\b(large|wide|high|long|big|exceed\w*|limit\w*|max\w*|than|beyond|blocks?)\b|\b(max\w*|limit\w*|exceed\w*|up to|large|wide|reduce|narrow|smaller|shorter|more than)\b.*\b(range|blocks?|distance|results?|logs|window)\b|\btoo many (blocks|logs|results|topics|events)\b|\bblocks? (distance|limit|count|window)|\b(query|logs?|response) (timeout|size|timed out|returns? too many)|\bnarrow\b|\bquery returned more\b/

/** Of what is sent with one call, or of its answer. */
const callSize =
  /\b(request|response|payload|body|entity|message|content|input|data|calldata|params|result|output|initcode|code|answer)( (body|entity|size|length|data))? (is |was )?(too (large|long|big)|larger than|longer than)\b|\btoo (large|long|big) (request|response|payload|body|calldata|input|result)\b|\b(size|length|bytes|kb|mb|mib)\b.*\b(exceed\w*|limit|max\w*)\b|\b(exceed\w*|max\w*)\b.*\b(size|length|bytes)\b/

/** Of how much is asked in a time, or in all by a plan. A 429 in the midst of a text may be the number of a block. */
const rate =
  /\btoo many (requests|connections|concurrent)|\brate[ -]?limit|\b(ratelimit|throttl\w*|quota|credits?|cups|compute units?|capacity|slow down|back ?off)\b|\b(request|requests|call|calls|usage|daily|monthly|hourly|free|plan|project|account|app|key|concurrency|concurrent|rps|cu|ip)\b.*\b(limit\w*|exceed\w*|exhausted)\b|\blimit(s|ed)?\b.*\b(reached|exceeded|per (second|minute|day|month)|\/s(ec)?|rps|plan|tier|upgrade)\b|\bper second\b|\b(exceeds?|exceeded) (your|the|its|defined|project)?\b.*\b(limit|rate|plan)\b|\brequest limit\b|\blimit (exceeded|reached)\b|\bover (the |its )?(rate|limit|capacity)\b|^\W*429\b|\b(http|status|code|error)( status| code)?\W{0,3}429\b|\b(payment|upgrade) (is )?required\b|\b(upgrade|increase) (your|to)\b/

/** Of a gateway that has no node behind it now, or whose access ended: other calls fail, too. */
const wholeNode =
  /\bno (backend|healthy|available|upstream|working|response from)\b|\bbackend\b.*\b(unhealthy|unavailable|offline|down)\b|\b(unauthori[sz]ed|forbidden|api[ -]?key|access denied|invalid (project|token|key)|suspended|blocked|deactivated|paused)\b|\bservice (is )?(temporarily )?unavailable\b|\b(bad gateway|gateway time-?out)\b/

/** The node has no such method, or serves it to nobody now: geth, besu, nethermind, and gateways whose plans leave methods out. */
const unknownMethod =
  /\bmethods?\b.*\b(not (found|supported|available|exist|allowed|whitelisted|implemented|enabled)|unsupported|unknown|disabled|does not exist|unavailable)\b|\b(unsupported|unknown|unrecognized|invalid) (rpc )?method\b|\bdoes not exist\/is not available\b|\b(is not|isn't) available on\b/
const passing = /\b(temporar\w*|currently|try again|retry|later|busy|timeout|timed out)\b/

/** @param said in lower case */
export const lacksMethod = (said: string): boolean => unknownMethod.test(said) && !passing.test(said)

const maxTextDepth = 2
const maxTextsInData = 8
const maxTextChars = 2_000

/**
 * As much of a text as is read. What it says stands at its beginning, and nodes pass on the reasons of contracts, which anybody makes a megabyte long: the
 * expressions here take as long as its square.
 */
export const beginningOf = (text: string): string => text.slice(0, maxTextChars)

/** The beginnings of the message and of the texts of its data: some nodes say only there what the matter is. Bytes are no text. */
export function textOf({ message, data }: Pick<NodeError, 'message' | 'data'>): string {
  const texts = [beginningOf(message)]
  const add = (value: unknown, depth: number): void => {
    if (texts.length > maxTextsInData) return
    if (typeof value === 'string' && !value.startsWith('0x')) texts.push(beginningOf(value))
    else if (isObject(value) && depth < maxTextDepth) for (const each of Object.values(value)) add(each, depth + 1)
  }
  add(data, 0)
  return texts.join(' ').slice(0, 2 * maxTextChars)
}

export type SizeFault = Extract<Fault, { is: 'too-large' }>

/**
 * Whether a smaller question would be answered.
 * @param kind how the question can be made smaller: a batch that is refused as a whole, a range of blocks, or the text of one call
 */
export function sizeFaultOf(error: NodeError, kind: 'batch' | 'range' | 'text'): SizeFault | undefined {
  const text = textOf(error).toLowerCase()
  if (batchSize.test(text) || (kind === 'batch' && wholeBatch.test(text))) return { is: 'too-large', of: 'batch' }
  if (kind === 'range' && blockRange.test(text) && !/\bper (second|minute|hour|day)\b|\brate[ -]?limit/.test(text))
    return { is: 'too-large', of: 'call' }
  return kind === 'text' && callSize.test(text) ? { is: 'too-large', of: 'call' } : undefined
}

/** Whether the text speaks of a limit of whatever kind: then the question is not at fault. */
export const speaksOfLimit = (message: string): boolean => rate.test(beginningOf(message).toLowerCase())

/** @param limitCodes that mean "too many requests" */
export function troubleOf(error: NodeError, limitCodes: ReadonlySet<number> = httpTooMany): Fault {
  const { code } = error
  const text = textOf(error).toLowerCase()
  if (limitCodes.has(code) || rate.test(text)) return { is: 'trouble', kind: 'rate-limited', ofNode: true }
  return { is: 'trouble', kind: 'unreachable', ...(wholeNode.test(text) && { ofNode: true }) }
}

/** Answers with these are of whoever stands before the node: only what their text says can be the node's word, for the codes of gateways are their own. */
const gatewayStatuses: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 429, 502, 503, 504])

/** What an error in a body is about, where the status of the answer says something of its own. */
export function faultAt(status: number, error: NodeError, judge: (error: NodeError) => Fault): Fault {
  if (!gatewayStatuses.has(status)) return judge(error)
  const fault = judge(httpTooMany.has(error.code) ? error : { ...error, code: Number.NaN })
  const isOfQuestion = fault.is === 'verdict' || fault.is === 'too-large'
  return httpTooMany.has(status) && !isOfQuestion ? { is: 'trouble', kind: 'rate-limited', ofNode: true } : fault
}

/** The HTTP status, which public nodes repeat in the body. */
const httpTooMany: ReadonlySet<number> = new Set([429])

/** Of what no size is counted in. */
const otherUnit = String.raw`(?!\s*(?:-|%|\/|\.\d|(?:seconds?|secs?|s|ms|milliseconds?|minutes?|hours?|days?|mb|mib|kb|bytes?|results?|logs?|events?|topics|address(?:es)?|parameters?)\b))`
const number = new RegExp(String.raw`\b(\d{1,3}(?:,\d{3})+|\d+)(k?)\b${otherUnit}`, 'g')

/**
 * The size to try after a refusal: the one that it names, where that is at most half, or else half of it. "up to a 500 block range", "Batch of more than
 * 3 requests", "a 10,000 range", "a 2K block range". A wrong guess costs a round trip, not an answer.
 */
export function sizeAfter(message: string, refused: number): number {
  const half = Math.max(1, Math.floor(refused / 2))
  const named = [
    ...message
      .toLowerCase()
      .replaceAll(/0x[0-9a-f]+/g, '')
      .matchAll(number),
  ]
    .map(([, digits = '', thousand]) => Number(digits.replaceAll(',', '')) * (thousand === '' ? 1 : 1000))
    .filter((each) => each >= 1 && each <= half)
  return named.length > 0 ? Math.max(...named) : half
}

/** Empty where the node gave no code. */
export const inBrackets = ({ code }: NodeError) => (Number.isNaN(code) ? '' : ` (code ${code})`)

/** What a node did, in a form for errors and the journal: one line, at most 200 characters of its own. */
export const refusalOf = (error: NodeError, method: string): string => `refused ${method}: ${quoteNode(error.message)}${inBrackets(error)}`

/** A node's message in a form for errors and the journal: one line, no control characters, at most 200 characters. */
export function quoteNode(message: string): string {
  return message
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
}
