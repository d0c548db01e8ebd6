// What holds for every request, on each way that it may go: it has an end, a turn, a measure and a line in the log.
import type { Logger } from 'pino'
import { isAbort } from '../base/async.ts'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { printableTexts } from '../base/printable.ts'
import { limitNames } from '../config/clients.ts'
import type { Settings } from '../config/settings.ts'
import { pathsHider } from '../config/shown-paths.ts'
import { unsentWatch } from './connections.ts'
import type { Limits } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { RequestState } from './request.ts'
import { jsonHeaders } from './responses.ts'

export interface RequestStepsParts {
  settings: Settings
  limits: Limits
  metrics: Metrics
  log: Logger
}

/** Status and body of the answer to a request that failed. */
export type ShowError = (error: ShownError) => ErrorAnswer | Promise<ErrorAnswer>

interface ErrorAnswer {
  readonly status: number
  readonly body: object
}

export type ShownError = ReturnType<typeof errorBody>

const showAsSluice: ShowError = ({ http, body }) => ({ status: http, body })

type Work = () => void | Promise<void>

/** The steps that every request goes through, whether Koa has a context for it or not. */
export interface RequestSteps {
  /** Does all that answers the request. What it throws is answered as an error. The request is measured and logged at its end. */
  settle(state: RequestState, work: Work): void | Promise<void>
  /** Works once the request has its turn: in flight, or waiting for it, only once it has arrived. A slow sender takes no place. */
  inTurn(state: RequestState, work: Work, isPing?: boolean): void | Promise<void>
  /** Never rejects. */
  fail(state: RequestState, error: unknown): void | Promise<void>
  /** Refuses requests from now on. */
  refuseNew(): void
}

/** @param showError in another interface than Sluice's own */
export function createRequestSteps(
  { settings, limits, metrics, log }: RequestStepsParts,
  showError: ShowError = showAsSluice,
): RequestSteps {
  const hidePaths = pathsHider(settings)
  const watchUnsent = unsentWatch()
  /** By `performance.now`. */
  let stoppedAt = Infinity

  function fail(state: RequestState, error: unknown): void | Promise<void> {
    const { requestId, path } = state
    const shown = errorBody(error, requestId)
    const { code, name } = shown
    metrics.errors.inc({ code, name })
    if (error instanceof SluiceError && error.bound) metrics.requestsRefused.inc({ bound: error.bound })
    if (name === 'LIMIT_EXCEEDED') metrics.limitRefusals.inc({ client: state.caller.id, limit: limitOf(error) })
    if (name === 'UNKNOWN_ERROR') log.error({ err: error, requestId, path }, 'request failed by a defect')
    if (isAbort(error)) log.warn({ err: error, requestId, path }, 'request failed because a wait was ended')
    const answer = showError(shown)
    // Of a plugin in another process.
    if (answer instanceof Promise) return answer.then((given) => answerWith(state, given, shown))
    answerWith(state, answer, shown)
  }

  function answerWith(state: RequestState, answer: ErrorAnswer, error: ShownError): void {
    const { requestId, path, res } = state
    const { http, retryAfterSeconds, body } = error
    const text = textOf(answer.body)
    if (text === undefined) log.error({ requestId, path }, 'an error cannot be shown as JSON: it is shown as Sluice does, without details')
    const status = text === undefined ? http : answer.status
    const json = hidePaths(text ?? JSON.stringify({ ...body, details: undefined }))
    const retryAfter = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
    if (!res.headersSent) res.writeHead(status, { ...jsonHeaders(requestId, json), ...retryAfter }).end(json)
    end(state)
  }

  /** Every request is measured and logged. */
  function end({ startedAt, requestId, caller, connection, path, connector, route, req: { method = '' }, res }: RequestState): void {
    const { statusCode } = res
    watchUnsent(connection, res)
    const seconds = (performance.now() - startedAt) / 1000
    metrics.requests.count(route || 'unknown', method, statusCode, connector, seconds)
    const level = (method === 'POST' || method === 'DELETE') && statusCode !== 404 ? 'info' : 'debug'
    if (log.isLevelEnabled(level))
      log[level]({ requestId, client: caller.id, method, path, status: statusCode, ms: Math.round(seconds * 1000) }, 'answered')
  }

  return {
    fail,
    settle(state, work) {
      try {
        const working = work()
        if (working)
          return working.then(
            () => end(state),
            (error: unknown) => fail(state, error),
          )
      } catch (error) {
        return fail(state, error)
      }
      end(state)
    },
    inTurn(state, work, isPing) {
      // After the body has been read: the connection is closed after this answer, and unread data would be answered by a reset.
      if (state.startedAt >= stoppedAt) throw stopping
      return limits.queue.run(state, work, isPing)
    },
    refuseNew: () => void (stoppedAt = performance.now()),
  }
}

/** Undefined where it is no JSON: bigints and circles may be in what a plugin shows, and in details that it throws. */
function textOf(body: object): string | undefined {
  try {
    return JSON.stringify(body)
  } catch {
    return undefined
  }
}

/**
 * What a caller sees of an error. A wait that was ended becomes TIMEOUT. Whatever else is not a SluiceError becomes UNKNOWN_ERROR, with the
 * details in the log only.
 */
export function errorBody(error: unknown, requestId: string) {
  const { name, code, http, message, details, retryAfterSeconds } =
    error instanceof SluiceError ? error : isAbort(error) ? endedWait : defect
  return {
    http,
    code,
    name,
    retryAfterSeconds,
    body: {
      errorCode: code,
      name,
      message,
      httpErrorCode: http,
      requestId,
      ...(details !== undefined && { details: printableTexts(details) }),
    },
  }
}

const endedWait = new SluiceError('TIMEOUT', 'What the request needs was not there in time. Try again shortly.', { retryAfterSeconds: 1 })

const defect = new SluiceError('UNKNOWN_ERROR', 'Something is wrong in the server or a plugin; its log has more under this requestId.')

const stopping = new SluiceError(
  'OVERLOADED',
  'The server is stopping: nothing was done for this request. Send it again on a new connection, to another server or when this one is back.',
  { retryAfterSeconds: 5 },
)

/** Which limit a refusal is of. A metric keeps each of its labels for good, and details may be a plugin's own words. */
function limitOf(error: unknown): string {
  const details: unknown = error instanceof SluiceError ? error.details : undefined
  const limit = isObject(details) ? details['limit'] : undefined
  if (typeof limit !== 'string') return 'unknown'
  if (limitNames.has(limit)) return limit
  // Of conf/limits.yml: its wallets and rules may be many.
  return limit.startsWith('wallets.') ? 'wallets' : 'other'
}
