import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { megabytes, times, type Row } from '../report.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const targetBytes = 80e6
const prunedTargetBytes = 60e6
const largest = 5

/** The files of node_modules that a production installation has, summed up; and those that the image keeps of them. */
export async function installedSize(): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) await cp(path.join(root, file), path.join(folder, file))
    // Optional packages hold the binaries of this platform.
    const install = ['install', '--omit=dev', '--include=optional', '--no-save', '--ignore-scripts', '--loglevel=error']
    if (!(await run('npm', install, folder))) return [{ name: 'node_modules', value: 'not known: npm install failed' }]
    const modules = path.join(folder, 'node_modules')
    const packages = await packageSizes(modules)
    const rows = [
      against('node_modules', packages, targetBytes),
      ...packages.slice(0, largest).map(({ name, bytes }) => ({ name: `  ${name}`, value: megabytes(bytes) })),
    ]
    if (!(await run(process.execPath, [path.join(root, 'tools/image/prune.mjs'), modules], folder))) return rows
    return [...rows, against('node_modules in the image, pruned', await packageSizes(modules), prunedTargetBytes)]
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
