import { existsSync, readFileSync } from 'node:fs'
import https from 'node:https'
import path from 'node:path'
import { Command } from 'commander'
import type { Settings } from '../config/index.ts'

/** Its own certificate, when there is one, needs no right but to read; else the one made in set-up. */
const clients = ['health', 'client']

interface Health {
  ok: boolean
  what: string
}

/** `sluice health`: asks the running server how it is, over mutual TLS, and exits with 0 or 1. For supervisors. */
export function healthCommand(settingsOf: () => Settings): Command {
  return new Command('health')
    .description('ask the running server whether it is alive; exits with 1 when not')
    .option('--ready', 'whether it can serve: the signer and every required network are there too')
    .option('--timeout <seconds>', 'how long to wait for the answer', '4')
    .addHelpText(
      'after',
      '\nThe certificate of the client "health" is used when there is one (sluice certs new health), else that of "client".',
    )
    .action(async ({ ready, timeout }: { ready?: true; timeout: string }) => {
      const { ok, what } = await askHealth(settingsOf(), ready ? '/health/ready' : '/health/live', Number(timeout) * 1000)
      console.log(what)
      process.exit(ok ? 0 : 1)
    })
}

async function askHealth({ server, ssl: { certsDir } }: Settings, target: string, timeoutMs: number): Promise<Health> {
  const name = clients.find((each) => existsSync(path.join(certsDir, `${each}_key.pem`)))
  if (name === undefined) return { ok: false, what: `${certsDir} holds no client certificate to ask with: run "sluice certs new health".` }
  try {
    const read = (file: string) => readFileSync(path.join(certsDir, file))
    return await new Promise<Health>((resolve, reject) => {
      const request = https.get(
        {
          host: reachable(server.host),
          port: server.port,
          path: target,
          // Always in the server's certificate, whatever address it listens on.
          servername: 'localhost',
          ca: read('ca_cert.pem'),
          cert: read(`${name}_cert.pem`),
          key: read(`${name}_key.pem`),
          agent: false,
          signal: AbortSignal.timeout(timeoutMs),
        },
        (response) => {
          let text = ''
          response
            .setEncoding('utf8')
            .on('data', (chunk: string) => void (text += chunk))
            .on('error', reject)
            .on('end', () => resolve({ ok: response.statusCode === 200, what: text }))
        },
      )
      request.on('error', reject)
    })
  } catch (error) {
    const why =
      error instanceof Error && error.name === 'AbortError'
        ? `no answer within ${timeoutMs / 1000} s`
        : String(error instanceof Error ? error.message : error)
    return { ok: false, what: `The server at ${reachable(server.host)}:${server.port} cannot be asked: ${why}.` }
  }
}

/** Every address of the machine is listened on: ask on its own. */
function reachable(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
}
