import { Command } from 'commander'
import type { Settings } from '../config/settings.ts'
import { serverClient } from './server-client.ts'

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
    .option('--ready', 'whether it can serve: the store, the signer and every required network are there too')
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

async function askHealth(settings: Settings, target: string, timeoutMs: number): Promise<Health> {
  try {
    const { status, text } = await serverClient({ settings, clients, timeoutMs }).get(target)
    return { ok: status === 200, what: text }
  } catch (error) {
    return { ok: false, what: error instanceof Error ? error.message : String(error) }
  }
}
