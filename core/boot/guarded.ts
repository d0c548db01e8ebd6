import { callPlugin, callPluginSync, type Callee } from '../loader/index.ts'
import { answerChecks, followedPricingChecks } from './answers/index.ts'

/** Groups of verbs inside an implementation. */
const groups = new Set<string | symbol>([...Object.keys(answerChecks), 'followed', 'evm', 'altchain'])
/** `AMM.quote` → what its answer must be. */
const checks = new Map(
  Object.entries({ ...answerChecks, followed: followedPricingChecks }).flatMap(([group, verbs]) =>
    Object.entries(verbs).map(([verb, check]) => [`${group}.${verb}`, check]),
  ),
)

/** A plugin's implementation whose every verb is called so that whatever it does, or gives, harms one request only. */
export function guarded<T extends object>(implementation: T, callee: Callee, group = ''): T {
  const wrapped = new Map<string | symbol, unknown>()
  return new Proxy(implementation, {
    get(target, key) {
      const known = wrapped.get(key)
      if (known !== undefined) return known
      const value: unknown = Reflect.get(target, key)
      if (typeof value === 'function') wrapped.set(key, guardedVerb(target, `${group}${String(key)}`, value, callee))
      else if (groups.has(key) && typeof value === 'object' && value !== null) wrapped.set(key, guarded(value, callee, `${String(key)}.`))
      return wrapped.get(key) ?? value
    },
  })
}

function guardedVerb(target: object, verb: string, method: Function, callee: Callee) {
  return (...args: readonly unknown[]): unknown => {
    const at = args.at(-1)
    const check = checks.get(verb)
    const call = (): unknown => {
      const answer: unknown = Reflect.apply(method, target, args)
      if (check === undefined) return answer
      if (isThenable(answer)) return Promise.resolve(answer).then((settled) => (check(settled, args), settled))
      check(answer, args)
      return answer
    }
    return hasSignal(at) ? callPlugin(callee, verb, call, at.signal) : callPluginSync(callee, verb, call)
  }
}

const hasSignal = (value: unknown): value is { signal: AbortSignal } =>
  typeof value === 'object' && value !== null && 'signal' in value && value.signal instanceof AbortSignal

const isThenable = (value: unknown): boolean => typeof value === 'object' && value !== null && 'then' in value
