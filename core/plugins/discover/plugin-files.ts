// A plugin's bytes: what is hashed is what is kept and run. Nothing here runs any of them.
import { createHash, randomUUID } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readFileSync, type Dirent } from 'node:fs'
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PluginFault } from '../refusal.ts'

export interface PluginFile {
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
  const sum = createSum()
  for (const each of withinBounds(plainFilesIn(folder))) {
    sum.add(each)
    files.push(each)
  }
  return { sha256: sum.end(), files: files.toSorted(byPath) }
}

/** The same sum, without having all files in memory. @throws PluginFault */
export function sumOfPluginFiles(folder: string): string {
  const sum = createSum()
  for (const each of withinBounds(plainFilesIn(folder))) sum.add(each)
  return sum.end()
}

function* plainFilesIn(folder: string): Generator<PluginFile> {
  for (const { path: inside, file, isLink } of listFiles(folder)) {
    if (isLink) throw linkFault(inside)
    yield { path: inside, content: readPlainFile(file, inside) }
  }
}

const byPath = (one: { readonly path: string }, other: { readonly path: string }): number =>
  Buffer.compare(Buffer.from(one.path), Buffer.from(other.path))

function createSum() {
  const hashes: { path: string; hash: string }[] = []
  return {
    add({ path: file, content }: PluginFile): void {
      hashes.push({ path: file, hash: createHash('sha256').update(content).digest('hex') })
    },
    end(): string {
      const sum = createHash('sha256')
      for (const { path: file, hash } of hashes.toSorted(byPath)) sum.update(`${hash}  ./${file}\n`)
      return sum.digest('hex')
    },
  }
}

/** @throws PluginFault where it is too much */
function* withinBounds(files: Iterable<PluginFile>): Generator<PluginFile> {
  let [count, bytes] = [0, 0]
  for (const each of files) {
    count += 1
    bytes += each.content.length
    if (count > maxFiles) throw tooMuch(`more than ${maxFiles} files`)
    if (bytes > maxBytes) throw tooMuch(`more than ${maxBytes / 1024 ** 2} MiB`)
    yield each
  }
}

interface ListedFile {
  /** From the folder, with slashes. */
  readonly path: string
  readonly file: string
  readonly isLink: boolean
}

/**
 * The files and links in a folder, without those whose names begin with a dot. No link is followed, and no file read.
 * @param isPackage of a package what is not a plain file with a usual name is left out, and the packages in it
 * @throws PluginFault for what is neither, for strange names and for native addons
 */
export function* listFiles(folder: string, { isPackage = false, inside = '' } = {}): Generator<ListedFile> {
  for (const entry of entriesOf(folder, inside)) {
    if (entry.name.startsWith('.') || (isPackage && entry.name === 'node_modules')) continue
    const file = inside === '' ? entry.name : `${inside}/${entry.name}`
    const fault = oddity(entry, file)
    if (fault && isPackage) continue
    if (fault) throw fault
    if (entry.isDirectory()) yield* listFiles(folder, { isPackage, inside: file })
    else yield { path: file, file: path.join(folder, file), isLink: entry.isSymbolicLink() }
  }
}

function entriesOf(folder: string, inside: string): Dirent[] {
  try {
    return readdirSync(path.join(folder, inside), { withFileTypes: true })
  } catch (error) {
    throw unreadable(inside === '' ? 'Its folder' : inside, error)
  }
}

/** Why it is nothing that a plugin may have; undefined where it may. */
function oddity(entry: Dirent, file: string): PluginFault | undefined {
  // U+FFFD stands for bytes that are no text.
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\\ufffd]/.test(entry.name))
    return new PluginFault('consent', `The name of ${JSON.stringify(file)} has characters that names of files do not have`, 'Rename it.')
  if (!entry.isDirectory() && !entry.isFile() && !entry.isSymbolicLink())
    return new PluginFault('consent', `${file} is neither a file nor a folder`, 'Take it out of the folder.')
  if (entry.isFile() && file.endsWith('.node'))
    return new PluginFault(
      'consent',
      `${file} is a native addon, which nothing can contain`,
      'Use packages without native code, or a version of the plugin without them.',
    )
  return undefined
}

const linkFault = (file: string): PluginFault =>
  new PluginFault(
    'consent',
    `${file} is a link: what it leads to can change without a trace`,
    'Put the file itself there. Packages: install them with npm, or bundle them (esbuild --bundle).',
  )

/** Reads a file that is no link. @param shown its name for people @throws PluginFault */
export function readPlainFile(file: string, shown: string): Buffer {
  let handle: number
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw unreadable(shown, error)
  }
  try {
    const found = fstatSync(handle)
    if (!found.isFile()) throw new PluginFault('consent', `${shown} is not a file`, 'Take it out of the folder.')
    if (found.size > maxFileBytes) throw tooMuch(`${shown}, which has more than ${maxFileBytes / 1024 ** 2} MiB`)
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

/** The hash of a copy that is kept there; undefined where the folder is none. */
export function sumOfKept(dataDir: string, folder: string): string | undefined {
  const sha256 = path.basename(path.dirname(folder))
  return /^[0-9a-f]{64}$/.test(sha256) && folder === keptFolder(dataDir, sha256, path.basename(folder)) ? sha256 : undefined
}

/**
 * Keeps these bytes, and nothing else, where they are run from. What is there already is read again: it is used if it has the same hash, and
 * else replaced. @returns the folder @throws PluginFault
 */
export async function keepPlugin(dataDir: string, name: string, { sha256, files }: PluginFiles): Promise<string> {
  const folder = keptFolder(dataDir, sha256, name)
  return existsSync(folder) && isKept(folder, sha256) ? folder : keepFiles(dataDir, name, files)
}

/** The same for files that are not all in memory: each is written before the next one is asked for. @throws PluginFault */
export async function keepFiles(dataDir: string, name: string, files: Iterable<PluginFile>): Promise<string> {
  const unfinished = path.join(dataDir, 'plugins', `.${randomUUID()}.tmp`)
  let folder = path.join(dataDir, 'plugins')
  const sum = createSum()
  const made = new Set<string>()
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    await mkdir(path.join(unfinished, name), { recursive: true, mode: 0o755 })
    for (const each of withinBounds(files)) {
      const file = path.join(unfinished, name, each.path)
      if (!made.has(path.dirname(file))) await mkdir(path.dirname(file), { recursive: true, mode: 0o755 })
      made.add(path.dirname(file))
      await writeFile(file, each.content, { mode: 0o444, flag: 'wx' })
      sum.add(each)
    }
    const sha256 = sum.end()
    folder = keptFolder(dataDir, sha256, name)
    if (existsSync(folder) && isKept(folder, sha256)) {
      // It is in use again.
      await utimes(path.dirname(folder), new Date(), new Date())
      return folder
    }
    await mkdir(path.dirname(folder), { recursive: true })
    await rm(folder, { recursive: true, force: true })
    // Another server on the same data may be first.
    await rename(path.join(unfinished, name), folder).catch((error: unknown) => {
      if (!existsSync(folder) || !isKept(folder, sha256)) throw error
    })
    return folder
  } catch (error) {
    if (error instanceof PluginFault) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new PluginFault(
      'consent',
      `Its files cannot be kept in ${folder}: ${reason}`,
      'Make data.dir writable, and see that there is room.',
    )
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

/** Whether the kept files are there and unchanged. */
export function isKept(folder: string, sha256: string): boolean {
  try {
    return sumOfPluginFiles(folder) === sha256
  } catch {
    return false
  }
}
