import {
  SluiceError,
  type AltchainVerbs,
  type Chain,
  type Connector,
  type EvmVerbs,
  type Log,
  type Rail,
  type SignedActions,
  type Trading,
} from '../contracts/index.ts'
import { isObject } from '../json.ts'
import { ammRangeRules, ammRules, followedPricingRules } from './amm-answers.ts'
import { unchecked, type Rule, type Rules } from './answer-checks.ts'
import { clobRules, marginCLOBRules, perpCLOBRules } from './order-book-answers.ts'
import { perpAMMRules } from './perp-answers.ts'

/** The plugin whose code is called. */
export interface Callee {
  readonly plugin: string
  readonly log: Log
}

/** A chain whose methods harm one request at most, whatever they do or return. */
export function chainBoundary(chain: Chain, callee: Callee): Chain {
  return boundary<Chain>(chain, chainRules, callee, '', (part) => ({
    ...(chain.evm && { evm: part(chain.evm, evmRules, 'evm.') }),
    ...(chain.altchain && { altchain: part(chain.altchain, altchainRules, 'altchain.') }),
  }))
}

/** The same for a connector: each trading type is a part of it, and what an AMM prices from memory is a part of that. */
export function connectorBoundary(connector: Partial<Connector>, callee: Callee): Partial<Connector> {
  return boundary<Partial<Connector>>(connector, connectorRules, callee, '', (part) => {
    const { AMM: amm, AMM_RANGE, PERP_AMM, CLOB, MARGIN_CLOB, PERP_CLOB } = connector
    const parts: Partial<Trading> = {
      ...(amm && {
        AMM: boundary(amm, ammRules, callee, 'AMM.', (inner) => ({
          ...(amm.followed && { followed: inner(amm.followed, followedPricingRules, 'followed.') }),
        })),
      }),
      ...(AMM_RANGE && { AMM_RANGE: part(AMM_RANGE, ammRangeRules, 'AMM_RANGE.') }),
      ...(PERP_AMM && { PERP_AMM: part(PERP_AMM, perpAMMRules, 'PERP_AMM.') }),
      ...(CLOB && { CLOB: part(CLOB, clobRules, 'CLOB.') }),
      ...(MARGIN_CLOB && { MARGIN_CLOB: part(MARGIN_CLOB, marginCLOBRules, 'MARGIN_CLOB.') }),
      ...(PERP_CLOB && { PERP_CLOB: part(PERP_CLOB, perpCLOBRules, 'PERP_CLOB.') }),
    }
    return parts
  })
}

/** The same for an exchange's own rail. */
export function actionsBoundary(actions: SignedActions, callee: Callee): SignedActions {
  return boundary<SignedActions>(actions, { heads: unchecked }, callee, 'actions.', (part) => ({
    rail: part(actions.rail, railRules, 'actions.rail.'),
  }))
}

const lifeRules = { start: unchecked, stop: unchecked }
const connectorRules: Rules<Connector> = lifeRules

const chainRules: Rules<Chain> = {
  ...lifeRules,
  rpcUrl: unchecked,
  nodes: unchecked,
  address: unchecked,
  head: unchecked,
  heads: unchecked,
  changes: unchecked,
  balances: unchecked,
  token: unchecked,
  gas: { atOnce: unchecked },
  find: unchecked,
  isTransactionId: unchecked,
  decode: unchecked,
}
const evmRules: Rules<EvmVerbs> = { allowances: unchecked, approve: unchecked, transfer: unchecked, simulate: unchecked }
const altchainRules: Rules<AltchainVerbs> = { createToken: unchecked }

const railRules: Rules<Rail> = {
  outline: unchecked,
  check: unchecked,
  cost: unchecked,
  sync: unchecked,
  merge: unchecked,
  doubtful: unchecked,
  claim: unchecked,
  slotsFrom: unchecked,
  nonceOf: unchecked,
  standing: unchecked,
  gaps: unchecked,
  draft: unchecked,
  seal: unchecked,
  send: unchecked,
  look: unchecked,
}

type Part = <P extends object>(implementation: P, rules: Rules<P>, prefix: string) => P

/**
 * An object like the implementation whose methods are called through the boundary. What is no method is read from the implementation each
 * time.
 * @param prefix of the names of its methods in logs
 * @param partsOf parts that are behind the boundary themselves
 */
export function boundary<T extends object>(
  implementation: T,
  rules: Rules<T>,
  callee: Callee,
  prefix = '',
  partsOf: (part: Part) => Partial<T> = () => ({}),
): T {
  const descriptors: PropertyDescriptorMap = {}
  for (const key of keysOf(implementation)) descriptors[key] = { enumerable: true, get: () => Reflect.get(implementation, key) }
  for (const [name, rule] of Object.entries<Rule>(rules)) {
    const method: unknown = Reflect.get(implementation, name)
    if (typeof method !== 'function') continue
    const call = (args: readonly unknown[]): unknown => Reflect.apply(method, implementation, args)
    descriptors[name] = { enumerable: true, value: guarded(call, rule, callee, `${prefix}${name}`) }
  }
  const parts = partsOf((part, partRules, partPrefix) => boundary(part, partRules, callee, partPrefix))
  for (const [key, value] of Object.entries(parts)) descriptors[key] = { enumerable: true, value }
  return Object.create(implementation, descriptors)
}

/** All names of properties, those of its classes too. */
function keysOf(implementation: object): readonly string[] {
  const keys = new Set<string>()
  for (let each: object | null = implementation; each !== null && each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const key of Object.getOwnPropertyNames(each)) if (key !== 'constructor') keys.add(key)
  return [...keys]
}

function guarded(call: (args: readonly unknown[]) => unknown, rule: Rule, callee: Callee, verb: string) {
  const check = typeof rule === 'function' ? rule : rule.atOnce
  const checked = (args: readonly unknown[]): unknown => {
    const answer = call(args)
    if (check === unchecked) return answer
    if (isThenable(answer)) return Promise.resolve(answer).then((settled) => (check(settled, args), settled))
    check(answer, args)
    return answer
  }
  return (...args: readonly unknown[]): unknown => {
    // The signal is read only where somebody has to wait: reading it starts the request's timer.
    if (typeof rule !== 'function') {
      const answer = callPluginSync(callee, verb, () => checked(args))
      const signal = isThenable(answer) ? signalOf(args) : undefined
      return signal ? callPlugin(callee, verb, () => answer, signal) : answer
    }
    const signal = signalOf(args)
    return signal ? callPlugin(callee, verb, () => checked(args), signal) : callPluginSync(callee, verb, () => checked(args))
  }
}

/** Of the last argument, where it is an `At`. */
function signalOf(args: readonly unknown[]): AbortSignal | undefined {
  const at = args.at(-1)
  const signal = isObject(at) ? at.signal : undefined
  return signal instanceof AbortSignal ? signal : undefined
}

/**
 * Calls a plugin's method so that whatever it does harms this request only. Its SluiceErrors go to the caller; anything else that it throws
 * is logged, and the caller gets UNKNOWN_ERROR. When the signal aborts, the call is abandoned and the caller gets TIMEOUT.
 */
export function callPlugin<T>({ plugin, log }: Callee, verb: string, call: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abandon = () => {
      log.warn({ plugin, verb }, 'call into plugin abandoned at the deadline of the request')
      reject(
        new SluiceError(
          'TIMEOUT',
          `The connector or chain '${plugin}' did not answer in time. Try again; if it was a trade, with the same Idempotency-Key.`,
        ),
      )
    }
    if (signal.aborted) return abandon()
    signal.addEventListener('abort', abandon, { once: true })
    // After the call was abandoned, both change nothing any more, but a defect is still logged.
    const succeed = (value: T) => {
      signal.removeEventListener('abort', abandon)
      resolve(value)
    }
    const fail = (thrown: unknown) => {
      signal.removeEventListener('abort', abandon)
      // The plugin heeded the signal.
      if (signal.aborted && thrown === signal.reason) return
      reject(asCallersError({ plugin, log }, verb, thrown))
    }
    try {
      const outcome = call()
      // A promise of any class: plugins bring their own libraries.
      if (isThenable(outcome)) Promise.resolve(outcome).then(succeed, fail)
      else succeed(outcome)
    } catch (thrown) {
      fail(thrown)
    }
  })
}

/** The same for a method that returns at once. */
export function callPluginSync<T>(callee: Callee, verb: string, call: () => T): T {
  try {
    return call()
  } catch (thrown) {
    throw asCallersError(callee, verb, thrown)
  }
}

function asCallersError({ plugin, log }: Callee, verb: string, thrown: unknown): SluiceError {
  if (thrown instanceof SluiceError) return thrown
  log.warn({ plugin, verb, err: thrown }, 'defect of a plugin: it threw something other than a SluiceError, or returned an invalid answer')
  return new SluiceError(
    'UNKNOWN_ERROR',
    `The connector or chain '${plugin}' has failed. The server's log has the reason under this requestId.`,
    { cause: thrown },
  )
}

function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
