import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What stands before a node. */
export interface NodeFront {
  readonly url: string
  stop(): Promise<void>
}

const makesBlocks = /"method":\s*"(?:evm_mine|anvil_mine|anvil_reorg|evm_revert)"/

/**
 * Lets anvil answer as other nodes do: what is read of a block is of that block. anvil reads its newest block from the state that it is about
 * to change: while it makes the next block, it answers with a mix of both, and twice in a row where the machine is busy. So no block is made
 * while something is read, and nothing is read while one is made. Blocks have to be made on request, through this.
 */
export async function consistentReads(node: string): Promise<NodeFront> {
  const reading = new Set<Promise<void>>()
  let making: Promise<unknown> = Promise.resolve()

  async function send(body: string, response: ServerResponse): Promise<void> {
    const answer = await fetch(node, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    if (makesBlocks.test(body)) {
      const made = Promise.all([making, ...reading]).then(() => send(body, response))
      making = made.catch(() => {})
      return made
    }
    const read = making.then(() => send(body, response))
    const settled = read.catch(() => {}).finally(() => reading.delete(settled))
    reading.add(settled)
    return read
  }

  const server = createServer((request, response) => void forward(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
