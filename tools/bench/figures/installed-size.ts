import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { megabytes, times, type Row } from '../measuring.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const targetBytes = 55e6
const largest = 5

/** The files of node_modules after the packed package was installed into an empty folder, summed up. */
export async function installedSize(): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  try {
    if (!(await run(process.execPath, [path.join(root, 'tools/pack.mjs')], root)))
      return [{ name: 'the package', value: 'not known: it was not packed' }]
    const { version }: { version: string } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
    const tarball = path.join(root, 'dist/packages', `sluice-${version}.tgz`)
    await writeFile(path.join(folder, 'package.json'), '{ "private": true }')
    const install = ['install', tarball, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    if (!(await run('npm', install, folder))) return [{ name: 'node_modules', value: 'not known: npm install failed' }]
    const modules = path.join(folder, 'node_modules')
    const packages = await packageSizes(modules)
    return [
      { name: 'the packed package', value: megabytes((await stat(tarball)).size) },
      against('node_modules', packages, targetBytes),
      ...packages.slice(0, largest).map(({ name, bytes }) => ({ name: `  ${name}`, value: megabytes(bytes) })),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface PackageSize {
  name: string
  bytes: number
}

function against(name: string, packages: readonly PackageSize[], target: number): Row {
  const total = packages.reduce((sum, { bytes }) => sum + bytes, 0)
  return { name, value: megabytes(total), reference: `target ${megabytes(target)}`, ratio: times(total, target) }
}

async function run(command: string, args: readonly string[], cwd: string): Promise<boolean> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
  const [code]: unknown[] = await once(child, 'exit')
  return code === 0
}

async function packageSizes(folder: string): Promise<PackageSize[]> {
  const sizes = new Map<string, number>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    const [first = '', second = ''] = path.relative(folder, file).split(path.sep)
    const name = first.startsWith('@') ? `${first}/${second}` : first
    sizes.set(name, (sizes.get(name) ?? 0) + (await stat(file)).size)
  }
  return [...sizes].map(([name, bytes]) => ({ name, bytes })).toSorted((a, b) => b.bytes - a.bytes)
}
