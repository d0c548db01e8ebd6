import { once } from 'node:events'
import { register } from 'node:module'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { moduleHere, entryPoints } from './code-layout.ts'
import type { HookData, HookNews } from './hook.ts'

let port: MessagePort | undefined
let queue: Promise<void> = Promise.resolve()

/** Tells this thread's module hook of plugins; registers it the first time. Hooks are not inherited by threads: each has its own. */
export function tellHook(news: HookNews): Promise<void> {
  queue = queue.then(() => tell(news))
  return queue
}

async function tell(news: HookNews): Promise<void> {
  port ??= start()
  port.ref()
  const taken = once(port, 'message')
  port.postMessage(news)
  await taken
  port.unref()
}

function start(): MessagePort {
  const { port1, port2 } = new MessageChannel()
  const data: HookData = { entryPoints: entryPoints(), port: port2 }
  register(moduleHere('hook'), { data, transferList: [port2] })
  return port1
}
