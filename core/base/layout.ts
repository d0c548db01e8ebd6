import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isObject } from './json.ts'

// Where the parts of Sluice lie. The same code runs from TypeScript (tests) and bundled (`npm run build`), where what several files share is
// in dist/chunks: no other file may count on its own place.

/** Whether the core runs from TypeScript sources. */
export const inSource = import.meta.url.endsWith('.ts')

/**
 * Sources start the processes of the signer and the threads in which plugins are tried from `dist/`, which is what this environment variable
 * says that it has just been built for: they take a second to start from TypeScript, and half of the time of many tests.
 */
const fromDist = inSource && process.env['BUILT_SLUICE'] === 'dist'

const extension = inSource ? '.ts' : '.js'

/** The folder that contains core/, kits/ and plugins/: the checkout, or its or the package's dist/. */
export const codeRoot = findCodeRoot()
/** The folder of the bundled code, which processes of plugins run in a checkout too. */
export const bundledCode = path.dirname(fileURLToPath(new URL(inSource ? 'dist/any' : 'any', codeRoot)))
/** The plugins of this release. */
export const builtInPlugins = fileURLToPath(new URL('plugins', codeRoot))
/** The configuration that a home begins with. */
export const defaultConf = fileURLToPath(new URL('conf', codeRoot))
/** The files of the page at /dashboard, which are built in a checkout, too. */
export const builtDashboard = new URL(inSource ? 'dist/dashboard/' : 'dashboard/', codeRoot)
/** What people type to run Sluice as it is installed here. */
export const command = typedCommand()

function typedCommand(): string {
  if (inSource || existsSync(new URL('../bin/launch.mjs', codeRoot))) return 'bin/sluice'
  // Yarn without node_modules: npx does not look where it puts commands.
  if ('pnp' in process.versions) return 'yarn sluice'
  return codeRoot.pathname.includes('/node_modules/') ? 'npx --no-install sluice' : 'sluice'
}

function findCodeRoot(): URL {
  for (const above of ['./', '../', '../../']) {
    const folder = new URL(above, import.meta.url)
    if (existsSync(new URL(`core/main${extension}`, folder))) return folder
  }
  throw new Error(`No core/main${extension} near ${import.meta.url}: the installation is incomplete, install it again.`)
}

/** The URL of a module of the code root, e.g. `core/plugins/code/hook`: hooks, threads and processes are started by URL. */
export function moduleUrl(name: string): URL {
  return new URL(`${name}${extension}`, codeRoot)
}

/** The URL of a program that runs as a process, and the flags that Node needs for it. */
export function programUrl(name: string): { readonly url: URL; readonly flags: readonly string[] } {
  if (fromDist) return { url: new URL(`dist/${name}.js`, codeRoot), flags: [] }
  return { url: moduleUrl(name), flags: inSource ? ['--import', import.meta.resolve('tsx/esm')] : [] }
}

/** What to start a thread with. From sources the thread registers tsx first, because tsx does not register itself in threads. */
export function threadUrl(name: string): URL {
  if (fromDist) return new URL(`dist/${name}.js`, codeRoot)
  const module = moduleUrl(name)
  if (!inSource) return module
  const code = `import { register } from '${import.meta.resolve('tsx/esm/api')}'; register(); await import('${module.href}')`
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`)
}

interface PackageJson {
  readonly name: string
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly devDependencies: Readonly<Record<string, unknown>>
}

const packageJson = readPackageJson()
/** Sluice's own name, by which plugins import it, and version. */
export const { name: packageName, version } = packageJson
/** The packages that Sluice is built and tested with. */
export const { devDependencies: developmentVersions } = packageJson

/** package.json lies in the code root, or above it where that is dist/. */
function readPackageJson(): PackageJson {
  for (const file of [new URL('package.json', codeRoot), new URL('../package.json', codeRoot)]) {
    if (!existsSync(file)) continue
    const { name, version, exports, devDependencies }: Partial<Record<string, unknown>> = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof name === 'string' && typeof version === 'string' && isObject(exports))
      return { name, version, exports, devDependencies: isObject(devDependencies) ? devDependencies : {} }
  }
  throw new Error(`No package.json with "exports" beside ${codeRoot.href}: the installation is incomplete, install it again.`)
}

/**
 * The folder with what only a devnet needs, by the same paths as in the code root: `devnet.js` and `artifacts` of kits and plugins. It is the
 * code root itself in sources, a folder beside the bundled server in a checkout, and else the package sluice-devnet, installed beside Sluice or
 * in the working folder. Undefined where that is not installed.
 */
export function devnetRoot(): URL | undefined {
  if (inSource) return codeRoot
  const beside = new URL('sluice-devnet/', codeRoot)
  if (existsSync(beside)) return beside
  for (const from of [codeRoot, pathToFileURL(path.join(process.cwd(), 'package.json'))]) {
    try {
      return new URL('./', pathToFileURL(createRequire(from).resolve('sluice-devnet/package.json')))
    } catch {
      // Not installed there.
    }
  }
  return undefined
}

/** The same with programs, which are built in sources, too. */
export const builtDevnetRoot = (): URL | undefined => (inSource ? new URL('dist/sluice-devnet/', codeRoot) : devnetRoot())

/** `sluice/plugin` and the other `exports` of the package → the running core's files, so that one core exists. */
export function entryPoints(): Record<string, string> {
  const devnet = devnetRoot()
  return Object.fromEntries(
    Object.entries(packageJson.exports).flatMap(([subpath, target]) => {
      const file = isObject(target) ? Reflect.get(target, 'default') : target
      const module = typeof file === 'string' ? /^\.\/dist\/(.+)\.js$/.exec(file)?.[1] : undefined
      if (module === undefined) return []
      const ofDevnet = devnet && new URL(`${module}${extension}`, devnet)
      const url = ofDevnet && existsSync(ofDevnet) ? ofDevnet : moduleUrl(module)
      return [[`${packageJson.name}${subpath.slice(1)}`, url.href]]
    }),
  )
}
