import { startServer, type ServerOptions, type TestServer } from '../../testkit/server.ts'

const mostTries = 1200

/** A server as a person finds it after the start-up summary: the devnet answers. */
export async function readyServer(options: Pick<ServerOptions, 'plugins'> = {}): Promise<TestServer> {
  const server = await startServer({ ...options, conf: { 'chains/ethereum.yml': { local: { required: true } } } })
  for (let tries = 0; tries < mostTries; tries++) {
    const { status } = await server.client.get('/health/ready')
    if (status === 200) return server
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await server.stop()
  throw new Error('The server did not become ready.')
}
