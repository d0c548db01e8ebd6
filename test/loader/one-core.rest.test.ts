import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { brokenPlugins, fixtures, goodPlugins } from './fixtures.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Loads the good plugins, one broken one and, last, one that has to be ended; then says what came of it. */
const program = `
import { loadPluginConfig } from './core/config/plugin-config.js'
import { SluiceError } from './core/contracts/index.js'
import { loadPlugins } from './core/loader/load.js'
import { startWatchdog } from './core/loader/watchdog.js'
const log = { info() {}, warn() {} }
const { loaded, refused } = await loadPlugins({
  folders: ${JSON.stringify([goodPlugins, path.join(brokenPlugins, 'throws-in-create'), path.join(fixtures, 'harmful')])},
  deadlineMs: 20_000,
  configOf: ({ folder, ...plugin }) => loadPluginConfig({ ...plugin, pluginFolder: folder, confDir: 'conf', env: {} }),
  tokensOf: () => [],
  logOf: () => log,
  log,
})
const amm = (name) => loaded.find((plugin) => plugin.name === name).venues[0].implementation.AMM
const same = []
for (const name of ['fixture-swap', 'fixture-compiled']) {
  try { await amm(name).quote({ amountRaw: 0n }) } catch (error) { same.push(error instanceof SluiceError) }
}
console.log(JSON.stringify({ loaded: loaded.map(({ name }) => name), refused: refused.map(({ name, step }) => [name, step]), same }))
startWatchdog({ stallSeconds: 1 }).watch(loaded)
await amm('harmful-verbs').quote({ tokenIn: { symbol: 'loop' } })
`

describe('plugins and core', function () {
  this.timeout(120_000)
  let folder: string
  before(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'sluice-compiled-')))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('share one instance when the core is compiled and runs without tsx, with TypeScript plugins too', () => {
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
    copyFileSync(path.join(root, 'package.json'), path.join(folder, 'package.json'))
    mkdirSync(path.join(folder, 'conf'))
    const files = ['load', 'watchdog', 'hook', 'trial-thread', 'watchdog-thread'].map((name) =>
      path.join(root, 'core/loader', `${name}.ts`),
    )
    writeFileSync(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: path.join(root, 'tsconfig.json'),
        compilerOptions: { rootDir: root, outDir: folder, sourceMap: false, noCheck: true },
        files: [...files, path.join(root, 'core/config/plugin-config.ts')],
        include: [],
      }),
    )
    const built = spawnSync(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
    expect(built.status, built.stdout).to.equal(0)
    writeFileSync(path.join(folder, 'run.js'), program)

    const ran = spawnSync(process.execPath, [path.join(folder, 'run.js')], { cwd: folder, encoding: 'utf8', timeout: 60_000 })

    expect(ran.stdout.trim(), ran.stderr).to.equal(
      JSON.stringify({
        loaded: ['fixture-chain', 'fixture-compiled', 'fixture-swap', 'harmful-verbs'],
        refused: [['throws-in-create', 'create']],
        same: [true, true],
      }),
    )
    expect(ran.signal).to.equal('SIGKILL')
    expect(JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '')).to.include({ level: 60, plugin: 'harmful-verbs' })
  })

  it('share one instance when the tests run in parallel', () => {
    const flags = [
      '--no-config',
      '--node-option',
      'import=tsx/esm',
      '--parallel',
      '--jobs',
      '2',
      '--timeout',
      '100000',
      '--reporter',
      'dot',
    ]
    const specs = ['load-plugins', 'call-plugin'].map((name) => path.join(root, 'test/loader', `${name}.test.ts`))

    const ran = spawnSync(
      process.execPath,
      [path.join(root, 'node_modules/mocha/bin/mocha.js'), ...flags, '--grep', 'one core|outside|calling', ...specs],
      { cwd: root, encoding: 'utf8' },
    )

    expect(ran.status, ran.stdout + ran.stderr).to.equal(0)
    expect(ran.stdout).to.match(/1\d passing/)
  })
})
