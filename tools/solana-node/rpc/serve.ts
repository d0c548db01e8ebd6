import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { accountMethods, tokenMethods } from './methods/accounts.ts'
import { chainMethods, feeMethods } from './methods/chain.ts'
import { blockMethods, historyMethods, signatureMethods } from './methods/history.ts'
import { sendingMethods, simulationMethods } from './methods/sending.ts'
import { controlMethods } from './methods/control.ts'
import { exactJson, RpcError, type Answer } from './protocol.ts'
import { serveSubscriptions } from './subscriptions.ts'
import type { View, Methods } from './view.ts'

export interface NodeService {
  url: string
  stop(): Promise<void>
}

/** Source: agave, rpc/src/rpc_service.rs, MAX_REQUEST_BODY_SIZE. */
const largestBodyBytes = 50 * 1024

/** What a view knows, behind the JSON-RPC face of a Solana node, on a free port of this host. */
export async function serve(view: View): Promise<NodeService> {
  const server = createServer((request, response) => void take(view, request, response).catch((error: Error) => response.destroy(error)))
  // Whoever asks closes what is idle: a request that comes as the server does would be lost.
  server.keepAliveTimeout = 0
  const stopSubscriptions = serveSubscriptions(server, view)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The node has no port.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async stop() {
      stopSubscriptions()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function take(view: View, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const body = Buffer.concat(parts)
  if (request.method !== 'POST') return void response.writeHead(405).end('Used HTTP Method is not allowed. POST or OPTIONS is required')
  if (!request.headers['content-type']?.startsWith('application/json'))
    return void response.writeHead(415).end('Supplied content type is not allowed. Content-Type: application/json is required')
  if (body.length > largestBodyBytes) return void response.writeHead(413).end('Payload Too Large')
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(exactJson(await answerTo(view, body.toString())))
}

async function answerTo(view: View, body: string): Promise<Answer> {
  let asked: unknown
  try {
    asked = JSON.parse(body)
  } catch {
    return failure(null, new RpcError(-32700, 'Parse error'))
  }
  if (!Array.isArray(asked)) return answerOne(view, asked)
  if (asked.length === 0) return failure(null, new RpcError(-32600, 'Invalid request'))
  const answers: Answer[] = []
  for (const each of asked) answers.push(await answerOne(view, each))
  return answers
}

async function answerOne(view: View, asked: unknown): Promise<Answer> {
  const [id, name, params]: unknown[] = ['id', 'method', 'params'].map((field) => Reflect.get(Object(asked), field))
  const named = typeof id === 'number' || typeof id === 'string' ? id : null
  try {
    if (typeof name !== 'string') throw new RpcError(-32600, 'Invalid request')
    const known = view.options.hasControls ? { ...methods, ...controlMethods } : methods
    const method = Object.hasOwn(known, name) ? known[name] : undefined
    if (!method) throw new RpcError(-32601, 'Method not found')
    if (params !== undefined && params !== null && !Array.isArray(params)) throw new RpcError(-32602, '`params` should be an array')
    return { jsonrpc: '2.0', result: await method(view, params ?? []), id: named }
  } catch (error) {
    if (error instanceof RpcError) return failure(named, error)
    // A defect of this service: the caller's test should fail with its cause in sight.
    console.error(error)
    return failure(named, new RpcError(-32603, `Internal error: ${String(error)}`))
  }
}

const failure = (id: string | number | null, { code, message, data }: RpcError): Answer => ({
  jsonrpc: '2.0',
  error: { code, message, data },
  id,
})

/** What a node is asked for, by name. */
const methods: Methods = {
  ...chainMethods,
  ...blockMethods,
  ...accountMethods,
  ...tokenMethods,
  ...feeMethods,
  ...simulationMethods,
  ...sendingMethods,
  ...signatureMethods,
  ...historyMethods,
}
