import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, openSync, closeSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { createClient } from '../../testkit/client.ts'
import { freePort } from '../free-port.ts'
import { eventually, makeHome, root, sluice } from './command.ts'

/** Every write to it fails as on a full disk. */
const full = '/dev/full'

describe('sluice start, where nothing that it prints or logs can be written', function () {
  this.timeout(300_000)
  let home: { home: string; remove(): Promise<void> }
  let server: ChildProcess | undefined
  afterEach(async () => {
    server?.kill('SIGKILL')
    await home?.remove()
  })

  it('serves all the same, and stops in order', async function () {
    if (!existsSync(full)) this.skip()
    const port = await freePort()
    home = await makeHome({ server: { port }, devnet: { enabled: false }, log: { level: 'trace' } })
    // A checkout says so when it builds what has changed.
    await sluice(home.home, '--version').ended
    const output = openSync(full, 'w')
    const { NODE_OPTIONS: _, ...env } = process.env
    server = spawn(path.join(root, 'bin/sluice'), ['start'], { cwd: home.home, env, stdio: ['ignore', output, output] })
    closeSync(output)
    const ended = new Promise<unknown>((resolve) => server?.once('close', (...how) => resolve(how)))
    let isGone = false
    void ended.then(() => (isGone = true))

    const certs = path.join(home.home, 'certs')
    const areMade = () => ['ca_cert.pem', 'client_cert.pem', 'client_key.pem'].every((name) => existsSync(path.join(certs, name)))
    await eventually(() => isGone || areMade(), 'it makes certificates')
    const client = createClient(`https://localhost:${port}`, certs)
    const isReady = () =>
      client.get('/health/ready').then(
        ({ status }) => status === 200,
        () => false,
      )
    await eventually(async () => isGone || (await isReady()), 'it is ready')
    for (const signal of ['SIGHUP', 'SIGUSR2'] as const) server.kill(signal)
    expect(await isReady()).to.equal(true)
    client.close()
    server.kill('SIGTERM')
    expect(await ended).to.deep.equal([0, null])
  })
})
