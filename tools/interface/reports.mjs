// What Sluice promises to who uses it, as files: a report of every public entry point, and the OpenAPI document of all endpoints.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { tradingMethods } from '../../core/contracts/plugin.ts'
import { openapi } from '../../core/http/openapi.ts'
import { declarations } from '../build.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Where the reports are kept. */
export const kept = path.join(root, 'interface')

/** Entry points that are told by what they are made of: the API's types are those of the OpenAPI document, and the client's made of it. */
const elsewhere = ['./api']
/** What others repeat: its report has the types that it leads to, too. */
const withAllTypes = ['./plugin', './testing']

/** The reports as they are now, by their file names. */
export async function reports() {
  const found = new Map(await ofEntryPoints())
  found.set('openapi.json', ofEndpoints())
  return found
}

async function ofEntryPoints() {
  const { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } = await import('@microsoft/api-extractor')
  const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const entries = Object.entries(exports).flatMap(([name, { types }]) => (types && !elsewhere.includes(name) ? [{ name, types }] : []))
  // Below the packages that the declarations name; what is in node_modules itself counts as others'.
  mkdirSync(path.join(root, 'dist'), { recursive: true })
  const folder = mkdtempSync(path.join(root, 'dist', '.interface-'))
  const write = (file, text) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), text)
  }
  try {
    for (const [file, text] of declarations(entries.map(({ types }) => types.replace(/^\.\/dist\//, '').replace(/\.d\.ts$/, '.ts'))))
      write(path.join('dist', file), text)
    write('package.json', JSON.stringify({ name: 'sluice', version: '0.0.0', type: 'module' }))
    let compilerState
    const files = entries.map(({ types }) => path.join(folder, types))
    return entries.map(({ name, types }) => {
      const reportFileName = `${name.slice(2).replaceAll('/', '-')}.api.md`
      const silent = { default: { logLevel: ExtractorLogLevel.None } }
      const config = ExtractorConfig.prepare({
        configObjectFullPath: undefined,
        packageJsonFullPath: path.join(folder, 'package.json'),
        configObject: {
          projectFolder: folder,
          mainEntryPointFilePath: path.join(folder, types),
          newlineKind: 'lf',
          compiler: { overrideTsconfig: { compilerOptions, files } },
          apiReport: {
            enabled: true,
            reportFileName,
            reportFolder: folder,
            reportTempFolder: path.join(folder, 'temp'),
            includeForgottenExports: withAllTypes.includes(name),
          },
          docModel: { enabled: false },
          dtsRollup: { enabled: false },
          tsdocMetadata: { enabled: false },
          messages: {
            extractorMessageReporting: silent,
            tsdocMessageReporting: silent,
            compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
          },
        },
      })
      compilerState ??= CompilerState.create(config, { additionalEntryPoints: files })
      const failures = []
      const { succeeded } = Extractor.invoke(config, {
        compilerState,
        localBuild: true,
        messageCallback(message) {
          message.handled = true
          if (message.logLevel === ExtractorLogLevel.Error) failures.push(message.text)
        },
      })
      if (!succeeded) throw new Error(`${name} has no report: ${failures.join('\n')}`)
      return [reportFileName, readFileSync(path.join(folder, reportFileName), 'utf8')]
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const compilerOptions = {
  module: 'nodenext',
  moduleResolution: 'nodenext',
  target: 'es2023',
  // Of the DOM its AbortSignal, fetch and URL, which Node has too.
  lib: ['es2023', 'dom'],
  types: ['node'],
  strict: true,
  skipLibCheck: true,
}

/** As a server shows it that can answer every endpoint. */
function ofEndpoints() {
  const plugins = [{ kind: 'chain', name: 'ethereum', state: 'loaded', trading_type: Object.keys(tradingMethods) }]
  const networks = [{ chain: 'ethereum', network: 'mainnet', impl: { evm: {}, altchain: {} } }]
  return `${JSON.stringify(openapi({ plugins, networks }), null, 1)}\n`
}
