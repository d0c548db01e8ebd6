import { once } from 'node:events'
import { register } from 'node:module'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { codeRoot, entryPoints, moduleUrl } from '../../base/layout.ts'
import type { HookData, HookUpdate } from './hook.ts'
import { knowSources } from './source-places.ts'

let port: MessagePort | undefined
let queue: Promise<void> = Promise.resolve()

/** Tells this thread's module hook of plugins, and registers the hook the first time. Threads do not inherit hooks: each has its own. */
export function updateHook(update: HookUpdate): Promise<void> {
  knowSources(update.compiled)
  queue = queue.then(() => send(update))
  return queue
}

async function send(update: HookUpdate): Promise<void> {
  port ??= startHook()
  port.ref()
  const applied = once(port, 'message')
  port.postMessage(update)
  await applied
  port.unref()
}

function startHook(): MessagePort {
  const { port1, port2 } = new MessageChannel()
  const privateFolders = ['core/', 'kits/', 'testkit/', 'chunks/'].map((folder) => new URL(folder, codeRoot).href)
  const data: HookData = { entryPoints: entryPoints(), privateFolders, port: port2 }
  register(moduleUrl('core/plugins/code/hook'), { data, transferList: [port2] })
  return port1
}
