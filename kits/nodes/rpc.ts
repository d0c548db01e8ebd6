import type { At, Log } from '../../core/contracts/index.ts'
import { broadcast } from '../../core/kits/nodes/broadcast.ts'
import type { Dialect } from './dialect.ts'
import { createFleet } from './node-ranking.ts'
import { defaultHealthPolicy } from '../../core/kits/nodes/fleet/health-policy.ts'
import type { HealthPolicy } from '../../core/kits/nodes/fleet/health-policy.ts'
import { nodeStates } from '../../core/kits/nodes/fleet/node-states.ts'
import { maskUrl } from '../../core/kits/nodes/node/mask-url.ts'
import { NodeFailure, noNodeLeft } from '../../core/kits/nodes/node/node-failure.ts'
import { RpcError } from '../../core/kits/nodes/node/rpc-error.ts'
import { createNode } from './node.ts'
import type { RpcNode } from './node.ts'
import type { Ask, Meter, Rpc, RpcAnswer, RpcCall } from '../../core/kits/nodes/types.ts'
import { withSignal } from '../../core/kits/nodes/with-signal.ts'

export interface RpcOptions {
  rpcUrls: readonly string[]
  /** Where transactions go; empty or absent: to every node of `rpcUrls`. */
  sendUrls?: readonly string[] | undefined
  dialect: Dialect
  meter: Meter
  log: Log
  /** For one try at one node, so that a slow one leaves time for the next. */
  timeoutMs: number
  /** How errors name the network: "ethereum/sepolia". */
  network?: string
  health?: Partial<HealthPolicy>
}

/** A node cannot; why is kept with it. */
class Unanswered extends Error {}

/**
 * JSON-RPC over several nodes: the first healthy one answers, the others take over within the same call. A node that failed
 * is checked again in the background after a backoff, and the first is gone back to. Connects on first use.
 */
export function createRpc({ rpcUrls, sendUrls = [], network = 'the network', health, ...options }: RpcOptions): Rpc {
  const policy = { ...defaultHealthPolicy, ...health }
  const { firstBackoffMs } = policy
  const { dialect } = options
  const nodes = new Map([...new Set([...rpcUrls, ...sendUrls])].map((url) => [url, createNode({ url, firstBackoffMs, ...options })]))
  const pick = (urls: readonly string[]) => [...new Set(urls)].flatMap((url) => nodes.get(url) ?? [])
  const readers = pick(rpcUrls)
  const senders = sendUrls.length === 0 ? readers : pick(sendUrls)
  const fleet = createFleet(readers, dialect, policy, options.log)

  async function exchange(calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[]> {
    at.signal.throwIfAborted()
    fleet.compare()
    const due = readers.filter((node) => node.due())
    // In the background, while a healthy node answers; waited for only when there is none.
    const ready = fleet.ready()
    if (ready.length > 0) for (const node of due) node.check().catch(() => {})
    const tried = new Set<RpcNode>()
    let stale: readonly RpcAnswer[] | undefined
    for (const node of [...ready, ...due]) {
      tried.add(node)
      const answers = await attempt(node, calls, batched, at)
      if (!answers) continue
      // It was good until this very answer showed that it is not.
      if (!fleet.isBeaten(node, tried)) return answers
      stale ??= answers
    }
    if (stale) return stale
    const failures = readers.flatMap((node) => node.failure() ?? [])
    const waitMs = Math.min(...readers.map((node) => node.waitMs()))
    throw noNodeLeft(network, failures, Number.isFinite(waitMs) ? Math.max(1, Math.ceil(waitMs / 1000)) : 60)
  }

  /** Undefined where the node cannot; its failure is kept with it. */
  async function attempt(node: RpcNode, calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[] | undefined> {
    try {
      if (!node.ready()) await withSignal(node.check(), at.signal)
      const askedMs = performance.now()
      const answers = await node.post(calls, batched, at)
      return withAge(node, calls, answers, askedMs)
    } catch (error) {
      if (error instanceof NodeFailure) return undefined
      throw error
    }
  }

  /** Empty where the node left a question without an answer. */
  async function talkWith<T>(node: RpcNode, talk: (ask: Ask) => Promise<T>, at: At): Promise<readonly T[]> {
    const ask: Ask = async (calls) => (await attempt(node, calls, true, at)) ?? Promise.reject(new Unanswered())
    try {
      return [await talk(ask)]
    } catch (error) {
      if (error instanceof Unanswered) return []
      throw error
    }
  }

  /** Learns from the answers where the node stands, and says with them how old they are. */
  function withAge(node: RpcNode, calls: readonly RpcCall[], answers: readonly RpcAnswer[], askedMs: number): readonly RpcAnswer[] {
    const head = dialect.headIn(calls, answers)
    if (head) fleet.heads.saw(node, head, { askedMs, answeredMs: performance.now(), told: true })
    const behind = head ? fleet.heads.behind(head.number) : fleet.heads.isLagging(node) ? fleet.heads.lag(node).blocks : 0
    return behind === 0 ? answers : answers.map((answer) => ({ ...answer, behind }))
  }

  return {
    async request(method, params, at) {
      const [answer] = await exchange([{ method, params }], false, at)
      if (answer?.error) throw new RpcError(answer.error.code, answer.error.message, answer.error.data)
      return answer?.result
    },
    batch: (calls, at) => (calls.length === 0 ? Promise.resolve([]) : exchange(calls, true, at)),
    async everyone<T>(talk: (ask: Ask) => Promise<T>, at: At) {
      at.signal.throwIfAborted()
      const told = await Promise.all(readers.map((node) => talkWith(node, talk, at)))
      return told.flat()
    },
    async broadcast(signed, at) {
      at.signal.throwIfAborted()
      if (senders.length === 0) throw noNodeLeft(network, [], 60)
      return broadcast(senders, dialect, signed, at)
    },
    behind: (number) => fleet.heads.behind(Number(number)),
    url: () => (fleet.ready()[0] ?? readers[0])?.label ?? maskUrl(rpcUrls[0] ?? ''),
    distrust(what) {
      const [inUse, other] = fleet.ready()
      if (other) inUse?.distrust(what)
    },
    nodes: () => nodeStates(fleet, [...nodes.values()], readers),
    async stop() {
      await Promise.all([...nodes.values()].map((node) => node.close()))
    },
  }
}
