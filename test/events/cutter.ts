import net, { type AddressInfo, type Socket } from 'node:net'

export interface Cutter {
  /** The server's URL through here. */
  url: string
  /** Ends every connection, as a network that fails does. */
  cut(): void
  stop(): Promise<void>
}

/** Passes connections on to a server, bytes as they are, until they are cut. */
export async function startCutter(url: string): Promise<Cutter> {
  const { port } = new URL(url)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  }
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), 'localhost')
    keep(near)
    keep(far)
    near.pipe(far).pipe(near)
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => sockets.forEach((socket) => socket.destroy())
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    cut,
    stop() {
      cut()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
