import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'

// Mounts as an engine makes them: the image read-only (/tmp too), /dev in memory, then the volumes. $1 is the root, and
// up to -- come source, target and mode of each.
const prepare = `
set -e
root=$1; shift
mount --make-rprivate /
mount --bind "$root" "$root"
for place in "$@"; do
  [ "$place" != -- ] || break
  case $place in /app/*.lock) touch "$root$place";; /app/*|/run/*|/plugins) mkdir -p "$root$place";; esac
done
mount -o remount,bind,ro "$root"
mount -t tmpfs -o nosuid,mode=755 tmpfs "$root/dev"
for device in null zero random urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
for file in resolv.conf hosts; do [ ! -e "$root/etc/$file" ] || mount --bind "/etc/$file" "$root/etc/$file"; done
while [ "$1" != -- ]; do [ ! -d "$1" ] || mkdir -p "$root$2"; mount --bind "$1" "$root$2"; [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"; shift 3; done
shift
exec unshare --pid --fork --kill-child --mount-proc="$root/proc" setpriv --no-new-privs "$@"
`

/**
 * Runs an image's own command, or another, as its configuration says: user, environment, folder, entry point, as process
 * 1 of its own process table, with the root read-only and no privilege. The network is this machine's, or none. Root has these
 * capabilities alone.
 */
export function startContainer({
  rootfs,
  config,
  volumes,
  environment = {},
  args = config.Cmd,
  user = config.User,
  capabilities,
  network,
}) {
  const [program, ...before] = config.Entrypoint
  const variables = [...config.Env, `HOME=${config.WorkingDir}`, ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)]
  const mounts = Object.entries(volumes).flatMap(([to, { from, mode = 'rw' }]) => [from, to, mode])
  const inside = [
    'chroot',
    `--userspec=${user}`,
    '--groups=',
    rootfs,
    '/usr/bin/env',
    '-i',
    '-C',
    config.WorkingDir,
    ...variables,
    ...(capabilities ? ['setpriv', `--bounding-set=-all,${capabilities.map((name) => `+${name}`).join()}`, '--inh-caps=-all'] : []),
    program,
    ...before,
    ...args,
  ]
  // It ends when this process does, in whatever way, and with it all that is below.
  const child = spawn(
    'setpriv',
    [
      '--pdeathsig',
      'KILL',
      'unshare',
      '--mount',
      ...(network === 'none' ? ['--net'] : []),
      'sh',
      '-c',
      prepare,
      'sh',
      rootfs,
      ...mounts,
      '--',
      ...inside,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => void (output += text))
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  return {
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    output: () => output,
    /** The pid, on this machine, of its process 1. */
    main: () => Number(childrenOf(child.pid)[0]),
    /** Every process of it: [{ pid, state, name }]. */
    processes: () => descendants(child.pid),
    signal(name) {
      const [main] = childrenOf(child.pid)
      if (main !== undefined) process.kill(Number(main), name)
    },
    /** Whatever it does, it is gone afterwards: the end of process 1 ends all the others. */
    async kill() {
      if (!this.hasEnded()) {
        this.signal('SIGKILL')
        child.kill('SIGKILL')
      }
      await ended
    },
  }
}

function descendants(pid) {
  return childrenOf(pid).flatMap((each) => [describe(each), ...descendants(each)])
}

function childrenOf(pid) {
  try {
    return readFileSync(path.join('/proc', String(pid), 'task', String(pid), 'children'), 'utf8')
      .split(' ')
      .filter(Boolean)
  } catch {
    return []
  }
}

function describe(pid) {
  try {
    const status = Object.fromEntries(
      readFileSync(path.join('/proc', pid, 'status'), 'utf8')
        .split('\n')
        .map((line) => line.split(/:\s+/)),
    )
    return {
      pid: Number(pid),
      name: status.Name,
      state: status.State?.[0],
      user: status.Uid?.split('\t')[0],
      capabilities: status.CapEff,
      newPrivileges: status.NoNewPrivs,
    }
  } catch {
    return { pid: Number(pid), name: '', state: '' }
  }
}
