import { spawn, spawnSync, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { expect } from 'chai'
import { makeHome, root } from './command.ts'

describe('the memory of the processes', function () {
  this.timeout(300_000)
  let home: Awaited<ReturnType<typeof makeHome>>
  let server: ChildProcessByStdio<null, Readable, null> | undefined
  before(async () => {
    home = await makeHome({ devnet: { enabled: false } })
  })
  after(async () => {
    if (server) await end(server)
    await home.remove()
  })

  it('holds the parser of YAML and the compiler of schemas only where conf is read', () => {
    const [probe, told] = [path.join(home.home, 'loaded.cjs'), path.join(home.home, 'loaded.json')]
    const loaded =
      "Object.keys(require.cache).filter((file) => file.includes('on-demand')).map((file) => require('node:path').basename(file))"
    writeFileSync(probe, `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(told)}, JSON.stringify(${loaded})))`)
    const { PATH, HOME } = process.env
    const loadedFor = (permission: string, ...args: string[]): unknown => {
      writeFileSync(path.join(home.home, 'conf/clients.yml'), `clients: { client: { permissions: [${permission}], wallets: all } }\n`)
      spawnSync(path.join(root, 'bin/sluice'), ['--home', home.home, ...args], {
        env: { PATH, HOME, NODE_OPTIONS: `--require ${JSON.stringify(probe)}` },
      })
      return JSON.parse(readFileSync(told, 'utf8'))
    }
    expect(loadedFor('read', 'help')).to.deep.equal([])
    expect(loadedFor('read', 'certs', 'list')).to.deep.equal(['yaml.cjs', 'json-schema.cjs'])
  })

  it('goes to no core file, though the system would write one', async function () {
    if (process.platform !== 'linux') this.skip()
    // With core files as large as they become, where the system writes them.
    const node = [process.execPath, path.join(root, 'bin/launch.mjs'), 'start']
    const started = spawn('/bin/sh', ['-c', 'ulimit -c "$(ulimit -H -c)"; exec "$@"', 'sh', ...node], {
      cwd: home.home,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    server = started
    let printed = ''
    await new Promise<void>((resolve, reject) => {
      started.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text
        if (printed.includes('is ready at')) resolve()
      })
      started.once('exit', () => reject(new Error(`The server ended:\n${printed}`)))
    })
    const about = (name: string) => readFileSync(`/proc/${started.pid}/${name}`, 'latin1')
    expect(about('limits')).to.match(/^Max core file size +0 +0 /m)
    expect(about('coredump_filter').trim()).to.match(/^0+$/)
  })
})

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
}
