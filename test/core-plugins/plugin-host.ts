// The plugin-host service as a container runs it: without network, other processes, and capabilities but three. It takes root.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/core/main.js', import.meta.url))

export interface PluginHost {
  readonly said: () => string
  /** Processes that it started, by their user. Another service on this machine has processes of the same users. */
  processesByUser(): ReadonlyMap<number, number>
  /** As the end of its container. */
  kill(): Promise<void>
}

/** @param copies the server's, in a folder of its user; the service has them elsewhere, as a volume */
export async function startPluginHost(socket: string, copies: string): Promise<PluginHost> {
  const seenAt = `${socket}.copies`
  const child = spawn(
    'setpriv',
    [
      ['--pdeathsig', 'KILL', 'unshare', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'],
      [
        '--mount',
        'sh',
        '-c',
        'mkdir -p "$1" "$2" && chmod 711 "$1" && mount --bind -o ro "$1" "$2" && shift 2 && exec "$@"',
        'sh',
        copies,
        seenAt,
      ],
      ['setpriv', '--bounding-set=-all,+setuid,+setgid,+setpcap', '--inh-caps=-all', '--no-new-privs'],
      [process.execPath, main, 'plugin-host', '--socket', socket, '--copies', seenAt],
    ].flat(),
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  const ended = once(child, 'close')
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  await Promise.race([
    new Promise<void>((resolve) => child.stdout.on('data', () => said.includes('for servers that connect') && resolve())),
    ended.then(() => Promise.reject(new Error(said))),
  ])
  return {
    said: () => said,
    processesByUser() {
      const counts = new Map<number, number>()
      for (const pid of below(child.pid ?? 0)) {
        const status = read(`/proc/${pid}/status`)
        const user = Number(/^Uid:\t(\d+)/m.exec(status)?.[1])
        if (status !== '' && !/^State:\t[ZX]/m.test(status)) counts.set(user, (counts.get(user) ?? 0) + 1)
      }
      return counts
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function below(pid: number): number[] {
  const threads = namesIn(`/proc/${pid}/task`)
  const children = threads.flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number))
  return children.flatMap((each) => [each, ...below(each)])
}

/** Nothing where the process is gone. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
