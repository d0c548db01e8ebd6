import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { register } from 'node:module'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { HookData, HookUpdate } from './hook.ts'

/** Whether the core runs from TypeScript sources or compiled. */
const inSource = import.meta.url.endsWith('.ts')

const extension = inSource ? '.ts' : '.js'
/** The folder that contains core/. */
const codeRoot = new URL('../../', import.meta.url)

/** The URL of a module of this folder, for what is started by its address: hooks and threads. */
function moduleHere(name: string): URL {
  return new URL(`./${name}${extension}`, import.meta.url)
}

/** What to start a thread with. From sources, it has to learn TypeScript first: tsx does not register itself in threads. */
export function threadHere(name: string): URL {
  const module = moduleHere(name)
  if (!inSource) return module
  const code = `import { register } from '${import.meta.resolve('tsx/esm/api')}'; register(); await import('${module.href}')`
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`)
}

/** `sluice/plugin` and the others of the package's `exports` → the running core's files, so that one core exists. */
function entryPoints(): Record<string, string> {
  const { name, targets } = readExports()
  return Object.fromEntries(
    targets.map(([subpath, target]) => [`${name}${subpath.slice(1)}`, new URL(target.replace(/\.(ts|js)$/, extension), codeRoot).href]),
  )
}

/** A compiled tree lies beside its package.json or one folder below it. */
function readExports(): { name: string; targets: [string, string][] } {
  for (const candidate of [new URL('package.json', codeRoot), new URL('../package.json', codeRoot)]) {
    if (!existsSync(candidate)) continue
    const manifest: unknown = JSON.parse(readFileSync(candidate, 'utf8'))
    if (!isRecord(manifest) || typeof manifest.name !== 'string' || !isRecord(manifest.exports)) continue
    const targets = Object.entries(manifest.exports).flatMap(([subpath, target]): [string, string][] => {
      const file = isRecord(target) ? target.default : target
      return typeof file === 'string' && /\.(ts|js)$/.test(file) ? [[subpath, file]] : []
    })
    return { name: manifest.name, targets }
  }
  throw new Error(`No package.json with "exports" beside ${codeRoot.href}: the installation is incomplete, install it again.`)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

let port: MessagePort | undefined
let queue: Promise<void> = Promise.resolve()

/** Tells this thread's module hook of plugins; registers it the first time. Hooks are not inherited by threads: each has its own. */
export function updateHook(news: HookUpdate): Promise<void> {
  queue = queue.then(() => tell(news))
  return queue
}

async function tell(news: HookUpdate): Promise<void> {
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

/** Sluice's own version, from its package.json: in a checkout and in a compiled tree it lies above this folder. */
export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
