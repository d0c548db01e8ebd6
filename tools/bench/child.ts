import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import path from 'node:path'

type Handlers = Readonly<Record<string, (argument: never) => unknown>>

/** What a child of the benchmark offers, as its parent calls it. */
export interface Child<H extends Handlers> {
  ask<K extends keyof H & string>(name: K, ...argument: Parameters<H[K]>): Promise<Awaited<ReturnType<H[K]>>>
  end(): Promise<void>
}

interface Question {
  id: number
  name: string
  argument: unknown
}
interface Reply {
  id: number
  answer?: unknown
  failure?: string
}

/** As esbuild compiles them for the server: `tsx` keeps the name of each function, which costs much where a request makes many of them. */
export const asBuilt = new URL('./as-built.mjs', import.meta.url).href

/** Starts one of the modules in `processes/`: what is measured and what measures it share no event loop. */
export async function startChild<H extends Handlers>(
  name: string,
  args: readonly string[] = [],
  execArgv: readonly string[] = [],
  loader = 'tsx/esm',
): Promise<Child<H>> {
  const child = fork(new URL(`./processes/${name}.ts`, import.meta.url), args, {
    execArgv: ['--import', loader, '--expose-gc', ...execArgv],
    serialization: 'advanced',
  })
  const failed = failureOf(child, name)
  // Who asks is told; an end that nobody waits for is no error.
  failed.catch(() => {})
  await Promise.race([once(child, 'message'), failed])
  let lastId = 0
  const ask = async (question: string, argument: unknown): Promise<unknown> => {
    const id = (lastId += 1)
    const reply = new Promise<Reply>((resolve) => {
      const receive = (message: Reply) => {
        if (message.id !== id) return
        child.off('message', receive)
        resolve(message)
      }
      child.on('message', receive)
    })
    child.send({ id, name: question, argument } satisfies Question)
    const { answer, failure } = await Promise.race([reply, failed])
    if (failure !== undefined) throw new Error(`${name}, ${question}: ${failure}`)
    return answer
  }
  return {
    // The child's own handlers gave the answer: their types are its types.
    ask: ask as Child<H>['ask'],
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function failureOf(child: ChildProcess, name: string): Promise<never> {
  const [code, signal]: unknown[] = await once(child, 'exit')
  throw new Error(`The benchmark's process ${name} ended (${String(signal ?? code)}) before it answered.`)
}

/** In a child: answers the parent until it disconnects, then runs `end`. */
export function serve<H extends Handlers>(handlers: H, end: () => unknown = () => {}): H {
  process.on('message', (message: Question) => void answer(message))
  process.on('disconnect', () => void Promise.resolve(end()).finally(() => process.exit(0)))
  process.send?.({ id: 0 } satisfies Reply)
  return handlers

  async function answer({ id, name, argument }: Question): Promise<void> {
    try {
      process.send?.({ id, answer: await handlers[name]?.(argument as never) } satisfies Reply)
    } catch (error) {
      process.send?.({ id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) } satisfies Reply)
    }
  }
}

/** What Node itself has of a server with mutual TLS, by the certificates of a folder. Gives its port. */
export async function plainServer(certsDir: string, answer: RequestListener): Promise<number> {
  const read = (file: string) => readFileSync(path.join(certsDir, file))
  const credentials = { ca: read('ca_cert.pem'), cert: read('server_cert.pem'), key: read('server_key.pem') }
  const server = createServer({ ...credentials, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2' }, answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The reference server has no port.')
  return address.port
}
