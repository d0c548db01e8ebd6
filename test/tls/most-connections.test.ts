import { expect } from 'chai'
import { once } from 'node:events'
import net from 'node:net'
import { madeCertificates, pairOf, removeFolders } from './certificates.ts'
import { call, startServer, stopServers, until } from './tls-server.ts'

describe('the number of connections', () => {
  after(async () => {
    await stopServers()
    await removeFolders()
  })

  it('is limited: connections beyond the limit are closed, and a client gets in as soon as one is free', async () => {
    const certsDir = await madeCertificates()
    const server = await startServer(certsDir, { maxConnections: 2 })
    const client = { pair: await pairOf(certsDir, 'client') }
    const strangers = await Promise.all(
      [1, 2].map(async () => {
        const socket = net.connect(server.port, '127.0.0.1').on('error', () => {})
        await once(socket, 'connect')
        return socket
      }),
    )
    expect((await call(server, client)).answer).to.equal('')
    for (const socket of strangers) socket.destroy()
    await until(async () => (await call(server, client)).answer === 'hello client', 'a client gets in')
  })
})
