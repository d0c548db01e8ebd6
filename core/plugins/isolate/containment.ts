// How a process is started that sees nothing of this machine: namespaces of its own, made with the programs of util-linux.
import { execFile, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { processesBelow, processUse, type ProcessUse } from './process-tree.ts'
import { shellWord } from '../../base/printable.ts'

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

/** The programs that contain a process, by their paths, and what is needed beside them. */
export interface Containment {
  readonly programs: Readonly<Record<Program, string>>
  /** Those of Node: the process sees them. */
  readonly libraries: readonly string[]
  /** Where the libraries of the programs lie, which it does not see. */
  readonly programLibraries: readonly string[]
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
 * program for all of them. It has no /proc, so that it sees nothing of other processes, and no program but Node. The new root covers /dev, which
 * every system has.
 */
function script({ programs, programLibraries }: Containment, binds: readonly Bind[]): string {
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
${programs.mkdir} -p ${[...new Set(made)].map(shellWord).join(' ')}
${(files ?? []).map((each) => `: > ${shellWord(inRoot(each))}`).join('\n')}
printf %s ${shellWord(table)} > /dev/before/table
if ! ${programs.mount} --all --fstab /dev/before/table; then
  # Options of the mounts below may be locked.
${binds.map((each) => `  ${programs.mount} -o remount,${optionsOf(each)} ${shellWord(inRoot(each))} || ${programs.mount} -o remount,${optionsOf(each)},noatime ${shellWord(inRoot(each))}`).join('\n')}
fi
: > /dev/before/table
# Programs that mount read there what is mounted.
${programs.mount} --rbind /proc /dev/proc
${programs.mount} -o remount,bind,ro,nosuid,nodev /dev
cd /dev
${programs.pivot_root} . before
# The programs that are still needed are not in the new root, where a plugin could run them. They are run from the old one, in which this shell
# stays while that is unmounted. Who leaves it cannot come back.
cd /before
export LD_LIBRARY_PATH=${programLibraries.map((folder) => shellWord(fromOld(folder))).join(':')}
${fromOld(programs.umount)} -l /before
${fromOld(programs.umount)} -l /proc
# A shell complains of a folder that has no path.
exec 4>&2 2>&-
exec ${fromOld(programs.setpriv)} --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all \
  ${fromOld(programs.sh)} -c 'exec 2>&4 4>&-; cd /; unset PWD OLDPWD LD_LIBRARY_PATH; exec "$@"' sh "$@"
`
}

/** By its path from the root, where the script has moved that. */
function fromOld(file: string): string {
  const real = `.${realpathSync(file)}`
  // One program for all commands.
  return path.basename(real) === 'busybox' ? `${real} ${path.basename(file)}` : real
}

/** As fstab(5) spells a path. */
const inTable = (file: string): string => file.replace(/[\s\\#]/g, (each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`)

let known: Promise<Containment> | undefined

/** What contains processes on this system. @throws Error that says what it lacks */
export const findContainment = (): Promise<Containment> => (known ??= makeContainment())

async function makeContainment(): Promise<Containment> {
  if (process.platform !== 'linux') throw new Error(`${process.platform} has no namespaces`)
  const programs = Object.fromEntries(programNames.map((name) => [name, programPath(name)])) as Containment['programs']
  const librariesOf = async (...files: readonly string[]) => {
    const { stdout } = await promisify(execFile)(programs.ldd, files, { env: {} })
    return [...new Set(stdout.split('\n').flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []))]
  }
  const ofPrograms = await librariesOf(programs.umount, programs.setpriv, programs.sh)
  const containment = {
    programs,
    libraries: await librariesOf(process.execPath),
    programLibraries: [...new Set(ofPrograms.map((file) => realpathSync(path.dirname(file))))],
  }
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
  const own = [node, ...libraries]
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
/** After its end, for the rest of its output. */
const lastOutputMs = 1_000
/** Nobody reads more than this of what a process writes to its error output: to read it would be the server's time. */
const maxErrorBytes = 2 ** 20
/** What comes in small pieces takes the time of larger ones. */
const bytesOfPiece = 64

/** The end of what a process writes to its error output, which is closed where it is too much. */
function lastWords(errors: Readable | null): () => string {
  let [said, bytes] = ['', 0]
  errors?.on('data', (chunk: Buffer) => {
    bytes += Math.max(chunk.length, bytesOfPiece)
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
    const end = (status: number | null, signal: NodeJS.Signals | null) =>
      resolve(
        signal === null
          ? { status: status ?? 1, reason: `it ended with the status ${status}`, said: said() }
          : { reason: `it was ended by ${signal}`, said: said() },
      )
    child.once('close', end)
    // Where nothing contains it, a process that it has started may hold its output open for ever.
    child.once('exit', (status, signal) => setTimeout(() => end(status, signal), lastOutputMs).unref())
  })
}

/** Ends a process with its group and all that it started, also what has left the group. */
function endAll(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const below = processesBelow(child.pid)
  child.kill('SIGKILL')
  for (const each of [-child.pid, ...below])
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // It has ended.
    }
}

function watched(child: ChildProcess): ContainedProcess {
  const ended = endOf(child)
  return {
    // Node has the socket pair of an extra descriptor in `stdio`.
    channel: child.stdio[channelDescriptor] as Duplex,
    ended,
    kill: () => endAll(child),
    use: () => (child.pid === undefined ? undefined : processUse(child.pid)),
  }
}
