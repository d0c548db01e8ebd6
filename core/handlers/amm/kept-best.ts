// The answer of the best of all connectors to a question that comes again: the same object, while nothing that it depends on changes.
import type { At } from '../../contracts/index.ts'
import type { NetworkEntry, Registry } from '../../plugins/index.ts'
import { isOfStates, type AskScope } from './ask-each.ts'
import type { Candidates } from './candidates.ts'

interface BestAnswer<T extends object> {
  readonly asked: Candidates
  readonly shown: T
}

interface AnswerCache {
  /** Of the states in memory, and of the plugins that are loaded or quarantined. */
  readonly states: number
  readonly plugins: number
  readonly answers: Map<string, BestAnswer<object>>
  /** Most questions come only once. */
  readonly askedOnce: Set<string>
}

const keptOn = new WeakMap<NetworkEntry, AnswerCache>()
/** Of one network. */
const mostKept = 1_000

/**
 * What was made for the same question, or what is made now. Only what came at once is kept: it is by the states in memory, of connectors of the server's
 * own process.
 */
export function keptBest<T extends object>(
  question: string,
  scope: AskScope,
  at: At,
  make: () => BestAnswer<T> | Promise<BestAnswer<T>>,
): T | Promise<T> {
  const {
    network,
    services: { registry, quotes },
  } = scope
  const states = quotes.version({ chain: network.chain, network: network.network, chainImpl: network.impl })
  const plugins = changesOf(registry)
  let kept = keptOn.get(network)
  if (states !== undefined && (kept?.states !== states || kept.plugins !== plugins))
    keptOn.set(network, (kept = { states, plugins, answers: new Map(), askedOnce: new Set() }))
  const known = states === undefined ? undefined : kept?.answers.get(question)
  if (known && hasSameGas(known.asked, network, at)) return known.shown as T
  const made = make()
  if (made instanceof Promise) return made.then(({ shown }) => shown)
  if (kept && states !== undefined) keep(kept, question, made, scope)
  return made.shown
}

function keep({ answers, askedOnce }: AnswerCache, question: string, made: BestAnswer<object>, scope: AskScope): void {
  if (askedOnce.delete(question)) {
    if (!isKeepable(made.asked, scope)) return
    if (answers.size >= mostKept) answers.clear()
    answers.set(question, { ...made, shown: Object.freeze(made.shown) })
    return
  }
  if (askedOnce.size >= mostKept) askedOnce.clear()
  askedOnce.add(question)
}

/** A refusal of another kind, or of a connector that is not built in, may end while no state changes. */
function isKeepable(
  { candidates, leftOut, source }: Candidates,
  { network: { chain, network }, services: { registry } }: AskScope,
): boolean {
  if (source !== 'memory' || candidates.some(({ venue }) => venue.hosted) || !leftOut.every(isOfStates)) return false
  const venues = registry.venuesOn(chain, network)
  return leftOut.every((left) => venues.some(({ connector, builtIn }) => builtIn && connector === left.connector))
}

/** The price of gas may change between two blocks. */
function hasSameGas({ candidates: [{ sourced, gas }] }: Candidates, { impl }: NetworkEntry, at: At): boolean {
  const now = impl.gas(sourced.quote.gasUnits, sourced.quote.head, at)
  if (now instanceof Promise) {
    now.catch(() => {})
    return false
  }
  return now.gasCostRaw === gas.gasCostRaw && now.gasPriceRaw === gas.gasPriceRaw
}

const changes = new WeakMap<object, { count: number }>()

/** How often the plugins of a registry, or what is quarantined, have changed. */
function changesOf(registry: Pick<Registry, 'onChange'>): number {
  const known = changes.get(registry)
  if (known) return known.count
  const counted = { count: 0 }
  changes.set(registry, counted)
  registry.onChange(() => (counted.count += 1))
  return counted.count
}
