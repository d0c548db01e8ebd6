import { readFileSync } from 'node:fs'
import path from 'node:path'
import { connect } from 'node:tls'
import { expect } from 'chai'
import { createClient } from '../../testkit/client.ts'
import { makeHome, sluice, type RunningCommand } from '../start/command.ts'

describe('a client that asks for the documents many times at once', function () {
  this.timeout(300_000)
  let home: Awaited<ReturnType<typeof makeHome>>
  let server: RunningCommand

  before(async () => {
    home = await makeHome({
      devnet: { enabled: false },
      // The nodes of the other chains are away.
      plugins: { disabled: ['hyperliquid'] },
      limits: { pluginLoadSeconds: 60, pluginStallSeconds: 1.5 },
    })
    server = sluice(home.home, 'start')
  })
  after(async () => {
    server.child.kill('SIGKILL')
    await server.ended
    await home.remove()
  })

  for (const target of ['/openapi.json', '/metrics'])
    it(`does not end the server with 450 pipelined requests for ${target}`, async () => {
      const [, url = ''] = await server.until(/Sluice is ready at (\S+)/)
      const certsDir = path.join(home.home, 'certs')
      const read = (file: string) => readFileSync(path.join(certsDir, file))
      const { hostname: host, port } = new URL(url)
      const socket = connect({
        host,
        port: Number(port),
        ca: read('ca_cert.pem'),
        cert: read('client_cert.pem'),
        key: read('client_key.pem'),
      })
      const answered = new Promise((resolve, reject) =>
        socket
          .once('data', resolve)
          .once('error', reject)
          .once('close', () => reject(new Error(server.printed()))),
      )
      socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(450))
      await answered
      const client = createClient(url, certsDir)
      expect((await client.get('/health/live')).status).to.equal(200)
      expect(server.child.exitCode).to.equal(null)
      client.close()
      socket.destroy()
    })
})
