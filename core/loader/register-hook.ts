import { once } from 'node:events'
import { register } from 'node:module'
import { pathToFileURL } from 'node:url'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { entryPoints, moduleHere } from './code-layout.ts'
import type { HookData } from './hook.ts'

let port: MessagePort | undefined
let queue: Promise<void> = Promise.resolve()

/** Makes these folders' files load as a plugin's, in this thread. Hooks are not inherited by worker threads: each registers its own. */
export function registerHook(folders: readonly string[]): Promise<void> {
  queue = queue.then(() => tell(folders))
  return queue
}

async function tell(folders: readonly string[]): Promise<void> {
  port ??= start()
  port.ref()
  const taken = once(port, 'message')
  port.postMessage(folders.map(folderUrl))
  await taken
  port.unref()
}

function start(): MessagePort {
  const { port1, port2 } = new MessageChannel()
  const data: HookData = { entryPoints: entryPoints(), port: port2 }
  register(moduleHere('hook'), { data, transferList: [port2] })
  return port1
}

/** The folder's URL, ending with a slash. */
export function folderUrl(folder: string): string {
  return `${pathToFileURL(folder).href}/`
}
