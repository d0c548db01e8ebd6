import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** What the image is built from (.dockerignore), and the command. A build of these is one that the Dockerfile makes. */
const sources = [
  'bin',
  ...readFileSync(path.join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .flatMap((line) => (line === '!tools/*.mjs' ? scriptsOf('tools') : line.slice(1))),
]

function scriptsOf(folder: string): string[] {
  return readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => path.join(folder, name))
}

function stampIn(dist: string): { whole: boolean; chunks: string[] } {
  return JSON.parse(readFileSync(path.join(dist, '.built'), 'utf8'))
}

/** A checkout of its own, known to git, with the packages of this one. Its sources may be changed. */
export class Checkout {
  readonly folder: string
  readonly dist: string

  constructor(folder: string) {
    this.folder = folder
    this.dist = path.join(folder, 'dist')
    for (const name of sources) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
      // With the times of files, by which a build is up to date.
      execFileSync('cp', ['-a', path.join(root, name), path.join(folder, name)])
    }
    symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
    this.git('init', '--quiet')
    this.git('add', 'plugins')
  }

  git(...args: string[]): void {
    const { status, stderr } = spawnSync('git', args, { cwd: this.folder, encoding: 'utf8' })
    expect(status, stderr).to.equal(0)
  }

  /** `npm run build`; or what it has just made, where all tests run from it. */
  async build(): Promise<void> {
    if (process.env['BUILT_SLUICE'] === 'dist' && stampIn(path.join(root, 'dist')).whole) {
      mkdirSync(this.dist)
      for (const name of readdirSync(path.join(root, 'dist')))
        if (!['.tests', 'packages'].includes(name)) execFileSync('cp', ['-a', path.join(root, 'dist', name), this.dist])
      const { output } = await this.sluice(['--version'])
      if (!output.startsWith('Built dist/')) return
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/build.mjs'], { cwd: this.folder, encoding: 'utf8' })
    expect(status, stdout + stderr).to.equal(0)
  }

  /** `bin/sluice …`, until it ends. */
  async sluice(args: readonly string[], environment: Record<string, string> = {}): Promise<{ status: number | null; output: string }> {
    const { PATH, HOME } = process.env
    const child = spawn(process.execPath, ['bin/sluice', ...args], {
      cwd: this.folder,
      env: { PATH, HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    return new Promise((done) => child.once('close', (status) => done({ status, output })))
  }

  /** A change that reaches every chunk, since all of them need this file. */
  changeSources(): void {
    appendFileSync(path.join(this.folder, 'core/base/errors.ts'), `Reflect.set(globalThis, 'changedAt', ${performance.now()})\n`)
  }

  /** The chunks that the latest build made. */
  chunksBuilt(): string[] {
    return stampIn(this.dist).chunks
  }

  /** These, and those of earlier builds. */
  chunksThere(): string[] {
    return readdirSync(path.join(this.dist, 'chunks'))
  }

  chunksAreFrom(time: Date): void {
    for (const name of this.chunksThere()) utimesSync(path.join(this.dist, 'chunks', name), time, time)
  }

  /** Installs what was built as its packages have it, with what they depend on and nothing else. */
  async install(modules: string): Promise<void> {
    const { publishedManifest }: { publishedManifest(of: object): Record<'dependencies', object> } = await import(
      path.join(root, 'tools/build.mjs')
    )

    for (const name of ['bin/sluice', 'bin/package.json', 'dist'])
      cpSync(path.join(this.folder, name), path.join(modules, 'sluice', name), {
        recursive: true,
        filter: (from) => from !== path.join(this.dist, 'sluice-devnet'),
      })
    cpSync(path.join(this.dist, 'sluice-devnet'), path.join(modules, 'sluice-devnet'), { recursive: true })
    const manifest = publishedManifest(JSON.parse(readFileSync(path.join(this.folder, 'package.json'), 'utf8')))
    writeFileSync(path.join(modules, 'sluice', 'package.json'), JSON.stringify(manifest))
    for (const name of ['sluice', 'sluice-devnet']) {
      const { dependencies } = JSON.parse(readFileSync(path.join(modules, name, 'package.json'), 'utf8'))
      for (const dependency of Object.keys(dependencies)) {
        mkdirSync(path.dirname(path.join(modules, dependency)), { recursive: true })
        symlinkSync(path.join(root, 'node_modules', dependency), path.join(modules, dependency))
      }
    }
  }
}
