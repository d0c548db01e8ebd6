import { readFileSync } from 'node:fs'
import path from 'node:path'
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { newClient } from '../../core/tls/certificates.ts'
import { startChild } from './child.ts'
import type { SluiceProcess } from './processes/sluice.ts'
const s = await startChild<SluiceProcess>('sluice', [], ['--max-semi-space-size=4', '--v8-pool-size=1', '--max-old-space-size=3000'])
const { url, certsDir, pid } = await s.ask('where')
await newClient(certsDir, 'b1')
const rss = () => (Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`,'latin1'))?.[1])/1000).toFixed(0)
const show = async (what: string) => { const r = rss(); const t=performance.now(); const m = await s.ask('memory'); console.log(what, 'rss', r, 'after gc', (m.rss/1e6).toFixed(0), 'heap', (m.heapUsed/1e6).toFixed(0), 'asked in', Math.round(performance.now()-t)) }
await show('start')
const read = (file: string) => readFileSync(path.join(certsDir, file))
const { hostname, port } = new URL(url)
const [n, kb, first] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4] ?? '/openapi.json']
const sockets: TLSSocket[] = []
for (let i = 0; i < n; i += 1) {
  const socket = connect({ host: hostname, port: Number(port), ca: read('ca_cert.pem'), cert: read('b1_cert.pem'), key: read('b1_key.pem') }).on('error', () => {})
  await once(socket, 'secureConnect'); socket.pause(); sockets.push(socket)
}
await show('connected')
const tiny = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const text = `GET ${first} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(16) + tiny.repeat(Math.ceil(kb*1000/tiny.length))
for (const socket of sockets) socket.write(text)
for (let i = 0; i < 4; i += 1) { await sleep(2500); await show('flooded') }
for (const socket of sockets) socket.destroy()
await sleep(2000); await show('gone')
await s.end()
