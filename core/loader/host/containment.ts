// How a process is started that sees nothing of this machine: namespaces of its own, made with the programs of util-linux.
import { execFile, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { processUse, type ProcessUse } from './process-tree.ts'

/** A process of a plugin, however it is contained. */
export interface ContainedProcess {
  /** The way to it. */
  readonly channel: Duplex
  /** Settles when it has ended. */
  readonly ended: Promise<ProcessEnd>
  /** Ends it and all that it started. */
  kill(): void
  /** What it and all that it started use; undefined where nobody tells. */
  use(): ProcessUse | undefined
}

export interface ProcessEnd {
  /** 0 where it ended by itself and without trouble. */
  readonly status?: number
  readonly reason: string
  /** The end of what it wrote to its error output. */
  readonly said: string
  /** It ended with what contained it, and not by itself. */
  readonly isLost?: boolean
}

/** A file or folder that the process sees, read-only. */
export interface Bind {
  readonly from: string
  /** Where the process sees it: an absolute path. */
  readonly to: string
  /** Programs and libraries. Nothing else is executed, nor loaded as a library. */
  readonly isRun?: true
}

interface ContainedCommand {
  /** What `node` gets: options, a script and its arguments, by paths that the process sees. */
  readonly args: readonly string[]
  readonly binds: readonly Bind[]
}

/** The programs that contain a process, by their paths, and the libraries that it needs. */
export interface Containment {
  readonly programs: Readonly<Record<Program, string>>
  readonly libraries: readonly string[]
}

const programNames = ['sh', 'unshare', 'setpriv', 'mount', 'umount', 'pivot_root', 'mkdir', 'nice', 'ldd'] as const
type Program = (typeof programNames)[number]

/** The descriptor by which the process and its parent talk: one end of a socket pair. */
export const channelDescriptor = 3

/** Node 24 maps half a gigabyte as it starts, which counts here, and uses none of it. */
const gigabytes = Number(process.versions.node.split('.')[0]) >= 24 ? 2 : 1
/** What the kernel lets one process have. Memory is also looked at once a second; what it takes in between is bounded here. */
export const mostOfProcess = { files: 256, dataBytes: gigabytes * 2 ** 30 }

/**
 * Makes the process's own root, of what it may see, and starts the script's arguments in it. Files are bound one by one, all read-only, by one
 * program for all of them. It has no /proc, so that it sees nothing of other processes. The new root covers /dev, which every system has.
 */
function script({ programs }: Containment, binds: readonly Bind[]): string {
  const [folders, files] = [true, false].map((isFolder) => binds.filter(({ from }) => statSync(from).isDirectory() === isFolder))
  const inRoot = ({ to }: Bind) => `/dev${to}`
  const made = ['/dev/before', '/dev/proc', ...(folders ?? []).map(inRoot), ...(files ?? []).map((each) => path.dirname(inRoot(each)))]
  const optionsOf = ({ isRun }: Bind) => `bind,ro,nosuid,nodev${isRun ? '' : ',noexec'}`
  const table = binds.map((each) => `${[each.from, inRoot(each)].map(inTable).join(' ')} none ${optionsOf(each)} 0 0\n`).join('')
  return `
set -eu
echo 1000 > /proc/self/oom_score_adj
echo plugin 2> /dev/null > /proc/sys/kernel/hostname || true
# It has no use for more namespaces, and the kernel has had defects in them.
echo 0 2> /dev/null > /proc/sys/user/max_user_namespaces || true
ulimit -c 0
ulimit -n ${mostOfProcess.files}
ulimit -d ${mostOfProcess.dataBytes / 1024}
${programs.mount} -t tmpfs -o mode=755,size=1m,nosuid,nodev none /dev
${programs.mkdir} -p ${[...new Set(made)].map(quoted).join(' ')}
${(files ?? []).map((each) => `: > ${quoted(inRoot(each))}`).join('\n')}
printf %s ${quoted(table)} > /dev/before/table
if ! ${programs.mount} --all --fstab /dev/before/table; then
  # Options of the mounts below may be locked.
${binds.map((each) => `  ${programs.mount} -o remount,${optionsOf(each)} ${quoted(inRoot(each))} || ${programs.mount} -o remount,${optionsOf(each)},noatime ${quoted(inRoot(each))}`).join('\n')}
fi
: > /dev/before/table
# Programs that mount read there what is mounted.
${programs.mount} --rbind /proc /dev/proc
${programs.mount} -o remount,bind,ro,nosuid,nodev /dev
cd /dev
${programs.pivot_root} . before
cd /
${programs.umount} -l /before
${programs.umount} -l /proc
unset PWD OLDPWD to
exec ${programs.setpriv} --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@"
`
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
/** As fstab(5) spells a path. */
const inTable = (file: string): string => file.replace(/[\s\\#]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`)

let known: Promise<Containment> | undefined

/** What contains processes on this system. @throws Error that says what it lacks */
export const findContainment = (): Promise<Containment> => (known ??= makeContainment())

async function makeContainment(): Promise<Containment> {
  if (process.platform !== 'linux') throw new Error(`${process.platform} has no namespaces`)
  const programs = Object.fromEntries(programNames.map((name) => [name, programPath(name)])) as Containment['programs']
  const inside = [process.execPath, programs.setpriv, programs.mount, programs.umount]
  const { stdout } = await promisify(execFile)(programs.ldd, inside, { env: {} })
  const libraries = stdout.split('\n').flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? [])
  const containment = { programs, libraries: [...new Set(libraries)] }
  await tryOut(containment)
  return containment
}

const programFolders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** @throws Error where it is missing */
export function programPath(name: string): string {
  for (const folder of programFolders) {
    const file = path.join(folder, name)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // Perhaps in the next folder.
    }
  }
  throw new Error(`the program ${name} of util-linux is missing`)
}

/** Starts a process that does nothing. @throws Error where the system refuses */
async function tryOut(containment: Containment): Promise<void> {
  const { ended, channel } = startContained(containment, { args: ['-e', '0'], binds: [] })
  channel.resume().on('error', () => {})
  const { status, said } = await ended
  if (status !== 0) throw new Error(`namespaces are refused here: ${said.trim().slice(0, 300)}`)
}

/**
 * Starts `node` so that it sees the given files and its own libraries, read-only, and nothing else: no environment, no network, no other
 * process. It ends with its parent. What it says to its parent goes over the descriptor 3.
 */
export function startContained(containment: Containment, { args, binds }: ContainedCommand): ContainedProcess {
  const { programs, libraries } = containment
  const node = realpathSync(process.execPath)
  const own = [node, programs.setpriv, programs.mount, programs.umount, ...libraries]
  const seen: Bind[] = [...own.map((file) => ({ from: file, to: file, isRun: true as const })), ...binds]
  const outside = [
    ['--pdeathsig', 'KILL', programs.nice, '-n', '10'],
    [programs.unshare, '--user', '--map-root-user', '--mount', '--pid', '--net', '--ipc', '--uts', '--fork', '--kill-child'],
    [programs.sh, '-c', script(containment, seen), 'sh', node, ...args],
  ].flat()
  return watched(spawn(programs.setpriv, outside, spawnOptions))
}

/** The same where the system has no namespaces and the operator accepts it: a process without environment, which sees every file of this user. */
export function startUncontained({ args }: Pick<ContainedCommand, 'args'>): ContainedProcess {
  try {
    return watched(spawn(programPath('setpriv'), ['--pdeathsig', 'KILL', '--no-new-privs', process.execPath, ...args], spawnOptions))
  } catch {
    // Not on Linux: it ends when it sees that its socket is closed.
    return watched(spawn(process.execPath, args, spawnOptions))
  }
}

/** In a process group of its own: whoever signals its group reaches all of it, whatever the namespaces. */
const spawnOptions = { env: {}, cwd: '/', stdio: ['ignore', 'ignore', 'pipe', 'pipe'], detached: true } satisfies SpawnOptions
const maxSaid = 2_000
/** Nobody reads more than this of what a process writes to its error output: to read it would be the server's time. */
const maxErrorBytes = 2 ** 20

/** The end of what a process writes to its error output, which is closed where it is too much. */
function lastWords(errors: Readable | null): () => string {
  let [said, bytes] = ['', 0]
  errors?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    said = (said + chunk.toString()).slice(-maxSaid)
    if (bytes > maxErrorBytes) errors.destroy()
  })
  return () => said
}

/** How a process ends. To be asked for when it is started: it reads its error output. */
export function endOf(child: ChildProcess): Promise<ProcessEnd> {
  const said = lastWords(child.stderr)
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ reason: error.message, said: said() }))
    child.once('close', (status, signal) =>
      resolve(
        signal === null
          ? { status: status ?? 1, reason: `it ended with the status ${status}`, said: said() }
          : { reason: `it was ended by ${signal}`, said: said() },
      ),
    )
  })
}

function watched(child: ChildProcess): ContainedProcess {
  const ended = endOf(child)
  return {
    // Node has the socket pair of an extra descriptor in `stdio`.
    channel: child.stdio[channelDescriptor] as Duplex,
    ended,
    kill: () => void child.kill('SIGKILL'),
    use: () => (child.pid === undefined ? undefined : processUse(child.pid)),
  }
}
