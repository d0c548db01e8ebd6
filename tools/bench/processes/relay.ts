// What books in memory are compared with: reads what a websocket tells, and gives on the newest of each coin as it came, over mutual TLS.
import { WebSocket } from 'undici'
import { serve, plainServer } from '../child.ts'

const [certsDir = '', wsUrl = ''] = process.argv.slice(2)
const port = await plainServer(certsDir, (request, response) => {
  const coins = new URL(request.url ?? '', 'https://relay').searchParams.getAll('coin')
  const socket = new WebSocket(wsUrl)
  const newest = new Map<string, string>()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  socket.addEventListener('open', () => {
    for (const coin of coins) socket.send(JSON.stringify({ method: 'subscribe', subscription: { type: 'l2Book', coin } }))
  })
  socket.addEventListener('message', ({ data }) => {
    const text = String(data)
    const { coin } = (JSON.parse(text) as { data: { coin: string } }).data
    if (newest.size === 0)
      setImmediate(() => {
        if (!response.destroyed) response.write([...newest.values()].map((each) => `event: orderBook\ndata: ${each}\n\n`).join(''))
        newest.clear()
      })
    newest.set(coin, text)
  })
  response.once('close', () => socket.close())
})

export type RelayProcess = typeof handlers
const handlers = serve({
  url: () => `https://localhost:${port}`,
  /** Microseconds of processor time so far. */
  cpu: () => process.cpuUsage(),
})
