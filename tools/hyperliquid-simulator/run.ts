// `npm run simulator`: Sluice with the simulator of Hyperliquid in place of the exchange, to try its order books without an account.
// Ctrl-C ends all of it, and nothing of it is kept.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { startPlayground } from './playground.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const playground = await startPlayground()
const { settings = {}, conf = {}, env = {} } = playground.server

const confDir = path.join(playground.folder, 'conf')
const files = {
  'server.yml': bySection(settings),
  'clients.yml': { clients: { client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' } } },
  ...conf,
}
for (const [name, content] of Object.entries(files)) {
  await mkdir(path.dirname(path.join(confDir, name)), { recursive: true })
  await writeFile(path.join(confDir, name), stringify(content))
}

console.log(`Hyperliquid's simulator is at ${playground.exchange.apiUrl}.`)
console.log('Enter makes it the next full hour there: funding is paid, interest is due.\n')
createInterface({ input: process.stdin }).on('line', () => {
  playground.passHour()
  console.log(`It is ${new Date(playground.exchange.clock.now()).toISOString()} at the exchange.`)
})

// The certificates are those of the checkout, so that whoever asks its server can ask this one.
const server = spawn(process.execPath, ['bin/launch.mjs', 'start'], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, ...env, SLUICE_CONF: confDir, SLUICE_SSL_CERTS_DIR: path.join(root, 'certs') },
})
// Ctrl-C of a terminal reaches the server too, and a second one would end it at once.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => server.kill('SIGTERM'))
await once(server, 'close')
await playground.stop()
process.exit(server.exitCode ?? 1)

/** server.port → the key port of the section server. */
function bySection(flags: Readonly<Record<string, unknown>>) {
  const sections: Record<string, Record<string, unknown>> = {}
  for (const [name, value] of Object.entries(flags)) {
    const [section = '', key = ''] = name.split('.')
    sections[section] = { ...sections[section], [key]: value }
  }
  return sections
}
