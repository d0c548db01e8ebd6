import { setTimeout as sleep } from 'node:timers/promises'
import { healthy, type Fault } from '../../test/http/trouble/faulty-proxy.ts'

/** Nobody answers, and nothing comes through. */
export const away: Fault = ({ request }) => request.socket.destroy()

/** Too many requests, as public nodes say it. */
export const overItsLimit: Fault = ({ response }) =>
  response
    .writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' })
    .end('{"jsonrpc":"2.0","error":{"code":429,"message":"Too many requests for a specific RPC call"},"id":null}')

export const slowBy =
  (milliseconds: number): Fault =>
  async (exchange) => {
    await sleep(milliseconds)
    await healthy(exchange)
  }

/** Takes what asks for this, and is gone before it has answered. */
export const losesAnswersOf =
  (method: string): Fault =>
  async (exchange) => {
    if (!exchange.methods.includes(method)) await healthy(exchange)
    else {
      await exchange.answer()
      exchange.request.socket.destroy()
    }
  }

/** Comes through, and yet its answer is this error; what is asked beside it has its own. */
export const failsAt =
  (method: string, error: { code: number; message: string }): Fault =>
  async ({ methods, response, answer }) => {
    // Only rentEpoch is too large for a number here, and nobody reads it.
    const told: unknown = JSON.parse(await answer())
    const answers = [told].flat().map((each, index) => (methods[index] === method ? failed(each, error) : each))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(Array.isArray(told) ? answers : answers[0]))
  }

const failed = (answer: unknown, error: object) => ({ jsonrpc: '2.0', error, id: Reflect.get(Object(answer), 'id') })
