// The plugin-host service as a container runs it: without network, other processes, and capabilities but three. It takes root.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../dist/core/main.js', import.meta.url))

export interface PluginHost {
  readonly said: () => string
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
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
