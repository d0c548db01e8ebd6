import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { register } from 'node:module'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { HookData, HookUpdate } from './hook.ts'
import { isObject } from '../json.ts'

/** Whether the core runs from TypeScript sources or compiled. */
const inSource = import.meta.url.endsWith('.ts')

const extension = inSource ? '.ts' : '.js'
/** The folder that contains core/. */
const codeRoot = new URL('../../', import.meta.url)
const packageJson = readPackageJson()
/** Sluice's own version. */
export const { version } = packageJson

/** The URL of a module of this folder: hooks and threads are started by URL. */
function moduleHere(name: string): URL {
  return new URL(`./${name}${extension}`, import.meta.url)
}

/** What to start a thread with. From sources the thread registers tsx first, because tsx does not register itself in threads. */
export function threadHere(name: string): URL {
  const module = moduleHere(name)
  if (!inSource) return module
  const code = `import { register } from '${import.meta.resolve('tsx/esm/api')}'; register(); await import('${module.href}')`
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`)
}

/** `sluice/plugin` and the other `exports` of the package → the running core's files, so that one core exists. */
function entryPoints(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(packageJson.exports).flatMap(([subpath, target]) => {
      const file = isObject(target) ? target.default : target
      if (typeof file !== 'string' || !/\.(ts|js)$/.test(file)) return []
      return [[`${packageJson.name}${subpath.slice(1)}`, new URL(file.replace(/\.(ts|js)$/, extension), codeRoot).href]]
    }),
  )
}

interface PackageJson {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
}

/** A compiled tree lies beside its package.json or one folder below it. */
function readPackageJson(): PackageJson {
  for (const candidate of [new URL('package.json', codeRoot), new URL('../package.json', codeRoot)]) {
    if (!existsSync(candidate)) continue
    const { name, version, exports }: Partial<Record<string, unknown>> = JSON.parse(readFileSync(candidate, 'utf8'))
    if (typeof name === 'string' && typeof version === 'string' && isObject(exports)) return { name, version, exports }
  }
  throw new Error(`No package.json with "exports" beside ${codeRoot.href}: the installation is incomplete, install it again.`)
}

let port: MessagePort | undefined
let queue: Promise<void> = Promise.resolve()

/** Tells this thread's module hook of plugins, and registers the hook the first time. Threads do not inherit hooks: each has its own. */
export function updateHook(update: HookUpdate): Promise<void> {
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
  const data: HookData = { entryPoints: entryPoints(), port: port2 }
  register(moduleHere('hook'), { data, transferList: [port2] })
  return port1
}
