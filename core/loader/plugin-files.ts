// A plugin's bytes: what is hashed is what is kept and run. Nothing here runs any of them.
import { createHash, randomUUID } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readFileSync, type Dirent } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PluginFault } from './refusal.ts'

interface PluginFile {
  /** From the plugin's folder, with slashes. */
  readonly path: string
  readonly content: Buffer
}

export interface PluginFiles {
  /** Of all its files: `sha256sum` of what `sha256sum` prints of them, sorted. */
  readonly sha256: string
  readonly files: readonly PluginFile[]
}

/** Far more than any plugin with its packages has. */
const maxFiles = 20_000
const maxFileBytes = 32 * 1024 ** 2
export const maxBytes = 128 * 1024 ** 2

/**
 * Reads every file of a plugin, its packages included, each once. Names that begin with a dot are left out (`.git`, `.bin`): they are neither
 * kept nor run. @throws PluginFault for what is not a plain file, for native addons, and for too much
 */
export function readPluginFiles(folder: string): PluginFiles {
  const files: PluginFile[] = []
  let bytes = 0

  function readFolder(inside: string): void {
    for (const entry of entriesOf(folder, inside)) {
      if (entry.name.startsWith('.')) continue
      const file = inside === '' ? entry.name : `${inside}/${entry.name}`
      refuseOdd(entry, file)
      if (entry.isDirectory()) readFolder(file)
      else {
        if (files.length >= maxFiles) throw tooMuch(`more than ${maxFiles} files`)
        const content = readPlainFile(folder, file)
        bytes += content.length
        if (bytes > maxBytes) throw tooMuch(`more than ${maxBytes / 1024 ** 2} MiB`)
        files.push({ path: file, content })
      }
    }
  }
  readFolder('')
  files.sort((one, other) => Buffer.compare(Buffer.from(one.path), Buffer.from(other.path)))
  const sum = createHash('sha256')
  for (const { path: file, content } of files) sum.update(`${createHash('sha256').update(content).digest('hex')}  ./${file}\n`)
  return { sha256: sum.digest('hex'), files }
}

function entriesOf(folder: string, inside: string): Dirent[] {
  try {
    return readdirSync(path.join(folder, inside), { withFileTypes: true })
  } catch (error) {
    throw unreadable(inside === '' ? 'Its folder' : inside, error)
  }
}

function refuseOdd(entry: Dirent, file: string): void {
  // U+FFFD stands for bytes that are no text.
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\\ufffd]/.test(entry.name))
    throw new PluginFault('consent', `The name of ${JSON.stringify(file)} has characters that names of files do not have`, 'Rename it.')
  if (entry.isSymbolicLink())
    throw new PluginFault(
      'consent',
      `${file} is a link: what it leads to can change without a trace`,
      'Put the file itself there. Packages: install them with npm, or bundle them (esbuild --bundle).',
    )
  if (!entry.isDirectory() && !entry.isFile())
    throw new PluginFault('consent', `${file} is neither a file nor a folder`, 'Take it out of the folder.')
  if (entry.isFile() && file.endsWith('.node'))
    throw new PluginFault(
      'consent',
      `${file} is a native addon, which nothing can contain`,
      'Use packages without native code, or a version of the plugin without them.',
    )
}

function readPlainFile(folder: string, file: string): Buffer {
  let handle: number
  try {
    handle = openSync(path.join(folder, file), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw unreadable(file, error)
  }
  try {
    const found = fstatSync(handle)
    if (!found.isFile()) throw new PluginFault('consent', `${file} is not a file`, 'Take it out of the folder.')
    if (found.size > maxFileBytes) throw tooMuch(`${file}, which has more than ${maxFileBytes / 1024 ** 2} MiB`)
    return readFileSync(handle)
  } finally {
    closeSync(handle)
  }
}

function unreadable(what: string, error: unknown): PluginFault {
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  return new PluginFault('consent', `${what} cannot be read${code}`, "Make the plugin's files readable for the user that Sluice runs as.")
}

const tooMuch = (what: string): PluginFault =>
  new PluginFault(
    'consent',
    `It has ${what}`,
    'Leave out what it does not need to run, such as packages for its development (npm install --omit=dev).',
  )

/** Where the bytes of allowed plugins are kept, and run from: `<data>/plugins/<sha256>/<name>`. */
export const keptFolder = (dataDir: string, sha256: string, name: string): string => path.join(dataDir, 'plugins', sha256, name)

/**
 * Keeps these bytes, and nothing else, where they are run from. What is there already is read again: it is used if it has the same hash, and
 * else replaced. @returns the folder @throws PluginFault
 */
export async function keepPlugin(dataDir: string, name: string, { sha256, files }: PluginFiles): Promise<string> {
  const folder = keptFolder(dataDir, sha256, name)
  if (existsSync(folder) && isKept(folder, sha256)) return folder
  const unfinished = path.join(dataDir, 'plugins', `.${randomUUID()}.tmp`)
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    for (const each of new Set(files.map(({ path: file }) => path.posix.dirname(file))))
      await mkdir(path.join(unfinished, name, each), { recursive: true, mode: 0o755 })
    for (const { path: file, content } of files) await writeFile(path.join(unfinished, name, file), content, { mode: 0o444, flag: 'wx' })
    await mkdir(path.dirname(folder), { recursive: true })
    await rm(folder, { recursive: true, force: true })
    await rename(path.join(unfinished, name), folder)
  } catch (error) {
    // Another server on the same data may have been first.
    if (existsSync(folder) && isKept(folder, sha256)) return folder
    const reason = error instanceof Error ? error.message : String(error)
    throw new PluginFault(
      'consent',
      `Its files cannot be kept in ${folder}: ${reason}`,
      'Make data.dir writable, and see that there is room.',
    )
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  return folder
}

/** Whether the kept files are there and unchanged. */
export function isKept(folder: string, sha256: string): boolean {
  try {
    return readPluginFiles(folder).sha256 === sha256
  } catch {
    return false
  }
}
