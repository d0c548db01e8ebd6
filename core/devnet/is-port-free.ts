import { createServer } from 'node:net'
import { once } from 'node:events'

/** Whether a server could listen there now. */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  } finally {
    server.close()
  }
}
