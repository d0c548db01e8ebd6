// What runs: dist/, bundled by esbuild. `npm start` builds it when sources changed; `npm run build` makes it whole, with types, source maps and conf,
// as the packages have it (`npm run pack`):
//
//   dist/                 the server, its plugins and the public entry points; what several of them share is in dist/chunks
//   dist/dashboard/       the page at /dashboard, from the folder dashboard/
//   dist/sluice-devnet/   the package of what only a devnet needs: the exchanges' bytecode, the devnet.js of kits and plugins
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { bytecodeLicenses, licenseTexts } from './bytecode-licenses.mjs'
import { bundledFolders, licensesOf, MissingLicense } from './licenses.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = path.join(root, 'dist')
const devnet = path.join(dist, 'sluice-devnet')
const chunkFolder = path.join(dist, 'chunks')
const stamp = path.join(dist, '.built')
const sources = [
  'core',
  'dashboard',
  'kits',
  'client',
  'testkit',
  'plugins',
  'templates',
  'tools/hyperliquid-simulator',
  'tools/solana-node',
]

/** Modules that are started by their URL: the command line, threads, processes, what mocha runs for `sluice plugin test`, and `sluice plugin dev`. */
const started = [
  'core/main.ts',
  'core/devnet/outside-process.ts',
  'core/plugins/consent/examine-process.ts',
  'core/plugins/code/hook.ts',
  'core/plugins/code/trial-thread.ts',
  'core/plugins/isolate/host-process.ts',
  'core/plugins/code/watchdog-thread.ts',
  'kits/declared.ts',
  'testkit/contract-spec.ts',
  'testkit/dev-process.ts',
]
/** Processes with little memory: apart, because what they share with the server would come with all that the server needs of it. */
const startedApart = ['core/wallet/signer-keeper.ts', 'core/wallet/signer-process.ts']
/** Not bundled: what brings a binary, and what only authors of plugins have. */
const external = ['libsql', 'pg-native', 'esbuild', 'mocha', 'tsx']
/** The packages that are installed beside the published one: binaries, and what its declarations name. All else is in its bundle. */
export const installedBeside = ['esbuild', 'libsql', 'typebox']

/** The manifest of a package that is published, from that of its folder. */
export function publishedManifest({ dependencies, ...manifest }) {
  if (manifest.name !== 'sluice') return { dependencies, ...manifest }
  return { ...manifest, dependencies: Object.fromEntries(installedBeside.map((name) => [name, dependencies[name]])) }
}
const assets = ['swagger-ui.css', 'swagger-ui-bundle.js']
// Packages that are CommonJS call `require` for what Node has.
const banner = { js: `import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);` }

const read = (file) => readFileSync(path.join(root, file), 'utf8')
const hashOf = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex')

/** Files below a folder, by their paths from the root. By hand: Node's own recursion takes four times as long, and each start asks. */
function filesIn(folder, from = root) {
  const files = []
  const visit = (at) => {
    for (const entry of readdirSync(from + path.sep + at, { withFileTypes: true })) {
      const file = at + path.sep + entry.name
      if (entry.isDirectory()) visit(file)
      else if (entry.isFile()) files.push(file)
    }
  }
  if (existsSync(path.join(from, folder))) visit(path.normalize(folder))
  return files
}

/** Sizes and times of everything that a build reads, and which plugins are built in; contents would take longer than the build may. */
function state() {
  const inputs = [
    ...sources.flatMap((folder) => filesIn(folder)),
    'tools/build.mjs',
    'tools/bytecode-licenses.mjs',
    'tools/licenses.mjs',
    'package.json',
    'signing.json',
    'package-lock.json',
    'tsconfig.json',
  ]
  const times = inputs.map((file) => {
    const { mtimeMs, size } = statSync(root + file)
    return `${file} ${mtimeMs} ${size}\n`
  })
  return hashOf(...times.toSorted(), ...builtInPlugins())
}

const stamped = () => (existsSync(stamp) ? JSON.parse(readFileSync(stamp, 'utf8')) : {})

/**
 * Builds where sources changed since the last time. Several may ask at once: one builds, the others wait for it.
 * @param maps source maps, for whoever asks which source a function is of
 */
export async function buildWhenStale({ maps = false } = {}) {
  const isBuilt = () => stamped().state === state() && (!maps || stamped().maps)
  if (isBuilt()) return
  await locked(building, async () => {
    if (isBuilt()) return
    const began = performance.now()
    await build({ whole: false, maps })
    console.error(`Built dist/ from the changed sources in ${((performance.now() - began) / 1000).toFixed(1)} s.`)
  })
}

/** The names of the chunks that the latest build made. */
export const latestChunks = () => stamped().chunks

/** The folders of the packages whose code is in dist/, from the root. */
export async function bundledPackages() {
  await buildWhenStale()
  return stamped().bundled
}

const building = path.join(dist, '.building')

/** One process at a time, by a file with the number of the process that works. */
export async function locked(file, work) {
  mkdirSync(path.dirname(file), { recursive: true })
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      if (!isAbandoned(file) || !removeAbandoned(file)) await new Promise((done) => setTimeout(done, 50))
    }
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

/** By one process at a time, which looks again: another one may have removed it and build now. */
function removeAbandoned(file) {
  const removing = `${file}-removed`
  try {
    writeFileSync(removing, '', { flag: 'wx' })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    // Its process was killed: this takes no time.
    if (Date.now() - (statSync(removing, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > 10_000) rmSync(removing, { force: true })
    return false
  }
  try {
    if (isAbandoned(file)) rmSync(file, { force: true })
    return true
  } finally {
    rmSync(removing, { force: true })
  }
}

/** Left by a build that was killed. */
function isAbandoned(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    // Empty for the moment between its creation and its content.
    if (pid === 0) return Date.now() - statSync(file).mtimeMs > 1_000
    return !isRunning(pid)
  } catch {
    return false // gone meanwhile
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** The sources of the public entry points, by what plugins import. */
const entryPaths = () => JSON.parse(read('tsconfig.json')).compilerOptions.paths

const optionsOf = ({ maps = false, minify = true } = {}) => ({
  absWorkingDir: root,
  outbase: root,
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  // V8 keeps the text of what it loads in memory. Names stay, and lines are short, for the sake of stacks.
  minifyWhitespace: minify,
  minifySyntax: minify,
  lineLimit: 160,
  plugins: [fewMediaTypes, withoutTraces, namesOfUndici, doors, callsOfTypebox, ...(maps ? [packagesWithoutMap] : [])],
  ...(maps && { sourcemap: 'linked', sourcesContent: false }),
})

/**
 * What runs as a server, in a folder: the server with its plugins and the public entry points, its processes of little memory, and what it loads on demand.
 * @param programs that are bundled with the server
 * @param patched sources in place of those of the checkout, by their paths from the root
 */
async function serverBundles(bundle, { outdir, maps, minify, programs = [], patched = new Map() }) {
  const options = optionsOf({ maps, minify })
  const split = {
    ...options,
    outdir,
    splitting: true,
    external,
    banner,
    plugins: [sourcesInstead(patched), partsOfEthers, loadedOnDemand, ...options.plugins],
  }
  const plugins = builtInPlugins().map((name) => `plugins/${name}/index.ts`)
  const entryPoints = [
    ...started,
    ...Object.values(entryPaths())
      .flat()
      .filter((file) => !isDevnetPart(file)),
    ...plugins,
    ...programs,
  ]
  const server = await bundle({ ...split, entryPoints, chunkNames: 'chunks/[name]-[hash]' })
  const signer = await bundle({ ...split, entryPoints: startedApart, chunkNames: 'chunks/signer-[name]-[hash]' })
  const later = await bundle({
    ...options,
    format: 'cjs',
    entryPoints: Object.keys(onDemand).map((name) => ({ in: `on-demand:${name}`, out: `on-demand/${name}` })),
    outdir,
    outExtension: { '.js': '.cjs' },
    plugins: [entriesOnDemand, ...options.plugins],
  })
  return [server, signer, later]
}

/**
 * Writes into a folder what runs as a server, from patched sources: not what only users of a release need.
 * @param programs that are bundled with it
 * @param patched as for `serverBundles`
 */
export async function buildPatched(outdir, { programs, patched }) {
  const { build: bundle } = await import('esbuild')
  const bundles = await serverBundles(bundle, { outdir, minify: false, programs, patched })
  const files = new Map(bundles.flatMap(({ outputFiles }) => outputFiles.map(({ path: file, contents }) => [file, contents])))
  leaveOutRepeatedImports(files, false)
  leaveOutUnusedRequire(files)
  for (const [file, contents] of filesOfPlugins()) files.set(path.join(outdir, file), contents)
  files.set(path.join(outdir, 'signing.json'), readFileSync(path.join(root, 'signing.json')))
  const all = [...files].map(async ([file, contents]) => {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, contents)
  })
  await Promise.all(all)
}

/** What plugins of the release have beside their code, by its path from the root. */
function filesOfPlugins() {
  const plugins = builtInPlugins()
  return filesIn('plugins')
    .filter((file) => plugins.includes(file.split(path.sep)[1]) && !/\.m?ts$/.test(file) && !file.includes('artifacts'))
    .map((file) => [file, readFileSync(path.join(root, file))])
}

const sourcesInstead = (patched) => ({
  name: 'sources-instead',
  setup({ onLoad }) {
    if (patched.size === 0) return
    onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
      const contents = patched.get(path.relative(root, file))
      return contents === undefined ? undefined : { contents, loader: 'ts' }
    })
  },
})

/** @param whole with types and source maps, too */
async function build({ whole, maps = whole }) {
  const before = state()
  const { build: bundle, stop } = await import('esbuild')
  const manifest = JSON.parse(read('package.json'))
  const paths = entryPaths()
  const entryPoints = Object.values(paths).flat()
  const plugins = builtInPlugins()
  const options = optionsOf({ maps })
  const bundles = await serverBundles(bundle, { outdir: dist, maps })
  const local = await bundle({
    ...options,
    entryPoints: [
      ...entryPoints.filter(isDevnetPart),
      ...plugins.map((name) => `plugins/${name}/devnet.ts`).filter((file) => existsSync(path.join(root, file))),
    ],
    outdir: devnet,
    external: ['ethers'],
    plugins: [kitsBeside(paths), ...options.plugins],
  })
  const simulator = await bundle({
    ...options,
    // A process of its own, for which no package manager finds packages.
    entryPoints: [
      { in: 'tools/hyperliquid-simulator/local.ts', out: 'plugins/hyperliquid/local' },
      { in: 'tools/solana-node/local.ts', out: 'plugins/solana/local' },
      { in: 'tools/solana-node/walk/judge.ts', out: 'plugins/solana/judge' },
    ],
    outdir: devnet,
    // It has a binary for each platform.
    external: ['litesvm'],
    banner,
  })
  const page = await bundle({
    absWorkingDir: root,
    entryPoints: ['dashboard/main.tsx', 'dashboard/icon.svg'],
    outdir: path.join(dist, 'dashboard'),
    entryNames: '[name]-[hash]',
    // What only some views need is apart.
    splitting: true,
    chunkNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    tsconfig: path.join(root, 'dashboard/tsconfig.json'),
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  })
  // Its process would stay as long as this one, which goes on as the server.
  await stop()
  const files = new Map(
    [...bundles, local, simulator].flatMap(({ outputFiles }) => outputFiles.map(({ path: file, contents }) => [file, contents])),
  )
  leaveOutRepeatedImports(files, maps)
  leaveOutUnusedRequire(files)
  const add = (file, contents) => files.set(path.join(dist, file), Buffer.from(contents))

  for (const [name, contents] of pageFiles(page.outputFiles)) {
    add(`dashboard/${name}`, contents)
    add(`dashboard/${name}.br`, brotliCompressSync(contents))
    add(`dashboard/${name}.gz`, gzipSync(contents, { level: 9 }))
  }
  for (const [file, contents] of filesOfPlugins()) add(file, contents)
  // What `sluice plugin new` writes.
  for (const file of filesIn('templates')) add(file, readFileSync(path.join(root, file)))
  add('signing.json', read('signing.json'))
  for (const name of assets) add(`swagger-ui/${name}`, readFileSync(path.join(root, 'node_modules/swagger-ui-dist', name)))
  // Where the package of the devnet is missing, Node says so; the running server never asks this file.
  for (const file of entryPoints.filter(isDevnetPart)) {
    const module = file.slice('./'.length).replace(/\.ts$/, '.js')
    add(module, `export * from 'sluice-devnet/${module}'\n`)
  }
  const artifacts = ['kits', 'plugins']
    .flatMap((folder) => filesIn(folder))
    .filter((file) => path.basename(path.dirname(file)) === 'artifacts')
  for (const file of artifacts) add(`sluice-devnet/${file}`, readFileSync(path.join(root, file)))
  add('sluice-devnet/LICENSES.md', bytecodeLicenses(root, artifacts))
  add('sluice-devnet/core/devnet/build-state.sha256', hashOf(read('core/devnet/anvil.ts'), read('core/devnet/build-state.ts')))
  add('sluice-devnet/package.json', `${JSON.stringify(devnetManifest(manifest), null, 2)}\n`)
  const parts = [...bundles, page].flatMap(({ metafile }) => bundledFolders(metafile))
  const bundled = [...new Set([...parts, 'node_modules/swagger-ui-dist'])]
  if (whole) {
    add('sluice-devnet/THIRD-PARTY-LICENSES.md', licensesOf(bundledFolders(simulator.metafile)))
    for (const [name, text] of licenseTexts(root, artifacts)) add(`sluice-devnet/LICENSES/${name}`, text)
    for (const [file, contents] of declarations(entryPoints)) add(file, contents)
    for (const file of filesIn('conf')) add(file, path.basename(file) === 'server.yml' ? withoutDevnet(read(file)) : read(file))
    files.set(path.join(root, 'THIRD-PARTY-LICENSES.md'), Buffer.from(licensesOf(bundled)))
  }
  const bundledByDevnet = bundledFolders(local.metafile)
  if (bundledByDevnet.length > 0) throw new Error(`The devnet's package has no file for licences of ${bundledByDevnet.join(', ')}.`)

  const chunks = [...files.keys()].filter((file) => path.dirname(file) === chunkFolder)
  write(files)
  writeWhole(stamp, JSON.stringify({ state: before, whole, maps, chunks: chunks.map((file) => path.basename(file)), bundled }))
  return { server: bundles[0].metafile, local: local.metafile }
}

/**
 * esbuild has each file import all chunks that it leads to, where most are imported by those whose names it uses. To resolve an import takes Node as long
 * as to compile a small file, and a start had 1,600 of them. The order in which modules run stays: what a module needs runs before it.
 * @param maps lines and columns stay as maps have them
 */
function leaveOutRepeatedImports(files, maps) {
  const [bare, named] = [/import"(\.[^"]+)";/g, /(?:import|export)[{*][^;"']*?from"(\.[^"]+)"/g]
  const importsOf = new Map()
  for (const [file, contents] of files) {
    if (!file.endsWith('.js')) continue
    const text = Buffer.from(contents).toString()
    const found = (form) =>
      [...text.matchAll(form)].map(([, specifier]) => path.join(path.dirname(file), specifier)).filter((each) => files.has(each))
    importsOf.set(file, { text, bare: found(bare), named: found(named) })
  }
  const reached = new Map()
  const reach = (file) => {
    const known = reached.get(file)
    if (known) return known
    const all = new Set()
    reached.set(file, all)
    const { bare: alone = [], named: used = [] } = importsOf.get(file) ?? {}
    for (const each of [...alone, ...used]) for (const inner of [each, ...reach(each)]) all.add(inner)
    return all
  }
  for (const [file, { text, named: used }] of importsOf) {
    const others = new Set(used.flatMap((each) => [each, ...reach(each)]))
    const left = text.replace(bare, (statement, specifier) =>
      others.has(path.join(path.dirname(file), specifier)) ? ' '.repeat(maps ? statement.length : 0) : statement,
    )
    if (left !== text) files.set(file, Buffer.from(left))
  }
}

/**
 * Few files have a package that is CommonJS, and each `require` is a module of its own to Node. The empty line stays: source maps count it.
 */
function leaveOutUnusedRequire(files) {
  for (const [file, contents] of files) {
    const text = Buffer.from(contents).toString()
    if (!text.startsWith(banner.js)) continue
    const rest = text.slice(banner.js.length)
    if (!/\brequire\b/.test(rest)) files.set(file, Buffer.from(rest))
  }
}

/** What the page's bundle has, and the document that names its files. */
function pageFiles(outputs) {
  const files = outputs.map(({ path: file, contents }) => [path.basename(file), Buffer.from(contents)])
  const named = (entry, type) => files.map(([name]) => name).find((name) => name.startsWith(`${entry}-`) && name.endsWith(type))
  const document = read('dashboard/index.html').replaceAll(/(main|icon)(\.js|\.css|\.svg)/g, (_, entry, type) => named(entry, type))
  return [...files, ['index.html', Buffer.from(document)]]
}

const isDevnetPart = (file) => path.basename(file) === 'devnet.ts' && !file.includes('core/')

/** Folders of plugins/ that belong to the release. A folder that git does not know is somebody's own: it is loaded as such. */
function builtInPlugins() {
  const folders = readdirSync(path.join(root, 'plugins')).filter((name) => existsSync(path.join(root, 'plugins', name, 'index.ts')))
  const { status, stdout } = spawnSync('git', ['ls-files', 'plugins/*/index.ts'], { cwd: root, encoding: 'utf8' })
  const known = status === 0 ? stdout.split('\n').map((file) => file.split('/')[1]) : []
  return known.length > 1 ? folders.filter((name) => known.includes(name)) : folders
}

/** Bundled plugins of the devnet import the kits' devnet modules, which read artifacts beside themselves: they stay files of their own. */
function kitsBeside(paths) {
  return {
    name: 'kits-beside',
    setup({ onResolve }) {
      onResolve({ filter: /^sluice\/.+\/devnet$/ }, ({ path: specifier }) => ({
        path: `../../${paths[specifier][0].slice('./'.length).replace(/\.ts$/, '.js')}`,
        external: true,
      }))
    },
  }
}

/** Whoever imports a part of a room by its door loads that part alone. */
const doors = {
  name: 'doors',
  setup({ onResolve }) {
    onResolve({ filter: /\/index\.ts$/ }, ({ path: file, resolveDir }) => {
      const resolved = path.resolve(resolveDir, file)
      return resolved === path.join(root, 'core/plugins/index.ts') ? { path: resolved, sideEffects: false } : undefined
    })
  },
}

/** Its modules do nothing when they are loaded, and its package does not say so: what is not called, most of it, stays out. */
const callsOfTypebox = {
  name: 'calls-of-typebox',
  setup({ onResolve }) {
    const folder = path.join('node_modules', 'typebox', path.sep)
    onResolve({ filter: /^\.{1,2}\/.*\.mjs$/ }, ({ path: file, resolveDir }) => {
      const resolved = path.resolve(resolveDir, file)
      return resolved.includes(folder) ? { path: resolved, sideEffects: false } : undefined
    })
  },
}

/**
 * Packages that most processes and commands do not need, by the file that has them, with the functions that are called: YAML is read, and
 * schemas are compiled, by those that read conf; names are compared where one is wrong (with a table of 0.3 MB). Who calls them does not wait, so that they cannot be imported when they are called: they are CommonJS, and loaded by `require`.
 */
const onDemand = {
  'json-schema': { Ajv: 'ajv', Ajv2020: 'ajv/dist/2020.js', default: 'fast-json-stringify' },
  yaml: Object.fromEntries(
    ['Lexer', 'LineCounter', 'parseDocument', 'isAlias', 'isMap', 'isNode', 'isScalar', 'isSeq', 'stringify'].map((name) => [name, 'yaml']),
  ),
  levenshtein: { closest: 'fastest-levenshtein', distance: 'fastest-levenshtein' },
}

/** In the bundle stands, for each name that is imported of them, a function that loads the file with its first call. */
const loadedOnDemand = {
  name: 'loaded-on-demand',
  setup({ onResolve, onLoad }) {
    const fileOf = new Map(
      Object.entries(onDemand).flatMap(([file, functions]) => Object.values(functions).map((specifier) => [specifier, file])),
    )
    const specifiers = [...fileOf.keys()].map((each) => each.replaceAll('.', '\\.')).join('|')
    onResolve({ filter: new RegExp(`^(${specifiers})$`) }, ({ path: specifier, importer }) =>
      importer.includes('node_modules') ? undefined : { path: specifier, namespace: 'loaded-on-demand', sideEffects: false },
    )
    onLoad({ filter: /.*/, namespace: 'loaded-on-demand' }, ({ path: specifier }) => {
      const file = fileOf.get(specifier)
      const names = Object.entries(onDemand[file]).flatMap(([name, of]) => (of === specifier ? [name] : []))
      return {
        contents: [
          `import { createRequire } from 'node:module'`,
          `import { codeRoot } from ${JSON.stringify(path.join(root, 'core/base/layout.ts'))}`,
          `let loaded`,
          `const load = () => (loaded ??= createRequire(codeRoot)('./on-demand/${file}.cjs'))`,
          ...names.map(
            (name) =>
              `export ${name === 'default' ? name : ''} function ${name === 'default' ? '' : name}(...given) { return new.target ? new (load().${name})(...given) : load().${name}(...given) }`,
          ),
        ].join('\n'),
        resolveDir: root,
      }
    })
  },
}

/** Those files: each package in one runs with the first use of a name of it. */
const entriesOnDemand = {
  name: 'entries-on-demand',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^on-demand:/ }, ({ path: name }) => ({ path: name.slice('on-demand:'.length), namespace: 'on-demand' }))
    onLoad({ filter: /.*/, namespace: 'on-demand' }, ({ path: name }) => {
      const getters = Object.entries(onDemand[name]).map(([exported, specifier]) => {
        const of = exported === 'default' ? '' : `.${exported}`
        return `${exported}: { get: () => require(${JSON.stringify(specifier)})${of} }`
      })
      return { contents: `Object.defineProperties(exports, { ${getters.join(', ')} })`, resolveDir: root }
    })
  },
}

/** Koa brings four copies of the register of all media types, 200 kB each. Those that the server reads or writes are enough. */
const fewMediaTypes = {
  name: 'few-media-types',
  setup({ onLoad }) {
    const used =
      /^(application\/(json|javascript|octet-stream|x-www-form-urlencoded)|text\/(plain|html|css|javascript|event-stream)|image\/(png|svg\+xml))$/
    onLoad({ filter: /mime-db[\\/]db\.json$/ }, ({ path: file }) => {
      const types = Object.entries(JSON.parse(readFileSync(file, 'utf8'))).filter(([type]) => used.test(type))
      return { contents: JSON.stringify(Object.fromEntries(types)), loader: 'json' }
    })
  },
}

/** prom-client asks it for the trace of a request where metrics name one, which they do not here. */
const withoutTraces = {
  name: 'without-traces',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path: file }) => ({ path: file, namespace: 'without-traces' }))
    onLoad({ filter: /.*/, namespace: 'without-traces' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/**
 * Whoever imports a name of ethers would load what any other module of the bundle imports of it: providers and contracts, which only the devnet
 * and tests use, and key files. Nothing here asks for a name of ENS, whose tables are large.
 */
const partsOfEthers = {
  name: 'parts-of-ethers',
  setup({ onResolve, onLoad }) {
    const parts = ['abi', 'address', 'constants', 'crypto', 'hash', 'transaction', 'utils']
    onResolve({ filter: /^ethers$/ }, ({ importer, path: file }) =>
      /^(kits|plugins)\b(?!.*\bdevnet[^/\\]*\.ts$)|^core.devnet.outside\.ts$/.test(path.relative(root, importer))
        ? { path: file, namespace: 'parts-of-ethers' }
        : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'parts-of-ethers' }, () => ({
      contents: parts.map((part) => `export * from 'ethers/${part}'`).join('\n'),
      resolveDir: root,
    }))
    onResolve({ filter: /^@adraffy\/ens-normalize$/ }, ({ path: file }) => ({ path: file, namespace: 'without-ens' }))
    onLoad({ filter: /.*/, namespace: 'without-ens' }, () => ({
      contents: "export function ens_normalize() { throw new Error('names of ENS are not resolved here') }",
    }))
  },
}

/** It is CommonJS: of a chunk that is imported when it is needed, Node knows no name but `default`. */
const namesOfUndici = {
  name: 'names-of-undici',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ kind, path: file }) =>
      kind === 'dynamic-import' ? { path: file, namespace: 'names-of-undici' } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'names-of-undici' }, () => ({
      contents: `export { Agent, Pool, WebSocket, request } from 'undici'`,
      resolveDir: root,
    }))
  },
}

/** Frames of packages need no map: theirs would be most of it. */
const packagesWithoutMap = {
  name: 'packages-without-map',
  setup({ onLoad }) {
    const empty = Buffer.from('{"version":3,"sources":[""],"mappings":"A"}').toString('base64')
    onLoad({ filter: /node_modules[\\/].*\.[cm]?js$/ }, ({ path: file }) => ({
      contents: `${readFileSync(file, 'utf8')}\n//# sourceMappingURL=data:application/json;base64,${empty}`,
      loader: 'js',
    }))
  },
}

/** The configuration that a home begins with. In a checkout conf/ switches the devnet on, to try it. */
function withoutDevnet(text) {
  const off = text.replace(
    /^devnet:\n( {2}#.*\n)+ {2}enabled: true$/m,
    `devnet:
  # A local chain with the contracts of real exchanges, to try everything without an account. It is the package sluice-devnet.
  # \`sluice start --devnet\` switches it on for one run.
  # enabled: false`,
  )
  if (/^ {2}enabled: true$/m.test(off)) throw new Error('conf/server.yml switches the devnet on in words that are not known here.')
  return off
}

function devnetManifest({ version, preferUnplugged, engines, devDependencies, dependencies }) {
  return {
    name: 'sluice-devnet',
    version,
    private: true,
    description: 'The local chain of Sluice: anvil, and real exchanges deployed on it',
    license: 'SEE LICENSE IN LICENSES.md',
    type: 'module',
    preferUnplugged,
    engines,
    exports: { './package.json': './package.json', './*': './*' },
    dependencies: {
      '@foundry-rs/anvil': devDependencies['@foundry-rs/anvil'],
      // kits/amm/{algebra,v4}/devnet.ts read bytecode from them: its licences let nobody else pass that on.
      ...Object.fromEntries(
        ['integral-base-plugin', 'integral-core', 'integral-periphery', 'periphery', 'v1-core'].map((name) => [
          `@cryptoalgebra/${name}`,
          devDependencies[`@cryptoalgebra/${name}`],
        ]),
      ),
      '@uniswap/universal-router': devDependencies['@uniswap/universal-router'],
      ethers: dependencies.ethers ?? devDependencies.ethers,
      // Its binaries are optional packages of its own: where it has none, solana/local is left out. It is not optional itself, because npm leaves
      // an optional package out where one that it needs asks for a newer Node.
      litesvm: devDependencies.litesvm,
    },
  }
}

/** The declarations that the public entry points lead to, by their files. Types are checked by `npm run check`; several checkers do much of it twice. */
export function declarations(entryPoints) {
  const out = path.join(dist, `.types-${process.pid}`)
  rmSync(out, { recursive: true, force: true })
  const compiler = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const project = path.join(root, 'tools', 'build.tsconfig.json')
  const done = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', out, '--singleThreaded'], { stdio: ['ignore', 2, 2] })
  if (done.status !== 0) process.exit(done.status ?? 1)
  const wanted = new Map()
  const visit = (file) => {
    if (wanted.has(file)) return
    // In a package stands x.js beside x.d.ts, and no x.ts.
    const text = readFileSync(path.join(out, file), 'utf8').replace(/((?:from|import\() ?['"]\.[^'"]+)\.ts(?=['"])/g, '$1.js')
    wanted.set(file, text)
    for (const [, specifier] of text.matchAll(/(?:from|import\() ?['"](\.[^'"]+)['"]/g))
      visit(path.join(path.dirname(file), specifier).replace(/\.(ts|js)$/, '.d.ts'))
  }
  for (const file of entryPoints) visit(path.normalize(file).replace(/\.ts$/, '.d.ts'))
  rmSync(out, { recursive: true })
  return wanted
}

/**
 * Chunks of an earlier build stay for a day after it, whichever build comes: a server that still runs may load one when it needs it. What is packed has
 * none (tools/pack.mjs).
 */
const chunksKeptMs = 24 * 60 * 60 * 1000

/** Chunks come before what imports them, and the page's document after what it names: a running server may read one between two others. */
const writtenAt = ([file]) => (path.dirname(file) === chunkFolder ? 0 : path.extname(file) === '.html' ? 2 : 1)

/** Writes what changed, and removes what is no longer made. */
function write(files) {
  for (const [file, contents] of [...files].toSorted((one, other) => writtenAt(one) - writtenAt(other))) {
    if (existsSync(file) && readFileSync(file).equals(contents)) continue
    writeWhole(file, contents)
  }
  const made = new Set(stamped().chunks)
  const folders = readdirSync(dist, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'packages' && !entry.name.startsWith('.'),
  )
  for (const { name: folder } of folders) {
    for (const name of filesIn(folder, dist)) {
      const file = path.join(dist, name)
      if (files.has(file)) continue
      // Its day begins now, however long ago it was made.
      if (path.dirname(file) === chunkFolder && made.has(path.basename(file))) utimesSync(file, new Date(), new Date())
      else if (path.dirname(file) !== chunkFolder || Date.now() - statSync(file).mtimeMs > chunksKeptMs) rmSync(file)
    }
  }
  // A folder that is left without files would be taken for a plugin, or for the configuration that a home begins with.
  for (const { name } of folders) removeIfEmpty(path.join(dist, name))
}

function removeIfEmpty(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removeIfEmpty(path.join(folder, entry.name))
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}

/** Who reads the file meanwhile has the old content or the new one. */
function writeWhole(file, contents) {
  mkdirSync(path.dirname(file), { recursive: true })
  const unfinished = `${file}.${process.pid}.tmp`
  writeFileSync(unfinished, contents)
  renameSync(unfinished, file)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  try {
    await locked(building, () => build({ whole: true }))
    console.log('Built dist/.')
  } catch (error) {
    console.error(error instanceof MissingLicense ? error.message : error)
    process.exitCode = 1
  }
}
