import type { At, Log } from '../../../contracts/index.ts'
import { maskUrl } from './mask-url.ts'
import { NodeFailure, noNodeLeft } from './node-failure.ts'
import { RpcError } from './rpc-error.ts'
import { createNode } from './rpc-node.ts'
import type { RpcCall, RpcNode } from './rpc-node.ts'
import type { Rpc, RpcAnswer } from '../types.ts'
import { withSignal } from './with-signal.ts'

/** How long the slower nodes may still answer a broadcast that one of them took. */
const stragglersMs = 200

type Sent = RpcAnswer | { unreachable: string }

export interface RpcOptions {
  rpcUrls: readonly string[]
  /** Where transactions go; empty or absent: to every node of `rpcUrls`. */
  sendUrls?: readonly string[] | undefined
  chainId: number
  meter: { rpc(method: string, outcome: 'ok' | 'error'): void }
  log: Log
  /** For one try at one node, so that a slow one leaves time for the next. */
  timeoutMs: number
  /** How errors name the network: "ethereum/sepolia". */
  network?: string
}

/**
 * JSON-RPC over several nodes: the first healthy one answers, the others take over within the same call. A node that failed
 * is checked again in the background after a backoff, and the first is gone back to. Connects on first use.
 */
export function createRpc({ rpcUrls, sendUrls = [], network = 'the network', ...options }: RpcOptions): Rpc {
  const nodes = new Map([...new Set([...rpcUrls, ...sendUrls])].map((url) => [url, createNode({ url, ...options })]))
  const pick = (urls: readonly string[]) => [...nodes].filter(([url]) => urls.includes(url)).map(([, node]) => node)
  const readers = rpcUrls.length === 0 ? [] : pick(rpcUrls)
  const senders = sendUrls.length === 0 ? readers : pick(sendUrls)

  async function exchange(calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[]> {
    at.signal.throwIfAborted()
    const unchecked: RpcNode[] = []
    for (const node of readers) {
      if (node.ready()) {
        const answers = await attempt(node, calls, batched, at)
        if (answers) return answers
      } else if (node.due()) {
        // In the background, while a healthy node answers; waited for only when there is none.
        node.check().catch(() => {})
        unchecked.push(node)
      }
    }
    for (const node of unchecked) {
      const answers = await attempt(node, calls, batched, at)
      if (answers) return answers
    }
    const failures = readers.flatMap((node) => node.failure() ?? [])
    const waitMs = Math.min(...readers.map((node) => node.waitMs()))
    throw noNodeLeft(network, failures, Number.isFinite(waitMs) ? Math.max(1, Math.ceil(waitMs / 1000)) : 60)
  }

  async function broadcast(raw: string, at: At): Promise<readonly Sent[]> {
    at.signal.throwIfAborted()
    if (senders.length === 0) throw noNodeLeft(network, [], 60)
    const call = { method: 'eth_sendRawTransaction', params: [raw] }
    const answers: Sent[] = senders.map((node) => ({ unreachable: `${node.label} did not answer in time` }))
    await new Promise<void>((done) => {
      let open = senders.length
      let timer: NodeJS.Timeout | undefined
      const take = (answer: Sent, index: number) => {
        answers[index] = answer
        open -= 1
        if ('result' in answer) timer ??= setTimeout(done, stragglersMs)
        if (open > 0) return
        clearTimeout(timer)
        done()
      }
      for (const [index, node] of senders.entries()) void sendTo(node, call, at).then((answer) => take(answer, index))
    })
    return [...answers]
  }

  return {
    async request(method, params, at) {
      const [answer] = await exchange([{ method, params }], false, at)
      if (answer?.error) throw new RpcError(answer.error.code, answer.error.message, answer.error.data)
      return answer?.result
    },
    batch: (calls, at) => (calls.length === 0 ? Promise.resolve([]) : exchange(calls, true, at)),
    broadcast,
    url: () => readers.find((node) => node.ready())?.label ?? maskUrl(rpcUrls[0] ?? ''),
    async stop() {
      await Promise.all([...nodes.values()].map((node) => node.close()))
    },
  }
}

/** Never throws: what became of the bytes is for the caller to judge. A node in its backoff is tried too, for it may still listen. */
async function sendTo(node: RpcNode, call: RpcCall, at: At): Promise<Sent> {
  try {
    if (node.due() || node.failure()?.kind === 'wrong-chain') await withSignal(node.check(), at.signal)
    const [answer] = await node.post([call], false, at)
    return answer ?? { unreachable: `${node.label} gave no answer` }
  } catch (error) {
    return { unreachable: error instanceof NodeFailure ? error.message : `${node.label} did not answer in time` }
  }
}

/** Undefined where the node cannot; its failure is kept with it. */
async function attempt(node: RpcNode, calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[] | undefined> {
  try {
    if (!node.ready()) await withSignal(node.check(), at.signal)
    return await node.post(calls, batched, at)
  } catch (error) {
    if (error instanceof NodeFailure) return undefined
    throw error
  }
}
