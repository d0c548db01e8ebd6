import net, { type AddressInfo } from 'node:net'

/** What lies between a client and the server. */
export interface Line {
  readonly url: string
  /** `no answers`: the server gets everything, and nothing comes back but the end of the connection. */
  state: 'open' | 'closed' | 'no answers'
  /** Ends all connections. */
  cut(): void
  /** Connections since the start. */
  connections: number
  stop(): void
}

export async function startLine(server: string): Promise<Line> {
  const sockets = new Set<net.Socket>()
  const listener = net.createServer((near) => {
    line.connections += 1
    if (line.state === 'closed') return void near.destroy()
    const far = net.connect(Number(new URL(server).port), '127.0.0.1')
    for (const each of [near, far]) sockets.add(each.on('error', () => {}))
    near.on('close', () => far.end()).pipe(far, { end: false })
    far.on('close', () => near.destroy()).on('data', (data) => line.state === 'no answers' || near.write(data))
  })
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
  const line: Line = {
    url: `https://localhost:${(listener.address() as AddressInfo).port}`,
    state: 'open',
    connections: 0,
    cut() {
      for (const each of sockets) each.destroy()
      sockets.clear()
    },
    stop() {
      listener.close()
      line.cut()
    },
  }
  return line
}
