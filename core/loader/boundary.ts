import { type TradingType, SluiceError, type Log } from '../contracts/index.ts'
import { ammChecks, ammRangeChecks, type Check, followedPricingChecks } from './amm-answers.ts'
import { marginClobChecks, perpClobChecks, clobChecks } from './order-book-answers.ts'
import { perpAMMChecks } from './perp-answers.ts'

export { followedPricingChecks } from './amm-answers.ts'

/** By trading type and verb. Types are gone when a plugin runs, and what it gives goes into the bounds of transactions. */
const answerChecks: Readonly<Record<TradingType, Readonly<Record<string, Check>>>> = {
  AMM: ammChecks,
  AMM_RANGE: ammRangeChecks,
  PERP_AMM: perpAMMChecks,
  CLOB: clobChecks,
  MARGIN_CLOB: marginClobChecks,
  PERP_CLOB: perpClobChecks,
}

/** Groups of verbs inside an implementation. */
const groups = new Set<string | symbol>([...Object.keys(answerChecks), 'followed', 'evm', 'altchain'])
/** What says at once what is known: no time is counted for that. */
const atOnce: ReadonlySet<string> = new Set(['gas', 'followed.vet'])
/** `AMM.quote` → what its answer must be. */
const checks = new Map(
  Object.entries({ ...answerChecks, followed: followedPricingChecks }).flatMap(([group, verbs]) =>
    Object.entries(verbs).map(([verb, check]) => [`${group}.${verb}`, check]),
  ),
)

/** A plugin's implementation whose every verb is called so that whatever it does, or gives, harms one request only. */
export function pluginBoundary<T extends object>(implementation: T, callee: Callee, group = ''): T {
  const wrapped = new Map<string | symbol, unknown>()
  return new Proxy(implementation, {
    get(target, key) {
      const known = wrapped.get(key)
      if (known !== undefined) return known
      const value: unknown = Reflect.get(target, key)
      if (typeof value === 'function') wrapped.set(key, guardedVerb(target, `${group}${String(key)}`, value, callee))
      else if (groups.has(key) && typeof value === 'object' && value !== null)
        wrapped.set(key, pluginBoundary(value, callee, `${String(key)}.`))
      return wrapped.get(key) ?? value
    },
  })
}

function guardedVerb(target: object, verb: string, method: Function, callee: Callee) {
  const check = checks.get(verb)
  const isAtOnce = atOnce.has(verb)
  return (...args: readonly unknown[]): unknown => {
    const at = args.at(-1)
    if (isAtOnce) {
      const answer = callPluginSync(callee, verb, () => checked(Reflect.apply(method, target, args), check, args))
      return isThenable(answer) && hasSignal(at) ? callPlugin(callee, verb, () => answer, at.signal) : answer
    }
    if (!hasSignal(at)) return callPluginSync(callee, verb, () => checked(Reflect.apply(method, target, args), check, args))
    return callPlugin(callee, verb, () => checked(Reflect.apply(method, target, args), check, args), at.signal)
  }
}

function checked(answer: unknown, check: Check | undefined, args: readonly unknown[]): unknown {
  if (check === undefined) return answer
  if (isThenable(answer)) return Promise.resolve(answer).then((settled) => (check(settled, args), settled))
  check(answer, args)
  return answer
}

const hasSignal = (value: unknown): value is { signal: AbortSignal } =>
  typeof value === 'object' && value !== null && 'signal' in value && value.signal instanceof AbortSignal

const isThenable = (value: unknown): boolean => typeof value === 'object' && value !== null && 'then' in value

/** The plugin whose code is called. */
export interface Callee {
  readonly plugin: string
  readonly log: Log
}

/**
 * Calls a plugin's verb so that whatever it does harms this request only. Its SluiceErrors go to the caller as they
 * are; anything else that it throws becomes UNKNOWN_ERROR, and the log has what it was. When the signal aborts, the
 * call is left behind and the caller gets TIMEOUT.
 */
export function callPlugin<T>({ plugin, log }: Callee, verb: string, call: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      log.warn({ plugin, verb }, 'left behind at the deadline of the request')
      reject(
        new SluiceError(
          'TIMEOUT',
          `The connector or chain '${plugin}' did not answer in time. Try again; if it was a trade, with the same Idempotency-Key.`,
        ),
      )
    }
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave, { once: true })
    // After it was left behind, this changes nothing any more, but a defect is still logged.
    const succeed = (value: T) => {
      signal.removeEventListener('abort', leave)
      resolve(value)
    }
    const fail = (thrown: unknown) => {
      signal.removeEventListener('abort', leave)
      // It gave up as it was told to.
      if (signal.aborted && thrown === signal.reason) return
      reject(asCallersError({ plugin, log }, verb, thrown))
    }
    try {
      const outcome = call()
      // A promise of any make: plugins bring their own.
      if (isThenableOfCallPlugin(outcome)) Promise.resolve(outcome).then(succeed, fail)
      else succeed(outcome)
    } catch (thrown) {
      fail(thrown)
    }
  })
}

/** The same for a verb that answers at once. */
export function callPluginSync<T>(callee: Callee, verb: string, call: () => T): T {
  try {
    return call()
  } catch (thrown) {
    throw asCallersError(callee, verb, thrown)
  }
}

function asCallersError({ plugin, log }: Callee, verb: string, thrown: unknown): SluiceError {
  if (thrown instanceof SluiceError) return thrown
  log.warn({ plugin, verb, err: thrown }, 'a defect of the plugin: it threw what is no SluiceError, or gave what is no answer')
  return new SluiceError(
    'UNKNOWN_ERROR',
    `The connector or chain '${plugin}' has failed. The server's log has the reason under this requestId.`,
    { cause: thrown },
  )
}

function isThenableOfCallPlugin<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
