import { callPlugin, callPluginSync, type Callee } from './call-plugin.ts'
import type { Check } from '../boot/answers/check.ts'
import { answerChecks } from '../boot/answers/index.ts'
import { followedPricingChecks } from './amm-answers.ts'

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
