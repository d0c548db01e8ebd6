/** What a node says, word for word: to what the official client would never ask, and in figures that it would not round. */
export async function askText({ url }: { url: string }, body: unknown): Promise<string> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text })
  return response.text()
}

export interface RpcReply {
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
  id?: unknown
}

export async function ask(node: { url: string }, method: string, params?: unknown): Promise<RpcReply> {
  const told: unknown = JSON.parse(await askText(node, { jsonrpc: '2.0', id: 7, method, params }))
  return Object(told)
}
