export type Rpc = (method: string, ...params: readonly unknown[]) => Promise<unknown>

/** Calls a JSON-RPC node; throws what it answers as an error. */
export function rpcTo(url: string, timeoutMs = 10_000): Rpc {
  return async (method, ...params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const answer: unknown = await response.json()
    if (typeof answer === 'object' && answer !== null && 'result' in answer) return answer.result
    throw new Error(`${method}: ${JSON.stringify(answer).slice(0, 500)}`)
  }
}
