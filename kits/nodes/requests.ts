// Sends calls to one node in requests of the size that it takes, and learns that size from what it refuses.
import type { At } from '../../core/contracts/index.ts'
import { type SentCall, readAnswers, throwNodeTrouble } from './answers.ts'
import type { Dialect, Fault, RpcAnswer, RpcCall } from './dialect.ts'
import { faultAt, refusalOf, textOf } from './faults.ts'
import { AnswerTooLongError, ConnectionClosedError, ListRefusedError, type Http, type HttpResponse } from './http.ts'
import type { NodeLimits } from './limits.ts'
import { maskAnswer } from './url-secrets.ts'

let lastId = 0

interface AskOptions {
  readonly dialect: Dialect
  readonly limits: NodeLimits
  /** They are taken out of what the node says. */
  readonly secrets: () => readonly string[]
}

export interface AskBounds {
  /** So many answers may be longer than is read: each is as much as is read. */
  readonly tooLong: number
  /** Calls of one request, whatever else the node takes. */
  readonly mostCalls: number
}

/** @throws NodeFailure where the node answers no call, ListRefusedError where it may answer shorter lists; the signal's reason */
type Ask = (calls: readonly RpcCall[], batched: boolean, at: At, over: Http, bounds: AskBounds) => Promise<readonly RpcAnswer[]>

/** The connections to the node for one question. */
interface Line {
  readonly http: Http
  /** So many more answers may be longer than is read. */
  tooLongLeft: number
  readonly mostCalls: number
}

export function createAsk({ dialect, limits, secrets }: AskOptions): Ask {
  /**
   * Calls that a family can split are asked in pieces that the node takes, and their results joined.
   * @param most for one piece, whatever else the node takes, so that this ends
   */
  async function askInPieces(
    calls: readonly RpcCall[],
    batched: boolean,
    at: At,
    over: Line,
    most = Infinity,
  ): Promise<readonly RpcAnswer[]> {
    const { split } = dialect
    if (!split || !batched) return askInParts(calls, batched, at, over, over.mostCalls)
    const pieces = calls.map((call) => {
      const max = Math.min(most, limits.max(call.method))
      return (call.size ?? 0) > max ? split(call, max) : undefined
    })
    const found = await askInParts(
      calls.flatMap((call, index) => pieces[index]?.calls ?? [call]),
      batched,
      at,
      over,
      over.mostCalls,
    )
    let next = 0
    const answers = calls.map((call, index): RpcAnswer | { readonly call: RpcCall; readonly max: number } => {
      const piece = pieces[index]
      const own = found.slice(next, (next += piece?.calls.length ?? 1))
      const error = own.find((each) => each.error)?.error
      if (error?.fault?.is === 'too-large' && error.max !== undefined && split(call, error.max)) return { call, max: error.max }
      if (error || !piece) return error ? { error } : (own[0] ?? {})
      return { result: piece.join(own.map(({ result }) => result)) }
    })
    return Promise.all(
      answers.map(async (each) => ('call' in each ? ((await askInPieces([each.call], batched, at, over, each.max))[0] ?? {}) : each)),
    )
  }

  /**
   * In requests of the size that the node takes, as far as that is known; what it refuses for its size is asked again in smaller ones.
   * @param mostCalls of one request, whatever else the node takes, so that this ends
   */
  async function askInParts(
    calls: readonly RpcCall[],
    batched: boolean,
    at: At,
    over: Line,
    mostCalls: number,
  ): Promise<readonly RpcAnswer[]> {
    const answers: RpcAnswer[] = calls.map(({ method, size = 0, smallest }) =>
      size > limits.max(method) && !smallest ? tooLarge(method, limits.max(method)) : {},
    )
    const open = calls.flatMap((call, index) => (answers[index]?.error ? [] : { call, index }))
    const sent = open.map(({ call: { method, params, size, smallest }, index }) => {
      const request = { jsonrpc: '2.0', id: (lastId += 1), method, params }
      return { json: JSON.stringify(request), id: request.id, method, size, smallest, index }
    })
    const maxCalls = Math.min(mostCalls, limits.max('batch'))
    const parts = batched ? splitBatch(sent, dialect.maxBodyBytes ?? Infinity, maxCalls) : [sent]
    const refused: number[] = []
    let smaller = maxCalls
    const ask = async (part: readonly SentCall[]): Promise<void> => {
      const asList = part.length > 1
      const texts = part.map(({ json }) => json)
      const response = await postOrTooLong(over, asList ? `[${texts.join(',')}]` : (texts[0] ?? ''), at.signal).catch((error: unknown) => {
        throw asList && error instanceof ConnectionClosedError ? new ListRefusedError(part.length, error.message, true) : error
      })
      if (response instanceof AnswerTooLongError && part.length > 1) {
        // Of what the calls ask for, not of their number: the next batch may be as large.
        refused.push(...part.map(({ index }) => index))
        smaller = Math.min(smaller, Math.ceil(part.length / 2))
        return
      }
      const { judged, isWhole } =
        response instanceof AnswerTooLongError
          ? { judged: part.map((each) => tooLong(response, each)), isWhole: false }
          : judgedAnswers(response, part, asList)
      const [{ error: whole } = {}] = judged
      if (asList && isWhole && whole && refusesList(whole.fault))
        throw new ListRefusedError(part.length, refusalOf(whole, part[0]?.method ?? ''))
      for (const [index, each] of part.entries()) {
        const answer = judged[index] ?? {}
        answers[each.index] = learnSize(answer, each)
        if (!asList || !isRefusedBatch(answer, each, part.length)) continue
        refused.push(each.index)
        smaller = Math.min(smaller, limits.refused('batch', part.length, textOf(answer.error ?? { message: '' })))
      }
      if (!(response instanceof AnswerTooLongError)) throwNodeTrouble(judged, part, response)
      if (asList && !judged.some(({ error }) => error?.fault?.is === 'too-large')) limits.took('batch', part.length)
    }
    await Promise.all(parts.map(ask))
    if (refused.length === 0) return answers
    const again = await askInParts(
      refused.map((index) => calls[index]).filter((call) => call !== undefined),
      batched,
      at,
      over,
      smaller,
    )
    for (const [position, index] of refused.entries()) answers[index] = again[position] ?? {}
    return answers
  }

  function judgedAnswers(response: HttpResponse, part: readonly SentCall[], asList: boolean) {
    const { answers: found, isWhole } = readAnswers(response, part, asList, dialect)
    const judged = found
      .map((answer) => (answer.error ? maskAnswer(answer, secrets()) : answer))
      .map((answer, index) => withFault(answer, part[index]?.method, isWhole, response.status))
    return { judged, isWhole }
  }

  /**
   * The answer to one call. Where less may be asked for, that is done. Where not, it is trouble of that call, and the node is well: nobody knows beforehand how
   * long what a plugin or a caller names is.
   */
  function tooLong({ message }: AnswerTooLongError, { method, size, smallest }: SentCall): RpcAnswer {
    if (size !== undefined && !smallest)
      return withFault({ error: { code: Number.NaN, message: 'response size too large' } }, method, false)
    return { error: { code: Number.NaN, message, fault: { is: 'trouble', kind: 'unreachable' } } }
  }

  /** @param isWhole whether it answers a whole batch: of that it may say that it is too large, and else it is the answer to each call */
  function withFault({ result, error }: RpcAnswer, method: string | undefined, isWhole: boolean, status = 200): RpcAnswer {
    if (!error) return { result }
    const ofBatch = isWhole ? dialect.judge(error, undefined) : undefined
    const fault = ofBatch?.is === 'too-large' ? ofBatch : faultAt(status, error, (each) => dialect.judge(each, method))
    return { error: { ...error, fault } }
  }

  function learnSize(answer: RpcAnswer, { method, size, smallest }: SentCall): RpcAnswer {
    const { error } = answer
    if (size === undefined) return answer
    if (!error) limits.took(method, size)
    else if (error.fault?.is === 'too-large' && error.fault.of === 'call' && !smallest)
      return { error: { ...error, max: limits.refused(method, size, textOf(error)) } }
    return answer
  }

  return (calls, batched, at, http, { tooLong, mostCalls }) => askInPieces(calls, batched, at, { http, tooLongLeft: tooLong, mostCalls })
}

const postOrTooLong = (over: Line, json: string, signal: AbortSignal): Promise<HttpResponse | AnswerTooLongError> =>
  over.http.post(json, signal).catch((error: unknown) => {
    if (error instanceof AnswerTooLongError && (over.tooLongLeft -= 1) >= 0) return error
    throw error
  })

/** Whether the error that answers a list may be about its length: it says neither how long a list may be, nor that the node is asked too much or not at all. */
const refusesList = (fault: Fault | undefined): boolean =>
  fault?.is !== 'too-large' && !(fault?.is === 'trouble' && (fault.kind === 'rate-limited' || fault.ofNode === true))

const tooLarge = (method: string, max: number): RpcAnswer => ({
  error: { code: Number.NaN, message: `${method} of more than ${max} is not taken`, fault: { is: 'too-large', of: 'call' }, max },
})

/**
 * Splits a batch into as few requests as keep within the limits, with the calls in their order. A single call is never split.
 * @param maxBytes of one body @param maxCalls of one batch; both Infinity where nodes have no limit
 */
function splitBatch(sent: readonly SentCall[], maxBytes: number, maxCalls: number): readonly (readonly SentCall[])[] {
  const parts: { sent: SentCall[]; bytes: number }[] = []
  for (const each of sent) {
    // With the comma or bracket after it.
    const bytes = Buffer.byteLength(each.json) + 1
    const last = parts.at(-1)
    if (last && 1 + last.bytes + bytes <= maxBytes && last.sent.length < maxCalls) {
      last.sent.push(each)
      last.bytes += bytes
    } else parts.push({ sent: [each], bytes })
  }
  return parts.map((part) => part.sent)
}

/** Whether it is asked again in a smaller batch. A call whose asker can make it smaller is left to that. */
function isRefusedBatch({ error }: RpcAnswer, { size }: SentCall, length: number): boolean {
  return error?.fault?.is === 'too-large' && !(error.fault.of === 'call' && (size !== undefined || length === 1))
}
