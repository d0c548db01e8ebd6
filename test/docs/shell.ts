import { spawn } from 'node:child_process'
import type { TestServer } from '../../testkit/server.ts'

/** What pages have typed at first. */
const ask = `ask() { curl -sS --cacert certs/ca_cert.pem --cert certs/client_cert.pem --key certs/client_key.pem -w '\\n' "$@"; }\n`

export interface ShellSession {
  /** What was printed so far, errors too. */
  output(): string
  /** Settles with all that was printed. */
  ended: Promise<string>
  end(): void
}

/** Commands of a page, typed beside a test's server: it does not listen where pages have it. */
export const shellOf =
  ({ settings, kernel }: TestServer) =>
  (command: string): ShellSession => {
    const script = `${ask}${command.replaceAll('https://localhost:15888', kernel.url)}`
    // A group of its own: what the shell started ends with it.
    const child = spawn('sh', ['-c', script], { cwd: settings.home, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => void (output += chunk))
    const ended = new Promise<string>((resolve, reject) => child.once('close', () => resolve(output)).once('error', reject))
    return {
      output: () => output,
      ended,
      end: () => {
        if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGTERM')
      },
    }
  }
